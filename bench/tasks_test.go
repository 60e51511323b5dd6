package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkTasks measures a worker's calls: claiming a task and reporting it completed, each answered
// when it is on disk. Beside it stands the disk itself.
func BenchmarkTasks(b *testing.B) {
	for _, c := range []struct {
		inFlight, changes int
		probe             string
		raw               func(*rawLog) float64
	}{
		{1, 100, "fdatasync", func(l *rawLog) float64 { return l.alone(b, 100) }},
		{window, 60 * window, "group-commit", func(l *rawLog) float64 { return l.together(b, 40*window) }},
	} {
		b.Run(fmt.Sprintf("in-flight=%d", c.inFlight), func(b *testing.B) {
			h := served(b)
			log := newRawLog(b, filepath.Dir(h.cmd.Dir))
			s := newShift(h, c.inFlight)
			h.create(b, 2000)
			s.run(b, 2000) // until the store has grown to its size
			s.latency = nil
			var ours, raw series
			for b.Loop() {
				h.create(b, c.changes)
				before := c.raw(log)
				ours = append(ours, s.run(b, c.changes))
				raw = append(raw, (before+c.raw(log))/2)
			}
			reportOnly(b)
			b.ReportMetric(ours.median(), "changes/s")
			b.ReportMetric(s.latency.quantile(0.5), "p50-µs")
			b.ReportMetric(s.latency.quantile(0.99), "p99-µs")
			b.ReportMetric(raw.median(), c.probe+"/s")
			b.ReportMetric(ours.over(raw), "x-"+c.probe)
		})
	}
}

// parked is a change that changes nothing. Its answer says that the call before it has taken effect, or
// waits.
const parked = `{"jsonrpc":"2.0","id":2,"method":"consume_notices","params":{"notice_ids":["ntc_none"]}}`

// BenchmarkClaimWakes measures the time from a create_task that is sent to one process to the answer of
// a claim_task that waits in another one. Processes look for the commits of others once in a while, so
// each round begins at another moment of that while. The probe is what the disk needs alone: two records
// that are synced one after the other.
func BenchmarkClaimWakes(b *testing.B) {
	const rounds = 20
	root := b.TempDir()
	work := filepath.Join(root, "work")
	require.NoError(b, os.Mkdir(work, 0o700))
	giver := connected(b, waybill(work, filepath.Join(root, "state")))
	taker := connected(b, waybill(work, filepath.Join(root, "state")))
	giver.create(b, 1)
	newShift(taker, 1).run(b, 2)
	log := newRawLog(b, root)
	var ours, raw, all series
	for b.Loop() {
		var times series
		for range rounds {
			times = append(times, wake(b, giver, taker))
		}
		ours, all = append(ours, times.median()), append(all, times...)
		raw = append(raw, 2000/log.alone(b, 2*rounds))
	}
	reportOnly(b)
	b.ReportMetric(all.median(), "p50-ms")
	b.ReportMetric(all.quantile(0.99), "p99-ms")
	b.ReportMetric(raw.median(), "p50-ms-two-fdatasyncs")
	b.ReportMetric(ours.over(raw), "x-two-fdatasyncs")
}

// wake lets one process wait for the task that the other one creates, and returns how long that took in ms.
func wake(b *testing.B, giver, taker *host) float64 {
	requests := `{"jsonrpc":"2.0","id":1,"method":"claim_task","params":{"worker":"bench","wait_ms":25000}}` + "\n" + parked
	taker.call(b, requests)
	<-time.After(rand.N(100 * time.Millisecond))
	start := time.Now()
	if err := giver.send([]byte(`{"jsonrpc":"2.0","id":1,"method":"create_task","params":{"prompt":"` + content + `"}}` + "\n")); err != nil {
		b.Fatal(err)
	}
	claimed, err := taker.answer()
	took := millis(time.Since(start))
	if err != nil {
		b.Fatal(err)
	}
	task, lease := member(claimed, "task_id"), member(claimed, "token")
	taker.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"finish_attempt","params":{"status":"completed","task_id":%q,"lease_token":%q}}`, task, lease))
	if _, err := giver.answer(); err != nil {
		b.Fatal(err)
	}
	return took
}

// manyTasks is how many tasks a large store has, and fewTasks a small one.
const (
	manyTasks = 100_000
	fewTasks  = 1000
	fewName   = "1000-tasks"
)

// BenchmarkManyTasks measures what depends on the number of tasks: a page of a list, and a claim. The
// probe is the same in a store with a hundredth of them.
func BenchmarkManyTasks(b *testing.B) {
	small, large := served(b), served(b)
	small.create(b, fewTasks)
	large.create(b, manyTasks)
	first := `{"jsonrpc":"2.0","id":1,"method":"list_tasks","params":{"limit":50}}`
	for _, c := range []struct{ name, request string }{
		{"page=first", first},
		{"page=newest", `{"jsonrpc":"2.0","id":1,"method":"list_tasks","params":{"limit":50,"order":"newest"}}`},
		{"page=of-a-status", `{"jsonrpc":"2.0","id":1,"method":"list_tasks","params":{"limit":50,"status":"QUEUED"}}`},
		{"page=of-nothing", `{"jsonrpc":"2.0","id":1,"method":"list_tasks","params":{"limit":50,"status":"ERROR"}}`},
		{"status", `{"jsonrpc":"2.0","id":1,"method":"get_status"}`},
	} {
		b.Run(c.name, func(b *testing.B) { pair(b, small, large, fewName, func(h *host) { h.call(b, c.request) }) })
	}
	b.Run("page=deep", func(b *testing.B) {
		cursor := map[*host]string{small: "500", large: "50000"} // the wire calls it opaque; it is a position
		pair(b, small, large, fewName, func(h *host) {
			h.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"list_tasks","params":{"limit":50,"cursor":%q}}`, cursor[h]))
		})
	})
	b.Run("claim", func(b *testing.B) {
		pair(b, small, large, fewName, func(h *host) {
			claimed := h.call(b, `{"jsonrpc":"2.0","id":1,"method":"claim_task","params":{"worker":"bench"}}`)
			task, lease := member(claimed, "task_id"), member(claimed, "token")
			h.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"finish_attempt","params":{"status":"interrupted","task_id":%q,"lease_token":%q}}`, task, lease))
			h.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"retry_task","params":{"task_id":%q}}`, task))
		})
	})
}

// pair measures the same on two hosts in turns, ten times each. probe names the first.
func pair(b *testing.B, small, large *host, probe string, do func(h *host)) {
	var raw, ours, all series
	for b.Loop() {
		var times [2]series
		for range 10 {
			for i, h := range []*host{small, large} {
				start := time.Now()
				do(h)
				times[i] = append(times[i], micros(time.Since(start)))
			}
		}
		raw, ours, all = append(raw, times[0].median()), append(ours, times[1].median()), append(all, times[1]...)
	}
	reportOnly(b)
	b.ReportMetric(raw.median(), "p50-µs-"+probe)
	b.ReportMetric(all.median(), "p50-µs")
	b.ReportMetric(all.quantile(0.99), "p99-µs")
	b.ReportMetric(ours.over(raw), "x-"+probe)
}
