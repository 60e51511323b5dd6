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
				case <-b.kick:
				case <-b.timer.C:
				}
				if b.settled() {
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
	due := reports(t, 100*ms, 500*ms, func(touch func()) {
		touch()
		time.Sleep(60 * ms)
		touch()
		time.Sleep(60 * ms)
		touch()
	})
	require.Equal(t, []time.Duration{220 * ms}, due)
}

func TestBatchOfOneTouch(t *testing.T) {
	due := reports(t, 100*ms, 500*ms, func(touch func()) {
		touch()
		time.Sleep(time.Second)
		touch()
	})
	require.Equal(t, []time.Duration{100 * ms, 1100 * ms}, due)
}

func TestBatchWithoutTouchesIsNeverDue(t *testing.T) {
	require.Empty(t, reports(t, 100*ms, 500*ms, func(func()) {}))
}

// A storm without a pause is reported every maxWait, no more and no less often.
func TestFaultF14_StormIsReportedAtTheLongestWait(t *testing.T) {
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
func TestFaultF14_ReportsAreNeverCloserThanQuiet(t *testing.T) {
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
		<-b.kick
		require.False(t, b.settled())
		b.reset()
		time.Sleep(time.Second)
		require.False(t, b.settled())
		b.touch()
		<-b.kick
		require.False(t, b.settled())
		<-b.timer.C
		require.True(t, b.settled())
		require.False(t, b.settled())
	})
}
