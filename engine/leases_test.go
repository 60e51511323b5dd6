package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/store"
)

func TestLeaseRunsOutByItselfAtItsMoment(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		y.sleep(300 * time.Millisecond)
		y.claim(10500 * time.Millisecond)
		y.sleep(10499 * time.Millisecond)
		y.is(id, core.StatusRunning, 1)
		y.sleep(time.Millisecond)
		y.is(id, core.StatusQueued, 2)
		require.Equal(t, core.CauseRetry, y.task(id).Current.Cause)
		y.claim(time.Minute)
		y.sleep(time.Minute)
		require.Equal(t, core.TaskErrored{Reason: core.ReasonExhausted}, y.task(id).Phase)
	})
}

// A process that has not watched ends what ran out when somebody claims.
func TestClaimGetsWhatRanOut(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(3)
		y.sleep(time.Millisecond)
		release := y.st.hold() // from now on the watch does not come to look
		y.claim(time.Second)
		y.sleep(1200 * time.Millisecond)
		y.is(id, core.StatusRunning, 1)
		got := y.claim(time.Minute)
		require.Equal(t, id, got.Task.ID)
		y.is(id, core.StatusRunning, 2)
		release()
	})
}

func TestHeartbeatExtendsTheLease(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		c := y.claim(10 * time.Second)
		for range 10 {
			y.sleep(9 * time.Second)
			require.True(t, y.beat(c, 0).Applied)
		}
		require.True(t, y.beat(c, 2*time.Second).Applied) // shorter from now on
		y.sleep(1999 * time.Millisecond)
		y.is(id, core.StatusRunning, 1)
		y.sleep(time.Millisecond)
		y.is(id, core.StatusQueued, 2)
		require.False(t, y.beat(c, 0).Applied)
	})
}

func TestLostAttemptIsTriedAgainOnTheSameModel(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		chain, err := core.NewChain([]core.Model{{Provider: "a", ID: "1"}, {Provider: "b", ID: "2"}})
		require.NoError(t, err)
		id := y.apply(func(tx *engine.Tx) (any, error) {
			task, err := tx.CreateTask(core.Launch{Prompt: "x", MaxAttempts: 3, Chain: chain}, nil)
			return task.ID, err
		}).(string)
		for n := 1; n <= 2; n++ {
			y.claim(time.Second)
			y.sleep(time.Second)
			y.is(id, core.StatusQueued, n+1)
			require.Equal(t, "1", y.task(id).Current.Model.ID)
		}
		y.claim(time.Second)
		y.sleep(time.Second)
		require.Equal(t, core.TaskErrored{Reason: core.ReasonExhausted}, y.task(id).Phase)
	})
}

func TestRequestedEndComesAboutWhenTheLeaseRunsOut(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(5)
		c := y.claim(10 * time.Second)
		y.apply(func(tx *engine.Tx) (any, error) { return tx.CancelTask(id, "not wanted") })
		y.is(id, core.StatusRunning, 1)
		y.sleep(5 * time.Second)
		require.True(t, y.beat(c, 0).Applied) // the worker has not stopped, so it is not cancelled
		y.sleep(9 * time.Second)
		y.is(id, core.StatusRunning, 1)
		y.sleep(time.Second)
		y.is(id, core.StatusCancelled, 1)
		require.Equal(t, "not wanted", y.task(id).Reason())
	})
}

// many claims many tasks at once and gives their ids.
func (y *yard) many(n int, lease time.Duration) []string {
	y.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = y.create(2)
		y.claim(lease)
	}
	return ids
}

func (y *yard) lost(ids []string) int {
	y.t.Helper()
	n := 0
	for _, id := range ids {
		if y.task(id).Current.Number > 1 {
			n++
		}
	}
	return n
}

// The machine sleeps: the clock on the wall jumps, the monotonic one does not. Nobody could report.
func TestMachineThatSleptLosesNoAttempt(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		ids := y.many(100, time.Minute)
		y.sleep(10 * time.Second)
		y.set(8 * time.Hour)
		y.sleep(59 * time.Second)
		require.Zero(t, y.lost(ids))
		y.sleep(5 * time.Second) // and nobody has reported since
		require.Equal(t, len(ids), y.lost(ids))
	})
}

// The same when the first thing that happens after the sleep is a claim.
func TestClaimAfterASleepLosesNoAttempt(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		ids := y.many(100, time.Minute)
		y.sleep(10 * time.Second)
		y.set(8 * time.Hour)
		require.True(t, y.claim(time.Minute).Empty())
		y.sleep(30 * time.Second)
		require.Zero(t, y.lost(ids))
	})
}

// The process is stopped and goes on: its next look comes late.
func TestProcessThatWasStoppedLosesNoAttempt(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		ids := y.many(100, time.Minute)
		release := y.st.hold()
		y.sleep(10 * time.Minute)
		release()
		require.Zero(t, y.lost(ids))
		y.sleep(59 * time.Second)
		require.Zero(t, y.lost(ids))
		y.sleep(5 * time.Second)
		require.Equal(t, len(ids), y.lost(ids))
	})
}

// The same when a claim is carried out before the next look.
func TestClaimOfAProcessThatWasStoppedLosesNoAttempt(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		ids := y.many(100, time.Minute)
		release := y.st.hold()
		y.sleep(10 * time.Minute)
		require.True(t, y.claim(time.Minute).Empty())
		release()
		require.Zero(t, y.lost(ids))
	})
}

