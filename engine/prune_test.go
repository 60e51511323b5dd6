package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/engine"
	"waybill/store"
	"waybill/test/slow"
)

// bounds returns the numbers of the oldest and the newest event.
func bounds(t *testing.T, e *engine.Engine) (oldest, newest int64) {
	t.Helper()
	require.NoError(t, e.View(t.Context(), func(tx store.Tx) (err error) {
		oldest, newest, err = tx.Bounds()
		return err
	}))
	return oldest, newest
}

func TestFinishedRecordsAreRemovedInTime(t *testing.T) {
	inFakeTime(t, func(t *testing.T, _ func() time.Duration) {
		const many = 1200 // more than one change removes
		st := newHookedStore(t)
		e := build(t, engine.Options{Open: open(st), Prunes: true})
		stop := runEngine(t, e)
		for i := range many {
			do(t, e, keyed(fmt.Sprint("k", i), "f", queue("s", "old")))
		}
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.CancelSession("s", "") }})
		do(t, e, tracked("s", "outstanding", 1))
		stop()
		time.Sleep(30*24*time.Hour + time.Second)

		e = build(t, engine.Options{Open: open(st), Prunes: true})
		runEngine(t, e)
		do(t, e, queue("s", "new"))
		synctest.Wait()
		oldest, _ := bounds(t, e)
		require.EqualValues(t, 1, oldest, "the store rested, and only the clock says for how long")
		time.Sleep(8 * 24 * time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"outstanding", "new"}, contents(t, e))
		oldest, newest := bounds(t, e)
		require.EqualValues(t, 2*many+2, newest)
		require.Equal(t, newest, oldest)
		require.Equal(t, "fresh", do(t, e, keyed("k0", "g", queue("s", "fresh"))), "the old answer is still kept")
	})
}

// A clock jump must not remove young records, in the process that sees it or in those started during or after it. A
// process that runs for a week removes the old ones.
func TestClockJumpRemovesNoYoungRecords(t *testing.T) {
	inFakeTime(t, func(t *testing.T, _ func() time.Duration) {
		const day = 24 * time.Hour
		st := newHookedStore(t)
		leap := 0 * day
		begin := func() (e *engine.Engine, stop func()) {
			e = build(t, engine.Options{Open: open(st), Prunes: true, Now: func() time.Time { return time.Now().Add(leap) }})
			return e, runEngine(t, e)
		}
		ids := map[string]string{}
		whole := func(e *engine.Engine, when string) {
			t.Helper()
			synctest.Wait()
			require.Equal(t, []string{"task"}, left(t, e, ids), when)
			require.Equal(t, engine.Replay{JSON: `"x"`}, do(t, e, keyed("k", "f", queue("s", "x"))), when)
			oldest, _ := bounds(t, e)
			require.EqualValues(t, 1, oldest, when)
		}

		e, stop := begin()
		do(t, e, keyed("k", "f", queue("s", "x")))
		ids["task"] = work{status: task.AttemptCompleted}.does(t, e)
		synctest.Wait() // the first look is over
		leap = 365 * day
		for range 5000 { // as many puts as pass between two looks
			do(t, e, queue("s", "in the leap"))
		}
		whole(e, "the process whose clock leaps")
		stop()
		e, stop = begin()
		do(t, e, queue("s", "in the leap"))
		whole(e, "a process that begins in the leap")
		time.Sleep(time.Hour)
		stop()

		leap = 0
		time.Sleep(20 * day)
		e, stop = begin()
		do(t, e, queue("s", "after the leap"))
		time.Sleep(8 * day)
		whole(e, "a process that begins after the leap")
		stop()
		time.Sleep(20 * day)
		e, _ = begin()
		do(t, e, queue("s", "later"))
		whole(e, "a process that has just begun")
		time.Sleep(8 * day)
		synctest.Wait()
		require.Empty(t, left(t, e, ids), "a week later")
	})
}

// A work is a task and its target state; "" means that it was not claimed.
type work struct {
	run    string
	status task.AttemptStatus
	after  []string
}

