package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/store"
	"waybill/store/memory"
)

const patience = 10 * time.Second

// next is the change that waits for an instruction of the session and hands it out. Its result is
// the contents, and after a MinAge without anything to hand out the pass is due again.
func next(session string, minAge time.Duration) engine.Change {
	var last engine.Dispatched
	return engine.Change{
		Apply: func(tx *engine.Tx) (any, error) {
			var err error
			last, err = tx.Dispatch(engine.Pass{
				Session: session, Limit: 50, MaxBytes: 1 << 20, MinAge: minAge.Microseconds(),
			})
			got := []string{}
			for _, d := range last.Deliveries {
				got = append(got, d.Instruction.Content)
			}
			return got, err
		},
		Wait: patience, Session: session,
		Idle: func(any) bool { return last.Empty() },
		Due:  func(any) core.Instant { return last.Due },
	}
}

// tracked is the change that queues a tracked instruction.
func tracked(session, content string, retries int) engine.Change {
	return engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		return tx.Queue(core.Instruction{Session: session, Content: content, Tracked: true, MaxRetries: retries})
	}}
}

// do carries a change out.
func do(t *testing.T, e *engine.Engine, c engine.Change) any {
	t.Helper()
	result, err := e.Do(t.Context(), c)
	require.NoError(t, err)
	return result
}

// waits asserts that a change waits, and gives its outcome to come.
func waits(t *testing.T, ctx context.Context, e *engine.Engine, c engine.Change) <-chan outcome {
	t.Helper()
	done := submit(ctx, e, c)
	synctest.Wait()
	require.Empty(t, done, "it did not wait")
	return done
}

// bubble runs a test in fake time; elapsed is how much of it has gone by.
func bubble(t *testing.T, test func(t *testing.T, elapsed func() time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		test(t, func() time.Duration { return time.Since(began) })
	})
}

func TestWaitIsOverAtOnceWhenThereIsSomething(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, watch())
		do(t, e, queue("s", "x"))
		require.Equal(t, []string{"x"}, do(t, e, next("s", 0)))
		require.Zero(t, elapsed())
	})
}

func TestWaitIsOverWhenTheSessionGetsSomething(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, watch())
		mine, other := waits(t, t.Context(), e, next("s", 0)), waits(t, t.Context(), e, next("other", 0))
		time.Sleep(time.Second)
		do(t, e, queue("s", "x"))
		require.Equal(t, outcome{result: []string{"x"}}, <-mine)
		require.Equal(t, time.Second, elapsed())
		require.Equal(t, outcome{result: []string{}}, <-other)
		require.Equal(t, patience, elapsed())
	})
}

// What is queued in the same group as the wait, but behind it, has not been seen by the wait.
func TestWaitIsOverWhenTheSessionGetsSomethingInTheSameCommit(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, watch())
		release := plug(t, e)
		done := submit(t.Context(), e, next("s", 0))
		submit(t.Context(), e, queue("s", "x"))
		release()
		require.Equal(t, outcome{result: []string{"x"}}, <-done)
		require.Zero(t, elapsed())
	})
}

func TestOfTwoWaitsOneGetsItAndTheOtherGoesOnWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, watch())
		dones := []<-chan outcome{waits(t, t.Context(), e, next("s", 0)), waits(t, t.Context(), e, next("s", 0))}
		do(t, e, queue("s", "x"))
		synctest.Wait()
		answered := append(append([]outcome{}, drain(dones[0])...), drain(dones[1])...)
		require.Equal(t, []outcome{{result: []string{"x"}}}, answered)
		require.Zero(t, elapsed())
	})
}

// drain takes what is in a channel.
func drain(ch <-chan outcome) (got []outcome) {
	for len(ch) > 0 {
		got = append(got, <-ch)
	}
	return got
}

func TestWaitHoldsNoPlaceInTheOrder(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		st := watch()
		e := start(t, st)
		do(t, e, queue("other", "x"))
		done := waits(t, t.Context(), e, next("s", 0))
		before := st.number()
		do(t, e, queue("other", "y"))
		synctest.Wait()
		require.Empty(t, done)
		require.Equal(t, before+1, st.number(), "it was tried again for what is none of its business")
		require.Zero(t, elapsed())
	})
}

func TestWaitIsOverExactlyWhenARepeatIsDue(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, watch())
		do(t, e, tracked("s", "x", 1))
		require.Equal(t, []string{"x"}, do(t, e, next("s", 3*time.Second)))
		require.Equal(t, []string{"x"}, do(t, e, next("s", 3*time.Second)))
		require.Equal(t, 3*time.Second, elapsed())
		// Its sends are used up, so the next turn is its failure, which ends the wait as well.
		require.Equal(t, []string{}, do(t, e, next("s", 3*time.Second)))
		require.Equal(t, 6*time.Second, elapsed())
	})
}

