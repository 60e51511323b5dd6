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

	"waybill/core"
	"waybill/engine"
	"waybill/store"
)

// bounds gives the numbers of the oldest and the newest event.
func bounds(t *testing.T, e *engine.Engine) (oldest, newest int64) {
	t.Helper()
	require.NoError(t, e.View(t.Context(), func(tx store.Tx) (err error) {
		oldest, newest, err = tx.Bounds()
		return err
	}))
	return oldest, newest
}

func TestWhatNobodyWaitsForIsForgottenInTime(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		const many = 1200 // more than one change removes
		st := watch()
		e := build(t, engine.Options{Open: open(st), Tidies: true})
		stop := run(t, e)
		for i := range many {
			do(t, e, keyed(fmt.Sprint("k", i), "f", queue("s", "old")))
		}
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.CancelSession("s", "") }})
		do(t, e, tracked("s", "outstanding", 1))
		stop()
		time.Sleep(30*24*time.Hour + time.Second)

		e = build(t, engine.Options{Open: open(st), Tidies: true})
		run(t, e)
		do(t, e, queue("s", "new")) // the first change after the store was opened
		synctest.Wait()
		require.Equal(t, []string{"outstanding", "new"}, contents(t, e))
		oldest, newest := bounds(t, e)
		require.EqualValues(t, 2*many+2, newest)
		require.Equal(t, newest, oldest)
		require.Equal(t, "fresh", do(t, e, keyed("k0", "g", queue("s", "fresh"))), "the old answer is still kept")
	})
}

func TestNothingIsForgottenTooSoon(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		e := build(t, engine.Options{Open: open(watch()), Tidies: true})
		run(t, e)
		do(t, e, keyed("k", "f", queue("s", "x")))
		time.Sleep(29 * 24 * time.Hour)
		for range 5000 { // as many puts as pass between two looks
			do(t, e, queue("s", "y"))
		}
		synctest.Wait()
		oldest, _ := bounds(t, e)
		require.EqualValues(t, 1, oldest)
		require.Equal(t, engine.Replay{JSON: `"x"`}, do(t, e, keyed("k", "f", queue("s", "x"))))
	})
}

// a work is a task and how far it has come: "" if nobody has claimed it.
type work struct {
	run    string
	status core.AttemptStatus
	after  []string
}

// does makes the task, and claims and finishes it if it is to be finished. It gives the id of the task.
func (w work) does(t *testing.T, e *engine.Engine) string {
	t.Helper()
	return do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		task, err := tx.CreateTask(core.Launch{Prompt: "x", MaxAttempts: 1, RunID: w.run}, w.after)
		if err != nil || w.status == "" {
			return task.ID, err
		}
		c, err := tx.ClaimTask(engine.Claim{Worker: "w", Length: time.Minute.Microseconds()})
		if err != nil {
			return nil, err
		}
		f := core.FinishAttempt{Token: c.Lease.Token, Status: w.status, Question: "why?"}
		if w.status == core.AttemptError {
			f.Failure = core.Failure{Class: core.ClassTerminal, Message: "no"}
		}
		_, err = tx.FinishAttempt(task.ID, f)
		return task.ID, err
	}}).(string)
}

// left gives those of the tasks that are there.
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

// TestFaultS17_TasksThatAreOverAreForgotten in their time, and none that somebody may still have to look after.
func TestFaultS17_TasksThatAreOverAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		st := watch()
		e := build(t, engine.Options{Open: open(st), Tidies: true, Keep: engine.Keep{For: 10 * 24 * time.Hour}})
		stop := run(t, e)
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
			live, _ := core.StartRun("run_live", "tasks.md", "1", "", core.DefaultPolicy(), 1)
			over, _ := core.StartRun("run_over", "tasks.md", "2", "", core.DefaultPolicy(), 1)
			return nil, errors.Join(tx.PutRun(live), tx.PutRun(over))
		}})
		ids := map[string]string{}
		for range 250 { // more than one change looks at
			work{status: core.AttemptCompleted}.does(t, e)
		}
		ids["complete"] = work{status: core.AttemptCompleted}.does(t, e)
		ids["of a run that is over"] = work{status: core.AttemptCompleted, run: "run_over"}.does(t, e)
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
			over, _, err := tx.Run("run_over")
			over.State = core.RunDone
			return nil, errors.Join(err, tx.PutRun(over))
		}})
		ids["of a live run"] = work{status: core.AttemptCompleted, run: "run_live"}.does(t, e)
		ids["failed"] = work{status: core.AttemptError}.does(t, e)
		ids["asks"] = work{status: core.AttemptAwaiting}.does(t, e)
		ids["needed"] = work{status: core.AttemptCompleted}.does(t, e)
		ids["waits"] = work{after: []string{ids["asks"], ids["needed"]}}.does(t, e)
		ids["cancelled"] = work{after: []string{ids["asks"]}}.does(t, e)
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.CancelTask(ids["cancelled"], "") }})
		ids["answered late"] = work{status: core.AttemptAwaiting}.does(t, e)
		stop()
		time.Sleep(5 * 24 * time.Hour)

		e = build(t, engine.Options{Open: open(st), Tidies: true, Keep: engine.Keep{For: 10 * 24 * time.Hour}})
		stop = run(t, e)
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.CancelTask(ids["answered late"], "") }})
		ids["young"] = work{status: core.AttemptCompleted}.does(t, e)
		synctest.Wait()
		require.Len(t, left(t, e, ids), len(ids))
		stop()
		time.Sleep(5*24*time.Hour + time.Second)

		e = build(t, engine.Options{Open: open(st), Tidies: true, Keep: engine.Keep{For: 10 * 24 * time.Hour}})
		run(t, e)
		do(t, e, queue("s", "the first change"))
		synctest.Wait()
		require.ElementsMatch(t, []string{"of a live run", "failed", "asks", "needed", "waits", "answered late", "young"}, left(t, e, ids))
		require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
			n, err := tx.CountTasks(store.TaskQuery{})
			require.Equal(t, 7, n)
			all, again := tx.Notices("", 0, 500)
			about := slices.IndexFunc(all, func(n store.Notice) bool { return n.Subject == ids["complete"] })
			require.GreaterOrEqual(t, about, 0, "the notice stays")
			_, gone := engine.Explain(tx, all[about].ID)
			require.ErrorContains(t, gone, "is not kept any more")
			return errors.Join(err, again)
		}))
		damage, err := st.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, damage)
	})
}

