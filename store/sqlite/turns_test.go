package sqlite_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// unixOnly skips a test of what only Unix lets happen.
func unixOnly(t *testing.T, why string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip(why)
	}
}

// TestFaultS7_AllMakeTheStore: several processes come to a place where there is no store yet.
func TestFaultS7_AllMakeTheStore(t *testing.T) {
	path := path(t)
	const processes, each = 4, 3
	var children []*child
	for range processes {
		cmd := command(t, "some", path)
		cmd.Env = append(cmd.Env, fmt.Sprint("COUNT=", each))
		children = append(children, start(t, cmd))
	}
	for _, c := range children {
		require.Len(t, numbers(t, c.rest()), each)
		require.NoError(t, c.Wait())
	}
	s := open(t, sqlite.Options{Path: path})
	require.EqualValues(t, processes*each, newest(t, s))
	require.Empty(t, s.Status(t.Context()).Degraded)
	sound(t, s)
}

// TestFaultS7_GivenUpWaiting: a request for the lock that nobody waits for any more does not keep the
// lock from others when it comes up.
func TestFaultS7_GivenUpWaiting(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path}.Waiting(time.Millisecond))
	c := holding(t, path)
	requireFault(t, s.Update(t.Context(), appendOne), store.Busy)
	c.release(t)
	another := open(t, sqlite.Options{Path: path}.Waiting(10*time.Second))
	update(t, another, appendOne)
	require.EqualValues(t, 2, newest(t, another))
}

// TestFaultS8_ForeignLock: a program that takes no turns with us waits for our Update from its first
// moment on, and we wait for it, until it has been too long.
func TestFaultS8_ForeignLock(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path}.Waiting(10*time.Millisecond))
	db := raw(t, path, "PRAGMA busy_timeout = 0")
	update(t, s, func(tx store.Tx) error {
		if _, _, err := tx.Bounds(); err != nil {
			return err
		}
		_, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		require.ErrorContains(t, err, "locked", "an Update that only reads so far has the write lock already")
		return appendOne(tx)
	})
	_, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	_ = notApplied(t, s.Update(t.Context(), appendOne), store.Busy)
	_, err = db.ExecContext(t.Context(), "COMMIT")
	require.NoError(t, err)
	update(t, s, appendOne)
}

// TestFaultS10_SharedBetweenMachines: a folder that is copied to other machines is refused, like a
// network file system. Who insists gets a store for one process, without shared memory.
func TestFaultS10_SharedBetweenMachines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Dropbox", "notes", "store.db")
	e := notOpened(t, sqlite.Options{Path: path}, store.Unsafe)
	require.Contains(t, e.Message, "Dropbox")
	require.NoFileExists(t, path)

	s := open(t, sqlite.Options{Path: path, AllowRemote: true})
	require.True(t, noteWith(s, t, "Dropbox"))
	update(t, s, appendOne)
	require.EqualValues(t, 1, newest(t, s))
	require.NoFileExists(t, path+"-shm")
	sound(t, s)
	_ = notOpened(t, sqlite.Options{Path: path, AllowRemote: true}.Waiting(time.Millisecond), store.Busy)
	require.NoError(t, s.Close())
	again := open(t, sqlite.Options{Path: path, AllowRemote: true})
	require.EqualValues(t, 1, newest(t, again))
}

// Two machines with one file do each other no harm for long: the one that finds that the other has written refuses, and
// says where several machines belong. What was answered stays.
func TestFaultS20_TwoMachinesWithOneFile(t *testing.T) {
	o := sqlite.Options{Path: path(t)}
	first := open(t, o.On("ada"))
	update(t, first, appendOne)
	second := open(t, o.On("grace"))
	update(t, second, appendOne)
	for range 2 {
		e := fault(t, first.Update(t.Context(), func(store.Tx) error { return nil }), store.Unsafe)
		require.Contains(t, e.Message, "on the machine grace")
		require.Contains(t, e.Message, "--store postgres://")
		require.Contains(t, e.Message, o.Path)
	}
	update(t, second, appendOne)
	require.EqualValues(t, 3, newest(t, second))
	sound(t, second)
	require.NoError(t, second.Close())
	require.NoError(t, first.Close())

	moved := open(t, o.On("ada")) // nobody else is there any more
	update(t, moved, appendOne)
	require.EqualValues(t, 4, newest(t, moved))
	sound(t, moved)
}
