package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A review is a host whose worker submits its work again and again, so that the run never ends.
type review struct {
	host    *host
	request string // without its id
}

// reviewed starts waybill on a plan and a run of one of its items.
func reviewed(b *testing.B) *review {
	r := &review{host: served(b)}
	newPlan(b, r.host.cmd.Dir, "specs/rain/tasks.md", 50)
	r.renew(b)
	return r
}

// renew starts another run of the item.
func (r *review) renew(b *testing.B) {
	started := r.host.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"init_run","params":{"plan":"specs/rain/tasks.md","item_id":%q,"resume":"new"}}`, currentItem(50)))
	run := member(started, "run_id")
	require.NotEmpty(b, run)
	output := fmt.Sprintf(`role: worker\ntask_id: %s\nstatus: pass\ngit_range: a1b2c3d..e4f5a6b\nfiles_changed: gauge/station.go\n\n%s`,
		currentItem(50), strings.Repeat("I calibrated the gauge and ran the tests. ", 45))
	r.request = fmt.Sprintf(`"method":"ingest_output","params":{"run_id":%q,"role":"worker","output":"%s"}}`, run, output)
}

// run ingests n results, so many of them in flight at once, and returns their rate.
func (r *review) run(b *testing.B, n, inFlight int, latency *series) float64 {
	start := time.Now()
	for sent := 0; sent < n; {
		k := min(inFlight, n-sent)
		began := time.Now()
		r.host.requests = r.host.requests[:0]
		for i := range k {
			r.host.requests = fmt.Appendf(r.host.requests, "{\"jsonrpc\":\"2.0\",\"id\":%d,%s\n", firstID+i, r.request)
		}
		sent += k
		done := make(chan error, 1) // gets what became of the sending, and no more
		go func() { done <- r.host.send(r.host.requests) }()
		for range k {
			if _, err := r.host.answer(); err != nil {
				b.Fatal(err)
			}
		}
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		*latency = append(*latency, micros(time.Since(began)))
	}
	return float64(n) / time.Since(start).Seconds()
}

// BenchmarkIngest measures ingest_output of a result of 2 KB: judged, counted, explained in the event log, and
// on disk before it is answered. Beside it stands the disk itself.
func BenchmarkIngest(b *testing.B) {
	for _, c := range []struct {
		inFlight, results int
		probe             string
		raw               func(*rawLog) float64
	}{
		{1, 100, "fdatasync", func(l *rawLog) float64 { return l.alone(b, 100) }},
		{window, 20 * window, "group-commit", func(l *rawLog) float64 { return l.together(b, 40*window) }},
	} {
		b.Run(fmt.Sprintf("in-flight=%d", c.inFlight), func(b *testing.B) {
			r := reviewed(b)
			log := newRawLog(b, filepath.Dir(r.host.cmd.Dir))
			var latency, ours, raw series
			r.run(b, 2000, c.inFlight, &latency) // until the store has grown to its size
			latency = nil
			for b.Loop() {
				before := c.raw(log)
				ours = append(ours, r.run(b, c.results, c.inFlight, &latency))
				raw = append(raw, (before+c.raw(log))/2)
			}
			reportOnly(b)
			b.ReportMetric(ours.median(), "results/s")
			b.ReportMetric(latency.quantile(0.5), "p50-µs")
			b.ReportMetric(latency.quantile(0.99), "p99-µs")
			b.ReportMetric(raw.median(), c.probe+"/s")
			b.ReportMetric(ours.over(raw), "x-"+c.probe)
		})
	}
}

// BenchmarkReadyItems measures ready_items in this process on a plan in which each item depends on one before
// it and every tenth one is done by a run. The probe reads the answer of the same size from get_plan.
func BenchmarkReadyItems(b *testing.B) {
	const items = 2000
	root := b.TempDir()
	newChain(b, root, items)
	table := inProcess(b, root, time.Hour)
	params := `{"plan":"specs/chain/tasks.md"}`
	r := called[schema.ReadyItems](b, table, "ready_items", params)
	require.Len(b, r.Waiting, items-r.ReadyTotal)
	var ours, raw series
	for b.Loop() {
		before := each(20, func() { called[schema.Plan](b, table, "get_plan", params) })
		ours = append(ours, each(20, func() { called[schema.ReadyItems](b, table, "ready_items", params) }))
		raw = append(raw, (before+each(20, func() { called[schema.Plan](b, table, "get_plan", params) }))/2)
	}
	reportOnly(b)
	b.ReportMetric(ours.median(), "µs")
	b.ReportMetric(raw.median(), "µs-get-plan")
	b.ReportMetric(ours.over(raw), "x-get-plan")
}

// newChain writes a plan of which each item depends on the one before it and on one in the middle of those.
func newChain(b *testing.B, root string, n int) {
	var text strings.Builder
	text.WriteString("# Chain\n\n")
	for i := range n {
		fmt.Fprintf(&text, "- [ ] %d. Link %d\n", i+1, i+1)
		if i > 0 && i%10 != 0 {
			fmt.Fprintf(&text, "  - _Depends: %d, %d_\n", i, i/2+1)
		}
	}
	p := newPlan(b, root, "specs/chain/tasks.md", 1) // which makes its folder
	require.NoError(b, os.WriteFile(p.path, []byte(text.String()), 0o600))
}
