package sqlite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultS4_DamagedRowIsInStatus: a row that is not what was written is refused, and named once in
// the status, while everything else goes on.
func TestFaultS4_DamagedRowIsInStatus(t *testing.T) {
	path := fullStore(t)
	change(t, path, "UPDATE instructions SET content = 'other' WHERE position = 7",
		"UPDATE notices SET deliveries = 9 WHERE id = 'ntc_20'")
	s := open(t, sqlite.Options{Path: path})
	require.Empty(t, s.Status(t.Context()).Degraded)
	readInstruction := func(tx store.Tx) error {
		_, _, err := tx.Instruction(benchID(7))
		return err
	}
	readNotice := func(tx store.Tx) error {
		_, _, err := tx.Notice("ntc_20")
		return err
	}
	for range 2 {
		e := fault(t, s.View(t.Context(), readInstruction), store.Corrupt)
		require.NotContains(t, e.Message, "salvage", "there is no such command")
		requireFault(t, s.Update(t.Context(), readInstruction), store.Corrupt)
		requireFault(t, s.Update(t.Context(), readNotice), store.Corrupt)
	}
	status := s.Status(t.Context())
	require.Len(t, status.Degraded, 2)
	require.Contains(t, status.Degraded[0], "instruction "+benchID(7)+" ")
	require.Contains(t, status.Degraded[1], "notice ntc_20 ")
	require.False(t, status.ReadOnly)
	update(t, s, appendOne)
}