// does creates the task, and claims and finishes it as far as needed. It returns the task's id.
func (w work) does(t *testing.T, e *engine.Engine) string {
	t.Helper()
	return do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		tsk, err := tx.CreateTask(task.Spec{Prompt: "x", MaxAttempts: 1, RunID: w.run}, w.after)
		if err != nil || w.status == "" {
			return tsk.ID, err
		}
		c, err := tx.ClaimTask(engine.Claim{Worker: "w", Length: time.Minute.Microseconds()})
		if err != nil {
			return nil, err
		}
		f := task.Finish{Token: c.Lease.Token, Status: w.status, Question: "why?"}
		if w.status == task.AttemptError {
			f.Failure = task.Failure{Class: task.ClassTerminal, Message: "no"}
		}
		_, err = tx.FinishAttempt(tsk.ID, f)
		return tsk.ID, err
	}}).(string)
}

// left returns the names of the tasks that still exist.
func left(t *testing.T, e *engine.Engine, ids map[string]string) (names []string) {
	t.Helper()
	require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
		for name, id := range ids {
			_, ok, err := tx.Task(id)
			require.NoError(t, err)
			if ok {
				names = append(names, name)
			}
		}
		return nil
	}))
	return names
}

// Finished tasks are removed in time, and no task that still needs attention is.
func TestFinishedTasksAreRemoved(t *testing.T) {
	inFakeTime(t, func(t *testing.T, _ func() time.Duration) {
		st := newHookedStore(t)
		e := build(t, engine.Options{Open: open(st), Prunes: true, Retention: engine.Retention{For: 10 * 24 * time.Hour}})
		stop := runEngine(t, e)
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
			live, _ := run.Start("run_live", "tasks.md", "1", "", coretest.Policy(), 1)
			over, _ := run.Start("run_over", "tasks.md", "2", "", coretest.Policy(), 1)
			return nil, errors.Join(tx.PutRun(live), tx.PutRun(over))
		}})
		ids := map[string]string{}
		for range 250 { // more than one change looks at
			work{status: task.AttemptCompleted}.does(t, e)
		}
		ids["complete"] = work{status: task.AttemptCompleted}.does(t, e)
		ids["of a run that is over"] = work{status: task.AttemptCompleted, run: "run_over"}.does(t, e)
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
			over, _, err := tx.Run("run_over")
			over.State = run.Done
			return nil, errors.Join(err, tx.PutRun(over))
		}})
		ids["of a live run"] = work{status: task.AttemptCompleted, run: "run_live"}.does(t, e)
		ids["failed"] = work{status: task.AttemptError}.does(t, e)
		ids["asks"] = work{status: task.AttemptAwaiting}.does(t, e)
		ids["needed"] = work{status: task.AttemptCompleted}.does(t, e)
		ids["waits"] = work{after: []string{ids["asks"], ids["needed"]}}.does(t, e)
		ids["cancelled"] = work{after: []string{ids["asks"]}}.does(t, e)
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.CancelTask(ids["cancelled"], "") }})
		ids["answered late"] = work{status: task.AttemptAwaiting}.does(t, e)
		stop()
		time.Sleep(5 * 24 * time.Hour)

		e = build(t, engine.Options{Open: open(st), Prunes: true, Retention: engine.Retention{For: 10 * 24 * time.Hour}})
		stop = runEngine(t, e)
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.CancelTask(ids["answered late"], "") }})
		ids["young"] = work{status: task.AttemptCompleted}.does(t, e)
		synctest.Wait()
		require.Len(t, left(t, e, ids), len(ids))
		stop()
		time.Sleep(5*24*time.Hour + time.Second)

		e = build(t, engine.Options{Open: open(st), Prunes: true, Retention: engine.Retention{For: 10 * 24 * time.Hour}})
		runEngine(t, e)
		do(t, e, queue("s", "the first change"))
		time.Sleep(8 * 24 * time.Hour)
		synctest.Wait()
		require.ElementsMatch(t, []string{"of a live run", "failed", "asks", "needed", "waits", "answered late", "young"}, left(t, e, ids))
		require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
			n, err := tx.CountTasks(store.TaskQuery{})
			require.Equal(t, 7, n)
			all, again := tx.Notices("", 0, 500)
			about := slices.IndexFunc(all, func(n store.Notice) bool { return n.Subject == ids["complete"] })
			require.GreaterOrEqual(t, about, 0, "the notice stays")
			_, gone := engine.Explain(tx, all[about].ID)
			require.ErrorContains(t, gone, "was removed; the notice holds what is known")
			return errors.Join(err, again)
		}))
		damage, err := st.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, damage)
	})
}

