package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/engine"
	"waybill/store"
)

func TestLeaseRunsOutByItselfAtItsMoment(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		h.sleep(300 * time.Millisecond)
		h.claim(10500 * time.Millisecond)
		h.sleep(10499 * time.Millisecond)
		h.requireState(id, task.StatusRunning, 1)
		h.sleep(time.Millisecond)
		h.requireState(id, task.StatusQueued, 2)
		require.Equal(t, task.CauseRetry, h.task(id).Current.Cause)
		h.claim(time.Minute)
		h.sleep(time.Minute)
		require.Equal(t, task.Errored{Reason: task.ReasonExhausted}, h.task(id).Phase)
	})
}

// A claim ends expired leases even before the first check.
func TestClaimGetsWhatRanOut(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(3)
		h.sleep(time.Millisecond)
		release := h.st.hold() // from now on the watch does not come to look
		h.claim(time.Second)
		h.sleep(1200 * time.Millisecond)
		h.requireState(id, task.StatusRunning, 1)
		got := h.claim(time.Minute)
		require.Equal(t, id, got.Task.ID)
		h.requireState(id, task.StatusRunning, 2)
		release()
	})
}

func TestHeartbeatExtendsTheLease(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		c := h.claim(10 * time.Second)
		for range 10 {
			h.sleep(9 * time.Second)
			require.True(t, h.beat(c, 0).Applied)
		}
		require.True(t, h.beat(c, 2*time.Second).Applied) // shorter from now on
		h.sleep(1999 * time.Millisecond)
		h.requireState(id, task.StatusRunning, 1)
		h.sleep(time.Millisecond)
		h.requireState(id, task.StatusQueued, 2)
		require.False(t, h.beat(c, 0).Applied)
	})
}

func TestLostAttemptIsTriedAgainOnTheSameModel(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		chain, err := task.NewChain([]task.Model{{Provider: "a", ID: "1"}, {Provider: "b", ID: "2"}})
		require.NoError(t, err)
		id := h.apply(func(tx *engine.Tx) (any, error) {
			task, err := tx.CreateTask(task.Spec{Prompt: "x", MaxAttempts: 3, Chain: chain}, nil)
			return task.ID, err
		}).(string)
		for n := 1; n <= 2; n++ {
			h.claim(time.Second)
			h.sleep(time.Second)
			h.requireState(id, task.StatusQueued, n+1)
			require.Equal(t, "1", h.task(id).Current.Model.ID)
		}
		h.claim(time.Second)
		h.sleep(time.Second)
		require.Equal(t, task.Errored{Reason: task.ReasonExhausted}, h.task(id).Phase)
	})
}

func TestRequestedEndComesAboutWhenTheLeaseRunsOut(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(5)
		c := h.claim(10 * time.Second)
		h.apply(func(tx *engine.Tx) (any, error) { return tx.CancelTask(id, "not wanted") })
		h.requireState(id, task.StatusRunning, 1)
		h.sleep(5 * time.Second)
		require.True(t, h.beat(c, 0).Applied) // the worker has not stopped, so it is not cancelled
		h.sleep(9 * time.Second)
		h.requireState(id, task.StatusRunning, 1)
		h.sleep(time.Second)
		h.requireState(id, task.StatusCancelled, 1)
		require.Equal(t, "not wanted", h.task(id).Reason())
	})
}

// createAll claims many tasks and returns their ids.
func (h *leaseHarness) createAll(n int, lease time.Duration) []string {
	h.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = h.create(2)
		h.claim(lease)
	}
	return ids
}

func (h *leaseHarness) countLost(ids []string) int {
	h.t.Helper()
	n := 0
	for _, id := range ids {
		if h.task(id).Current.Number > 1 {
			n++
		}
	}
	return n
}

// After a suspend, the wall clock jumps and the monotonic clock does not.
func TestMachineThatSleptLosesNoAttempt(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		ids := h.createAll(100, time.Minute)
		h.sleep(10 * time.Second)
		h.shiftClock(8 * time.Hour)
		h.sleep(59 * time.Second)
		require.Zero(t, h.countLost(ids))
		h.sleep(5 * time.Second) // without a report
		require.Equal(t, len(ids), h.countLost(ids))
	})
}

// The first call after a suspend is a claim.
func TestClaimAfterASleepLosesNoAttempt(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		ids := h.createAll(100, time.Minute)
		h.sleep(10 * time.Second)
		h.shiftClock(8 * time.Hour)
		require.True(t, h.claim(time.Minute).Empty())
		h.sleep(30 * time.Second)
		require.Zero(t, h.countLost(ids))
	})
}

// The process is stopped and continued, so its next check is late.
func TestProcessThatWasStoppedLosesNoAttempt(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		ids := h.createAll(100, time.Minute)
		release := h.st.hold()
		h.sleep(10 * time.Minute)
		release()
		require.Zero(t, h.countLost(ids))
		h.sleep(59 * time.Second)
		require.Zero(t, h.countLost(ids))
		h.sleep(5 * time.Second)
		require.Equal(t, len(ids), h.countLost(ids))
	})
}

// A claim runs before the late check.
func TestClaimOfAProcessThatWasStoppedLosesNoAttempt(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		ids := h.createAll(100, time.Minute)
		release := h.st.hold()
		h.sleep(10 * time.Minute)
		require.True(t, h.claim(time.Minute).Empty())
		release()
		require.Zero(t, h.countLost(ids))
	})
}

