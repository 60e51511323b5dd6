package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
)

// A legend whose lines are boxes themselves made an item of each: "- [S] = skipped" was a task named "= skipped".
func TestLineOfALegendIsNoItem(t *testing.T) {
	for _, text := range []string{
		"- [S] = skipped\n- [S] Wax\n",
		"- [S]=skipped\n- [S] Wax\n",
		"## 1. Wax\n- [S] = skipped\n- [S] 1.1 Wax\n",
		"- [S] = skipped\n- [S] T001 Wax\n",
		"- [S] = skipped\n- [S] 1. Wax\n",
	} {
		r := parse(t, text)
		items := r.Items()
		require.Len(t, items, 1, "%q", text)
		require.Equal(t, "Wax", items[0].Title)
		require.Equal(t, ledger.Skipped, items[0].Status)
		require.Len(t, diagnostics(r, "legend_line"), 1)
	}
	require.Equal(t, "= sign", parse(t, "- [ ] = sign\n").Items()[0].Title)
}