// TestFaultS17_TooManyTasksAreOver: those that were created first are forgotten before their time, but none of the last day.
func TestFaultS17_TooManyTasksAreOver(t *testing.T) {
	for keep, want := range map[int]int{0: 150 + 120, 200: 200, 100: 120, -1: 120} {
		bubble(t, func(t *testing.T, _ func() time.Duration) {
			st := watch()
			e := build(t, engine.Options{Open: open(st), Tidies: true})
			stop := run(t, e)
			for range 150 {
				work{status: core.AttemptCompleted}.does(t, e)
			}
			time.Sleep(25 * time.Hour)
			newest := ""
			for range 120 {
				newest = work{status: core.AttemptCompleted}.does(t, e)
			}
			stop()
			e = build(t, engine.Options{Open: open(st), Tidies: true, Keep: engine.Keep{Tasks: keep}})
			run(t, e)
			do(t, e, queue("s", "the first change"))
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

// TestEndedProcessForgotOnAndOn: however much is too old, a process that ends leaves the rest to the next one, and one that
// is to end soon removes nothing at all.
func TestEndedProcessForgotOnAndOn(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		const many = 400
		st := watch()
		count := func() (n int) {
			require.NoError(t, st.View(t.Context(), func(tx store.Tx) (err error) {
				n, err = tx.CountTasks(store.TaskQuery{})
				return err
			}))
			return n
		}
		e := build(t, engine.Options{Open: open(st)})
		stop := run(t, e)
		for range many {
			work{status: core.AttemptCompleted}.does(t, e)
		}
		stop()
		time.Sleep(31 * 24 * time.Hour)

		e = build(t, engine.Options{Open: open(st)})
		stop = run(t, e)
		do(t, e, queue("s", "x"))
		synctest.Wait()
		stop()
		require.Equal(t, many, count())

		ctx, cancel := context.WithCancel(t.Context())
		last := st.number() + 8 // behind the first tasks that are removed
		st.before = func(n int) error {
			if n == last {
				cancel()
			}
			return nil
		}
		e = build(t, engine.Options{Open: open(st), Tidies: true})
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }() // ends with ctx
		do(t, e, queue("s", "x"))
		require.NoError(t, <-ended)
		require.Positive(t, count())
		require.Less(t, count(), many)
	})
}

// TestTaskOfAClockThatWasAheadKeptAllThatCameBehindIt: it stays until its own time has passed, alone.
func TestTaskOfAClockThatWasAheadKeptAllThatCameBehindIt(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		st := watch()
		ahead := build(t, engine.Options{Open: open(st), Now: func() time.Time { return time.Now().AddDate(5, 0, 0) }})
		stop := run(t, ahead)
		ids := map[string]string{"ahead": work{status: core.AttemptCompleted}.does(t, ahead)}
		stop()
		e := build(t, engine.Options{Open: open(st)})
		stop = run(t, e)
		ids["behind it"] = work{status: core.AttemptCompleted}.does(t, e)
		stop()
		time.Sleep(31 * 24 * time.Hour)
		e = build(t, engine.Options{Open: open(st), Tidies: true})
		run(t, e)
		do(t, e, queue("s", "x"))
		synctest.Wait()
		require.Equal(t, []string{"ahead"}, left(t, e, ids))
	})
}
