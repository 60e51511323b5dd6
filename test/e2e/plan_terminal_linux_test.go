package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The lines of a plan fit the terminal, and are coloured only for one that wants it.
func TestPlanFitsTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "plan.md")
	text := "- [x] 1. Begin\n- [ ] 2. " + strings.Repeat("Find all packets. ", 30) + "\n  - _Depends: 3_\n- [~] 3. " +
		strings.Repeat("Mend the fence. ", 30) + "\n  - _Blocked: " + strings.Repeat("no wood, ", 30) + "_\n" +
		"- [ ] 4. End\n- [ ] " + strings.Repeat("no number, ", 40) + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	for _, width := range []uint16{40, 80, 200} {
		dressed, longest := w.fits(t, width, "plan", path)
		require.Contains(t, dressed, "\x1b[1;36m→ 4 End\x1b[0m")
		require.Equal(t, int(width), longest, "at %d:\n%s", width, dressed)
		require.NotContains(t, w.onTerminal(t, width, nil, "plan", path, "--json"), "\x1b")
		require.NotContains(t, w.onTerminal(t, width, nil, "plan", "graph", path), "\x1b")
	}
}

// In a list of plans a long path leaves room for how far the plan is.
func TestLongPathsLeaveTheProgressOfPlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := "specs/" + strings.Repeat("a-long-name-", 5) + "/tasks.md"
	w.put(t, long, "- [x] 1. Begin\n- [ ] 2. End\n")
	w.serve(t).must("init_run", `{"plan":"`+long+`","item_id":"1"}`, nil)
	for _, width := range []uint16{40, 80, 200} {
		list := w.onTerminal(t, width, nil, "plan")
		require.Contains(t, strings.Join(strings.Fields(list), " "), "1/2 in the file, 0 approved (0 proven), 1 not yet approved", "at %d:\n%s", width, list)
		for line := range strings.Lines(list) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\r\n")), int(width), "%q", line)
		}
	}
}
