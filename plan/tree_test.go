package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
)

func TestTheFirstOfEqualItemsInProgressIsActive(t *testing.T) {
	r := parse(t, "- [x] 1 done\n- [ ] 2 first\n- [-] 2 second\n- [-] 2 third")
	require.Equal(t, "2", r.Active())
	require.Equal(t, "first", item(t, r, "2").Title)
	_, ok := r.Item("3")
	require.False(t, ok)
	p, err := ledger.Progress(r, "p", "p.md", "")
	require.NoError(t, err)
	require.Equal(t, "second", p.CurrentItem.Title)
}

func TestTheZeroReadingHasNoItems(t *testing.T) {
	r := new(plan.Reading)
	require.Empty(t, r.Active())
	require.Empty(t, r.Items())
	_, ok := r.Item("1")
	require.False(t, ok)
	p, err := ledger.Progress(r, "p", "p.md", "")
	require.NoError(t, err)
	require.Nil(t, p.CurrentItem)
}
