package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkInbox measures whole processes: the inbox over 50 workspaces with a question each, beside a program that opens the
// same SQLite files one after the other and counts the tasks.
func BenchmarkInbox(b *testing.B) {
	const workspaces = 50
	bare, err := build("testdata/bareread", filepath.Join(b.TempDir(), "bareread"))
	require.NoError(b, err)
	root := b.TempDir()
	state := filepath.Join(root, "state")
	require.NoError(b, waybillCommand(root, state, "call", "create_task", `{"prompt":"Sort the packets."}`).Run())
	text, err := waybillCommand(root, state, "call", "claim_task", `{"worker":"w"}`).Output()
	require.NoError(b, err)
	var claimed struct {
		Claim struct {
			Task struct {
				ID string `json:"task_id"`
			}
			Lease struct{ Token string }
		}
	}
	require.NoError(b, json.Unmarshal(text, &claimed))
	asked := fmt.Sprintf(`{"task_id":%q,"lease_token":%q,"status":"awaiting_response","question":"By age?"}`, claimed.Claim.Task.ID, claimed.Claim.Lease.Token)
	require.NoError(b, waybillCommand(root, state, "call", "finish_attempt", asked).Run())

	found, err := filepath.Glob(filepath.Join(state, "waybill", "*", "store.db"))
	require.NoError(b, err)
	require.Len(b, found, 1)
	files := found
	for i := range workspaces - 1 {
		dir := filepath.Join(state, "waybill", fmt.Sprintf("%024d", i))
		require.NoError(b, os.CopyFS(dir, os.DirFS(filepath.Dir(found[0]))))
		require.NoError(b, os.Chmod(dir, 0o700))
		files = append(files, filepath.Join(dir, "store.db"))
	}
	measureProcess(b, "bare-read",
		func(int) *exec.Cmd { return exec.Command(bare, files...) },
		func(int) *exec.Cmd {
			// Something waits, so the exit code is 10.
			cmd := exec.Command("sh", "-c", `"$0" inbox > /dev/null; test $? -eq 10`, programs.waybill)
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
			return cmd
		})
}