func TestWaitIsOverWhenAnUndeliveredSendIsTakenBack(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, watch())
		do(t, e, queue("s", "x"))
		var lost []engine.Delivery
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
			d, err := tx.Dispatch(engine.Pass{Session: "s", Limit: 1, MaxBytes: 1})
			lost = d.Deliveries
			return nil, err
		}})
		done := waits(t, t.Context(), e, next("s", 0))
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return nil, tx.Undeliver(lost) }})
		require.Equal(t, outcome{result: []string{"x"}}, <-done)
		require.Zero(t, elapsed())
	})
}

func TestWaitIsGivenUpWhenItsContextEnds(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, watch())
		ctx, cancel := context.WithCancel(t.Context())
		done := waits(t, ctx, e, next("s", 0))
		cancel()
		require.Equal(t, outcome{err: context.Canceled}, <-done)
		require.Zero(t, elapsed())
	})
}

func TestHurriedWaitIsAnsweredWithWhatThereIs(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, watch())
		ctx, cancel := context.WithCancelCause(t.Context())
		done := waits(t, ctx, e, keyed("k", "f", next("s", 0)))
		cancel(engine.ErrHurry)
		require.Equal(t, outcome{result: []string{}}, <-done)
		require.Equal(t, engine.Replay{JSON: "[]"}, do(t, e, keyed("k", "f", next("s", 0))))
		require.Zero(t, elapsed())
	})
}

func TestHurryDoesNotKeepAChangeFromHappening(t *testing.T) {
	e := start(t, watch())
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(engine.ErrHurry)
	require.NoError(t, (<-submit(ctx, e, queue("s", "x"))).err)
	require.Equal(t, []string{"x"}, contents(t, e))
}

func TestStopEndsEveryWait(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		e := build(t, engine.Options{Open: open(watch())})
		stop := run(t, e)
		parked := waits(t, t.Context(), e, next("s", 0))
		release := plug(t, e)
		queued := submit(t.Context(), e, next("s", 0)) // begins to wait when the stop is under way
		go stop()
		synctest.Wait()
		release()
		require.Equal(t, outcome{result: []string{}}, <-parked)
		require.Equal(t, outcome{result: []string{}}, <-queued)
		require.Zero(t, elapsed())
		synctest.Wait()
	})
}

// foreignly puts an instruction into the store behind the engine's back, as another process does.
func foreignly(t *testing.T, st *watched, session, content string) {
	t.Helper()
	require.NoError(t, st.Store.Update(t.Context(), func(tx store.Tx) error {
		seq, err := tx.Append(store.Event{Type: core.InstructionQueued, Subject: content, Data: "{}"})
		if err != nil {
			return err
		}
		return tx.PutInstruction(core.Instruction{
			ID: content, Session: session, Content: content, Position: seq, Phase: core.Queued{},
		})
	}))
}

func TestWaitIsOverWhenAnotherProcessCommits(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		st := watch()
		e := start(t, st)
		done := waits(t, t.Context(), e, next("s", 0))
		wake, stop := e.Subscribe()
		defer stop()
		foreignly(t, st, "s", "x")
		st.changed <- struct{}{}
		require.Equal(t, outcome{result: []string{"x"}}, <-done)
		<-wake
		require.Zero(t, elapsed())
	})
}

// The bound holds for what other processes queued as well.
func TestOtherProcessesCountForTheBound(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		st := watch()
		e := build(t, engine.Options{Open: open(st), MaxPending: 2})
		run(t, e)
		do(t, e, queue("s", "a"))
		foreignly(t, st, "s", "b")
		st.changed <- struct{}{}
		synctest.Wait()
		_, err := e.Do(t.Context(), queue("s", "c"))
		var refusal *core.Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, core.QueueFull, refusal.Kind)
	})
}

// The signal of the other process is taken in while the group is being committed: too late for what
// the group read, too early for what waits after it.
func TestWaitDoesNotMissWhatAnotherProcessCommitsJustBefore(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		st := watch()
		st.after = func(n int) {
			if n == 2 {
				foreignly(t, st, "s", "x")
				st.changed <- struct{}{}
				synctest.Wait()
			}
		}
		e := start(t, st)
		do(t, e, engine.Change{Apply: func(*engine.Tx) (any, error) { return nil, nil }})
		require.Equal(t, []string{"x"}, do(t, e, next("s", 0)))
		require.Zero(t, elapsed())
	})
}

// TestWaitEndsInTimeWhenTheClockIsSet: as it is when a server is first heard of whose clock is an hour off.
func TestWaitEndsInTimeWhenTheClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		bubble(t, func(t *testing.T, elapsed func() time.Duration) {
			var ahead atomic.Int64
			e := build(t, engine.Options{
				Open: func(context.Context) (store.Store, error) {
					ahead.Store(int64(by))
					return memory.New(), nil
				},
				Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
			})
			run(t, e)
			require.Equal(t, []string{}, do(t, e, next("s", 0)))
			require.Equal(t, patience, elapsed(), "%v", by)
		})
	}
}
