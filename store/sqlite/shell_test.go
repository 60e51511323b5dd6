package sqlite_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/store"
	"waybill/store/sqlite"
)

// TestSQLiteOfDebianCouldNotCheckAStore: the schema uses only functions that the sqlite3 program of Debian
// stable knows, so that a person can check and read a store with it.
func TestSQLiteOfDebianCouldNotCheckAStore(t *testing.T) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		require.NotEqual(t, "required", os.Getenv("WAYBILL_SQLITE3_TESTS"), "sqlite3 is not installed")
		t.Skip("the sqlite3 program is not installed")
	}
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		require.NoError(t, tx.PutInstruction(newInstruction(1)))
		require.NoError(t, tx.PutRun(run.Run{
			ID: "run_1", Plan: "tasks.md", ItemID: "1", State: run.Running, Policy: coretest.Policy(), PlanVersion: 1, Revision: 1,
		}))
		require.NoError(t, tx.PutPrompt(store.Prompt{RunID: "run_1", Role: core.Worker, At: 1, Text: content}))
		require.NoError(t, appendOne(tx))
		return staff(tx, 1)
	})
	require.NoError(t, s.Close())
	for _, check := range []string{"PRAGMA integrity_check", "PRAGMA quick_check"} {
		said, err := exec.CommandContext(t.Context(), shell, path, check).CombinedOutput()
		require.NoError(t, err, "%s: %s", check, said)
		require.Equal(t, "ok", strings.TrimSpace(string(said)), check)
	}
}
