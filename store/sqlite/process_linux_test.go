package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultS7_HolderIsStopped: the process that holds the lock is stopped. Others are told that it is busy, and by whom, and
// read on, also one that starts then, whose status says why it does not write. They write when the holder goes on.
func TestFaultS7_HolderIsStopped(t *testing.T) {
	path := path(t)
	require.NoError(t, withEvents(t, path, 3).Close())
	early := open(t, sqlite.Options{Path: path}.Waiting(200*time.Millisecond))
	c := holding(t, path)
	require.NoError(t, c.Process.Signal(syscall.SIGSTOP))
	holder := fmt.Sprintf("process %d ", c.Process.Pid)

	patient := open(t, sqlite.Options{Path: path}.Waiting(time.Hour))
	require.EqualValues(t, 3, newest(t, patient), "reading waits for nobody")
	s := open(t, sqlite.Options{Path: path}.Waiting(time.Second))
	require.EqualValues(t, 3, newest(t, s))
	require.True(t, noteWith(s, t, holder))
	require.False(t, s.Status(t.Context()).ReadOnly, "a change may get the lock")
	reader := open(t, sqlite.Options{Path: path, ReadOnly: true})
	require.EqualValues(t, 3, newest(t, reader))
	requireFault(t, reader.Update(t.Context(), appendOne), store.ReadOnly)
	for _, s := range []*sqlite.Store{early, s, early} {
		e := notApplied(t, s.Update(t.Context(), appendOne), store.Busy)
		require.Contains(t, e.Message, holder)
		require.EqualValues(t, 3, newest(t, s), "reading goes on")
	}
	sound(t, s)

	require.NoError(t, c.Process.Signal(syscall.SIGCONT))
	c.release(t)
	update(t, s, appendOne)
	require.False(t, noteWith(s, t, holder))
	update(t, early, appendOne)
	require.EqualValues(t, 6, newest(t, s))
	sound(t, s)
}

// TestFaultS7_OpenedBesideAnUnfinishedIndex: the holder of the lock was stopped while SQLite made the index of the log for
// it. Another process waited 10 s for that index, however little time it had. Before the holder begins it, reading goes on.
func TestFaultS7_OpenedBesideAnUnfinishedIndex(t *testing.T) {
	path := path(t)
	require.NoError(t, withEvents(t, path, 3).Close())
	first := start(t, command(t, "steps", path, strace(t, os.DevNull, "pwrite64:signal=STOP:when=1")...))
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(path + ".lock")
		return err == nil && strings.Contains(string(text), "state busy")
	}, time.Minute, time.Millisecond)
	s := open(t, sqlite.Options{Path: path}.Waiting(500*time.Millisecond))
	require.EqualValues(t, 3, newest(t, s))
	require.NoError(t, s.Close())
	require.NoError(t, unix.Kill(tracee(t, first.Process.Pid), syscall.SIGCONT))
	require.Equal(t, "3", first.ask(t, "newest"))
	require.NoError(t, first.in.Close())
	require.NoError(t, first.Wait())

	for when, size := range map[int]int64{3: 8 << 10, 9: 32 << 10} { // the headers come last
		c := start(t, command(t, "steps", path, strace(t, os.DevNull, fmt.Sprint("pwrite64:signal=STOP:when=", when))...))
		require.Eventually(t, func() bool {
			info, err := os.Stat(path + "-shm")
			return err == nil && info.Size() == size
		}, time.Minute, time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // what is left when it ends is a call that gave up
		defer cancel()
		_, err := sqlite.Open(ctx, sqlite.Options{Path: path}.Waiting(500*time.Millisecond))
		require.Contains(t, fault(t, err, store.Busy).Message, "process ")
		require.NoError(t, unix.Kill(tracee(t, c.Process.Pid), syscall.SIGCONT))
		require.Equal(t, "3", c.ask(t, "newest"))
		require.NoError(t, c.in.Close())
		require.NoError(t, c.Wait())
	}
}

// tracee returns the process that strace runs.
func tracee(t *testing.T, strace int) int {
	t.Helper()
	text := fileText(t, fmt.Sprintf("/proc/%d/task/%[1]d/children", strace))
	return int(numbers(t, strings.Fields(string(text)))[0])
}

// TestFaultS7_StoreReplacedBeforeTheFirstChange: a store that was opened for reading only was replaced when its first
// change gets the lock. The other store is not written in its place.
func TestFaultS7_StoreReplacedBeforeTheFirstChange(t *testing.T) {
	path, other := path(t), path(t)
	require.NoError(t, withEvents(t, path, 3).Close())
	require.NoError(t, withEvents(t, other, 1).Close())
	c := holding(t, path)
	s := open(t, sqlite.Options{Path: path})
	c.kill(t)
	require.NoError(t, os.Rename(other, path))
	for range 2 {
		requireFault(t, s.Update(t.Context(), appendOne), store.Lost)
	}
}

