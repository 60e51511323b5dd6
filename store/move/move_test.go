package move_test

import (
	"bytes"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/store"
	"waybill/store/memory"
	"waybill/store/move"
	"waybill/store/sqlite"
	"waybill/store/storetest"
)

// tester is what *testing.T and *rapid.T have.
type tester = storetest.T

func export(t tester, s store.Store) []byte {
	t.Helper()
	var file bytes.Buffer
	summary, err := move.Export(t.Context(), s, &file, "ws")
	require.NoError(t, err)
	require.Contains(t, file.String(), summary.Sum)
	return file.Bytes()
}

// imported gives the store with what the file has, after it was verified.
func imported(t tester, into store.Store, file []byte) store.Store {
	t.Helper()
	_, err := move.Import(t.Context(), into, bytes.NewReader(file))
	require.NoError(t, err)
	requireSound(t, into)
	return into
}

func requireSound(t tester, s store.Store) {
	t.Helper()
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
}

// An export of what was imported from an export is the same, byte for byte.
func TestExportOfAnImportIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := memory.New()
		storetest.Crowd(t, s)
		file := export(t, s)
		require.Equal(t, string(file), string(export(t, imported(t, memory.New(), file))))
	})
}

// Whatever the databases are, they hold the same afterwards, and the way back leads to the same bytes.
func TestStoresOfTwoKindsHoldTheSame(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		first, back := memory.New(), memory.New()
		storetest.Crowd(rt, first)
		n++
		if n > 20 {
			return // a database takes time
		}
		s := open(rt, sqlite.Options{Path: filepath.Join(dir, strconv.Itoa(n), "store.db")})
		defer func() { require.NoError(rt, s.Close()) }()
		there, err := move.Migrate(rt.Context(), first, s)
		require.NoError(rt, err)
		requireSound(rt, s)
		again, err := move.Migrate(rt.Context(), s, back)
		require.NoError(rt, err)
		require.Equal(rt, there, again)
		require.Equal(rt, string(export(rt, first)), string(export(rt, back)))
	})
}

func open(t tester, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), o)
	require.NoError(t, err)
	return s
}
