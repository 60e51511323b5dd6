package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The lines of a plan fit the terminal, and are coloured only for one that wants it.
func TestPlanFitsTheTerminal(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "plan.md")
	text := "- [x] 1. Begin\n- [ ] 2. " + strings.Repeat("Find all packets. ", 30) + "\n  - _Depends: 3_\n- [~] 3. " +
		strings.Repeat("Mend the fence. ", 30) + "\n  - _Blocked: " + strings.Repeat("no wood, ", 30) + "_\n" +
		"- [ ] 4. End\n- [ ] " + strings.Repeat("no number, ", 40) + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	colours := regexp.MustCompile(`\x1b\[[\d;]+m`)
	for _, width := range []uint16{40, 80, 200} {
		dressed := w.onTerminal(t, width, nil, "plan", path)
		require.Contains(t, dressed, "\x1b[1;36m→ 4 End\x1b[0m")
		bare := colours.ReplaceAllString(dressed, "")
		longest := 0
		for line := range strings.Lines(bare) {
			longest = max(longest, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
		}
		require.Equal(t, int(width), longest, "at %d:\n%s", width, bare)
		require.Equal(t, bare, w.onTerminal(t, width, []string{"NO_COLOR=1"}, "plan", path))
		require.Equal(t, bare, w.onTerminal(t, width, nil, "plan", path, "--no-color"))
		require.NotContains(t, w.onTerminal(t, width, nil, "plan", path, "--json"), "\x1b")
		require.NotContains(t, w.onTerminal(t, width, nil, "plan", "graph", path), "\x1b")
	}
}
