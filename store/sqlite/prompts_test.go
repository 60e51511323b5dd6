package sqlite_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
	"waybill/store/sqlite"
)

// thatPrompt selects one of the prompts that fullStore has.
const thatPrompt = " WHERE run_id = 'run_30' AND role = 'worker'"

func promptFor(runID string, role core.Role) store.Prompt {
	return store.Prompt{RunID: runID, Role: role, At: 7, Version: "1", Cursor: "c1.x", Tokens: 9, Text: content}
}

func putPrompts(tx store.Tx, runID string, roles ...core.Role) (err error) {
	for _, role := range roles {
		err = errors.Join(err, tx.PutPrompt(promptFor(runID, role)))
	}
	return err
}

// promptsOf returns the prompts of a run by role; those that are not there are empty.
func promptsOf(tx store.Tx, runID string) (all [core.Roles]store.Prompt, err error) {
	for role := core.Worker; role <= core.Roles; role++ {
		p, _, failed := tx.Prompt(runID, role)
		all[role-1], err = p, errors.Join(err, failed)
	}
	return all, err
}

// TestFaultS4_DamagedPromptHoldsUpNobody: a prompt is not what was written. Who asks for it is told so, the
// transaction goes on, other roles have theirs, and the next prompt takes its place.
func TestFaultS4_DamagedPromptHoldsUpNobody(t *testing.T) {
	path := fullStore(t)
	change(t, path, "UPDATE prompts SET text = 'other'"+thatPrompt)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		_, ok, err := tx.Prompt("run_30", core.Worker)
		requireFault(t, err, store.Corrupt)
		require.False(t, ok)
		other, ok, err := tx.Prompt("run_30", core.SpecReviewer)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, promptFor("run_30", core.SpecReviewer), other)
		return appendOne(tx)
	})
	degraded := s.Status(t.Context()).Degraded
	require.Len(t, degraded, 1)
	require.Contains(t, degraded[0], "the prompt for worker of run run_30 ")
	update(t, s, func(tx store.Tx) error { return putPrompts(tx, "run_30", core.Worker) })
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		again, _, err := tx.Prompt("run_30", core.Worker)
		require.Equal(t, promptFor("run_30", core.Worker), again)
		return err
	}))
	sound(t, s)
}
