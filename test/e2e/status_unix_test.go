//go:build unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A failed notification has no answer, so the status reports it.
func TestFaultR15_FailedNotificationIsInTheStatus(t *testing.T) {
	t.Parallel()
	p := newWorld(t).serve(t)
	_, err := fmt.Fprintln(p.in, `{"jsonrpc":"2.0","method":"acknowledge","params":{"instruction_id":"ins_x"}}`)
	require.NoError(t, err)
	p.must("queue_instruction", `{"content":"behind it"}`, nil)
	st := p.status()
	require.EqualValues(t, 1, st.Connection.NotificationsFailed)
	require.Zero(t, st.Connection.NotificationsDropped)
	require.Len(t, st.Degraded, 1)
	require.Contains(t, st.Degraded[0], "failed: 1")
}

// The folder of the workspace was replaced by another one: whoever opens its store first says so.
func TestFaultF18_ReplacedWorkspaceIsInTheStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	replace := func() {
		old, err := os.MkdirTemp(t.TempDir(), "") // kept, so that its inode is not used again
		require.NoError(t, err)
		require.NoError(t, os.Rename(w.workspace, filepath.Join(old, "work")))
		require.NoError(t, os.CopyFS(w.workspace, os.DirFS("examples/workspace")))
	}
	w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":"x"}}`)
	require.Empty(t, w.serve(t).status().Degraded)
	replace()
	st := w.serve(t).status()
	require.Len(t, st.Degraded, 1)
	require.Contains(t, st.Degraded[0], "was replaced by another folder")
	for _, args := range [][]string{{"status"}, {"status", "--json"}} {
		replace()
		cmd := w.command(t, args...)
		out, err := cmd.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "was replaced by another folder", "%v", args)
	}
}

// --poll is for a file system that does not tell of changes.
func TestServePollsWhenItIsAskedTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t, "--poll")
	p.must("get_plan", `{"plan":"tasks.md"}`, nil)
	require.Equal(t, "polling", p.status().Watcher.Mode)
	w.edit(t, "91")
	p.awaitChange("91")
}

// edit adds an item to the plan.
func (w world) edit(t *testing.T, id string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(w.workspace, "tasks.md"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, "\n- [ ] %s. Another one\n", id)
	require.NoError(t, errors.Join(err, f.Close()))
}

func (p *peer) status() (st schema.StatusResult) {
	p.t.Helper()
	p.must("get_status", `{}`, &st)
	return st
}

// awaitChange passes over everything until the item is said to have changed.
func (p *peer) awaitChange(id string) {
	p.t.Helper()
	for {
		line, err := p.out.ReadBytes('\n')
		require.NoError(p.t, err)
		var note struct {
			Method string            `json:"method"`
			Params schema.LedgerNote `json:"params"`
		}
		require.NoError(p.t, json.Unmarshal(line, &note))
		if note.Method == "ledger/changed" && slices.Contains(note.Params.ChangedIDs, id) {
			return
		}
	}
}

// A script that hands out work with single commands has no other process that could end the lease of a dead worker.
func TestNoCommandEndedTheLeaseOfADeadWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	call := func(args ...string) string {
		out, err := w.command(t, append([]string{"call"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	call("create_task", `{"prompt":"x","max_attempts":3}`)
	call("claim_task", `{"worker":"w","lease_ms":1000}`)
	require.Eventually(t, func() bool {
		return strings.Contains(call("list_tasks", "{}"), `"status":"QUEUED"`)
	}, time.Minute, 100*time.Millisecond)
}
