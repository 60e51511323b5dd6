package sqlite_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultD16_TwoPollersClaimOneTask: two pollers of one process, on two openings of one store, claim at
// the same time. Each task goes to one of them.
func TestFaultD16_TwoPollersClaimOneTask(t *testing.T) {
	path := path(t)
	stores := []*sqlite.Store{open(t, sqlite.Options{Path: path}), open(t, sqlite.Options{Path: path})}
	const tasks = 40
	update(t, stores[0], func(tx store.Tx) error { return createTasks(tx, tasks) })
	said := make(chan []string, len(stores))
	for i, s := range stores {
		go func() { // ends when no task is left
			ids, err := claimAll(t.Context(), s, fmt.Sprint("poller ", i))
			if err != nil {
				t.Error(err)
			}
			said <- ids
		}()
	}
	requireEachOnce(t, tasks, <-said, <-said)
	sound(t, stores[0])
}

// TestFaultD16_TwoProcessesClaimOneTask: so do two processes.
func TestFaultD16_TwoProcessesClaimOneTask(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	const tasks = 60
	update(t, s, func(tx store.Tx) error { return createTasks(tx, tasks) })
	children := []*child{start(t, command(t, "claim", path)), start(t, command(t, "claim", path))}
	for _, c := range children {
		require.Equal(t, "ready", c.line(t))
	}
	for _, c := range children {
		_, err := fmt.Fprintln(c.in)
		require.NoError(t, err)
	}
	requireEachOnce(t, tasks, children[0].rest(), children[1].rest())
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		counts, err := tx.TaskCounts()
		require.Equal(t, tasks, counts[task.StatusRunning])
		return err
	}))
	sound(t, s)
}

func createTasks(tx store.Tx, tasks int64) error {
	for n := int64(1); n <= tasks; n++ {
		if err := createTask(tx, n); err != nil {
			return err
		}
	}
	return nil
}

func requireEachOnce(t *testing.T, tasks int64, claims ...[]string) {
	t.Helper()
	times := make(map[string]int)
	for _, ids := range claims {
		for _, id := range ids {
			times[id]++
		}
	}
	for n := int64(1); n <= tasks; n++ {
		require.Equal(t, 1, times[taskID(n)], "times that task %d was claimed", n)
	}
	require.Len(t, times, int(tasks))
}

// TestFaultD20_FinishedAttemptsNeverChange: a finished attempt is written again, by the front with any
// other value and behind the store's back as unfinished. Neither can be.
func TestFaultD20_FinishedAttemptsNeverChange(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error { return createTask(tx, 1) })
	update(t, s, func(tx store.Tx) error { return happen(tx, 1, claimOf(1), finishOf(1)) })
	var done task.Attempt
	update(t, s, func(tx store.Tx) (err error) {
		done, _, err = tx.Attempt("att_1_1")
		require.NoError(t, err)
		over := done.Phase.(task.EndedAttempt)
		over.Status = task.AttemptError
		for _, phase := range []task.AttemptPhase{over, task.PendingAttempt{}, task.RunningAttempt{Lease: task.Lease{Token: "tok_1", Epoch: 1}}} {
			again := done
			again.Phase = phase
			require.Error(t, tx.PutAttempt(again))
		}
		return tx.PutAttempt(done.Belated())
	})
	db := raw(t, path, "PRAGMA busy_timeout = 1000")
	for _, statement := range []string{
		"UPDATE attempts SET ended_at = NULL",
		"UPDATE attempts SET status = 'pending'",
		"UPDATE attempts SET status = 'running'",
		"UPDATE attempts SET expires_at = 5",
		"UPDATE attempts SET number = 0",
		"INSERT INTO attempts SELECT * FROM attempts",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "constraint", statement)
	}
	require.NoError(t, db.Close())
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		a, _, err := tx.Attempt("att_1_1")
		require.Equal(t, done.Belated(), a)
		return err
	}))
	sound(t, s)
}

// TestFaultD22_MirrorsFollowTheAttempt: what a task says of its newest attempt cannot differ from it: no
// transaction ends so, and where somebody else made it so, Verify says it.
func TestFaultD22_MirrorsFollowTheAttempt(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error { return createTask(tx, 1) })
	err := s.Update(t.Context(), func(tx store.Tx) error {
		one, _, err := tx.Task(taskID(1))
		one.Phase = task.Running{}
		require.NoError(t, tx.PutTask(one))
		return err
	})
	require.ErrorContains(t, err, "its newest attempt att_1_1 is pending")
	for _, event := range []task.Event{claimOf(1), finishOf(1)} {
		update(t, s, func(tx store.Tx) error { return happen(tx, 1, event) })
		require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
			one, _, err := tx.Task(taskID(1))
			require.NoError(t, store.Coherent(one))
			a, _, _ := tx.Attempt(one.Current.ID)
			require.Equal(t, a, one.Current)
			return err
		}))
	}
	sound(t, s)
	require.NoError(t, s.Close())
	change(t, path, "DELETE FROM attempts")
	damage, err := open(t, sqlite.Options{Path: path}).Verify(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Damage{{What: "task " + taskID(1), Detail: "task " + taskID(1) + " has no attempt"}}, damage)
}
