package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultS16_LongReading: a View that goes on for too long is ended, so that the write-ahead log can
// be started anew.
func TestFaultS16_LongReading(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path}.Viewing(10*time.Millisecond))
	err := s.View(t.Context(), func(tx store.Tx) error {
		var err error
		for err == nil {
			_, _, err = tx.Bounds()
		}
		requireFault(t, err, store.Cancelled)
		update(t, s, appendOne)
		var busy, log, done int
		row := raw(t, path, "PRAGMA busy_timeout = 0").QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
		require.NoError(t, row.Scan(&busy, &log, &done))
		require.Zero(t, busy, "the reading still holds the write-ahead log")
		return err
	})
	requireFault(t, err, store.Cancelled)
	require.EqualValues(t, 1, newest(t, s), "the next reading is not concerned")
}

// TestFaultS16_LogIsBounded: readings that come and go do not let the write-ahead log grow for ever.
func TestFaultS16_LogIsBounded(t *testing.T) {
	s, path := openNew(t)
	blob := strings.Repeat("x", 200_000)
	for n := range 60 { // 12 MB
		update(t, s, func(tx store.Tx) error {
			return tx.PutAnswer(store.Answer{Key: fmt.Sprint(n), Result: blob})
		})
		require.Zero(t, newest(t, s))
	}
	info, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(8<<20))
}

// TestFaultS17_StoreShrinks: what is pruned is given back to the disk.
func TestFaultS17_StoreShrinks(t *testing.T) {
	s, path := openNew(t)
	update(t, s, func(tx store.Tx) error {
		for n := int64(1); n <= 3000; n++ {
			if err := errors.Join(queueOne(tx, n), acknowledgeOne(tx, n)); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, s.Close())
	before, err := os.Stat(path)
	require.NoError(t, err)
	s = open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		n, err := tx.Prune(1<<60, 100_000)
		require.Equal(t, 9000, n)
		return err
	})
	sound(t, s)
	require.NoError(t, s.Close())
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, after.Size(), before.Size()/4)
}
