package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// traced is command under strace with a fault injected into a system call.
func (w world) traced(t *testing.T, call, fault string, args ...string) *exec.Cmd {
	t.Helper()
	tool, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace, which injects the faults, is not installed")
	}
	cmd := w.command(t, args...)
	cmd.Args = append([]string{tool, "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call, "-e", "inject=" + call + ":" + fault, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = tool
	return cmd
}

// A killed `plan set` once left its temporary file beside the plan until somebody wrote there, a minute later.
func TestKilledPlanSetLeavesNothingBehindTheNextCommand(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	set := []string{"plan", "set", "1", "done", "--plan", "board.md"}
	next := [][]string{{"plan", "board.md"}, set}
	left := make([]int, len(next)) // files that each command found
	w := newWorld(t)
	path, text := w.board(t, 1)
	done := strings.Replace(text, "- [ ] ", "- [x] ", 1)
	for _, call := range []string{"write", "pwrite64", "ftruncate", "fchmod", "fsync", "renameat", "renameat2", "unlinkat"} {
		for n, killed := 1, true; killed; n++ {
			require.Less(t, n, 40, "%s is called without end", call)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
			killed = w.traced(t, call, "signal=KILL:when="+strconv.Itoa(n), set...).Run() != nil
			is, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Contains(t, []string{text, done}, string(is))
			require.True(t, killed || string(is) == done)
			found, err := filepath.Glob(filepath.Join(w.workspace, ".waybill-*"))
			require.NoError(t, err)
			if len(found) == 0 {
				continue
			}
			by := 0
			if left[0] > left[1] {
				by = 1
			}
			left[by] += len(found)
			out, err := w.command(t, next[by]...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			w.clean(t)
		}
	}
	require.NotContains(t, left, 0, "too few kills left anything")
}

// A status that was written is not called unwritten because the old file could not be removed.
func TestStatusWhoseLeftoverStaysIsApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, text := w.board(t, 1)
	cmd := w.traced(t, "unlinkat", "error=EACCES")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"set_item_status","params":{"plan":"board.md","item_id":"1","status":"completed"}}` + "\n")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Logf("%s", exit.Stderr)
	}
	var answer struct {
		Error struct {
			Message string
			Data    struct{ Code, Outcome string }
		}
	}
	line, _, _ := strings.Cut(string(out), "\n")
	require.NoError(t, json.Unmarshal([]byte(line), &answer), "%s", out)
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(text, "- [ ] ", "- [x] ", 1), string(is))
	require.Equal(t, "PLAN_NOT_WRITABLE applied", fmt.Sprint(answer.Error.Data.Code, " ", answer.Error.Data.Outcome), answer.Error.Message)
	left, err := filepath.Glob(filepath.Join(w.workspace, ".waybill-*"))
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Contains(t, answer.Error.Message, filepath.Base(left[0]))

	w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"get_plan","params":{"plan":"board.md"}}`+"\n")
	w.clean(t)
}

// board writes a plan with so many open items, whose text makes it long enough that a half of it would show.
func (w world) board(t *testing.T, items int) (path, text string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("\ufeff# Board\r\n\r\n")
	for i := range items {
		fmt.Fprintf(&b, "- [ ] %d. Item\r\n  - Purpose: %s\r\n", i+1, strings.Repeat("row upon row ", 20))
	}
	path = filepath.Join(w.workspace, "board.md")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o640))
	return path, b.String()
}

// clean asserts that no temporary file was left in the workspace.
func (w world) clean(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(w.workspace, ".waybill-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
