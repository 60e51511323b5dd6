package bench

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"
)

// quietPeriod is how long a plan must rest before waybill says that it changed.
const quietPeriod = 100 * time.Millisecond

// BenchmarkEdit measures the time from the end of a write of one byte to the ledger/changed that tells of
// it, as it is, and less the quiet period, which is waited for on purpose. Several hosts do that at a time, each with a workspace of its own, because nearly all of the time is
// waiting. The probe waits for the notification of the system and then for a timer of the quiet period.
func BenchmarkEdit(b *testing.B) {
	for _, items := range planSizes {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) { benchmarkEdit(b, items) })
	}
}

func benchmarkEdit(b *testing.B, items int) {
	const hosts, edits = 4, 30
	editors := make([]*editor, hosts)
	for i := range editors {
		editors[i] = newEditor(b, items)
	}
	probe := newProbe(b, items)
	for b.Loop() {
		var working sync.WaitGroup
		for _, e := range append(editors, probe) {
			working.Go(func() { // ends after that many edits
				if err := e.edit(edits); err != nil {
					b.Error(err)
				}
			})
		}
		working.Wait()
	}
	var ours series
	for _, e := range editors {
		ours = append(ours, e.times...)
	}
	quiet := millis(quietPeriod)
	reportOnly(b)
	b.ReportMetric(ours.median(), "p50-ms")
	b.ReportMetric(ours.quantile(0.99), "p99-ms")
	b.ReportMetric(ours.median()-quiet, "p50-ms-over-quiet")
	b.ReportMetric(ours.quantile(0.99)-quiet, "p99-ms-over-quiet")
	b.ReportMetric(probe.times.median()-quiet, "p50-ms-over-quiet-probe")
	b.ReportMetric(probe.times.quantile(0.99)-quiet, "p99-ms-over-quiet-probe")
}

// An editor changes a plan and waits for the news.
type editor struct {
	plan  *planFile
	items int
	wait  func() error
	times series // in ms
}

func (e *editor) edit(n int) error {
	for range n {
		if err := e.plan.tick(e.items); err != nil {
			return err
		}
		start := time.Now()
		if err := e.wait(); err != nil {
			return err
		}
		e.times = append(e.times, millis(time.Since(start)))
	}
	return nil
}

// newEditor returns one that has a workspace of its own and hears of its edits from waybill.
func newEditor(b *testing.B, items int) *editor {
	root := b.TempDir()
	work := filepath.Join(root, "work")
	plan := newPlan(b, work, "specs/rain/tasks.md", items)
	h := connected(b, waybill(work, filepath.Join(root, "state")))
	h.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"init_run","params":{"plan":"specs/rain/tasks.md","item_id":%q}}`, currentItem(items)))
	e := &editor{plan: plan, items: items, wait: func() error {
		for {
			text, err := h.line()
			if err != nil || bytes.Contains(text, []byte(`"method":"ledger/changed"`)) {
				return err
			}
		}
	}}
	require.NoError(b, e.edit(1)) // the first one may be found by the first look at the plan
	e.times = nil
	return e
}

// newProbe returns one that hears of its edits from the system, and waits for the quiet period then.
func newProbe(b *testing.B, items int) *editor {
	plan := newPlan(b, b.TempDir(), "tasks.md", items)
	news, err := fsnotify.NewWatcher()
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, news.Close()) })
	require.NoError(b, news.Add(filepath.Dir(plan.path)))
	return &editor{plan: plan, items: items, wait: func() error {
		<-news.Events
		<-time.After(quietPeriod)
		for len(news.Events) > 0 {
			<-news.Events
		}
		return nil
	}}
}
