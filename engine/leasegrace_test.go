package engine_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/engine"
	"waybill/store"
)

// secondEngine starts another engine on the same store.
func (h *leaseHarness) secondEngine() (other *leaseHarness, stop func()) {
	h.t.Helper()
	other = &leaseHarness{t: h.t, st: h.st}
	other.e = build(h.t, engine.Options{Open: open(h.st.hookedStore), Now: h.now})
	return other, runEngine(h.t, other.e)
}

// A process started after a suspend must not end all attempts at once.
func TestProcessThatBeginsAfterASleepLosesNoAttempt(t *testing.T) {
	for _, alive := range []bool{true, false} {
		withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
			var ids []string
			var claims []engine.Claimed
			for range 20 {
				ids = append(ids, h.create(2))
				claims = append(claims, h.claim(time.Minute))
			}
			h.sleep(10 * time.Second)
			release := h.st.hold() // the other one is the first to look
			h.shiftClock(time.Hour)
			other, _ := h.secondEngine()
			require.True(t, other.claim(time.Minute).Empty())
			release()
			for range 6 {
				h.sleep(25 * time.Second)
				for _, c := range claims {
					if alive {
						require.True(t, h.beat(c, 0).Applied)
					}
				}
			}
			want := len(ids)
			if alive {
				want = 0
			}
			require.Equal(t, want, h.countLost(ids))
		})
	}
}

// Leases end even if the clock was once ahead.
func TestClockThatWasAheadAndPutRightStopsNoEnd(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		ids := h.createAll(20, time.Minute)
		h.sleep(10 * time.Second)
		h.shiftClock(24 * time.Hour)
		h.sleep(5 * time.Second)
		h.shiftClock(-24 * time.Hour)
		h.sleep(5 * time.Second)
		late := h.create(2)
		h.claim(3 * time.Second)
		h.sleep(4 * time.Second)
		h.requireState(late, task.StatusQueued, 2)
		require.Zero(t, h.countLost(ids))
		h.sleep(time.Minute)
		require.Equal(t, len(ids), h.countLost(ids))
	})
}

// A small clock step must not end short leases.
func TestShortStepOfTheClockLosesNoShortLease(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		c := []engine.Claimed{}
		ids := []string{}
		for range 20 {
			ids = append(ids, h.create(2))
			c = append(c, h.claim(3*time.Second))
		}
		for n := range 10 {
			h.sleep(time.Second)
			if n%3 == 1 {
				h.shiftClock(2900 * time.Millisecond)
				h.sleep(time.Second)
			}
			for i := range c {
				require.True(t, h.beat(c[i], 0).Applied)
			}
		}
		require.Zero(t, h.countLost(ids))
	})
}

// Many extended leases must not hide the ones behind them.
func TestExtendedLeasesHideNoOther(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		long := h.createAll(500, time.Hour)
		h.shiftClock(55 * time.Minute)
		short := h.createAll(20, 10*time.Minute)
		h.shiftClock(2 * time.Hour)
		h.sleep(10*time.Minute - time.Second)
		require.Zero(t, h.countLost(short))
		h.sleep(3 * time.Second)
		require.Equal(t, len(short), h.countLost(short))
		require.Zero(t, h.countLost(long))
		h.sleep(50 * time.Minute)
		require.Equal(t, len(long), h.countLost(long))
	})
}

// Leases beyond one batch are ended without waiting for the next check.
func TestManyLeasesEndTogether(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		ids := h.createAll(300, 10*time.Second)
		h.sleep(10 * time.Second)
		require.Equal(t, len(ids), h.countLost(ids))
	})
}

// After a crash, the next process extends each lease by one length.
func TestLeaseOutlivesACrashByOneLength(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		release := h.st.hold()
		defer release()
		first, crash := h.secondEngine()
		first.claim(time.Minute)
		crash()
		h.sleep(10 * time.Minute)
		next, _ := h.secondEngine()
		require.True(t, next.claim(time.Minute).Empty())
		h.sleep(59 * time.Second)
		h.requireState(id, task.StatusRunning, 1)
		h.sleep(time.Second)
		h.requireState(id, task.StatusQueued, 2)
	})
}

// A process that restarts within half of a lease's length ends it on time.
func TestLeaseEndsAtItsMomentIfTheNextProcessIsSoonThere(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		release := h.st.hold()
		defer release()
		first, crash := h.secondEngine()
		first.claim(time.Minute)
		crash()
		h.sleep(20 * time.Second)
		next, _ := h.secondEngine()
		require.True(t, next.claim(time.Minute).Empty())
		h.sleep(39 * time.Second)
		h.requireState(id, task.StatusRunning, 1)
		h.sleep(time.Second)
		h.requireState(id, task.StatusQueued, 2)
	})
}

// Of two short-lived processes, the first extends a lease and the second ends it.
func TestProcessesThatDoNotStayEndALease(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		release := h.st.hold()
		defer release()
		claim := func() engine.Claimed {
			short, end := h.secondEngine()
			defer end()
			return short.claim(time.Minute)
		}
		require.Equal(t, id, claim().Task.ID)
		h.sleep(10 * time.Minute)
		require.True(t, claim().Empty())
		h.sleep(59 * time.Second)
		require.True(t, claim().Empty())
		h.sleep(2 * time.Second)
		require.Equal(t, 2, claim().Task.Current.Number)
	})
}

// A new process does not know that the clock was set back before.
func TestClockSetBackBetweenTwoProcessesMakesNoLeaseEndless(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(2)
		release := h.st.hold()
		defer release()
		first, crash := h.secondEngine()
		first.claim(time.Minute)
		crash()
		h.shiftClock(-24 * time.Hour)
		next, _ := h.secondEngine()
		require.True(t, next.claim(time.Minute).Empty())
		h.sleep(62 * time.Second)
		h.requireState(id, task.StatusQueued, 2)
	})
}

// While the store accepts no writes, no worker could report.
func TestStoreThatFailedForAWhileLosesNoAttempt(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		ids := h.createAll(20, time.Minute)
		h.sleep(10 * time.Second)
		h.failing.Store(true)
		h.sleep(10 * time.Minute)
		h.failing.Store(false)
		h.sleep(59 * time.Second)
		require.Zero(t, h.countLost(ids))
		h.sleep(2 * time.Second)
		require.Equal(t, len(ids), h.countLost(ids))
	})
}

// A store that accepts no writes causes one warning, not one per second.
func TestLeaseErrorIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newHookedStore(t)
		var fault atomic.Pointer[store.Error]
		st.before = func(int) error {
			if f := fault.Load(); f != nil {
				return f
			}
			return nil
		}
		var log bytes.Buffer
		e := build(t, engine.Options{Open: open(st), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		runEngine(t, e)
		h := &leaseHarness{t: t, st: &gatedStore{hookedStore: st}, e: e}
		h.create(2)
		h.claim(time.Second)
		fault.Store(&store.Error{Kind: store.ReadOnly, Message: "it is read-only"})
		h.sleep(time.Second)
		before := st.number()
		h.sleep(10 * time.Minute)
		require.Equal(t, 1, strings.Count(log.String(), "it is read-only"))
		require.Equal(t, before+10, st.number(), "it is left alone for a minute")
		fault.Store(&store.Error{Kind: store.IO, Message: "the disk is gone"})
		h.sleep(10 * time.Minute)
		require.Equal(t, 1, strings.Count(log.String(), "it is read-only"))
		require.Equal(t, 1, strings.Count(log.String(), "the disk is gone"))
	})
}
