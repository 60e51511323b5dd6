package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
	"waybill/store"
	"waybill/store/sqlite"
)

// backup returns a copy of the store.
func backup(t *testing.T, s *sqlite.Store) string {
	t.Helper()
	copied := path(t)
	backupTo(t, s, copied)
	return copied
}

func backupTo(t *testing.T, s *sqlite.Store, to string) {
	t.Helper()
	damage, err := s.Backup(t.Context(), to)
	require.NoError(t, err, to)
	require.Empty(t, damage)
}

func restoreCopy(t *testing.T, path, from string) sqlite.Restored {
	t.Helper()
	done, err := sqlite.RestoreCopy(t.Context(), sqlite.Options{Path: path}, from)
	require.NoError(t, err)
	requireNoPart(t, path)
	return done
}

// TestRestoreWhileOthersAreAtWork: two processes have the store open, and go on with the contents that were put in the
// place of theirs, which are kept. The event log goes back by it, and forwards by the next.
func TestRestoreWhileOthersAreAtWork(t *testing.T) {
	path := path(t)
	s := withEvents(t, path, 2)
	copied := backup(t, s)
	c := stepper(t, path)
	require.Equal(t, "3", c.ask(t, "update"))
	update(t, s, appendOne)
	changed := s.Changed()

	first := restoreCopy(t, path, copied)
	awaitSignal(t, changed)
	require.EqualValues(t, 2, newest(t, s))
	require.Equal(t, "2", c.ask(t, "newest"))
	require.Equal(t, "3", c.ask(t, "update"))
	update(t, s, appendOne)
	require.Equal(t, "4", c.ask(t, "newest"))
	requireEvents(t, first.SetAside, 4)

	second, err := sqlite.Restore(t.Context(), sqlite.Options{Path: path}, func(tx store.Tx) error {
		return errors.Join(fillThree(tx), fillThree(tx))
	})
	require.NoError(t, err)
	require.Equal(t, "7", c.ask(t, "update"))
	update(t, s, appendOne)
	require.EqualValues(t, 8, newest(t, s))
	require.Empty(t, s.Status(t.Context()).Degraded)
	sound(t, s)
	requireEvents(t, second.SetAside, 4)
	require.NotEqual(t, first.SetAside, second.SetAside)
	before, err := os.Stat(path)
	require.NoError(t, err)
	third := restoreCopy(t, path, first.SetAside)
	require.EqualValues(t, 4, newest(t, s))
	restoreCopy(t, path, third.SetAside)
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "the file stays")
	require.EqualValues(t, 8, newest(t, s))
	c.end(t)
	require.NoError(t, s.Close())
	requireEvents(t, path, 8)
	requireNoPart(t, path)
}

// TestRestoredContentsAreNotMixedWithKnownOnes: what a process knows from its own commits ends with a restore, also if
// the log has the same number of records afterwards.
func TestRestoredContentsAreNotMixedWithKnownOnes(t *testing.T) {
	s, path := openNew(t)
	update(t, s, func(tx store.Tx) error { return queueOne(tx, 1) })
	copied := backup(t, s)
	update(t, s, func(tx store.Tx) error { return errors.Join(acknowledgeOne(tx, 1), queueOne(tx, 2)) })
	restoreCopy(t, path, copied)
	requireState(t, s, 1, instruction.StateQueued)
	update(t, s, func(tx store.Tx) error {
		_, ok, err := tx.Instruction(benchID(2))
		require.False(t, ok)
		return errors.Join(err, queueOne(tx, 2))
	})
	requireInstructions(t, s, 2)
	sound(t, s)
}

// TestViewKeepsItsMomentInARestore: who reads goes on to read what was there, and holds up nobody.
func TestViewKeepsItsMomentInARestore(t *testing.T) {
	path := path(t)
	s := withEvents(t, path, 2)
	copied := backup(t, s)
	update(t, s, appendOne)
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		_, before, err := tx.Bounds()
		require.NoError(t, err)
		restoreCopy(t, path, copied)
		events, err := tx.Events(0, 10, nil)
		require.Len(t, events, int(before))
		return err
	}))
	require.EqualValues(t, 2, newest(t, s))
}

