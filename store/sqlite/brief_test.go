package sqlite_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store/sqlite"
)

// Brief processes leave the write-ahead log to one another, and it does not grow without end.
func TestBriefProcessesLeaveAShortLog(t *testing.T) {
	const processes = 60
	path := path(t)
	require.NoError(t, withEvents(t, path, 1).Close())
	left, emptied := 0, 0
	for n := range processes {
		cmd := command(t, "some", path)
		cmd.Env = append(cmd.Env, "COUNT=1", "BRIEF=1")
		c := start(t, cmd)
		require.EqualValues(t, []int64{int64(n + 2)}, numbers(t, c.rest()))
		require.NoError(t, c.Wait())
		if _, err := os.Stat(path + "-wal"); err == nil {
			left++
		} else {
			require.ErrorIs(t, err, os.ErrNotExist)
			emptied++
		}
	}
	require.Greater(t, left, processes/2)
	require.Positive(t, emptied, "the log is never copied into the database")

	s := open(t, sqlite.Options{Path: path})
	require.EqualValues(t, processes+1, newest(t, s))
	require.Empty(t, s.Status(t.Context()).Degraded)
	sound(t, s)
	require.NoError(t, s.Close())
	require.NoFileExists(t, path+"-wal")
}

// While another process holds the lock, a brief store is opened for reading alone, and has no connection that writes.
func TestABriefStoreIsReadWhileAnotherProcessWrites(t *testing.T) {
	path := path(t)
	require.NoError(t, withEvents(t, path, 3).Close())
	writer := holding(t, path)
	cmd := command(t, "read", path)
	cmd.Env = append(cmd.Env, "BRIEF=1")
	c := start(t, cmd)
	require.Equal(t, "3", c.line(t))
	writer.release(t)
	c.release(t)
	s := open(t, sqlite.Options{Path: path})
	require.EqualValues(t, 5, newest(t, s))
}
