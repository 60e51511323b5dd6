package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
)

func TestABlankFileIsAReadingWithoutItems(t *testing.T) {
	for _, text := range []string{"", "\n", "\ufeff", "\ufeff \r\n\t\n\u00a0"} {
		r := parse(t, text)
		require.Empty(t, r.Items())
		require.Empty(t, r.Dialect)
		require.Empty(t, r.Active())
		require.Equal(t, plan.Hash([]byte(text)), r.Hash)
		_, ok := r.Item("1")
		require.False(t, ok)
		_, err := ledger.Progress(r, "p", "p.md", "1")
		require.Error(t, err)
	}
}