// TestRestoreWaitsNoLongerThanOthersDo: somebody is at a change and does not end it.
func TestRestoreWaitsNoLongerThanOthersDo(t *testing.T) {
	path, copied := path(t), path(t)
	require.NoError(t, withEvents(t, copied, 3).Close())
	c := holding(t, path)
	require.ErrorContains(t, notRestored(t, sqlite.Options{Path: path}.Waiting(time.Millisecond), copied, store.Busy), "is writing to the store")
	requireNoPart(t, path)
	_, err := c.in.Write([]byte("\n"))
	require.NoError(t, err)
	require.Empty(t, c.rest())
	requireEvents(t, path, 1)
}

// TestRestoreOfOtherPages: the copy has pages of another size, which an open database cannot change.
func TestRestoreOfOtherPages(t *testing.T) {
	path, copied := path(t), path(t)
	require.NoError(t, withEvents(t, copied, 5).Close())
	change(t, copied, "PRAGMA journal_mode = DELETE", "PRAGMA page_size = 8192", "VACUUM")
	s := withEvents(t, path, 1)
	restoreCopy(t, path, copied)
	update(t, s, appendOne)
	require.EqualValues(t, 6, newest(t, s))
	sound(t, s)
}

// TestTablesBroughtUpUnderAProcessWereWritten: a newer waybill brings the tables up while this one has the store open, which
// reads on and does not write what it does not know, nor put a copy there that the newer one could not use.
func TestTablesBroughtUpUnderAProcessWereWritten(t *testing.T) {
	path, copied := oldStore(t), path(t)
	require.NoError(t, withEvents(t, copied, 3).Close())
	s := open(t, sqlite.Options{Path: path})
	update(t, s, appendOne)
	change(t, path, newerTables...)
	_ = notRestored(t, sqlite.Options{Path: path}, copied, store.NewerSchema)
	requireNoPart(t, path)
	left, err := filepath.Glob(path + ".replaced-*")
	require.NoError(t, err)
	require.Empty(t, left)
	for range 2 {
		e := notApplied(t, s.Update(t.Context(), appendOne), store.NewerSchema)
		require.Contains(t, e.Message, "use the newer waybill")
	}
	require.True(t, s.Status(t.Context()).ReadOnly)
	require.EqualValues(t, oldRecords+1, newest(t, s))
}

// TestRestoreHealsADamagedRow: the status names no damage of contents that are gone, and what has the name of the damaged
// row is read.
func TestRestoreHealsADamagedRow(t *testing.T) {
	path := fullStore(t)
	s := open(t, sqlite.Options{Path: path})
	copied := backup(t, s)
	change(t, path, "UPDATE instructions SET content = 'other' WHERE position = 7")
	read := func(tx store.Tx) error {
		_, _, err := tx.Instruction(benchID(7))
		return err
	}
	requireFault(t, s.Update(t.Context(), read), store.Corrupt)
	require.Len(t, s.Status(t.Context()).Degraded, 1)
	done := restoreCopy(t, path, copied)
	update(t, s, read)
	require.Empty(t, s.Status(t.Context()).Degraded)
	sound(t, s)

	aside := open(t, sqlite.Options{Path: done.SetAside})
	requireFault(t, aside.View(t.Context(), read), store.Corrupt)
}

