// Package teststore opens real stores for tests about something else.
package teststore

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// A Store is a SQLite store in a temporary folder. Close leaves it open, so that a test can start another engine on
// the same records.
type Store struct{ store.Store }

// Changed returns nil, because no other process writes to the store.
func (Store) Changed() <-chan struct{} { return nil }

// Close does nothing. The end of the test closes the store.
func (Store) Close() error { return nil }

// New returns an empty store.
func New(t testing.TB) Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(folder(t), "waybill.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return Store{s}
}

// folder returns a folder in memory if possible, because these tests do not need a disk.
func folder(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "waybill")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
