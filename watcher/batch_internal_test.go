package watcher

// This test is inside the package because fake time does not reach the notifications
// of a real file system; the batch is the part of the watcher that keeps time.

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// reports runs a batch in fake time while touches touches it, lets it settle, and
// returns when it was due.
func reports(t *testing.T, quiet, maxWait time.Duration, touches func(touch func())) []time.Duration {
	t.Helper()
	var due []time.Duration
	synctest.Test(t, func(t *testing.T) {
		b := newBatch(quiet, maxWait)
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var loop sync.WaitGroup
		loop.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-b.started:
				case <-b.timer.C:
				}
				if b.due() {
					due = append(due, time.Since(start))
				}
			}
		})
		touches(b.touch)
		time.Sleep(2 * maxWait)
		cancel()
		loop.Wait()
	})
	return due
}

const ms = time.Millisecond

func TestBatchReportsOnceAfterTheQuietPeriod(t *testing.T) {
	for _, row := range []struct{ pauses, want []time.Duration }{ // a touch comes before each pause
		{nil, nil},
		{[]time.Duration{0}, []time.Duration{100 * ms}},
		{[]time.Duration{60 * ms, 60 * ms, 0}, []time.Duration{220 * ms}},
		{[]time.Duration{1000 * ms, 0}, []time.Duration{100 * ms, 1100 * ms}},
	} {
		require.Equal(t, row.want, reports(t, 100*ms, 500*ms, func(touch func()) {
			for _, pause := range row.pauses {
				touch()
				time.Sleep(pause)
			}
		}))
	}
}

// A storm without a pause is reported every maxWait, no more and no less often.
func TestContinuousChangesAreReportedAfterMaxWait(t *testing.T) {
	due := reports(t, 100*ms, 500*ms, func(touch func()) {
		for range 20_000 { // two seconds
			touch()
			time.Sleep(100 * time.Microsecond)
		}
	})
	require.Len(t, due, 4)
	for i, at := range due {
		require.InDelta(t, (time.Duration(i+1) * 500 * ms).Seconds(), at.Seconds(), 0.001)
	}
}

// Whatever the rhythm of the changes, reports are at least quiet apart.
func TestReportsAreNeverCloserThanQuiet(t *testing.T) {
	for _, rhythm := range []time.Duration{ms, 30 * ms, 99 * ms, 100 * ms, 101 * ms, 130 * ms} {
		due := reports(t, 100*ms, 500*ms, func(touch func()) {
			for range 200 {
				touch()
				time.Sleep(rhythm)
			}
		})
		require.NotEmpty(t, due)
		for i := 1; i < len(due); i++ {
			require.GreaterOrEqual(t, due[i]-due[i-1], 100*ms, rhythm)
		}
	}
}

func TestBatchResetForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch(100*ms, 500*ms)
		b.touch()
		<-b.started
		require.False(t, b.due())
		b.reset()
		time.Sleep(time.Second)
		require.False(t, b.due())
		b.touch()
		<-b.started
		require.False(t, b.due())
		<-b.timer.C
		require.True(t, b.due())
		require.False(t, b.due())
	})
}
