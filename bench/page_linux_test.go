package bench

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/performance"
)

// BenchmarkPageIdle measures the time on a processor that waybill takes while nothing happens and the inbox is
// open in a browser, with fifty questions in it that are two hours old by its clock, and what the page itself takes then. The probe is a waybill with the
// same tasks and the same door, at which nobody is.
func BenchmarkPageIdle(b *testing.B) {
	const period = 5 * time.Second
	s := newScreen(b)
	watched, d := servedPage(b)
	alone, _ := servedPage(b)
	for _, h := range []*host{watched, alone} {
		h.create(b, 100)
		for range 50 {
			h.ask(b)
		}
	}
	s.first(`Date.now = ((now) => () => now() + 2 * 3600 * 1000)(Date.now)`)
	s.shows(d)
	s.until(`document.querySelector(".row") !== null`)
	s.do(tell(performance.Enable, performance.EnableParams{}))
	<-time.After(period) // until what is done after the page has come is done
	var ours, raw, page series
	for b.Loop() {
		used, unwatched, worked, start := watched.onProcessor(b), alone.onProcessor(b), s.worked(), time.Now()
		<-time.After(period)
		took := time.Since(start).Seconds()
		ours = append(ours, (watched.onProcessor(b)-used)/took)
		raw = append(raw, (alone.onProcessor(b)-unwatched)/took)
		page = append(page, (s.worked()-worked)/took)
	}
	reportOnly(b)
	b.ReportMetric(ours.median(), "cpu-ms/s")
	b.ReportMetric(raw.median(), "cpu-ms/s-nobody")
	b.ReportMetric(page.median(), "page-ms/s")
}