func TestWorkerThatComesBackAfterASleepKeepsItsAttempt(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		c := h.claim(time.Minute)
		h.sleep(time.Second)
		h.shiftClock(time.Hour)
		h.sleep(30 * time.Second)
		require.True(t, h.beat(c, 0).Applied)
		h.sleep(59 * time.Second)
		h.requireState(id, task.StatusRunning, 1)
	})
}

// After the clock was set back, no lease lasts longer than its length.
func TestClockSetBackMakesNoLeaseEndless(t *testing.T) {
	for _, claim := range []bool{false, true} { // a claim or a check comes first
		t.Run(fmt.Sprint(claim), func(t *testing.T) {
			withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
				ids := h.createAll(20, time.Minute)
				h.sleep(10 * time.Second)
				h.shiftClock(-24 * time.Hour)
				if claim {
					require.True(t, h.claim(time.Minute).Empty())
				}
				h.sleep(30 * time.Second)
				require.Zero(t, h.countLost(ids))
				h.sleep(35 * time.Second)
				require.Equal(t, len(ids), h.countLost(ids))
			})
		})
	}
}

// The correction is tried again after a store error.
func TestClockSetBackIsCorrectedAlthoughTheStoreFails(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		h.claim(time.Minute)
		h.sleep(10 * time.Second)
		h.shiftClock(-24 * time.Hour)
		h.failing.Store(true)
		h.sleep(5 * time.Second)
		h.failing.Store(false)
		h.sleep(65 * time.Second)
		h.requireState(id, task.StatusQueued, 2)
	})
}

// Without leases, neither time nor unrelated changes cause a check.
func TestWatchRestsWhileThereIsNoLease(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(1)
		h.sleep(time.Second)
		rest := func() {
			t.Helper()
			before := h.st.readings()
			h.sleep(24 * time.Hour)
			for range 10 {
				do(t, h.e, queue("s", "x"))
			}
			synctest.Wait()
			require.Equal(t, before, h.st.readings())
		}
		rest()
		c := h.claim(time.Minute)
		before := h.st.readings()
		h.sleep(10 * time.Second)
		require.Greater(t, h.st.readings(), before+5, "it does not watch")
		h.apply(func(tx *engine.Tx) (any, error) {
			return tx.FinishAttempt(id, task.Finish{Token: c.Lease.Token, Status: task.AttemptCompleted})
		})
		h.sleep(2 * time.Second)
		rest()
	})
}

// Leases of other processes are checked too.
func TestLeaseOfAnotherProcessRunsOut(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		h.sleep(time.Second)
		require.NoError(t, h.st.hookedStore.Store.Update(t.Context(), func(tx store.Tx) error {
			tsk, _, err := tx.Task(id)
			if err != nil {
				return err
			}
			next, effects, err := tsk.Step(task.Claim{
				At: core.Instant(time.Now().UnixMicro()), Worker: "elsewhere", Token: "lease_elsewhere", Length: time.Minute.Microseconds(),
			})
			if err != nil {
				return err
			}
			if err := tx.PutAttempt(effects[0].(task.Keep).Attempt); err != nil {
				return err
			}
			return tx.PutTask(next)
		}))
		h.st.changed <- struct{}{}
		h.sleep(59 * time.Second)
		h.requireState(id, task.StatusRunning, 1)
		h.sleep(time.Second)
		h.requireState(id, task.StatusQueued, 2)
	})
}

func TestExtendedLongLeasesDelayNoShortOne(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		long := h.createAll(80, time.Hour)
		h.sleep(time.Second)
		h.shiftClock(2 * time.Hour) // all of them seem to have run out
		h.sleep(2 * time.Second)
		short := h.create(2)
		h.claim(time.Second)
		h.sleep(2 * time.Second)
		h.requireState(short, task.StatusQueued, 2)
		require.Zero(t, h.countLost(long))
	})
}

// waitingClaim returns a change that waits for a task.
func (h *leaseHarness) waitingClaim() engine.Change {
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
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		h.claim(10500 * time.Millisecond)
		began := time.Now()
		done := waits(t, t.Context(), h.e, h.waitingClaim())
		require.Equal(t, outcome{result: id}, <-done)
		require.Equal(t, 10500*time.Millisecond, time.Since(began))
	})
}

func TestWaitingClaimIsAnsweredWhenAnotherProcessCommits(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		h.create(1)
		h.claim(time.Minute)
		done := waits(t, t.Context(), h.e, h.waitingClaim())
		began := time.Now()
		require.NoError(t, h.st.hookedStore.Store.Update(t.Context(), func(tx store.Tx) error {
			tsk, effects := task.Create("tsk_elsewhere", "att_elsewhere", 100, task.Spec{Prompt: "x", MaxAttempts: 1}, 0, 1)
			if err := tx.PutTask(tsk); err != nil {
				return err
			}
			return tx.PutAttempt(effects[0].(task.Keep).Attempt)
		}))
		h.st.changed <- struct{}{}
		require.Equal(t, outcome{result: "tsk_elsewhere"}, <-done)
		require.Zero(t, time.Since(began))
	})
}
