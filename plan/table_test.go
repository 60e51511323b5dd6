package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// The header says what the cells of a row are, so a change there changes the items.
func TestAnotherHeaderIsAnotherItem(t *testing.T) {
	const rows = "|--|--|--|--|\n| 1 | todo | a | b |\n| 2 | todo | c | d |\n"
	before := parse(t, "| ID | Status | Title | Owner |\n"+rows)
	after := parse(t, "| ID | Status | Owner | Title |\n"+rows)
	require.Equal(t, []string{"1", "2"}, ids(plan.Diff(before, after)))
	require.Equal(t, "b", item(t, after, "1").Title)
}

// A table of many columns and many rows costs what its bytes do.
func TestWideTablesAndLongOnesAreRead(t *testing.T) {
	const columns, rows = 20000, 20000
	var b strings.Builder
	b.WriteString("| ID | Status |" + strings.Repeat(" a |", columns) + "\n" + strings.Repeat("|-", columns+2) + "|\n")
	for i := range rows {
		fmt.Fprintf(&b, "| %d | todo |\n", i+1)
	}
	r := parse(t, b.String())
	require.Equal(t, rows, r.Len())
}
