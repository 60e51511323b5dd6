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
	"waybill/engine/commit"
	"waybill/store"
	"waybill/test/slow"
)

const day = 24 * time.Hour

// A pruneHarness is a store in fake time, on which one process works after the other.
type pruneHarness struct {
	taskFixture // of the process that runs now
	st          *hookedStore
	ids         map[string]string // of tasks, by their names
}

func withPruneHarness(t *testing.T, test func(t *testing.T, h *pruneHarness)) {
	synctest.Test(t, func(t *testing.T) {
		test(t, &pruneHarness{taskFixture{t: t}, newHookedStore(t), map[string]string{}})
	})
}

// begin starts a process.
func (h *pruneHarness) begin(o engine.Options) (stop func()) {
	h.t.Helper()
	o.Open = open(h.st)
	h.e = build(h.t, o)
	return runEngine(h.t, h.e)
}

// finished creates and finishes a task.
func (h *pruneHarness) finished(name string, report task.Finish, spec task.Spec) {
	h.t.Helper()
	h.ids[name] = h.create(spec)
	h.end(h.ids[name], report)
}

// left returns the names of the tasks that still exist, in alphabetical order.
func (h *pruneHarness) left() []string {
	h.t.Helper()
	names := []string{}
	require.NoError(h.t, h.e.View(h.t.Context(), func(tx store.Tx) error {
		for name, id := range h.ids {
			_, ok, err := tx.Task(id)
			require.NoError(h.t, err)
			if ok {
				names = append(names, name)
			}
		}
		return nil
	}))
	slices.Sort(names)
	return names
}

// count returns how many tasks the store has.
func (h *pruneHarness) count() (n int) {
	h.t.Helper()
	require.NoError(h.t, h.st.View(h.t.Context(), func(tx store.Tx) (err error) {
		n, err = tx.CountTasks(store.TaskQuery{})
		return err
	}))
	return n
}

// week lets a process that prunes vouch for the records of before.
func (h *pruneHarness) week() {
	h.t.Helper()
	do(h.t, h.e, queue("s", "the first change"))
	time.Sleep(8 * day)
	synctest.Wait()
}

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
	withPruneHarness(t, func(t *testing.T, h *pruneHarness) {
		const many = 1200 // more than one change removes
		stop := h.begin(engine.Options{Prunes: true})
		for i := range many {
			do(t, h.e, keyed(fmt.Sprint("k", i), "f", queue("s", "old")))
		}
		h.apply(func(tx *engine.Tx) (any, error) { return tx.CancelSession("s", "") })
		do(t, h.e, tracked("s", "outstanding", 1))
		stop()
		time.Sleep(30*day + time.Second)

		h.begin(engine.Options{Prunes: true})
		do(t, h.e, queue("s", "new"))
		synctest.Wait()
		oldest, _ := bounds(t, h.e)
		require.EqualValues(t, 1, oldest, "the store rested, and only the clock says for how long")
		time.Sleep(8 * day)
		synctest.Wait()
		require.Equal(t, []string{"outstanding", "new"}, contents(t, h.e))
		oldest, newest := bounds(t, h.e)
		require.EqualValues(t, 2*many+2, newest)
		require.Equal(t, newest, oldest)
		require.Equal(t, "fresh", do(t, h.e, keyed("k0", "g", queue("s", "fresh"))), "the old answer is still kept")
	})
}

// A clock jump must not remove young records, in the process that sees it or in those started during or after it. A
// process that runs for a week removes the old ones.
func TestClockJumpRemovesNoYoungRecords(t *testing.T) {
	withPruneHarness(t, func(t *testing.T, h *pruneHarness) {
		leap := 0 * day
		o := engine.Options{Prunes: true, Now: func() time.Time { return time.Now().Add(leap) }}
		whole := func(when string) {
			t.Helper()
			synctest.Wait()
			require.Equal(t, []string{"task"}, h.left(), when)
			require.Equal(t, commit.Replay{JSON: `"x"`}, do(t, h.e, keyed("k", "f", queue("s", "x"))), when)
			oldest, _ := bounds(t, h.e)
			require.EqualValues(t, 1, oldest, when)
		}
		stop := h.begin(o)
		do(t, h.e, keyed("k", "f", queue("s", "x")))
		h.finished("task", completed, task.Spec{})
		synctest.Wait() // the first look is over
		leap = 365 * day
		for range 5000 { // as many puts as pass between two looks
			do(t, h.e, queue("s", "in the leap"))
		}
		whole("the process whose clock leaps")
		stop()
		stop = h.begin(o)
		do(t, h.e, queue("s", "in the leap"))
		whole("a process that begins in the leap")
		time.Sleep(time.Hour)
		stop()

		leap = 0
		time.Sleep(20 * day)
		stop = h.begin(o)
		h.week()
		whole("a process that begins after the leap")
		stop()
		time.Sleep(20 * day)
		h.begin(o)
		do(t, h.e, queue("s", "later"))
		whole("a process that has just begun")
		h.week()
		require.Empty(t, h.left(), "a week later")
	})
}

