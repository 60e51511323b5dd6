//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
	"waybill/store/sqlite"
	"waybill/store/transfer"
	"waybill/test/slow"
	"waybill/test/teststore"
)

// exported writes an export with so many events.
func exported(t *testing.T, events int) string {
	t.Helper()
	s := teststore.New(t)
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		for i := range events {
			if _, err := tx.Append(store.Event{Type: core.LedgerChanged, Subject: fmt.Sprint(i), Data: "{}"}); err != nil {
				return err
			}
		}
		return nil
	}))
	f, err := os.Create(filepath.Join(t.TempDir(), "export.jsonl"))
	require.NoError(t, err)
	_, err = transfer.Export(t.Context(), s, f, "ws")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return f.Name()
}

// killed runs the program and kills it after a while, unless it has ended before. Whatever came of it, its store is
// sound; the number of its events is given.
func killed(t *testing.T, db string, after time.Duration, args ...string) int64 {
	t.Helper()
	cmd := program(t, t.TempDir(), t.TempDir(), append(args, "--store", db)...)
	require.NoError(t, cmd.Start())
	kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	kill.Stop()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: db})
	require.NoError(t, err)
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
	var newest int64
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) (err error) {
		_, newest, err = tx.Bounds()
		return err
	}))
	require.NoError(t, s.Close())
	return newest
}

// When an import is killed, the store has all of the file or nothing.
func TestImportSurvivesKill(t *testing.T) {
	t.Parallel()
	const events = 1500
	file := exported(t, events)
	for i := range 12 {
		db := filepath.Join(t.TempDir(), "store.db")
		require.Contains(t, []int64{0, events}, killed(t, db, time.Duration(i*i)*time.Millisecond, "import", file))
	}
	require.EqualValues(t, events, killed(t, filepath.Join(t.TempDir(), "store.db"), time.Hour, "import", file))
}

// When a restore is killed, the store is the old one or the new one, whole.
func TestRestoreSurvivesKill(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	const before, after = 700, 1500
	old, file := exported(t, before), exported(t, after)
	for i := range 12 {
		db := filepath.Join(t.TempDir(), "store.db")
		require.EqualValues(t, before, killed(t, db, time.Hour, "import", old))
		require.Contains(t, []int64{before, after}, killed(t, db, time.Duration(i*i)*time.Millisecond, "restore", file))
	}
}
