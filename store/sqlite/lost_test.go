package sqlite_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultS11_FilesTaken: the files are removed or replaced while the store is open. The next Update
// says so instead of writing into the void, everything confirmed is rescued, and what has the names
// now is left alone.
func TestFaultS11_FilesTaken(t *testing.T) {
	unixOnly(t, "an open file can be neither removed nor replaced here")
	faults := map[string]func(t *testing.T, path string){
		"database removed": func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"everything removed": func(t *testing.T, path string) {
			require.NoError(t, os.RemoveAll(filepath.Dir(path)))
		},
		"wal removed": func(t *testing.T, path string) { require.NoError(t, os.Remove(path+"-wal")) },
		"shm removed": func(t *testing.T, path string) { require.NoError(t, os.Remove(path+"-shm")) },
		"database replaced": func(t *testing.T, path string) {
			copyFile(t, oldStore(t), path+".new")
			require.NoError(t, os.Rename(path+".new", path))
		},
		"database moved": func(t *testing.T, path string) { require.NoError(t, os.Rename(path, path+".old")) },
	}
	for name, take := range faults {
		t.Run(name, func(t *testing.T) {
			s, path := openNew(t)
			for range 3 {
				update(t, s, appendOne)
			}
			take(t, path)
			e := notApplied(t, s.Update(t.Context(), appendOne), store.Lost)
			requireRescued(t, path, e.Message, 3)
			require.True(t, noteWith(s, t, "rescued"))

			requireFault(t, s.Update(t.Context(), appendOne), store.Lost)
			require.EqualValues(t, 3, newest(t, s), "reading goes on")
			require.True(t, s.Status(t.Context()).ReadOnly)
		})
	}
}

// requireRescued opens the copy beside the lost store.
func requireRescued(t *testing.T, path, message string, records int64) {
	t.Helper()
	copies, err := filepath.Glob(path + ".rescued-*")
	require.NoError(t, err)
	require.Len(t, copies, 1)
	require.Contains(t, message, copies[0])
	rescued := open(t, sqlite.Options{Path: copies[0]})
	require.Equal(t, records, newest(t, rescued))
	sound(t, rescued)
}

// TestFaultS11_RestartAfterALossIsNotEmpty: a store whose database was removed is opened again. It does
// not begin anew beside what was rescued, but says where that is; moved back, it is the store.
func TestFaultS11_RestartAfterALossIsNotEmpty(t *testing.T) {
	unixOnly(t, "an open file cannot be removed here")
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	for range 3 {
		update(t, s, appendOne)
	}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		require.NoError(t, os.Remove(file))
	}
	requireFault(t, s.Update(t.Context(), appendOne), store.Lost)
	require.NoError(t, s.Close())
	copies, err := filepath.Glob(path + ".rescued-*")
	require.NoError(t, err)
	require.Len(t, copies, 1)
	looked := open(t, sqlite.Options{Path: copies[0]})
	require.NoError(t, looked.Close())
	require.FileExists(t, copies[0]+".lock", "it is not taken for a copy")

	for range 2 {
		e := notOpened(t, sqlite.Options{Path: path}, store.Lost)
		require.Contains(t, e.Message, copies[0])
		require.Contains(t, e.Message, "move that back to "+path+" ")
		require.NoFileExists(t, path, "nothing was begun")
	}
	require.NoError(t, os.Rename(copies[0], path))
	again := open(t, sqlite.Options{Path: path})
	require.EqualValues(t, 3, newest(t, again))
	require.NoError(t, again.Close())

	require.NoError(t, os.Remove(path))
	anew := open(t, sqlite.Options{Path: path})
	require.Zero(t, newest(t, anew), "with no copy beside it, it begins anew")
}

