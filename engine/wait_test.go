package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/store"
	"waybill/test/teststore"
)

const waitTimeout = 10 * time.Second

// next returns a change that waits for an instruction of the session and sends it. Its result is the contents.
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
		Wait: waitTimeout, Session: session,
		Idle: func(any) bool { return last.Empty() },
		Due:  func(any) core.Instant { return last.Due },
	}
}

// tracked returns a change that queues a tracked instruction.
func tracked(session, content string, retries int) engine.Change {
	return engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		return tx.Queue(instruction.Instruction{Session: session, Content: content, Tracked: true, MaxRetries: retries})
	}}
}

// do applies a change.
func do(t *testing.T, e *engine.Engine, c engine.Change) any {
	t.Helper()
	result, err := e.Do(t.Context(), c)
	require.NoError(t, err)
	return result
}

// waits asserts that a change waits, and returns its outcome.
func waits(t *testing.T, ctx context.Context, e *engine.Engine, c engine.Change) <-chan outcome {
	t.Helper()
	done := submit(ctx, e, c)
	synctest.Wait()
	require.Empty(t, done, "it did not wait")
	return done
}

// inFakeTime runs a test in fake time; elapsed returns the time since its start.
func inFakeTime(t *testing.T, test func(t *testing.T, elapsed func() time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		test(t, func() time.Duration { return time.Since(began) })
	})
}

func TestWaitIsOverWhenTheSessionGetsSomething(t *testing.T) {
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, newHookedStore(t))
		mine, other := waits(t, t.Context(), e, next("s", 0)), waits(t, t.Context(), e, next("other", 0))
		time.Sleep(time.Second)
		do(t, e, queue("s", "x"))
		require.Equal(t, outcome{result: []string{"x"}}, <-mine)
		require.Equal(t, time.Second, elapsed())
		require.Equal(t, outcome{result: []string{}}, <-other)
		require.Equal(t, waitTimeout, elapsed())
	})
}

// An instruction queued behind the wait in the same group ends the wait.
func TestWaitIsOverWhenTheSessionGetsSomethingInTheSameCommit(t *testing.T) {
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, newHookedStore(t))
		release := blockEngine(t, e)
		done := submit(t.Context(), e, next("s", 0))
		submit(t.Context(), e, queue("s", "x"))
		release()
		require.Equal(t, outcome{result: []string{"x"}}, <-done)
		require.Zero(t, elapsed())
	})
}

func TestOfTwoWaitsOneGetsItAndTheOtherGoesOnWaiting(t *testing.T) {
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, newHookedStore(t))
		dones := []<-chan outcome{waits(t, t.Context(), e, next("s", 0)), waits(t, t.Context(), e, next("s", 0))}
		do(t, e, queue("s", "x"))
		synctest.Wait()
		answered := append(append([]outcome{}, drain(dones[0])...), drain(dones[1])...)
		require.Equal(t, []outcome{{result: []string{"x"}}}, answered)
		require.Zero(t, elapsed())
	})
}

// drain returns the outcomes in a channel.
func drain(ch <-chan outcome) (got []outcome) {
	for len(ch) > 0 {
		got = append(got, <-ch)
	}
	return got
}

func TestWaitHoldsNoPlaceInTheOrder(t *testing.T) {
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		st := newHookedStore(t)
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
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, newHookedStore(t))
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
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, newHookedStore(t))
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
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, newHookedStore(t))
		ctx, cancel := context.WithCancel(t.Context())
		done := waits(t, ctx, e, next("s", 0))
		cancel()
		require.Equal(t, outcome{err: context.Canceled}, <-done)
		require.Zero(t, elapsed())
	})
}

func TestHurriedWaitIsAnsweredWithWhatThereIs(t *testing.T) {
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		e := start(t, newHookedStore(t))
		ctx, cancel := context.WithCancelCause(t.Context())
		done := waits(t, ctx, e, keyed("k", "f", next("s", 0)))
		cancel(engine.ErrHurry)
		require.Equal(t, outcome{result: []string{}}, <-done)
		require.Equal(t, engine.Replay{JSON: "[]"}, do(t, e, keyed("k", "f", next("s", 0))))
		require.Zero(t, elapsed())
	})
}

func TestStopEndsEveryWait(t *testing.T) {
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		e := build(t, engine.Options{Open: open(newHookedStore(t))})
		stop := runEngine(t, e)
		parked := waits(t, t.Context(), e, next("s", 0))
		release := blockEngine(t, e)
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

// queueFromOtherProcess queues an instruction directly in the store.
func queueFromOtherProcess(t *testing.T, st *hookedStore, session, content string) {
	t.Helper()
	require.NoError(t, st.Store.Update(t.Context(), func(tx store.Tx) error {
		seq, err := tx.Append(store.Event{Type: core.InstructionQueued, Subject: content, Data: "{}"})
		if err != nil {
			return err
		}
		return tx.PutInstruction(instruction.Instruction{
			ID: content, Session: session, Content: content, Position: seq, Phase: instruction.Queued{},
		})
	}))
}

func TestWaitIsOverWhenAnotherProcessCommits(t *testing.T) {
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		st := newHookedStore(t)
		e := start(t, st)
		done := waits(t, t.Context(), e, next("s", 0))
		wake, stop := e.Subscribe()
		defer stop()
		queueFromOtherProcess(t, st, "s", "x")
		st.changed <- struct{}{}
		require.Equal(t, outcome{result: []string{"x"}}, <-done)
		<-wake
		require.Zero(t, elapsed())
	})
}

func TestOtherProcessesCountForTheBound(t *testing.T) {
	inFakeTime(t, func(t *testing.T, _ func() time.Duration) {
		st := newHookedStore(t)
		e := build(t, engine.Options{Open: open(st), MaxPending: 2})
		runEngine(t, e)
		do(t, e, queue("s", "a"))
		queueFromOtherProcess(t, st, "s", "b")
		st.changed <- struct{}{}
		synctest.Wait()
		_, err := e.Do(t.Context(), queue("s", "c"))
		var refusal *core.Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, core.QueueFull, refusal.Kind)
	})
}

// The signal of another process arrives during the commit, after the read of the group.
func TestWaitDoesNotMissWhatAnotherProcessCommitsJustBefore(t *testing.T) {
	inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
		st := newHookedStore(t)
		st.after = func(n int) {
			if n == 2 {
				queueFromOtherProcess(t, st, "s", "x")
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

// The clock is corrected by an hour during the wait.
func TestWaitEndsInTimeWhenTheClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
			var ahead atomic.Int64
			records := teststore.New(t)
			e := build(t, engine.Options{
				Open: func(context.Context) (store.Store, error) {
					ahead.Store(int64(by))
					return records, nil
				},
				Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
			})
			runEngine(t, e)
			require.Equal(t, []string{}, do(t, e, next("s", 0)))
			require.Equal(t, waitTimeout, elapsed(), "%v", by)
		})
	}
}
