//go:build unix

package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// runs runs a command to its end, which is to be a good one, and returns what it prints.
func (w world) runs(t *testing.T, args ...string) string {
	t.Helper()
	out, err := w.command(t, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// Two hosts are at work while a copy, and then an export, is put in the place of their store: one waits for a task, the
// other has one. Both are told, the waiting one gets a task that the copy has, what the other had is known to nobody, and
// both go on.
func TestHostsGoOnWhenTheirStoreIsRestored(t *testing.T) {
	t.Parallel()
	const completed = `"status":"completed"`
	for _, written := range []string{"backup", "export"} {
		t.Run(written, func(t *testing.T) {
			w := newWorld(t)
			busy := w.serve(t)
			busy.must("create_task", `{"prompt":"Dig the bed."}`, nil)
			file := filepath.Join(t.TempDir(), "file")
			w.runs(t, written, file)
			had := busy.claim()
			busy.must("create_task", `{"prompt":"of the store that is gone"}`, nil)
			gone := busy.claim()

			waiting := w.serve(t)
			waiting.must("ping", `{}`, nil)
			_, err := fmt.Fprintln(waiting.in, `{"jsonrpc":"2.0","id":1000,"method":"claim_task","params":{"worker":"v","wait_ms":25000}}`)
			require.NoError(t, err)
			waiting.parked()
			require.Contains(t, w.runs(t, "restore", file), "set aside")

			r, err := waiting.answer(1000)
			require.NoError(t, err)
			var got schema.ClaimTaskResult
			require.NoError(t, json.Unmarshal(r.Result, &got))
			require.Equal(t, "Dig the bed.", got.Claim.Prompt)
			busy.heard("log", func(params string) bool { return strings.Contains(params, `"rewound":true`) })
			r, err = busy.call("finish_attempt", report(gone, completed))
			require.NoError(t, err)
			require.Equal(t, "TASK_NOT_FOUND", r.Error.Data.Code)
			r, err = busy.call("finish_attempt", report(had, completed)) // somebody else has claimed it in the store that was put back
			require.NoError(t, err)
			require.Contains(t, string(r.Result), `"applied":false`)
			waiting.finish(*got.Claim, completed)

			busy.must("create_task", `{"prompt":"and on"}`, nil)
			last := waiting.claim()
			require.Equal(t, "and on", last.Prompt)
			busy.finish(last, completed)
			require.NotContains(t, w.runs(t, "doctor"), "fail")
		})
	}
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
