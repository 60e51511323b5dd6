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

// claimOldest claims the oldest task that is ready. The zero Task says that there is none.
func claimOldest(tx store.Tx, token string, at core.Instant) (task.Task, error) {
	ready, err := tx.Tasks(store.TaskQuery{ReadyAt: at, Limit: 1})
	if err != nil || len(ready) == 0 {
		return task.Task{}, err
	}
	return stepTask(tx, ready[0], task.Claim{At: at, Worker: "w", Token: token, Length: 1000})
}

func claimOf(n int64) task.Claim {
	return task.Claim{At: core.Instant(n), Worker: "w", Token: fmt.Sprint("tok_", n), Length: 1000}
}

func finishOf(n int64) task.Finish {
	return task.Finish{At: core.Instant(n), Token: fmt.Sprint("tok_", n), Status: task.AttemptCompleted, Output: content}
}

// TestLawsOfTasksAreRepeated: a task or an attempt that core can never have given is refused by the
// tables, and the transaction goes on.
func TestLawsOfTasksAreRepeated(t *testing.T) {
	s := open(t, sqlite.Options{Path: path(t)})
	update(t, s, func(tx store.Tx) error { return createTask(tx, 1) })
	tasks := map[string]func(*task.Task){
		"a status of nobody":          func(t *task.Task) { t.Phase = task.Errored{Reason: "wish"} },
		"an error without a reason":   func(t *task.Task) { t.Phase = task.Errored{} },
		"a reason of no cancellation": func(t *task.Task) { t.Phase = task.Running{CancelReason: "why"} },
		"waits for less than nothing": func(t *task.Task) { t.Waits = -1 },
		"more failures than attempts": func(t *task.Task) { t.Spent.Failures = 4 },
		"more failures on a model":    func(t *task.Task) { t.Spent.OnModel = 1 },
		"fewer than no replies":       func(t *task.Task) { t.Replies = -1 },
		"an answer that nobody gave":  func(t *task.Task) { t.Reply = "yes" },
	}
	for name, change := range tasks {
		update(t, s, func(tx store.Tx) error {
			one, _, err := tx.Task(taskID(1))
			require.NoError(t, err)
			change(&one)
			require.Error(t, tx.PutTask(one), name)
			one.ID, one.Position = "new", 2
			require.Error(t, tx.PutTask(one), "%s, created", name)
			return nil
		})
	}
	lease := task.Lease{Token: "tok", Epoch: 1, ExpiresAt: 1}
	attempts := map[string]task.AttemptPhase{
		"runs without a token":      task.RunningAttempt{Lease: task.Lease{Epoch: 1}},
		"of another epoch":          task.RunningAttempt{Lease: task.Lease{Token: "tok", Epoch: 2}},
		"ended as running":          task.EndedAttempt{Status: task.AttemptRunning, Token: "tok", At: 1},
		"ended in no known way":     task.EndedAttempt{Status: "vanished", Token: "tok", At: 1},
		"completed without a lease": task.EndedAttempt{Status: task.AttemptCompleted, At: 1},
		"began without a token":     task.EndedAttempt{Status: task.AttemptCancelled, StartedAt: 5, At: 5},
		"failed in no known way":    task.EndedAttempt{Status: task.AttemptError, Token: "tok", At: 1, Failure: task.Failure{Class: "odd"}},
	}
	for name, phase := range attempts {
		update(t, s, func(tx store.Tx) error {
			a, _, err := tx.Attempt("att_1_1")
			require.NoError(t, err)
			a.Phase = phase
			require.Error(t, tx.PutAttempt(a), name)
			return nil
		})
	}
	update(t, s, func(tx store.Tx) error {
		a, _, err := tx.Attempt("att_1_1")
		require.NoError(t, err)
		for _, change := range []func(*task.Attempt){
			func(a *task.Attempt) { a.Link = -2 }, func(a *task.Attempt) { a.Stale = -1 },
		} {
			odd := a
			odd.Phase = task.RunningAttempt{Lease: lease}
			change(&odd)
			require.Error(t, tx.PutAttempt(odd))
		}
		require.Error(t, tx.PutBreaker(task.Breaker{Key: "k", Failures: -1}))
		return nil
	})
	sound(t, s)
}

// TestTablesHoldOneUnfinishedAttempt: not even behind the store's back a task gets a second attempt that
// has not ended.
func TestTablesHoldOneUnfinishedAttempt(t *testing.T) {
	path := path(t)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	update(t, s, func(tx store.Tx) error { return createTask(tx, 1) })
	require.NoError(t, s.Close())
	db := raw(t, path, "CREATE TEMP TABLE twin AS SELECT * FROM attempts", "UPDATE twin SET number = 2, id = 'other'")
	_, err = db.ExecContext(t.Context(), "INSERT INTO attempts SELECT * FROM twin")
	require.ErrorContains(t, err, "UNIQUE constraint failed: attempts.task")
	_, err = db.ExecContext(t.Context(), "UPDATE twin SET status = 'cancelled', ended_at = 1")
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "INSERT INTO attempts SELECT * FROM twin")
	require.NoError(t, err, "one that has ended is no second one")
}

// TestHeartbeatIsSmall: a sign of life writes a few pages, however long the prompt and the output are.
func TestHeartbeatIsSmall(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
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
