package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// keepsake writes a file of the user's own and makes sure in the end that it is as it was.
func keepsake(t *testing.T, path string) {
	t.Helper()
	const text = "of the user's own"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	t.Cleanup(func() {
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(now))
	})
}

// requireFiles fails unless a folder has these files and no others.
func requireFiles(t *testing.T, dir string, known ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, filepath.Join(dir, entry.Name()))
	}
	require.ElementsMatch(t, known, names)
}

// TestBackupTouchesNoOtherFile: a file FILE.part beside the one to be made is not ours.
func TestBackupTouchesNoOtherFile(t *testing.T) {
	s := open(t, sqlite.Options{Path: fullStore(t)})
	target := filepath.Join(t.TempDir(), "copy.db")
	keepsake(t, target+".part")
	_, err := s.Backup(t.Context(), target)
	require.NoError(t, err)
	requireFiles(t, filepath.Dir(target), target, target+".part")
	_, err = s.Backup(t.Context(), target)
	requireFault(t, err, store.Unsafe)
	requireFiles(t, filepath.Dir(target), target, target+".part")
}

// TestSalvageTouchesNoOtherFile: neither is FILE.salvaging, with or without a journal.
func TestSalvageTouchesNoOtherFile(t *testing.T) {
	damaged := fullStore(t)
	target := filepath.Join(t.TempDir(), "saved.db")
	for _, path := range []string{target, damaged} {
		keepsake(t, path+".salvaging")
		keepsake(t, path+".salvaging-journal")
	}
	_, err := sqlite.SalvageTo(t.Context(), sqlite.Options{Path: damaged}, target)
	require.NoError(t, err)
	requireFiles(t, filepath.Dir(target), target, target+".salvaging", target+".salvaging-journal")
	_, err = sqlite.Salvage(t.Context(), sqlite.Options{Path: damaged})
	require.NoError(t, err)
}

// TestSalvageKeepsEveryDamagedFile: a store that is salvaged again and again within a second leaves each of
// the damaged files.
func TestSalvageKeepsEveryDamagedFile(t *testing.T) {
	path := fullStore(t)
	aside := map[string]bool{}
	for range 3 {
		result, err := sqlite.Salvage(t.Context(), sqlite.Options{Path: path})
		require.NoError(t, err)
		require.FileExists(t, result.SetAside)
		aside[result.SetAside] = true
	}
	require.Len(t, aside, 3)
}

// TestSalvageLeavesAStoreInUse: who has the store open would write on into a file without a name. The
// salvage is refused and says who that is; into a file beside it, it is not.
func TestSalvageLeavesAStoreInUse(t *testing.T) {
	path := fullStore(t)
	c := stepper(t, path)
	require.Equal(t, "401", c.ask(t, "update"))
	_, err := sqlite.Salvage(t.Context(), sqlite.Options{Path: path})
	e := fault(t, err, store.Busy)
	require.Equal(t, store.NotApplied, e.Outcome)
	require.Contains(t, e.Message, fmt.Sprint(c.Process.Pid))
	require.Contains(t, e.Message, "salvage FILE")
	require.Equal(t, "402", c.ask(t, "update"))

	target := filepath.Join(t.TempDir(), "saved.db")
	result, err := sqlite.SalvageTo(t.Context(), sqlite.Options{Path: path}, target)
	require.NoError(t, err)
	require.Equal(t, 402, result.Kept["events"])
	require.Equal(t, "403", c.ask(t, "update"))

	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	_, err = sqlite.Salvage(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
}
