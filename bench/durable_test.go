package bench

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// BenchmarkDurable measures changes that are answered when they are on disk: queueing a tracked
// instruction and acknowledging it, each with its place in the event log, over the pipes of the real
// binary. Beside it stand the disk itself, and SQLite without a shared commit.
func BenchmarkDurable(b *testing.B) {
	b.Run("in-flight=1", func(b *testing.B) {
		const n = 100
		d := newDurable(b, 1)
		for b.Loop() {
			d.round(b, n, n, func(l *rawLog) float64 { return l.alone(b, n) })
		}
		d.report(b, "fdatasync")
	})
	b.Run(fmt.Sprintf("in-flight=%d", window), func(b *testing.B) {
		d := newDurable(b, window)
		for b.Loop() {
			d.round(b, 60*window, 4*window, func(l *rawLog) float64 { return l.together(b, 40*window) })
		}
		d.report(b, "group-commit")
	})
}

// A durable is waybill and its contenders, on one disk, with the rates that they came to.
type durable struct {
	callers   int
	errand    *errand
	log       *rawLog
	bare      bare
	ungrouped ungrouped
	last      atomic.Int64

	waybill, raw, hand, single series
}

func newDurable(b *testing.B, callers int) *durable {
	h := served(b)
	h.call(b, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	dir := filepath.Dir(h.cmd.Dir)
	d := &durable{
		callers: callers, errand: newErrand(h, "s", callers),
		log: newRawLog(b, dir), bare: newBare(b, dir), ungrouped: newUngrouped(b, dir),
	}
	d.errand.run(b, 2000) // until the store has grown to its size
	changes(b, d.bare, &d.last, 1, 1000)
	changes(b, d.ungrouped, &d.last, 1, 1000)
	d.errand.latency = nil
	return d
}

// round measures all once: waybill and, before and after it, the disk.
func (d *durable) round(b *testing.B, n, single int, raw func(*rawLog) float64) {
	before := raw(d.log)
	d.waybill = append(d.waybill, d.errand.run(b, n))
	d.raw = append(d.raw, (before+raw(d.log))/2)
	d.hand = append(d.hand, changes(b, d.bare, &d.last, d.callers, single))
	d.single = append(d.single, changes(b, d.ungrouped, &d.last, d.callers, single))
}

func (d *durable) report(b *testing.B, raw string) {
	reportOnly(b)
	b.ReportMetric(d.waybill.median(), "changes/s")
	b.ReportMetric(d.errand.latency.quantile(0.5), "p50-µs")
	b.ReportMetric(d.errand.latency.quantile(0.99), "p99-µs")
	b.ReportMetric(d.raw.median(), raw+"/s")
	b.ReportMetric(d.hand.median(), "bare-sqlite/s")
	b.ReportMetric(d.single.median(), "one-transaction-each/s")
	b.ReportMetric(d.waybill.over(d.raw), "x-"+raw)
	b.ReportMetric(d.waybill.over(d.hand), "x-bare-sqlite")
	b.ReportMetric(d.waybill.over(d.single), "x-one-transaction-each")
}
