package sqlite_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store/sqlite"
)

// A change that waits for another process is counted when the wait ends, also if it is given up. Those that find
// nobody in their way are not.
func TestStatsCountWaitsForOtherProcesses(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path}.Waiting(time.Hour))
	update(t, s, appendOne)
	before := s.Status(t.Context()).Stats
	require.Zero(t, before.Waits.Count)
	c := start(t, command(t, "hold", path))
	require.Equal(t, "holding", c.line(t))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Update(ctx, appendOne), context.DeadlineExceeded)
	after := s.Status(t.Context()).Stats
	require.EqualValues(t, 1, after.Waits.Count)
	require.Positive(t, after.Waits.Sum)
	require.Equal(t, before.Commits, after.Commits)
	require.NoError(t, c.in.Close())
}

// The write-ahead log is a part of the size of the store, and is told by itself.
func TestStatsTellTheSizeOfTheLog(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, appendOne)
	file, err := os.Stat(path)
	require.NoError(t, err)
	log, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	status := s.Status(t.Context())
	require.Positive(t, log.Size())
	require.Equal(t, log.Size(), status.Stats.WALBytes)
	require.Equal(t, file.Size()+log.Size(), status.SizeBytes)
}
