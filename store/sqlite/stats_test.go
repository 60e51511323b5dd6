package sqlite_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultS7_WaitEnds: a wait for another process ends with the context of the call, and is counted. Changes that find
// nobody in their way are not. The next caller takes over the place in the queue.
func TestFaultS7_WaitEnds(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path}.Waiting(time.Hour))
	update(t, s, appendOne)
	before := s.Status(t.Context()).Stats
	require.Zero(t, before.Waits.Count)
	c := holding(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := s.Update(ctx, appendOne)
	requireFault(t, err, store.Cancelled)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	after := s.Status(t.Context()).Stats
	require.EqualValues(t, 1, after.Waits.Count)
	require.Positive(t, after.Waits.Sum)
	require.Equal(t, before.Commits, after.Commits)
	require.NoError(t, c.in.Close())
	update(t, s, appendOne)
}

// The write-ahead log is a part of the size of the store, and is told by itself.
func TestStatsTellTheSizeOfTheLog(t *testing.T) {
	s, path := openNew(t)
	update(t, s, appendOne)
	file, err := os.Stat(path)
	require.NoError(t, err)
	log, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	status := s.Status(t.Context())
	require.Positive(t, log.Size())
	require.Equal(t, log.Size(), status.Stats.WALBytes)
	require.Equal(t, file.Size()+log.Size(), status.SizeBytes)
	require.Equal(t, path, status.Path)
	require.Equal(t, 1, status.SchemaVersion)
	require.False(t, status.ReadOnly)
	require.Empty(t, status.Degraded)
	require.NoError(t, s.Close())
	require.True(t, s.Status(t.Context()).ReadOnly)
}
