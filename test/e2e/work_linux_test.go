package e2e_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A command does not outlive the process that has started it, even if that is killed: the task is begun again, and two
// agents would be at the same work.
func TestKilledWorkTakesItsCommandAlong(t *testing.T) {
	t.Parallel()
	w := newWorker(t, "exec 3>begun; trap '' TERM INT HUP; while :; do read line <go; done", "--lease", "3s")
	over := w.begun()
	require.NoError(t, w.cmd.Process.Kill())
	over()
	_ = w.cmd.Wait()

	w.work("--json", "--", "true")
	done := w.until("completed")
	require.Equal(t, w.task, done.TaskID)
	require.Equal(t, 2, done.Attempt)
	require.NoError(t, w.cmd.Process.Signal(os.Interrupt))
	require.Zero(t, w.exit())
}
