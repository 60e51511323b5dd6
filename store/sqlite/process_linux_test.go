package sqlite_test

import (
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

// TestFaultS7_HolderIsStopped: the process that holds the lock is stopped. Others are told that it is
// busy, and by whom; when it goes on, so do they.
func TestFaultS7_HolderIsStopped(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path, LockWait: 200 * time.Millisecond})
	c := start(t, command(t, "hold", path))
	require.Equal(t, "holding", c.line(t))
	require.NoError(t, c.Process.Signal(syscall.SIGSTOP))
	for range 3 {
		e := fault(t, s.Update(t.Context(), appendOne), store.Busy)
		require.Equal(t, store.NotApplied, e.Outcome)
		require.Contains(t, e.Message, fmt.Sprintf("process %d ", c.Process.Pid))
	}
	require.EqualValues(t, 0, newest(t, s), "reading goes on")

	require.NoError(t, c.Process.Signal(syscall.SIGCONT))
	_, err := fmt.Fprintln(c.in)
	require.NoError(t, err)
	require.Empty(t, c.rest())
	update(t, s, appendOne)
	require.EqualValues(t, 2, newest(t, s))
}

// TestFaultS14_FilesAreNotInherited: a program that we start gets none of our files.
func TestFaultS14_FilesAreNotInherited(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
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

// openFiles gives the files in the directory that this process has open.
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
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: good})
		require.NoError(t, err)
		update(t, s, appendOne)
		require.Positive(t, newest(t, s))
		require.NoError(t, s.Close())
		_, err = sqlite.Open(t.Context(), sqlite.Options{Path: bad})
		requireFault(t, err, store.Corrupt)
	}
	require.Empty(t, openFiles(t, dir))
}

// TestFaultS7_ClosedWhileWaiting: a store that is closed while its request for the lock lasts leaves
// nothing behind when the lock is had.
func TestFaultS7_ClosedWhileWaiting(t *testing.T) {
	path := path(t)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, LockWait: time.Millisecond})
	require.NoError(t, err)
	c := start(t, command(t, "hold", path))
	require.Equal(t, "holding", c.line(t))
	requireFault(t, s.Update(t.Context(), appendOne), store.Busy)
	require.NoError(t, s.Close())
	require.Len(t, openFiles(t, filepath.Dir(path)), 2, "the lock file and its gate, for the request that lasts")
	_, err = fmt.Fprintln(c.in)
	require.NoError(t, err)
	require.Empty(t, c.rest())
	again, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	update(t, again, appendOne)
	require.EqualValues(t, 2, newest(t, again))
	require.NoError(t, again.Close())
	// The newcomer may have been faster than the old request.
	require.Eventually(t, func() bool { return len(openFiles(t, filepath.Dir(path))) == 0 }, time.Minute, time.Millisecond)
}

// TestFaultS15_OwnedByAnother: who owns the file could have put instructions into it.
func TestFaultS15_OwnedByAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a file away takes root")
	}
	planted := path(t)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: planted})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, os.Chown(planted, 65534, 65534))
	_, err = sqlite.Open(t.Context(), sqlite.Options{Path: planted})
	requireFault(t, err, store.Unsafe)

	inside := path(t)
	require.NoError(t, os.Chown(filepath.Dir(inside), 65534, 65534))
	_, err = sqlite.Open(t.Context(), sqlite.Options{Path: inside})
	requireFault(t, err, store.Unsafe)
}
