//go:build unix

package e2e_test

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// runs runs a command to its end, which is to be a good one, and returns what it prints.
func (w world) runs(t *testing.T, args ...string) string {
	t.Helper()
	out, err := w.command(t, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// What follows the log is told that another one took its place, and goes on with that.
func TestTailGoesOnWhenTheStoreIsRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	queue := func(content string) {
		w.pipe(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":%q}}`, content))
	}
	queue("kept")
	file := filepath.Join(t.TempDir(), "copy.db")
	w.runs(t, "backup", file)
	queue("lost")
	cmd := w.command(t, "tail", "-f", "--json")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines, notes := bufio.NewScanner(out), bufio.NewScanner(said)
	for n := range 2 {
		require.True(t, lines.Scan())
		require.Contains(t, lines.Text(), fmt.Sprintf(`"seq":%d,`, n+1))
	}
	w.runs(t, "restore", file)
	for notes.Scan() && !strings.Contains(notes.Text(), "another event log") {
	}
	require.Contains(t, notes.Text(), "took the place")
	queue("after")
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), `"seq":2,`)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.False(t, notes.Scan())
	require.NoError(t, cmd.Wait())
}
