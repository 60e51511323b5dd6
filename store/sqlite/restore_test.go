package sqlite_test

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
)

// withEvents makes a store with so many events.
func withEvents(t *testing.T, path string, n int) *sqlite.Store {
	t.Helper()
	s := open(t, sqlite.Options{Path: path})
	for range n {
		update(t, s, appendOne)
	}
	return s
}

// requireEvents opens the store, which must be sound, and compares how many events it has.
func requireEvents(t *testing.T, path string, want int64) {
	t.Helper()
	s := open(t, sqlite.Options{Path: path})
	require.Equal(t, want, newest(t, s))
	sound(t, s)
	require.Empty(t, s.Status(t.Context()).Degraded)
	require.NoError(t, s.Close())
}

// requireNoPart makes sure that a restore left nothing that is not whole.
func requireNoPart(t *testing.T, path string) {
	t.Helper()
	left, err := filepath.Glob(path + ".restoring-*")
	require.NoError(t, err)
	require.Empty(t, left)
}

// notRestored fails t unless a restore is refused with that kind of error, which it returns.
func notRestored(t *testing.T, o sqlite.Options, copied string, kind store.Kind) *store.Error {
	t.Helper()
	_, err := sqlite.RestoreCopy(t.Context(), o, copied)
	return fault(t, err, kind)
}

func fillThree(tx store.Tx) error { return errors.Join(appendOne(tx), appendOne(tx), appendOne(tx)) }

func TestRestoreSetsTheStoreAside(t *testing.T) {
	path := path(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	s := withEvents(t, path, 2)
	backupTo(t, s, copied)
	update(t, s, appendOne)
	require.NoError(t, s.Close())

	first, err := sqlite.RestoreCopy(t.Context(), sqlite.Options{Path: path}, copied)
	require.NoError(t, err)
	requireEvents(t, path, 2)
	requireEvents(t, first.SetAside, 3)

	second, err := sqlite.Restore(t.Context(), sqlite.Options{Path: path}, func(tx store.Tx) error {
		return errors.Join(fillThree(tx), fillThree(tx))
	})
	require.NoError(t, err)
	require.NotEqual(t, first.SetAside, second.SetAside)
	requireEvents(t, path, 6)
	requireEvents(t, second.SetAside, 2)
	requireEvents(t, copied, 2)
	requireNoPart(t, path)
}

// TestJournalOfALostStoreWasRolledBackInTheRestoredOne: there is no store, but files of one. The journal says that the
// database had one page, so that SQLite cut the new one to that.
func TestJournalOfALostStoreWasRolledBackInTheRestoredOne(t *testing.T) {
	journal := make([]byte, 512)
	copy(journal, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
	for at, n := range map[int]uint32{16: 1, 20: 512, 24: 4096} { // pages, bytes of a sector, bytes of a page
		binary.BigEndian.PutUint32(journal[at:], n)
	}
	for side, text := range map[string]string{"-wal": "left here by another database", "-journal": string(journal)} {
		path := path(t)
		require.NoError(t, os.WriteFile(path+side, []byte(text), 0o600))
		done, err := sqlite.Restore(t.Context(), sqlite.Options{Path: path}, fillThree)
		require.NoError(t, err)
		require.Equal(t, sqlite.Restored{Path: done.Path}, done)
		requireEvents(t, path, 3)
	}
}

func TestRestoreThatFailsChangesNothing(t *testing.T) {
	path := path(t)
	require.NoError(t, withEvents(t, path, 2).Close())
	no := errors.New("no")
	_, err := sqlite.Restore(t.Context(), sqlite.Options{Path: path}, func(tx store.Tx) error {
		return errors.Join(fillThree(tx), no)
	})
	require.ErrorIs(t, err, no)
	_, err = sqlite.Restore(t.Context(), sqlite.Options{Path: path}, func(tx store.Tx) error {
		one, _ := task.Create(taskID(1), "att_1", 1, task.Spec{Prompt: content, MaxAttempts: 3}, 0, 1)
		return tx.PutTask(one)
	})
	require.ErrorContains(t, err, "has no attempt")
	letter := filepath.Join(t.TempDir(), "letter.db")
	require.NoError(t, os.WriteFile(letter, []byte("Dear reader,"), 0o600))
	_ = notRestored(t, sqlite.Options{Path: path}, letter, store.Corrupt)
	requireEvents(t, path, 2)
	requireNoPart(t, path)
}

func TestRestoreRefusesADamagedCopy(t *testing.T) {
	path, copied := path(t), path(t)
	require.NoError(t, withEvents(t, path, 2).Close())
	require.NoError(t, withEvents(t, copied, 3).Close())
	change(t, copied, "UPDATE events SET subject = 'other' WHERE seq = 1")
	require.ErrorContains(t, notRestored(t, sqlite.Options{Path: path}, copied, store.Corrupt), "event 1")
	change(t, copied, "PRAGMA user_version = 999")
	_ = notRestored(t, sqlite.Options{Path: path}, copied, store.NewerSchema)
	change(t, copied, "PRAGMA application_id = 7")
	_, err := sqlite.RestoreCopy(t.Context(), sqlite.Options{Path: path}, copied)
	require.ErrorContains(t, err, "another program")
	requireEvents(t, path, 2)
}

// A store that was opened for reading is not written, and one that is not there is not made.
func TestReadOnlyStoreIsNotWritten(t *testing.T) {
	path := path(t)
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, ReadOnly: true})
	require.Error(t, err)
	require.NoFileExists(t, path)
	require.NoError(t, withEvents(t, path, 2).Close())
	before := fileText(t, path)
	var log strings.Builder
	s := open(t, sqlite.Options{Path: path, ReadOnly: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.Empty(t, log.String(), "nothing went wrong")
	require.True(t, s.Status(t.Context()).ReadOnly)
	requireFault(t, s.Update(t.Context(), appendOne), store.ReadOnly)
	require.EqualValues(t, 2, newest(t, s))
	require.NoError(t, s.Close())
	after := fileText(t, path)
	require.Equal(t, before, after)
}

// TestRelativeNamesWereTakenForMachines: a copy may be named from the current folder.
func TestRelativeNamesWereTakenForMachines(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.Mkdir("deep", 0o700))
	path := filepath.Join(dir, "deep", "store.db")
	s := withEvents(t, path, 2)
	for _, name := range []string{"copy.db", "./other.db", "deep/../third.db", "deep/copy.db"} {
		damage, err := s.Backup(t.Context(), name)
		require.NoError(t, err, name)
		require.Empty(t, damage)
	}
	require.NoError(t, s.Close())
	done, err := sqlite.RestoreCopy(t.Context(), sqlite.Options{Path: path}, "copy.db")
	require.NoError(t, err)
	requireEvents(t, done.Path, 2)
	t.Chdir("deep")
	_, err = sqlite.RestoreCopy(t.Context(), sqlite.Options{Path: path}, "../third.db")
	require.NoError(t, err)
	_, err = sqlite.SalvageTo(t.Context(), sqlite.Options{Path: path}, "saved.db")
	require.NoError(t, err)
	requireEvents(t, filepath.Join(dir, "deep", "saved.db"), 2)
}