// Finished tasks are removed in time, and no task that still needs attention is.
func TestFinishedTasksAreRemoved(t *testing.T) {
	withPruneHarness(t, func(t *testing.T, h *pruneHarness) {
		o := engine.Options{Prunes: true, Retention: engine.Retention{For: 10 * day}}
		stop := h.begin(o)
		live, _ := run.Start("run_live", "tasks.md", "1", "", coretest.Policy(), 1)
		over, _ := run.Start("run_over", "tasks.md", "2", "", coretest.Policy(), 1)
		h.apply(func(tx *engine.Tx) (any, error) { return nil, errors.Join(tx.PutRun(live), tx.PutRun(over)) })
		for range 250 { // more than one change looks at
			h.end(h.create(task.Spec{}), completed)
		}
		h.finished("complete", completed, task.Spec{})
		h.finished("of a run that is over", completed, task.Spec{RunID: "run_over"})
		h.apply(func(tx *engine.Tx) (any, error) {
			over, _, err := tx.Run("run_over")
			over.State = run.Done
			return nil, errors.Join(err, tx.PutRun(over))
		})
		asks := task.Finish{Status: task.AttemptAwaiting, Question: "why?"}
		h.finished("of a live run", completed, task.Spec{RunID: "run_live"})
		h.finished("failed", task.Finish{Status: task.AttemptError, Failure: task.Failure{Class: task.ClassTerminal, Message: "no"}}, task.Spec{})
		h.finished("asks", asks, task.Spec{})
		h.finished("needed", completed, task.Spec{})
		h.ids["waits"] = h.create(task.Spec{}, h.ids["asks"], h.ids["needed"])
		h.ids["cancelled"] = h.create(task.Spec{}, h.ids["asks"])
		h.apply(func(tx *engine.Tx) (any, error) { return tx.CancelTask(h.ids["cancelled"], "") })
		h.finished("answered late", asks, task.Spec{})
		stop()
		time.Sleep(5 * day)

		stop = h.begin(o)
		h.apply(func(tx *engine.Tx) (any, error) { return tx.CancelTask(h.ids["answered late"], "") })
		h.finished("young", completed, task.Spec{})
		synctest.Wait()
		require.Len(t, h.left(), len(h.ids))
		stop()
		time.Sleep(5*day + time.Second)

		h.begin(o)
		h.week()
		require.Equal(t, []string{"answered late", "asks", "failed", "needed", "of a live run", "waits", "young"}, h.left())
		require.Equal(t, 7, h.count())
		require.NoError(t, h.e.View(t.Context(), func(tx store.Tx) error {
			all, err := tx.Notices("", 0, 500)
			about := slices.IndexFunc(all, func(n store.Notice) bool { return n.Subject == h.ids["complete"] })
			require.GreaterOrEqual(t, about, 0, "the notice stays")
			_, gone := engine.Explain(tx, all[about].ID)
			require.ErrorContains(t, gone, "was removed; the notice holds what is known")
			return err
		}))
		damage, err := h.st.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, damage)
	})
}

// The oldest finished tasks beyond the limit are removed early, but none of the last day.
func TestTooManyFinishedTasksAreRemoved(t *testing.T) {
	slow.Test(t)
	for keep, want := range map[int]int{0: 150 + 120, 200: 200, 100: 120, -1: 120} {
		withPruneHarness(t, func(t *testing.T, h *pruneHarness) {
			stop := h.begin(engine.Options{Prunes: true})
			for range 150 {
				h.end(h.create(task.Spec{}), completed)
			}
			time.Sleep(25 * time.Hour)
			for range 120 {
				h.finished("newest", completed, task.Spec{})
			}
			stop()
			h.begin(engine.Options{Prunes: true, Retention: engine.Retention{Tasks: keep}})
			do(t, h.e, queue("s", "the first change"))
			time.Sleep(25 * time.Hour)
			synctest.Wait()
			require.Equal(t, want, h.count(), "%d kept", keep)
			require.Equal(t, []string{"newest"}, h.left())
		})
	}
}

// A process that ends leaves the rest to the next one, and a short-lived one removes nothing.
func TestEndingProcessLeavesOldRecords(t *testing.T) {
	withPruneHarness(t, func(t *testing.T, h *pruneHarness) {
		const many = 400
		stop := h.begin(engine.Options{})
		for range many {
			h.end(h.create(task.Spec{}), completed)
		}
		stop()
		time.Sleep(31 * day)
		for range 3 { // a week without a gap, so that the log vouches for the month
			stop = h.begin(engine.Options{})
			do(t, h.e, queue("s", "x"))
			synctest.Wait()
			stop()
			require.Equal(t, many, h.count())
			time.Sleep(4 * day)
		}
		ctx, cancel := context.WithCancel(t.Context())
		last := h.st.number() + 8 // behind the first tasks that are removed
		h.st.before = func(n int) error {
			if n == last {
				cancel()
			}
			return nil
		}
		e := build(t, engine.Options{Open: open(h.st), Prunes: true})
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }() // ends with ctx
		do(t, e, queue("s", "x"))
		require.NoError(t, <-ended)
		require.Positive(t, h.count())
		require.Less(t, h.count(), many)
	})
}

// A task with a creation time in the future does not keep the tasks behind it.
func TestTaskFromTheFutureKeepsNoOthers(t *testing.T) {
	withPruneHarness(t, func(t *testing.T, h *pruneHarness) {
		stop := h.begin(engine.Options{Now: func() time.Time { return time.Now().AddDate(5, 0, 0) }})
		h.finished("ahead", completed, task.Spec{})
		stop()
		stop = h.begin(engine.Options{})
		h.finished("behind it", completed, task.Spec{})
		stop()
		time.Sleep(31 * day)
		h.begin(engine.Options{Prunes: true})
		h.week()
		require.Equal(t, []string{"ahead"}, h.left())
	})
}
