package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/doctor"
	"waybill/store"
	"waybill/store/sqlite"
)

// survey surveys without patience for locks.
func survey(t *testing.T, path string) (doctor.Store, []doctor.Leftover) {
	t.Helper()
	return sqlite.Survey(t.Context(), sqlite.Options{Path: path}.Waiting(50*time.Millisecond), time.Now())
}

// closed makes a store with some records, and closes it.
func closed(t *testing.T) string {
	t.Helper()
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, appendOne)
	update(t, s, func(tx store.Tx) error { return tx.PutInstruction(newInstruction(1)) })
	require.NoError(t, s.Close())
	return path
}

func TestSurveyOfASoundStore(t *testing.T) {
	path := closed(t)
	facts, litter := survey(t, path)
	require.Empty(t, litter)
	require.True(t, facts.There)
	require.NotEmpty(t, facts.Engine.Version)
	require.NoError(t, facts.Engine.Err)
	require.Equal(t, facts.Engine.WantJournal, facts.Engine.Journal)
	require.GreaterOrEqual(t, facts.Engine.Sync, facts.Engine.WantSync)
	require.Positive(t, facts.Engine.WantSync)
	require.EqualValues(t, 3<<20, facts.Files.Reserve)
	require.Empty(t, facts.Files.Open)
	require.Empty(t, facts.Files.Copies)
	require.Empty(t, facts.Peers)
	require.False(t, facts.Lock.Held || facts.Gate.Held || facts.Lock.Broken)
	require.Equal(t, os.Getpid(), facts.Lock.PID)
	require.True(t, facts.Tables.Read)
	require.EqualValues(t, map[string]int64{"queued": 1}, facts.Tables.Instructions)
	require.EqualValues(t, 1, facts.Tables.Events)
	require.Equal(t, "ledger.changed", facts.Tables.Recent[0].Type)
	require.Equal(t, time.UnixMicro(1).UTC(), facts.Tables.OldestAt)
}

// TestSurveyChangesNothing: not a byte of any file, nor which files there are, also where there is something to mend.
func TestSurveyChangesNothing(t *testing.T) {
	path := closed(t)
	require.NoError(t, os.Remove(path+".reserve"))
	require.NoError(t, os.WriteFile(path+".peer-123", []byte("waybill peer 1\npid 1\nversion x\n"), 0o600))
	listing := func() map[string]string {
		all := map[string]string{}
		entries, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		for _, entry := range entries {
			text := fileText(t, filepath.Join(filepath.Dir(path), entry.Name()))
			all[entry.Name()] = string(text)
		}
		delete(all, filepath.Base(path)+"-shm") // where SQLite notes that somebody reads
		delete(all, filepath.Base(path)+"-wal") // is made empty for that
		return all
	}
	before := listing()
	_, litter := survey(t, path)
	require.Len(t, litter, 1)
	require.Equal(t, before, listing())
}

// TestSurveyOfNothing: where there is no store, none is made, and nothing is known of it.
func TestSurveyOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "store.db")
	facts, litter := survey(t, path)
	require.False(t, facts.There)
	require.False(t, facts.Tables.Read)
	require.Empty(t, litter)
	require.NoDirExists(t, filepath.Dir(path))
}