// TestFaultS7_WaiterIsStopped: a process that waits for the lock has closed the gate, and is stopped.
// Those who come later are not kept out, and the one that waited goes on when it may.
func TestFaultS7_WaiterIsStopped(t *testing.T) {
	s, path := openNew(t)
	waiter := stepper(t, path)
	require.NotEmpty(t, waiter.ask(t, "newest"), "it is open")
	gate, err := os.OpenFile(path+".lock.gate", os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, gate.Close()) }()
	update(t, s, func(tx store.Tx) error {
		_, err := fmt.Fprintln(waiter.in, "update")
		require.NoError(t, err)
		require.Eventually(t, func() bool { return stoppedAtGate(t, waiter, gate) }, time.Minute, 10*time.Millisecond)
		return appendOne(tx)
	})
	for range 3 {
		update(t, s, appendOne)
	}
	another := open(t, sqlite.Options{Path: path})
	update(t, another, appendOne)

	require.NoError(t, waiter.Process.Signal(syscall.SIGCONT))
	require.Equal(t, "6", waiter.line(t))
	update(t, s, appendOne)
	require.EqualValues(t, 7, newest(t, s))
}

// stoppedAtGate stops the child, and lets it go on if it has not closed the gate yet.
func stoppedAtGate(t *testing.T, c *child, gate *os.File) bool {
	require.NoError(t, c.Process.Signal(syscall.SIGSTOP))
	var status unix.WaitStatus
	_, err := unix.Wait4(c.Process.Pid, &status, unix.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
	if err := unix.Flock(int(gate.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		require.ErrorIs(t, err, unix.EWOULDBLOCK)
		return true
	}
	require.NoError(t, unix.Flock(int(gate.Fd()), unix.LOCK_UN))
	require.NoError(t, c.Process.Signal(syscall.SIGCONT))
	return false
}

// TestFaultS7_HolderIsNameless: whoever has the lock did not come to write his name. Ours, which is
// the last in the file, is not given for it.
func TestFaultS7_HolderIsNameless(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path}.Waiting(time.Millisecond))
	update(t, s, appendOne)
	lock, err := os.OpenFile(path+".lock", os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { _ = lock.Close() }()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	e := fault(t, s.Update(t.Context(), appendOne), store.Busy)
	require.NotContains(t, e.Message, strconv.Itoa(os.Getpid()))
	require.Contains(t, e.Message, path+".lock")
	require.NoError(t, lock.Close())
}

// TestFaultS14_FilesAreNotInherited: a program that we start gets none of our files.
func TestFaultS14_FilesAreNotInherited(t *testing.T) {
	s, path := openNew(t)
	update(t, s, appendOne)
	require.EqualValues(t, 1, newest(t, s))
	ours := openFiles(t, filepath.Dir(path))
	require.GreaterOrEqual(t, len(ours), 4, "the database, twice, its -wal and the lock file at least")
	for fd, target := range ours {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		require.NoError(t, err)
		require.NotZero(t, flags&unix.FD_CLOEXEC, target)
	}
}

// openFiles returns the files in the directory that this process has open.
func openFiles(t *testing.T, dir string) map[int]string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	found := make(map[int]string)
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name()))
		if err == nil && strings.HasPrefix(target, dir) {
			fd, err := strconv.Atoi(entry.Name())
			require.NoError(t, err)
			found[fd] = target
		}
	}
	return found
}

// TestCloseLeavesNoFile: a closed store, and one that could not be opened, has no file open.
func TestCloseLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "store.db"), filepath.Join(dir, "bad.db")
	require.NoError(t, os.WriteFile(bad, []byte(strings.Repeat("not a database ", 100)), 0o600))
	for range 20 {
		s := open(t, sqlite.Options{Path: good})
		update(t, s, appendOne)
		require.Positive(t, newest(t, s))
		require.NoError(t, s.Close())
		_ = notOpened(t, sqlite.Options{Path: bad}, store.Corrupt)
	}
	require.Empty(t, openFiles(t, dir))
}

// TestFaultS7_ClosedWhileWaiting: a store that is closed while its request for the lock lasts leaves
// nothing behind when the lock is had.
func TestFaultS7_ClosedWhileWaiting(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path}.Waiting(time.Millisecond))
	c := holding(t, path)
	requireFault(t, s.Update(t.Context(), appendOne), store.Busy)
	require.NoError(t, s.Close())
	require.Len(t, openFiles(t, filepath.Dir(path)), 2, "the lock file and its gate, for the request that lasts")
	c.release(t)
	again := open(t, sqlite.Options{Path: path})
	update(t, again, appendOne)
	require.EqualValues(t, 2, newest(t, again))
	require.NoError(t, again.Close())
	// The newcomer may have been faster than the old request.
	require.Eventually(t, func() bool { return len(openFiles(t, filepath.Dir(path))) == 0 }, time.Minute, time.Millisecond)
}
