package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// eachContender runs a test on each contender that is here.
func eachContender(t *testing.T, test func(t *testing.T, h *house, c contender)) {
	t.Helper()
	for _, c := range contenders() {
		t.Run(c.key, func(t *testing.T) { test(t, here(t, c), c) })
	}
}

func TestEveryContenderDeliversAndAcknowledgesEverything(t *testing.T) {
	eachContender(t, func(t *testing.T, h *house, c contender) {
		r, err := enter(t.Context(), h, c)
		require.NoError(t, err)
		defer func() { require.NoError(t, r.leave()) }()
		for _, callers := range []int{1, 8} {
			n := 3 * callers
			put, err := putAll(t.Context(), r.q, callers, r.next, n)
			require.NoError(t, err)
			require.Positive(t, put)
			left, err := r.q.left(t.Context())
			require.NoError(t, err)
			require.Equal(t, n, left, "all that was put is there before it is taken")
			_, err = drain(t.Context(), r.q, callers, r.next, n)
			require.NoError(t, err)
			left, err = r.q.left(t.Context())
			require.NoError(t, err)
			require.Zero(t, left)
			r.next += n
		}
	})
}

func TestEveryContenderReachesAnotherProcess(t *testing.T) {
	eachContender(t, func(t *testing.T, h *house, c contender) {
		f := &field{h: h, plan: smoke()}
		waits, err := f.waitsOf(t.Context(), c)
		require.NoError(t, err)
		require.Len(t, waits, len(f.plan.Rates))
		for _, w := range waits {
			require.False(t, w.Unfinished)
			require.Positive(t, w.P50)
			require.GreaterOrEqual(t, w.P99, w.P50)
		}
	})
}

func TestTheProbeReachesAnotherProcess(t *testing.T) {
	f := &field{h: shared, plan: smoke()}
	waits, err := f.leastWaits(t.Context())
	require.NoError(t, err)
	require.Positive(t, waits[0].P50)
}

// TestNoContenderAnswersBeforeItSynced: what is compared must be as durable. Who collects acknowledgements, or keeps
// them without a sync, has less than a sync for each, which the table shows; a put has one in every case.
func TestNoContenderAnswersBeforeItSynced(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("there is no strace")
	}
	eachContender(t, func(t *testing.T, h *house, c contender) {
		counted, err := countSyncs(t.Context(), h, c, 5)
		require.NoError(t, err)
		require.GreaterOrEqual(t, counted.Put, 1.0)
		if c.ours {
			require.GreaterOrEqual(t, counted.Take, 2.0, "one for the claim or the dispatch, one for the end")
		}
	})
}

func TestFlowsAreMeasuredBetweenTheirProbes(t *testing.T) {
	p, err := openProbes(t.Context(), shared)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.close()) }()
	c, err := find("waybill-sqlite-tasks")
	require.NoError(t, err)
	in, err := enter(t.Context(), shared, c)
	require.NoError(t, err)
	f := &field{h: shared, p: p, plan: smoke(), say: t.Logf, runners: []*runner{in}}
	require.NoError(t, f.compare(t.Context()))
	report := report{Plan: f.plan, Standings: []standing{{Key: c.key, Name: c.name}}}
	f.note(&report)
	require.NoError(t, f.leave())
	for _, callers := range []string{"1", "64"} {
		require.Positive(t, report.Standings[0].Flows[callers].Journey.Median)
		require.Positive(t, report.Standings[0].Flows[callers].OverDisk)
		require.Positive(t, report.Disk[callers].Median)
	}
}

func TestScalingCountsEveryTask(t *testing.T) {
	p := smokeScale()
	for _, c := range scaledStores() {
		t.Run(c.key, func(t *testing.T) {
			rows, err := p.rows(t.Context(), here(t, c), c, t.Logf)
			require.NoError(t, err)
			require.Len(t, rows, len(p.Processes))
			for _, r := range rows {
				require.Positive(t, r.One.Median)
				require.Positive(t, r.Own.Median)
			}
		})
	}
}

func TestCostsAreThoseOfTheCalls(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("there is no strace")
	}
	p := smokeScale()
	for _, c := range scaledStores() {
		t.Run(c.key, func(t *testing.T) {
			all, err := p.costs(t.Context(), here(t, c), c)
			require.NoError(t, err)
			require.Len(t, all, len(callerCounts)*len(lives))
			for _, one := range all {
				require.Positive(t, one.Bytes, one.Call)
				require.Positive(t, one.Syncs, one.Call)
				if c.postgres {
					require.GreaterOrEqual(t, *one.Statements, 1.0/float64(one.Callers), one.Call)
				}
			}
		})
	}
}

func TestAnItemThatIsLostOrTakenTwiceIsNoticed(t *testing.T) {
	for name, taken := range map[string][]int{
		"lost": {10, 11}, "taken twice": {10, 11, 11}, "foreign": {10, 11, 13}, "before the first": {9, 10, 11},
	} {
		c := newCheck(10, 3)
		for _, number := range taken {
			c.take(item(number))
		}
		require.Error(t, c.err(), name)
	}
	c := newCheck(10, 3)
	for _, number := range []int{12, 10, 11} {
		c.take(item(number))
	}
	require.NoError(t, c.err())
	c = newCheck(0, 1)
	c.take("nonsense")
	require.Error(t, c.err())
}

// A stuck putter hands items on at once, but for the first, which it holds up, and all behind it.
type stuck struct {
	room  chan struct{} // of size one: full while an item is put
	hold  time.Duration
	taken func(string)
}

func (s *stuck) put(_ context.Context, _ int, item string) error {
	s.room <- struct{}{}
	defer func() { <-s.room }()
	<-time.After(s.hold)
	s.hold = 0
	s.taken(item)
	return nil
}

// TestAStallCountsForEveryItemThatWasDue: a sender that waited for the stalled item would have sent the others later,
// and called them fast.
func TestAStallCountsForEveryItemThatWasDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stuck{room: make(chan struct{}, 1), hold: time.Second}
		p := &paced{to: s, now: &pacer{}, served: make(chan error)}
		s.taken = p.take
		w, err := p.at(t.Context(), 0, 100, 100)
		require.NoError(t, err)
		require.InDelta(t, 1000, w.P99, 20, "the first item waited for a second")
		require.InDelta(t, 500, w.P50, 20, "and the one that was due half a second later for half of one")
		require.Zero(t, w.PacerP99, "the sender was never late")
	})
}

func TestWhatNeverArrivesIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stuck{room: make(chan struct{}, 1), taken: func(string) {}}
		w, err := (&paced{to: s, served: make(chan error)}).at(t.Context(), 0, 10, 100)
		require.NoError(t, err)
		require.True(t, w.Unfinished)
		require.GreaterOrEqual(t, w.P50, millis(straggling))
		require.Less(t, w.Kept, keeps)
	})
}

func TestAFailedPutIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("no")
		served := make(chan error, 1)
		served <- nil
		_, err := (&paced{to: failing{failed}, served: served}).at(t.Context(), 0, 1, 100)
		require.ErrorIs(t, err, failed)
	})
}

type failing struct{ err error }

func (f failing) put(context.Context, int, string) error { return f.err }

func TestNumbersHaveThreeDigitsOrFewer(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.00", 0.0341: "0.0341", 9.876: "9.88", 12.34: "12.3", 456.7: "457", 1234: "1,230", 123456: "123,000", 1999.9: "2,000",
	} {
		require.Equal(t, want, short(x), fmt.Sprint(x))
	}
}
