package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of several brackets at the end only the last was read, and what a task waits for stayed in its title.
func TestAllBracketsAtTheEndOfATitleAreRead(t *testing.T) {
	const list = "- [ ] 001.md - A\n- [ ] 003.md - C\n"
	for title, want := range map[string]string{
		"B (depends on: 001, 003) (parallel: false)":        "B",
		"B (parallel: false) (depends on: 001, 003)":        "B",
		"B (see C) (depends on: 001) (depends on: 003)":     "B (see C)",
		"B (parallel: false, a)(depends_on: 001, 003) ":     "B",
		"B (parallel: false) (see C) (depends on 001, 003)": "B (parallel: false) (see C)",
	} {
		it := item(t, parse(t, list+"- [ ] 002.md - "+title+"\n"), "002")
		require.Equal(t, want, it.Title, title)
		require.Equal(t, []string{"001", "003"}, it.DependsOn, title)
		require.False(t, it.Parallel, title)
	}
	it := item(t, parse(t, list+"- [ ] 002.md - B (conflicts with 003) (parallel: true, size M)\n"), "002")
	require.Equal(t, []string{"conflicts with 003", "size M"}, it.Details)
	require.True(t, it.Parallel)
}