func TestSurveyOfFaults(t *testing.T) {
	later := time.Now().Add(48 * time.Hour).Truncate(time.Second).UTC()
	for name, row := range map[string]struct {
		does func(t *testing.T, path string) error
		sees func(t *testing.T, facts doctor.Store)
	}{
		"the reserve is gone": {func(_ *testing.T, path string) error { return os.Remove(path + ".reserve") }, func(t *testing.T, facts doctor.Store) {
			require.EqualValues(t, -1, facts.Files.Reserve)
			require.False(t, facts.Files.Spent)
		}},
		"the reserve comes back": {func(t *testing.T, path string) error {
			return errors.Join(os.Remove(path+".reserve"), sqlite.MendReserve(t.Context(), sqlite.Options{Path: path}))
		}, func(t *testing.T, facts doctor.Store) { require.EqualValues(t, 3<<20, facts.Files.Reserve) }},
		"another journal": {func(t *testing.T, path string) error {
			change(t, path, "PRAGMA journal_mode = DELETE")
			return nil
		}, func(t *testing.T, facts doctor.Store) {
			require.EqualValues(t, "delete", facts.Engine.Journal)
			require.EqualValues(t, "wal", facts.Engine.WantJournal)
		}},
		"a large log": {func(_ *testing.T, path string) error {
			return errors.Join(os.WriteFile(path+"-wal", nil, 0o600), os.Truncate(path+"-wal", 65<<20))
		}, func(t *testing.T, facts doctor.Store) { require.Greater(t, facts.Files.WALBytes, facts.Files.WALLimit) }},
		"nothing is said of how a file is synced that is no database": {func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte("Dear reader, this is a letter, and no database at all."), 0o600)
		}, func(t *testing.T, facts doctor.Store) {
			require.Zero(t, facts.Engine.WantSync)
			require.Zero(t, facts.Engine.WantJournal)
		}},
		"a file of the future": {func(_ *testing.T, path string) error { return os.Chtimes(path, later, later) }, func(t *testing.T, facts doctor.Store) {
			require.WithinDuration(t, later, facts.Files.Changed, time.Second)
		}},
		"an event of the future": {func(t *testing.T, path string) error {
			return open(t, sqlite.Options{Path: path}).Update(t.Context(), func(tx store.Tx) error {
				_, err := tx.Append(store.Event{Type: core.LedgerChanged, Subject: "plan", At: core.Instant(later.UnixMicro()), Data: "{}"})
				return err
			})
		}, func(t *testing.T, facts doctor.Store) { require.Equal(t, later, facts.Tables.NewestAt) }},
		"files that others may read": {func(_ *testing.T, path string) error { return os.Chmod(path, 0o644) }, func(t *testing.T, facts doctor.Store) {
			require.True(t, len(facts.Files.Open) == 1 || runtime.GOOS == "windows")
		}},
		"tables of another version": {func(t *testing.T, path string) error {
			change(t, path, "PRAGMA user_version = 999")
			return nil
		}, func(t *testing.T, facts doctor.Store) {
			require.False(t, facts.Tables.Read)
			require.EqualValues(t, 999, facts.Tables.Version)
		}},
		"a process that was killed with the lock": {func(t *testing.T, path string) error {
			text := bytes.Replace(fileText(t, path+".lock"), []byte("free"), []byte("busy"), 1)
			return os.WriteFile(path+".lock", text, 0o600)
		}, func(t *testing.T, facts doctor.Store) { require.True(t, facts.Lock.Broken) }},
	} {
		t.Run(name, func(t *testing.T) {
			path := closed(t)
			require.NoError(t, row.does(t, path))
			facts, _ := survey(t, path)
			row.sees(t, facts)
		})
	}
}

// TestSurveyOfPeers: who lives is told with its version, and what the dead have left is litter that a Sweep removes.
func TestSurveyOfPeers(t *testing.T) {
	path := closed(t)
	s := open(t, sqlite.Options{Path: path, Version: "0.9"})
	dead := path + ".peer-123"
	require.NoError(t, os.WriteFile(dead, []byte("waybill peer 1\npid 1\nversion x\n"), 0o600))
	facts, litter := survey(t, path)
	require.Equal(t, []doctor.Peer{{PID: os.Getpid(), Version: "0.9"}}, facts.Peers)
	require.Len(t, litter, 1)
	require.FileExists(t, dead)

	sqlite.Sweep(path)
	require.NoFileExists(t, dead)
	facts, litter = survey(t, path)
	require.Len(t, facts.Peers, 1, "who lives is not swept away")
	require.Empty(t, litter)
	update(t, s, appendOne)
}

