package sqlite_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
)

func taskID(n int64) string { return fmt.Sprintf("tsk_0192f0c1-7d3a-7abc-8def-%012d", n) }

// createTask puts a new task and its first attempt.
func createTask(tx store.Tx, n int64) error {
	launch := task.Spec{Prompt: content, RunID: "run", Role: "worker", Parent: "ses", MaxAttempts: 3}
	t, effects := task.Create(taskID(n), fmt.Sprint("att_", n, "_1"), n, launch, 0, core.Instant(n))
	return save(tx, t, effects)
}

// save puts what a task became and its attempts, as the engine does.
func save(tx store.Tx, t task.Task, effects []core.Effect) error {
	if err := tx.PutTask(t); err != nil {
		return err
	}
	for _, effect := range effects {
		if keep, ok := effect.(task.Keep); ok {
			if err := tx.PutAttempt(keep.Attempt); err != nil {
				return err
			}
		}
	}
	return nil
}

// stepTask has an event happen to a task.
func stepTask(tx store.Tx, t task.Task, event task.Event) (task.Task, error) {
	next, effects, err := t.Step(event)
	if err != nil {
		return t, err
	}
	return next, save(tx, next, effects)
}

// happen has events happen to the task of that number, one after the other.
func happen(tx store.Tx, n int64, events ...task.Event) error {
	t, _, err := tx.Task(taskID(n))
	for _, event := range events {
		if err == nil {
			t, err = stepTask(tx, t, event)
		}
	}
	return err
}

func claimOf(n int64) task.Claim {
	return task.Claim{At: core.Instant(n), Worker: "w", Token: fmt.Sprint("tok_", n), Length: 1000}
}

func finishOf(n int64) task.Finish {
	return task.Finish{At: core.Instant(n), Token: fmt.Sprint("tok_", n), Status: task.AttemptCompleted, Output: content}
}

// TestHeartbeatIsSmall: a sign of life writes a few pages, however long the prompt and the output are.
func TestHeartbeatIsSmall(t *testing.T) {
	s, path := openNew(t)
	long := string(make([]byte, 1<<20))
	update(t, s, func(tx store.Tx) error {
		one, effects := task.Create(taskID(1), "att_1_1", 1, task.Spec{Prompt: long, MaxAttempts: 3}, 0, 1)
		one.Output = long
		return save(tx, one, effects)
	})
	update(t, s, func(tx store.Tx) error { return happen(tx, 1, claimOf(1)) })
	pages := func() (n int64) {
		db := raw(t, path)
		var busy, done int
		row := db.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(PASSIVE)")
		require.NoError(t, row.Scan(&busy, &n, &done))
		require.NoError(t, db.Close())
		return n
	}
	pages() // moves everything out of the log, so that it begins anew
	for at := range core.Instant(3) {
		update(t, s, func(tx store.Tx) error { return happen(tx, 1, task.Heartbeat{At: at + 2, Token: "tok_1"}) })
	}
	require.Less(t, pages(), int64(3*10))
	sound(t, s)
}

// TestSpecWithoutTaskIsDamage: another task at its position was called damaged, and no error named the spec.
func TestSpecWithoutTaskIsDamage(t *testing.T) {
	s, path := openNew(t)
	update(t, s, func(tx store.Tx) error { return createTask(tx, 1) })
	require.NoError(t, s.Close())
	change(t, path, "DELETE FROM attempts", "DELETE FROM tasks")
	s = open(t, sqlite.Options{Path: path})
	other, _ := task.Create(taskID(2), "att_2_1", 1, task.Spec{Prompt: "other", MaxAttempts: 3}, 0, 1)
	requireFault(t, s.Update(t.Context(), func(tx store.Tx) error {
		require.ErrorContains(t, tx.PutTask(other), "the spec of another task at the position of task "+other.ID)
		return nil
	}), store.Corrupt)
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		_, ok, err := tx.Task(other.ID)
		require.False(t, ok)
		return err
	}))
}
