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

	"waybill/core"
	"waybill/engine"
	"waybill/store"
)

// another starts another process on the store of the yard. Its readings are not held up.
func (y *yard) another() (other *yard, stop func()) {
	y.t.Helper()
	other = &yard{t: y.t, st: y.st}
	other.e = build(y.t, engine.Options{Open: open(y.st.watched), Now: y.now})
	return other, run(y.t, other.e)
}

// The defect: a process that was started after the machine had slept believed to have watched since ever,
// and ended every attempt at once.
func TestProcessThatBeginsAfterASleepLosesNoAttempt(t *testing.T) {
	for _, alive := range []bool{true, false} {
		inYard(t, func(t *testing.T, y *yard) {
			var ids []string
			var claims []engine.Claimed
			for range 20 {
				ids = append(ids, y.create(2))
				claims = append(claims, y.claim(time.Minute))
			}
			y.sleep(10 * time.Second)
			release := y.st.hold() // the other one is the first to look
			y.set(time.Hour)
			other, _ := y.another()
			require.True(t, other.claim(time.Minute).Empty())
			release()
			for range 6 {
				y.sleep(25 * time.Second)
				for _, c := range claims {
					if alive {
						require.True(t, y.beat(c, 0).Applied)
					}
				}
			}
			want := len(ids)
			if alive {
				want = 0
			}
			require.Equal(t, want, y.lost(ids))
		})
	}
}

// The defect: as long as a clock had once been ahead, no lease ended after it was put right.
func TestClockThatWasAheadAndPutRightStopsNoEnd(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		ids := y.many(20, time.Minute)
		y.sleep(10 * time.Second)
		y.set(24 * time.Hour)
		y.sleep(5 * time.Second)
		y.set(-24 * time.Hour)
		y.sleep(5 * time.Second)
		late := y.create(2)
		y.claim(3 * time.Second)
		y.sleep(4 * time.Second)
		y.is(late, core.StatusQueued, 2)
		require.Zero(t, y.lost(ids))
		y.sleep(time.Minute)
		require.Equal(t, len(ids), y.lost(ids))
	})
}

// The defect: a step of the clock that was shorter than what counted as one ended short leases.
func TestShortStepOfTheClockLosesNoShortLease(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		c := []engine.Claimed{}
		ids := []string{}
		for range 20 {
			ids = append(ids, y.create(2))
			c = append(c, y.claim(3*time.Second))
		}
		for n := range 10 {
			y.sleep(time.Second)
			if n%3 == 1 {
				y.set(2900 * time.Millisecond)
				y.sleep(time.Second)
			}
			for i := range c {
				require.True(t, y.beat(c[i], 0).Applied)
			}
		}
		require.Zero(t, y.lost(ids))
	})
}

// The defect: five hundred leases that were spared hid every one behind them.
func TestLeasesThatAreSparedHideNoOther(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		long := y.many(500, time.Hour)
		y.set(55 * time.Minute)
		short := y.many(20, 10*time.Minute)
		y.set(2 * time.Hour)
		y.sleep(10*time.Minute - time.Second)
		require.Zero(t, y.lost(short))
		y.sleep(3 * time.Second)
		require.Equal(t, len(short), y.lost(short))
		require.Zero(t, y.lost(long))
		y.sleep(50 * time.Minute)
		require.Equal(t, len(long), y.lost(long))
	})
}

// Of leases that end together, those that one change does not get to do not wait for the next second.
func TestManyLeasesEndTogether(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		ids := y.many(300, 10*time.Second)
		y.sleep(10 * time.Second)
		require.Equal(t, len(ids), y.lost(ids))
	})
}

// After a crash of everything, the next process gives each worker one lease length to come back.
func TestLeaseOutlivesACrashByOneLength(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		release := y.st.hold()
		defer release()
		first, crash := y.another()
		first.claim(time.Minute)
		crash()
		y.sleep(10 * time.Minute)
		next, _ := y.another()
		require.True(t, next.claim(time.Minute).Empty())
		y.sleep(59 * time.Second)
		y.is(id, core.StatusRunning, 1)
		y.sleep(time.Second)
		y.is(id, core.StatusQueued, 2)
	})
}

// A process that is back while the lease still has half of its length ends it at its moment.
func TestLeaseEndsAtItsMomentIfTheNextProcessIsSoonThere(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		release := y.st.hold()
		defer release()
		first, crash := y.another()
		first.claim(time.Minute)
		crash()
		y.sleep(20 * time.Second)
		next, _ := y.another()
		require.True(t, next.claim(time.Minute).Empty())
		y.sleep(39 * time.Second)
		y.is(id, core.StatusRunning, 1)
		y.sleep(time.Second)
		y.is(id, core.StatusQueued, 2)
	})
}

// Processes that look once and end never watch. The second of them ends what the first one spared.
func TestProcessesThatDoNotStayEndALease(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		release := y.st.hold()
		defer release()
		claim := func() engine.Claimed {
			short, end := y.another()
			defer end()
			return short.claim(time.Minute)
		}
		require.Equal(t, id, claim().Task.ID)
		y.sleep(10 * time.Minute)
		require.True(t, claim().Empty())
		y.sleep(59 * time.Second)
		require.True(t, claim().Empty())
		y.sleep(2 * time.Second)
		require.Equal(t, 2, claim().Task.Current.Number)
	})
}

// A process that begins after the clock was set back does not know that it was.
func TestClockSetBackBetweenTwoProcessesMakesNoLeaseEndless(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(2)
		release := y.st.hold()
		defer release()
		first, crash := y.another()
		first.claim(time.Minute)
		crash()
		y.set(-24 * time.Hour)
		next, _ := y.another()
		require.True(t, next.claim(time.Minute).Empty())
		y.sleep(62 * time.Second)
		y.is(id, core.StatusQueued, 2)
	})
}

// A store that takes no writes has kept everybody from reporting.
func TestStoreThatFailedForAWhileLosesNoAttempt(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		ids := y.many(20, time.Minute)
		y.sleep(10 * time.Second)
		y.failing.Store(true)
		y.sleep(10 * time.Minute)
		y.failing.Store(false)
		y.sleep(59 * time.Second)
		require.Zero(t, y.lost(ids))
		y.sleep(2 * time.Second)
		require.Equal(t, len(ids), y.lost(ids))
	})
}

// The defect: a store that takes no writes gave a warning a second, for ever.
func TestTroubleWithLeasesIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := watch()
		var fault atomic.Pointer[store.Error]
		st.before = func(int) error {
			if f := fault.Load(); f != nil {
				return f
			}
			return nil
		}
		var log bytes.Buffer
		e := build(t, engine.Options{Open: open(st), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		run(t, e)
		y := &yard{t: t, st: &peeked{watched: st}, e: e}
		y.create(2)
		y.claim(time.Second)
		fault.Store(&store.Error{Kind: store.ReadOnly, Message: "it is read-only"})
		y.sleep(time.Second)
		before := st.number()
		y.sleep(10 * time.Minute)
		require.Equal(t, 1, strings.Count(log.String(), "it is read-only"))
		require.Equal(t, before+10, st.number(), "it is left alone for a minute")
		fault.Store(&store.Error{Kind: store.IO, Message: "the disk is gone"})
		y.sleep(10 * time.Minute)
		require.Equal(t, 1, strings.Count(log.String(), "it is read-only"))
		require.Equal(t, 1, strings.Count(log.String(), "the disk is gone"))
	})
}
