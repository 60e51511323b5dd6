package transfer_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/store"
	"waybill/store/law"
	"waybill/store/transfer"
	"waybill/test/teststore"
)

// tester is what *testing.T and *rapid.T have.
type tester = law.T

func export(t tester, s store.Store) []byte {
	t.Helper()
	var file bytes.Buffer
	summary, err := transfer.Export(t.Context(), s, &file, "ws")
	require.NoError(t, err)
	require.Contains(t, file.String(), summary.Sum)
	return file.Bytes()
}

// imported returns the store with what the file has, after it was verified.
func imported(t tester, into store.Store, file []byte) store.Store {
	t.Helper()
	_, err := transfer.Import(t.Context(), into, bytes.NewReader(file))
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
	rapid.Check(t, func(rt *rapid.T) {
		s := teststore.New(t)
		law.Populate(rt, s)
		file := export(rt, s)
		require.Equal(rt, string(file), string(export(rt, imported(rt, teststore.New(t), file))))
	})
}

// A store that was migrated exports the same bytes as the store it came from.
func TestMigratedStoreHoldsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from, to := teststore.New(t), teststore.New(t)
		law.Populate(rt, from)
		_, err := transfer.Migrate(rt.Context(), from, to)
		require.NoError(rt, err)
		requireSound(rt, to)
		require.Equal(rt, string(export(rt, from)), string(export(rt, to)))
	})
}