// A worker that reports after the gap keeps its attempt.
func TestWorkerThatComesBackAfterASleepKeepsItsAttempt(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		c := y.claim(time.Minute)
		y.sleep(time.Second)
		y.set(time.Hour)
		y.sleep(30 * time.Second)
		require.True(t, y.beat(c, 0).Applied)
		y.sleep(59 * time.Second)
		y.is(id, core.StatusRunning, 1)
	})
}

// The clock is set back: no lease lasts longer than its length from then on.
func TestClockSetBackMakesNoLeaseEndless(t *testing.T) {
	for _, claim := range []bool{false, true} { // whoever looks first
		t.Run(fmt.Sprint(claim), func(t *testing.T) {
			inYard(t, func(t *testing.T, y *yard) {
				ids := y.many(20, time.Minute)
				y.sleep(10 * time.Second)
				y.set(-24 * time.Hour)
				if claim {
					require.True(t, y.claim(time.Minute).Empty())
				}
				y.sleep(30 * time.Second)
				require.Zero(t, y.lost(ids))
				y.sleep(35 * time.Second)
				require.Equal(t, len(ids), y.lost(ids))
			})
		})
	}
}

// The correction after a clock was set back is tried again when the store fails.
func TestClockSetBackIsCorrectedAlthoughTheStoreFails(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		y.claim(time.Minute)
		y.sleep(10 * time.Second)
		y.set(-24 * time.Hour)
		y.failing.Store(true)
		y.sleep(5 * time.Second)
		y.failing.Store(false)
		y.sleep(65 * time.Second)
		y.is(id, core.StatusQueued, 2)
	})
}

// While nobody has a lease, nothing wakes up: neither time nor changes that are about something else.
func TestWatchRestsWhileThereIsNoLease(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(1)
		y.sleep(time.Second)
		rest := func() {
			t.Helper()
			before := y.st.readings()
			y.sleep(24 * time.Hour)
			for range 10 {
				do(t, y.e, queue("s", "x"))
			}
			synctest.Wait()
			require.Equal(t, before, y.st.readings())
		}
		rest()
		c := y.claim(time.Minute)
		before := y.st.readings()
		y.sleep(10 * time.Second)
		require.Greater(t, y.st.readings(), before+5, "it does not watch")
		y.apply(func(tx *engine.Tx) (any, error) {
			return tx.FinishAttempt(id, core.FinishAttempt{Token: c.Lease.Token, Status: core.AttemptCompleted})
		})
		y.sleep(2 * time.Second)
		rest()
	})
}

// A lease of another process is watched too, since that process may be gone.
func TestLeaseOfAnotherProcessRunsOut(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		y.sleep(time.Second)
		require.NoError(t, y.st.watched.Store.Update(t.Context(), func(tx store.Tx) error {
			task, _, err := tx.Task(id)
			if err != nil {
				return err
			}
			next, effects, err := task.Step(core.ClaimTask{
				At: core.Instant(time.Now().UnixMicro()), Worker: "elsewhere", Token: "lease_elsewhere", Length: time.Minute.Microseconds(),
			})
			if err != nil {
				return err
			}
			if err := tx.PutAttempt(effects[0].(core.Keep).Attempt); err != nil {
				return err
			}
			return tx.PutTask(next)
		}))
		y.st.changed <- struct{}{}
		y.sleep(59 * time.Second)
		y.is(id, core.StatusRunning, 1)
		y.sleep(time.Second)
		y.is(id, core.StatusQueued, 2)
	})
}

// Leases of very different lengths run out beside each other.
func TestLongLeasesThatAreSparedHoldNoShortOneBack(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		long := y.many(80, time.Hour)
		y.sleep(time.Second)
		y.set(2 * time.Hour) // all of them seem to have run out
		y.sleep(2 * time.Second)
		short := y.create(2)
		y.claim(time.Second)
		y.sleep(2 * time.Second)
		y.is(short, core.StatusQueued, 2)
		require.Zero(t, y.lost(long))
	})
}

// waiting is the change that waits for a task.
func (y *yard) waiting() engine.Change {
	var last engine.Claimed
	return engine.Change{
		Apply: func(tx *engine.Tx) (any, error) {
			var err error
			last, err = tx.ClaimTask(engine.Claim{Worker: "waiting", Length: time.Minute.Microseconds()})
			return last.Task.ID, err
		},
		Wait: 25 * time.Second, Session: engine.Claimers,
		Idle: func(any) bool { return last.Empty() }, Due: func(any) core.Instant { return last.Due },
	}
}

func TestWaitingClaimIsAnsweredWhenALeaseRunsOut(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		y.claim(10500 * time.Millisecond)
		began := time.Now()
		done := waits(t, t.Context(), y.e, y.waiting())
		require.Equal(t, outcome{result: id}, <-done)
		require.Equal(t, 10500*time.Millisecond, time.Since(began))
	})
}

func TestWaitingClaimIsAnsweredWhenAnotherProcessCommits(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		y.create(1)
		y.claim(time.Minute)
		done := waits(t, t.Context(), y.e, y.waiting())
		began := time.Now()
		require.NoError(t, y.st.watched.Store.Update(t.Context(), func(tx store.Tx) error {
			task, effects := core.CreateTask("tsk_elsewhere", "att_elsewhere", 100, core.Launch{Prompt: "x", MaxAttempts: 1}, 0, 1)
			if err := tx.PutTask(task); err != nil {
				return err
			}
			return tx.PutAttempt(effects[0].(core.Keep).Attempt)
		}))
		y.st.changed <- struct{}{}
		require.Equal(t, outcome{result: "tsk_elsewhere"}, <-done)
		require.Zero(t, time.Since(began))
	})
}
