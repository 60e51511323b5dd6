package sqlite_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
	"waybill/store"
	"waybill/store/sqlite"
)

func requireState(t *testing.T, s store.Store, n int64, want instruction.State) {
	t.Helper()
	update(t, s, func(tx store.Tx) error {
		in, ok, err := tx.Instruction(benchID(n))
		require.True(t, ok, "instruction %d", n)
		require.Equal(t, want, in.State(), "instruction %d", n)
		return err
	})
}

// TestRowChangedByAnotherProgramIsFound: what a store knows from its own commits ends with those of others, also of one
// that takes no turns.
func TestRowChangedByAnotherProgramIsFound(t *testing.T) {
	s, path := openNew(t)
	update(t, s, func(tx store.Tx) error { return queueOne(tx, 1) })
	change(t, path, "UPDATE instructions SET content = 'somebody else was here'")
	err := s.Update(t.Context(), func(tx store.Tx) error { return acknowledgeOne(tx, 1) })
	requireFault(t, err, store.Corrupt)
}

// TestFailedUpdateLeavesNothingKnown: what is rolled back was never stored, not for its own connection
// either.
func TestFailedUpdateLeavesNothingKnown(t *testing.T) {
	s := open(t, sqlite.Options{Path: path(t)})
	update(t, s, func(tx store.Tx) error { return queueOne(tx, 1) })
	stop := errors.New("stop")
	err := s.Update(t.Context(), func(tx store.Tx) error {
		return errors.Join(acknowledgeOne(tx, 1), queueOne(tx, 2), stop)
	})
	require.ErrorIs(t, err, stop)
	requireState(t, s, 1, instruction.StateQueued)
	update(t, s, func(tx store.Tx) error {
		_, ok, err := tx.Instruction(benchID(2))
		require.False(t, ok)
		return err
	})
	update(t, s, func(tx store.Tx) error { return queueOne(tx, 2) })
	require.EqualValues(t, 2, newest(t, s))
	sound(t, s)
}

// TestPrunedInstructionIsForgotten: an instruction that was known to wait is gone when it is pruned.
func TestPrunedInstructionIsForgotten(t *testing.T) {
	s := open(t, sqlite.Options{Path: path(t)})
	plain := newInstruction(1)
	plain.Tracked, plain.MaxRetries, plain.Phase = false, 0, instruction.Sent{Sends: 1, At: 5}
	update(t, s, func(tx store.Tx) error { return tx.PutInstruction(plain) })
	absent := func(tx store.Tx) error {
		_, ok, err := tx.Instruction(plain.ID)
		require.False(t, ok)
		return err
	}
	update(t, s, func(tx store.Tx) error {
		removed, err := tx.Prune(6, 10)
		require.Equal(t, 1, removed)
		return errors.Join(err, absent(tx))
	})
	update(t, s, absent)
	update(t, s, func(tx store.Tx) error { return tx.PutInstruction(plain) })
	requireState(t, s, 1, instruction.StateDelivered)
}