// TestSurveyOfLocks: a lock that somebody keeps is told, with who it is; one that is let go of in time is free.
func TestSurveyOfLocks(t *testing.T) {
	path := closed(t)
	s := open(t, sqlite.Options{Path: path})
	var facts doctor.Store
	update(t, s, func(tx store.Tx) error {
		facts, _ = survey(t, path)
		return appendOne(tx)
	})
	require.True(t, facts.Lock.Held)
	require.Equal(t, os.Getpid(), facts.Lock.PID)
	require.Equal(t, 50*time.Millisecond, facts.Lock.For)
	require.False(t, facts.Gate.Held)
	require.True(t, facts.Tables.Read, "it is read all the same")

	facts, _ = survey(t, path)
	require.False(t, facts.Lock.Held)
}

// TestSurveyOfLocksThatAreNoFiles: what lies in their place is told, and nobody waits for it.
func TestSurveyOfLocksThatAreNoFiles(t *testing.T) {
	path := closed(t)
	for _, name := range []string{".lock", ".lock.gate"} {
		require.NoError(t, os.Remove(path+name))
		require.NoError(t, os.Mkdir(path+name, 0o700))
	}
	facts, _ := survey(t, path)
	require.True(t, facts.Lock.Odd)
	require.True(t, facts.Gate.Odd)
}

// TestSurveyOfCopies: what was left on purpose is told, with its kind, and what was not finished is litter once it is
// old and nobody has the store open.
// Of a restore that was killed, and of the stores that restores have set aside, nobody was told.
func TestSurveyOfCopies(t *testing.T) {
	path := closed(t)
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{
		".rescued-20260101T000000Z-7", ".corrupt-20260101T000000Z", ".replaced-20260101T000000Z-2", // copies
		".rescued-20260101T000000Z-7.lock", ".rescued-20260101T000000Z-7-wal", "other", // what lies beside them, or is none
		".part-123", ".rescued-20260101T000000Z-7.part-9", ".restoring-17", ".restoring-17-journal", ".salvaging-8", // unfinished
	} {
		require.NoError(t, os.WriteFile(path+name, []byte("four"), 0o600))
		require.NoError(t, os.Chtimes(path+name, old, old))
	}
	require.NoError(t, os.WriteFile(path+".part-124", nil, 0o600)) // somebody may be writing it
	facts, litter := survey(t, path)
	require.ElementsMatch(t, []doctor.Copy{
		{Path: facts.Path + ".rescued-20260101T000000Z-7", Kind: "rescued", Bytes: 4},
		{Path: facts.Path + ".corrupt-20260101T000000Z", Kind: "corrupt", Bytes: 4},
		{Path: facts.Path + ".replaced-20260101T000000Z-2", Kind: "replaced", Bytes: 4},
	}, facts.Files.Copies)
	require.ElementsMatch(t, []doctor.Leftover{
		{Path: facts.Path + ".part-123", Bytes: 4},
		{Path: facts.Path + ".rescued-20260101T000000Z-7.part-9", Bytes: 4},
		{Path: facts.Path + ".restoring-17", Bytes: 4},
		{Path: facts.Path + ".restoring-17-journal", Bytes: 4},
		{Path: facts.Path + ".salvaging-8", Bytes: 4},
	}, litter)

	open(t, sqlite.Options{Path: path})
	_, litter = survey(t, path)
	require.Empty(t, litter, "who has it open may be writing them")
}

// TestFindingsUnderNoNameWereLost: what cannot be read is told under the name of a check that there is.
func TestFindingsUnderNoNameWereLost(t *testing.T) {
	path := closed(t)
	spoilPages(t, path, "name = 'head'")
	rows := map[string]bool{}
	for _, check := range doctor.Table() {
		rows[check.Name] = true
	}
	facts, _ := survey(t, path)
	failed := map[string]bool{}
	for _, found := range facts.Findings {
		require.True(t, rows[found.Check], "no check has the name %q", found.Check)
		failed[found.Check] = failed[found.Check] || found.Level == doctor.Fail
	}
	require.True(t, failed["lock file"])
}
