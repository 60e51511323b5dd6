package bench

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkTwoProcesses lets two processes change one store, each with 32 changes in flight, until one
// of them has made its number, and measures how far behind the other one is and the longest that a
// change waited. The probe is one process alone.
func BenchmarkTwoProcesses(b *testing.B) {
	const inFlight, number = 32, 4000
	root := b.TempDir()
	work := filepath.Join(root, "work")
	require.NoError(b, os.Mkdir(work, 0o700))
	var pair [2]*errand
	for i, session := range []string{"a", "b"} {
		h := connected(b, waybill(work, filepath.Join(root, "state")))
		h.call(b, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		pair[i] = newErrand(h, session, inFlight)
		pair[i].run(b, 1000)
		pair[i].latency = nil
	}
	var alone, both, fairness series
	for b.Loop() {
		own := len(pair[0].latency)
		alone = append(alone, pair[0].run(b, number))
		pair[0].latency = pair[0].latency[:own] // the waits of interest are those with company
		done, took := race(b, pair, number)
		both = append(both, rate(done[0]+done[1], took))
		fairness = append(fairness, float64(min(done[0], done[1]))/float64(max(done[0], done[1])))
	}
	waits := append(pair[0].latency, pair[1].latency...)
	reportOnly(b)
	b.ReportMetric(alone.median(), "changes/s-alone")
	b.ReportMetric(both.median(), "changes/s-together")
	b.ReportMetric(both.over(alone), "x-alone")
	b.ReportMetric(fairness.median(), "slower/faster")
	b.ReportMetric(waits.quantile(0.99)/1000, "p99-ms")
	b.ReportMetric(waits.quantile(1)/1000, "worst-ms")
}

// race lets both make changes until one has made n, and returns how many each had made by then.
func race(b *testing.B, pair [2]*errand, n int) (done [2]int, took time.Duration) {
	var over atomic.Bool
	var racing sync.WaitGroup
	start := time.Now()
	for i, e := range pair {
		racing.Go(func() { // ends when one of the two has made n changes
			defer over.Store(true)
			err := e.begin()
			for err == nil && !over.Load() && done[i] < n {
				var more int
				more, err = e.turn(2 * n)
				done[i] += more
			}
			if err := errors.Join(err, e.drain()); err != nil {
				b.Error(err)
			}
		})
	}
	racing.Wait()
	return done, time.Since(start)
}