// TestFaultS11_ReplacedIsNotMixed: another store takes the place of ours. Ours does not read it, and
// leaves behind nothing that would be replayed into it.
func TestFaultS11_ReplacedIsNotMixed(t *testing.T) {
	unixOnly(t, "an open file cannot be replaced here")
	s, path := openNew(t)
	for range 3 {
		update(t, s, appendOne)
	}
	copyFile(t, oldStore(t), path+".new")
	require.NoError(t, os.Rename(path+".new", path))
	err := s.View(t.Context(), func(store.Tx) error {
		require.Fail(t, "the other store is read")
		return nil
	})
	requireFault(t, err, store.Lost)
	requireFault(t, s.Update(t.Context(), appendOne), store.Lost)
	require.EqualValues(t, 3, newest(t, s))

	another := open(t, sqlite.Options{Path: path})
	require.EqualValues(t, oldRecords, newest(t, another))
	update(t, another, appendOne)
	sound(t, another)
}

// TestFaultS11_TakenWithinAnUpdate: the database is removed between the beginning and the end of an
// Update. It was committed to a file without a name, so that it is in doubt, and rescued.
func TestFaultS11_TakenWithinAnUpdate(t *testing.T) {
	unixOnly(t, "an open file cannot be removed here")
	s, path := openNew(t)
	e := fault(t, s.Update(t.Context(), func(tx store.Tx) error {
		require.NoError(t, os.Remove(path))
		return appendOne(tx)
	}), store.Lost)
	require.Equal(t, store.Unknown, e.Outcome)
	requireRescued(t, path, e.Message, 1)
	again := fault(t, s.Update(t.Context(), appendOne), store.Lost)
	require.Equal(t, store.NotApplied, again.Outcome)
}

// TestFaultS11_SuccessorIsLeftAlone: after the files were taken, another process makes a new store of
// the same name. The old one, when it is closed, does not remove the files of the new one, although
// they have the names of its own.
func TestFaultS11_SuccessorIsLeftAlone(t *testing.T) {
	unixOnly(t, "an open file cannot be removed here")
	path := path(t)
	old := open(t, sqlite.Options{Path: path})
	update(t, old, appendOne)
	require.EqualValues(t, 1, newest(t, old))
	for _, file := range []string{path, path + "-wal", path + "-shm", path + ".lock"} {
		require.NoError(t, os.Remove(file))
	}
	successor := start(t, command(t, "steps", path))
	require.Equal(t, "1", successor.ask(t, "update"))
	require.NoError(t, old.Close())
	require.Equal(t, "2", successor.ask(t, "update"))
	require.NoError(t, successor.in.Close())
	require.Empty(t, successor.rest())
	require.EqualValues(t, 2, newest(t, open(t, sqlite.Options{Path: path})))
}

// TestFaultS12_WALRemoved: the -wal that a crash has left is removed, or an older copy is put back.
// The lock file remembers that there was more.
func TestFaultS12_WALRemoved(t *testing.T) {
	elsewhere := withoutWAL(t)
	copied := open(t, sqlite.Options{Path: elsewhere})
	require.True(t, noteWith(copied, t, "the newest 3 events are lost"))
	require.EqualValues(t, oldRecords, newest(t, copied))
	require.NoError(t, copied.Close())
	copied = open(t, sqlite.Options{Path: elsewhere})
	require.False(t, noteWith(copied, t, "are lost"), "it is said once")
}

// withoutWAL returns a store that has lost three records with its -wal.
func withoutWAL(t *testing.T) string {
	t.Helper()
	path, elsewhere := oldStore(t), path(t)
	s := open(t, sqlite.Options{Path: path})
	for range 3 {
		update(t, s, appendOne)
	}
	copyFile(t, path, elsewhere)
	copyFile(t, path+".lock", elsewhere+".lock")
	return elsewhere
}

// TestFaultS12_StoreRemoved: a store that was removed while it was closed is made anew, and that is said and logged.
func TestFaultS12_StoreRemoved(t *testing.T) {
	path := oldStore(t)
	require.NoError(t, os.Remove(path))
	var log strings.Builder
	s := open(t, sqlite.Options{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.True(t, noteWith(s, t, "event 300"))
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "event 300")
	update(t, s, appendOne)
	require.EqualValues(t, 1, newest(t, s))
}
