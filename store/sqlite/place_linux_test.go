package sqlite_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store/sqlite"
)

// TestRepairOfModesDroppedTheLocksOfSQLite: a descriptor that is closed takes all locks of its process on the file away.
func TestRepairOfModesDroppedTheLocksOfSQLite(t *testing.T) {
	path := path(t)
	open(t, sqlite.Options{Path: path})
	held := locksOf(t, path+"-shm")
	require.Positive(t, held)
	require.NoError(t, os.Chmod(path+"-shm", 0o644))
	was, err := sqlite.MakePrivate(path, path+"-shm")
	require.NoError(t, err)
	require.EqualValues(t, 0o644, was)
	requireMode(t, path+"-shm", 0o600)
	require.Equal(t, held, locksOf(t, path+"-shm"))
}

// locksOf returns how many locks there are on a file. A line of /proc/locks may be missing when another process frees a lock
// during the read, so it takes the most of several.
func locksOf(t *testing.T, path string) (most int) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	for range 20 {
		text := fileText(t, "/proc/locks")
		most = max(most, strings.Count(string(text), fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)))
	}
	return most
}
