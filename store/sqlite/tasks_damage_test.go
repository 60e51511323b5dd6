package sqlite_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
)

// staffedTasks is how many tasks staffed makes.
const staffedTasks = 30

// staffed makes a closed store with tasks of all kinds: every third has failed once and runs again, every
// third has asked and was answered, and the others have completed. Each but the first waits for the first.
func staffed(t *testing.T) string {
	t.Helper()
	path := path(t)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	for n := int64(1); n <= staffedTasks; n++ {
		update(t, s, func(tx store.Tx) error { return staff(tx, n) })
	}
	require.NoError(t, s.Close())
	return path
}

func staff(tx store.Tx, n int64) error {
	next := task.Successor{AttemptID: fmt.Sprint("att_", n, "_2")}
	failed := task.Failure{Class: task.ClassTransient, Name: "Overloaded", Message: content}
	again := task.Claim{At: 9, Worker: "w", Token: fmt.Sprint("again_", n), Length: 1000}
	events := map[int64][]task.Event{
		0: {claimOf(n), finishOf(n)},
		1: {claimOf(n), task.Finish{At: 9, Token: fmt.Sprint("tok_", n), Status: task.AttemptError, Failure: failed, Next: next}, again},
		2: {
			claimOf(n),
			task.Finish{At: 9, Token: fmt.Sprint("tok_", n), Status: task.AttemptAwaiting, Question: content},
			task.Reply{At: 9, Text: content, Next: next},
		},
	}
	if err := errors.Join(createTask(tx, n), happen(tx, n, events[n%3]...)); err != nil {
		return err
	}
	if n%3 == 2 {
		if err := tx.AddReply(store.Reply{TaskID: taskID(n), Number: 1, AttemptID: "att", Text: content}); err != nil {
			return err
		}
	}
	if n > 1 {
		if err := tx.AddDependency(taskID(n), taskID(1)); err != nil {
			return err
		}
	}
	return tx.PutBreaker(task.Breaker{Key: fmt.Sprint("provider/model-", n), Failures: 5, Opened: 1, Until: 7})
}

// TestFaultS4_DamageHoldsUpNobody: the task that is first in the queue, the lease that ends first and a
// breaker are not what was written. Claims, looks at leases and lists pass them by, and the status names
// them.
func TestFaultS4_DamageHoldsUpNobody(t *testing.T) {
	path := staffed(t)
	change(t, path, "UPDATE task_specs SET prompt = 'other' WHERE task = 2",
		"UPDATE attempts SET worker = 'other' WHERE id = 'att_10_2'",
		"DELETE FROM attempts WHERE task = 5 AND number = 2", // of a task that says it is queued
		"UPDATE breakers SET until = 9 WHERE key = 'provider/model-1'")
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		claimed, err := claimOldest(tx, "new", 5000)
		require.NoError(t, err)
		require.Equal(t, taskID(8), claimed.ID)
		page, err := tx.Tasks(store.TaskQuery{Limit: 3})
		require.NoError(t, err)
		require.Equal(t, []string{taskID(1), taskID(3), taskID(4)}, []string{page[0].ID, page[1].ID, page[2].ID})
		leases, err := tx.Leased(0, 1)
		require.NoError(t, err)
		require.Equal(t, "att_13_2", leases[0].ID)
		_, ok, err := tx.Breaker("provider/model-1")
		require.NoError(t, err)
		require.False(t, ok)
		opened, err := tx.OpenedBreakers()
		require.Len(t, opened, staffedTasks-1)
		return err
	})
	degraded := strings.Join(s.Status(t.Context()).Degraded, "\n")
	for _, what := range []string{"task " + taskID(2), "task " + taskID(5), "attempt att_10_2", "model provider/model-1"} {
		require.Contains(t, degraded, what)
	}
}

