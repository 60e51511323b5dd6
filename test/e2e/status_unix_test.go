//go:build unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
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

// The process gets no time while more files change than the system keeps notes of.
func TestFaultF13_OverflowIsInTheStatus(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip("this system has no inotify")
	}
	kept, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	if kept > 1<<16 {
		t.Skipf("this system keeps %d notifications; overflowing it takes too long", kept)
	}
	w := newWorld(t)
	p := w.serve(t)
	p.must("get_plan", `{"plan":"tasks.md"}`, nil)
	w.edit(t, "91")
	p.awaitChange("91") // the watch is in place
	st := p.status()
	require.Equal(t, "inotify", st.Watcher.Mode)
	require.Zero(t, st.Watcher.Overflows)
	require.Empty(t, st.Watcher.LastRescanAt)
	p.stop()
	for i := range kept/2 + 4096 { // two notifications each, and what is in the buffers
		name := filepath.Join(w.workspace, fmt.Sprint("f", i))
		require.NoError(t, os.WriteFile(name, nil, 0o600))
		require.NoError(t, os.Remove(name))
	}
	w.edit(t, "92")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
	p.awaitChange("92")
	// The change may have been read before the news of the overflow.
	for deadline := time.Now().Add(patience); st.Watcher.Overflows == 0 && time.Now().Before(deadline); {
		st = p.status()
	}
	require.NotZero(t, st.Watcher.Overflows)
	require.NotZero(t, st.Watcher.Rescans)
	require.NotEmpty(t, st.Watcher.LastRescanAt)
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
