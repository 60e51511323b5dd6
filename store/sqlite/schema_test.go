package sqlite_test

import (
	"database/sql"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

const oldRecords = 300

// newerTables are what a newer waybill does to the tables.
var newerTables = []string{"ALTER TABLE notices ADD COLUMN muted INTEGER NOT NULL DEFAULT 0", "PRAGMA user_version = 2"}

// oldStore returns a closed store with the newest tables there are.
func oldStore(t *testing.T) string {
	t.Helper()
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		for range oldRecords {
			if err := appendOne(tx); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, s.Close())
	return path
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	text := fileText(t, from)
	require.NoError(t, os.WriteFile(to, text, 0o600))
}

// raw opens the file behind the store's back.
func raw(t testing.TB, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, statement := range statements {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	return db
}

// change runs statements on a closed store and closes it again.
func change(t testing.TB, path string, statements ...string) {
	t.Helper()
	require.NoError(t, raw(t, path, statements...).Close())
}

// TestFaultS6_NewerTables: a store of a newer waybill is read and never written.
func TestFaultS6_NewerTables(t *testing.T) {
	path := oldStore(t)
	change(t, path, "ALTER TABLE notices RENAME TO messages", "PRAGMA user_version = 2")
	before := fileText(t, path)
	s := open(t, sqlite.Options{Path: path})
	require.True(t, s.Status(t.Context()).ReadOnly)
	require.Equal(t, 2, s.Status(t.Context()).SchemaVersion)
	require.EqualValues(t, oldRecords, newest(t, s))
	e := notApplied(t, s.Update(t.Context(), appendOne), store.NewerSchema)
	require.Contains(t, e.Message, "version 2")
	require.Contains(t, e.Message, "version 1")
	requireFault(t, s.View(t.Context(), func(tx store.Tx) error {
		_, err := tx.CountNotices()
		return err
	}), store.NewerSchema)
	_, err := s.Verify(t.Context())
	requireFault(t, err, store.NewerSchema)
	require.NoError(t, s.Close())
	after := fileText(t, path)
	require.Equal(t, before, after)
}

// TestDigestOfTables: the tables are those that the digest was made of.
func TestDigestOfTables(t *testing.T) {
	noted, real, err := sqlite.SchemaDigest(t.Context())
	require.NoError(t, err)
	require.Equal(t, real, noted, "note the digest in schema.go")
}

// TestFaultS9_OldSQLite: an SQLite with the race between a checkpoint and a write is refused.
func TestFaultS9_OldSQLite(t *testing.T) {
	for _, good := range []string{"3.51.3", "3.51.10", "3.53.4", "4.0.0"} {
		require.NoError(t, sqlite.CheckVersion(good), good)
	}
	for _, bad := range []string{"3.51.2", "3.50.9", "2.99.99", "", "three"} {
		requireFault(t, sqlite.CheckVersion(bad), store.Unsafe)
	}
}