// The oldest finished tasks beyond the limit are removed early, but none of the last day.
func TestTooManyFinishedTasksAreRemoved(t *testing.T) {
	slow.Test(t)
	for keep, want := range map[int]int{0: 150 + 120, 200: 200, 100: 120, -1: 120} {
		inFakeTime(t, func(t *testing.T, _ func() time.Duration) {
			st := newHookedStore(t)
			e := build(t, engine.Options{Open: open(st), Prunes: true})
			stop := runEngine(t, e)
			for range 150 {
				work{status: task.AttemptCompleted}.does(t, e)
			}
			time.Sleep(25 * time.Hour)
			newest := ""
			for range 120 {
				newest = work{status: task.AttemptCompleted}.does(t, e)
			}
			stop()
			e = build(t, engine.Options{Open: open(st), Prunes: true, Retention: engine.Retention{Tasks: keep}})
			runEngine(t, e)
			do(t, e, queue("s", "the first change"))
			time.Sleep(25 * time.Hour)
			synctest.Wait()
			require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
				n, err := tx.CountTasks(store.TaskQuery{})
				require.Equal(t, want, n, "%d kept", keep)
				_, ok, again := tx.Task(newest)
				require.True(t, ok)
				return errors.Join(err, again)
			}))
		})
	}
}

// A process that ends leaves the rest to the next one, and a short-lived one removes nothing.
func TestEndingProcessLeavesOldRecords(t *testing.T) {
	inFakeTime(t, func(t *testing.T, _ func() time.Duration) {
		const many = 400
		st := newHookedStore(t)
		count := func() (n int) {
			require.NoError(t, st.View(t.Context(), func(tx store.Tx) (err error) {
				n, err = tx.CountTasks(store.TaskQuery{})
				return err
			}))
			return n
		}
		e := build(t, engine.Options{Open: open(st)})
		stop := runEngine(t, e)
		for range many {
			work{status: task.AttemptCompleted}.does(t, e)
		}
		stop()
		time.Sleep(31 * 24 * time.Hour)

		e = build(t, engine.Options{Open: open(st)})
		stop = runEngine(t, e)
		do(t, e, queue("s", "x"))
		synctest.Wait()
		stop()
		require.Equal(t, many, count())
		for range 2 { // a week without a gap, so that the log vouches for the month
			time.Sleep(4 * 24 * time.Hour)
			e = build(t, engine.Options{Open: open(st)})
			stop = runEngine(t, e)
			do(t, e, queue("s", "y"))
			stop()
		}
		ctx, cancel := context.WithCancel(t.Context())
		last := st.number() + 8 // behind the first tasks that are removed
		st.before = func(n int) error {
			if n == last {
				cancel()
			}
			return nil
		}
		e = build(t, engine.Options{Open: open(st), Prunes: true})
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }() // ends with ctx
		do(t, e, queue("s", "x"))
		require.NoError(t, <-ended)
		require.Positive(t, count())
		require.Less(t, count(), many)
	})
}

// A task with a creation time in the future does not keep the tasks behind it.
func TestTaskFromTheFutureKeepsNoOthers(t *testing.T) {
	inFakeTime(t, func(t *testing.T, _ func() time.Duration) {
		st := newHookedStore(t)
		ahead := build(t, engine.Options{Open: open(st), Now: func() time.Time { return time.Now().AddDate(5, 0, 0) }})
		stop := runEngine(t, ahead)
		ids := map[string]string{"ahead": work{status: task.AttemptCompleted}.does(t, ahead)}
		stop()
		e := build(t, engine.Options{Open: open(st)})
		stop = runEngine(t, e)
		ids["behind it"] = work{status: task.AttemptCompleted}.does(t, e)
		stop()
		time.Sleep(31 * 24 * time.Hour)
		e = build(t, engine.Options{Open: open(st), Prunes: true})
		runEngine(t, e)
		do(t, e, queue("s", "x"))
		time.Sleep(8 * 24 * time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"ahead"}, left(t, e, ids))
	})
}