// TestRestoreHealsADamagedFile: SQLite can make no sense of the file, so that nothing is written any more. The restore
// keeps it as it is, and those who have it open go on.
func TestRestoreHealsADamagedFile(t *testing.T) {
	unixOnly(t, "an open database is locked against being damaged here")
	path, copied := fullStore(t), path(t)
	require.NoError(t, withEvents(t, copied, 3).Close())
	broken := path + ".broken"
	copyFile(t, path, broken)
	spoilPages(t, broken, "name <> 'sqlite_schema'")
	c := stepper(t, path)
	require.Equal(t, "false", c.ask(t, "read only?"))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.Write(fileText(t, broken))
	require.NoError(t, errors.Join(err, f.Close()))
	require.Equal(t, "corrupt not_applied", c.ask(t, "update"))
	require.Equal(t, "true", c.ask(t, "read only?"))
	require.Equal(t, "corrupt not_applied", c.ask(t, "update"))
	damaged := fileText(t, path)

	done := restoreCopy(t, path, copied)
	require.Equal(t, "4", c.ask(t, "update"))
	require.Equal(t, "false", c.ask(t, "read only?"))
	kept := fileText(t, done.SetAside)
	require.Equal(t, damaged[4096:], kept[4096:])
	s := open(t, sqlite.Options{Path: path})
	require.EqualValues(t, 4, newest(t, s))
	sound(t, s)
}

// TestRestoreOfWhatIsNoDatabaseWhileItIsInUse: what is there cannot even be copied, so that those who have it open have to
// end before another file takes its place.
func TestRestoreOfWhatIsNoDatabaseWhileItIsInUse(t *testing.T) {
	unixOnly(t, "an open database is locked against being damaged here")
	path, copied := fullStore(t), path(t)
	require.NoError(t, withEvents(t, copied, 3).Close())
	c := stepper(t, path)
	require.Equal(t, "400", c.ask(t, "newest"))
	require.NoError(t, os.WriteFile(path, []byte("Dear reader,"), 0o600))
	require.ErrorContains(t, notRestored(t, sqlite.Options{Path: path}, copied, store.Busy), "end it and try again")
	requireNoPart(t, path)
	c.kill(t)
	restoreCopy(t, path, copied)
	requireEvents(t, path, 3)
}

// TestRestoreKeepsWhatTheFileSaysOfItself: a copy does not say that it has a write-ahead log, and the file goes on to.
func TestRestoreKeepsWhatTheFileSaysOfItself(t *testing.T) {
	path := path(t)
	s := withEvents(t, path, 2)
	said := func() (all []string) {
		db := raw(t, path)
		for _, name := range []string{"journal_mode", "auto_vacuum", "application_id", "user_version", "encoding", "page_size"} {
			var value string
			require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&value))
			all = append(all, name+" "+value)
		}
		require.NoError(t, db.Close())
		return all
	}
	before := said()
	require.Equal(t, "journal_mode wal", before[0])
	restoreCopy(t, path, backup(t, s))
	require.Equal(t, before, said())
	update(t, s, func(tx store.Tx) error {
		_, err := tx.Prune(2, 1)
		return err
	})
	require.NoError(t, s.Close())
	require.Equal(t, before, said())
}

// TestRestoreBesideOneWhoNeverStops: another process commits without a pause, while the store is put back again and again.
// Nothing of either is mixed, and no commit that was confirmed behind a restore is missing.
func TestRestoreBesideOneWhoNeverStops(t *testing.T) {
	path := path(t)
	s := withEvents(t, path, 2)
	copied := backup(t, s)
	c := start(t, command(t, "append", path))
	awaitFirst := func() { // behind what was there at the beginning, or was put back
		for c.line(t) != "3" {
		}
	}
	for range 10 {
		awaitFirst()
		done := restoreCopy(t, path, copied)
		aside := open(t, sqlite.Options{Path: done.SetAside})
		require.Greater(t, newest(t, aside), int64(2))
		sound(t, aside)
		require.NoError(t, aside.Close())
	}
	awaitFirst()
	last := "3"
	require.NoError(t, c.Process.Kill())
	for _, line := range c.rest() {
		last = line
	}
	_ = c.Wait()
	require.GreaterOrEqual(t, newest(t, s), numbers(t, []string{last})[0])
	update(t, s, appendOne)
	sound(t, s)
}