// TestSalvageOfTasks: a task is kept with all that belongs to it, or not at all, and the rest of the store
// is whole.
func TestSalvageOfTasks(t *testing.T) {
	path := staffed(t)
	change(t, path,
		"UPDATE task_specs SET prompt = 'other' WHERE task = 3",        // a task without its prompt
		"UPDATE attempts SET worker = 'other' WHERE id = 'att_4_2'",    // its newest attempt
		"UPDATE attempts SET worker = 'other' WHERE id = 'att_7_1'",    // an earlier one
		"UPDATE breakers SET until = 9 WHERE key = 'provider/model-4'", // a breaker
		"UPDATE dependencies SET sum = x'0000000000000000' WHERE task = '"+taskID(6)+"'")
	result, err := sqlite.Salvage(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	require.Equal(t, staffedTasks-3, result.Kept["tasks"])
	require.Equal(t, 3, result.Lost["tasks"])
	require.Equal(t, 1, result.Lost["breakers"])
	require.Equal(t, staffedTasks-1, result.Kept["breakers"])
	require.Equal(t, 10, result.Kept["replies"])
	s := open(t, sqlite.Options{Path: path})
	sound(t, s)
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		for _, n := range []int64{3, 4, 7} {
			_, ok, err := tx.Task(taskID(n))
			require.NoError(t, err)
			require.False(t, ok)
		}
		left, err := tx.Dependents(taskID(1), "", 100)
		require.Len(t, left, staffedTasks-1-4)
		require.Equal(t, len(left), result.Kept["dependencies"])
		return err
	}))
	update(t, s, func(tx store.Tx) error { return createTask(tx, 99) })
}

// dumpTasks reads everything that staffed has put, by its front, as one text.
func dumpTasks(t *testing.T, s store.Store) (text string, err error) {
	t.Helper()
	err = s.View(t.Context(), func(tx store.Tx) error {
		text = ""
		add := func(value any, err error) error {
			text += fmt.Sprintf("%+v\n", value)
			return err
		}
		errs := []error{
			add(tx.Tasks(store.TaskQuery{Limit: 10_000})), add(tx.Tasks(store.TaskQuery{Live: true})),
			add(tx.Tasks(store.TaskQuery{ReadyAt: 1 << 40})), add(tx.TaskCounts()), add(tx.Leased(0, 1000)),
			add(tx.Dependents(taskID(1), "", 1000)), add(tx.OpenedBreakers()), add(tx.NextReady(0)),
		}
		for n := int64(1); n <= staffedTasks; n++ {
			errs = append(errs, add(tx.Attempts(taskID(n), 0, 100)), add(tx.Replies(taskID(n), 0, 100)))
			a, _, err := tx.AttemptUnder(fmt.Sprint("tok_", n))
			errs = append(errs, add(a, err))
		}
		return errors.Join(errs...)
	})
	return text, err
}

// taskDamage is every kind of damage to what staffed makes: the statement that does it, the check of
// Examine that finds it, and what Verify calls it.
func taskDamage() map[string][2]string {
	return map[string][2]string{
		"UPDATE tasks SET waits = 1 WHERE position = 3":                                  {"rows", "task " + taskID(3)},
		"UPDATE tasks SET sum = x'0000000000000000' WHERE position = 3":                  {"rows", "task " + taskID(3)},
		"UPDATE task_specs SET prompt = 'other' WHERE task = 3":                          {"rows", "task " + taskID(3)},
		"DELETE FROM task_specs WHERE task = 3":                                          {"rows", "task " + taskID(3)},
		"UPDATE task_outputs SET output = 'other' WHERE task = 3":                        {"rows", "task " + taskID(3)},
		"DELETE FROM task_outputs WHERE task = 3":                                        {"rows", "task " + taskID(3)},
		"INSERT INTO task_replies SELECT 3, reply, sum FROM task_replies WHERE task = 2": {"rows", "task " + taskID(3)},
		"UPDATE task_replies SET reply = 'other' WHERE task = 2":                         {"rows", "task " + taskID(2)},
		"UPDATE replies SET text = 'other' WHERE task = 2":                               {"rows", "reply 1 to task " + taskID(2)},
		"UPDATE dependencies SET sum = x'0000000000000000' WHERE task = '" + taskID(4) + "'": {
			"rows", "the dependency of task " + taskID(4) + " on " + taskID(1),
		},
		"UPDATE breakers SET until = 9 WHERE key = 'provider/model-4'": {"rows", "the breaker of model provider/model-4"},
		"UPDATE attempts SET stale = 9 WHERE id = 'att_1_1'":           {"rows", "attempt att_1_1"},
		"UPDATE attempts SET model_key = 'x' WHERE id = 'att_3_1'":     {"rows", "attempt att_3_1"}, // read with its task, and by itself
		"UPDATE attempts SET spared = 1 WHERE id = 'att_4_2'":          {"rows", "attempt att_4_2"},
		"DELETE FROM attempts WHERE id = 'att_1_1'":                    {"rows", "task " + taskID(1)},
		"UPDATE task_counts SET running = running + 1":                 {"task counts", "the count of tasks"},
		"DELETE FROM task_counts":                                      {"task counts", "the count of tasks"},
	}
}
