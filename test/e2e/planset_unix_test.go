//go:build linux || darwin

package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Many terminals set an item each at the same moment: with a store, in which they take turns, and without one. Nobody
// has said which version of the plan is meant, so that none of them is told of a conflict, and all are written.
func TestConcurrentPlanSetHasNoConflict(t *testing.T) {
	t.Parallel()
	for name, served := range map[string]bool{"with a store": true, "without a store": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const terminals = 16
			w := newWorld(t)
			path, text := w.board(t, terminals)
			if served {
				w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":"x"}}`)
			}
			var wg sync.WaitGroup
			for item := range terminals {
				wg.Go(func() { // ends when the item is set
					out, err := w.command(t, "plan", "set", strconv.Itoa(item+1), "done", "--plan", "board.md").CombinedOutput()
					if err != nil {
						t.Errorf("%d: %v: %s", item+1, err, out)
					}
				})
			}
			wg.Wait()
			is, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(text, "- [ ] ", "- [x] "), string(is))
			w.clean(t)
		})
	}
}

// Opening a named pipe blocks until there is a writer, so a pipe is refused as a plan at once.
func TestANamedPipeDoesNotHangTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := w.board(t, 1)
	pipe := path + ".pipe"
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, args := range [][]string{{"plan", pipe}, {"plan", pipe, "--json"}, {"plan", "set", "1", "done", "--plan", pipe}, {"plan", "/dev/stdin"}} {
		out, err := w.command(t, args...).CombinedOutput()
		require.Error(t, err, "%q", args)
		require.Contains(t, string(out), "not_regular", "%q", args)
	}
	cmd := w.command(t, "plan", "-", "--json")
	cmd.Stdin = strings.NewReader("- [ ] 1 a\n")
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), `"id":"1"`)
}

// The folders above a plan speak for its dialect, from wherever it is named.
func TestThePathOfAPlanSpeaksForItWhereverItIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := w.board(t, 1)
	dir := filepath.Join(filepath.Dir(path), ".spec-workflow", "specs", "x")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tasks.md"), []byte("- [ ] 1. a\n- [~] 2. b\n"), 0o600))
	var all []string
	for from, name := range map[string]string{
		filepath.Dir(path): ".spec-workflow/specs/x/tasks.md", dir: "tasks.md", filepath.Dir(dir): "x/tasks.md",
		os.TempDir(): filepath.Join(dir, "tasks.md"),
	} {
		cmd := w.command(t, "plan", name, "--json")
		cmd.Dir = from
		out, err := cmd.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), `"dialect":"spec-workflow"`, "from %s", from)
		all = append(all, string(out))
	}
	for _, one := range all {
		require.Equal(t, all[0], one)
	}
}
