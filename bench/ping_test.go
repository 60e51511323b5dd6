package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// pings are the requests of one window, encoded once, each of pingBytes; twice, so that as many as are
// free are one piece of it wherever the first of them is.
var pings = func() []byte {
	var all strings.Builder
	for i := range 2 * window {
		fmt.Fprintf(&all, `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"_meta":{"why":%q}}}`+"\n",
			100+i%window, strings.Repeat("is anybody there? ", 13))
	}
	return []byte(all.String())
}()

var pingBytes = len(pings) / (2 * window)

// pingAlone sends n pings, each after the answer to the one before, and returns the time of each in µs.
func (h *host) pingAlone(b *testing.B, n int) series {
	times := make(series, n)
	for i := range n {
		start := time.Now()
		if err := h.send(pings[:pingBytes]); err != nil {
			b.Fatal(err)
		}
		if _, err := h.answer(); err != nil {
			b.Fatal(err)
		}
		times[i] = micros(time.Since(start))
	}
	return times
}

// pingTogether keeps a window of pings in flight until n are answered, and returns the rate.
func (h *host) pingTogether(b *testing.B, n int) float64 {
	start := time.Now()
	sent := 0
	send := func(k int) {
		next := sent % window
		if err := h.send(pings[next*pingBytes : (next+k)*pingBytes]); err != nil {
			b.Fatal(err)
		}
		sent += k
	}
	send(window)
	for answered := 0; answered < n; {
		k := h.countAnswers(b)
		answered += k
		if k = min(k, n-sent); k > 0 {
			send(k)
		}
	}
	return rate(n, time.Since(start))
}

// countAnswers waits for an answer, and counts it and those that came with it.
func (h *host) countAnswers(b *testing.B) (n int) {
	answer, err := h.answer()
	for answer != nil && err == nil {
		n++
		answer, err = h.more()
	}
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkPing measures what a call costs that does nothing: 300 bytes there, 50 bytes back.
func BenchmarkPing(b *testing.B) {
	b.Run("in-flight=1", func(b *testing.B) {
		all, medians := map[string]series{}, map[string]series{}
		eachServer(b, func(name string, h *host) {
			times := h.pingAlone(b, 1000)
			all[name] = append(all[name], times...)
			medians[name] = append(medians[name], times.median())
		})
		ours := medians["waybill"].usual()
		for name, times := range all {
			b.ReportMetric(medians[name].usual(), "p50-µs-"+name)
			b.ReportMetric(times.quantile(0.99), "p99-µs-"+name)
			b.ReportMetric(ours/medians[name].usual(), "x-p50-"+name)
		}
	})
	b.Run(fmt.Sprintf("in-flight=%d", window), func(b *testing.B) {
		rates := map[string]series{}
		eachServer(b, func(name string, h *host) { rates[name] = append(rates[name], h.pingTogether(b, 2000)) })
		for name, r := range rates {
			b.ReportMetric(r.median(), "calls/s-"+name)
			b.ReportMetric(rates["waybill"].over(r), "x-rate-"+name)
		}
	})
}

// usual returns the lower quartile of the medians of several processes. About one process in four, of
// any contender, comes to lie on the processors in such a way that a wake-up takes 20 µs longer for as
// long as it lives; a median of the medians would be now the one and now the other.
func (s series) usual() float64 { return s.quantile(0.25) }

// eachServer measures waybill and its contenders in turns, a new process each time.
func eachServer(b *testing.B, measure func(name string, h *host)) {
	for b.Loop() {
		for _, name := range []string{"pipe", "waybill", "by-hand", "library"} {
			var h *host
			if name == "waybill" {
				h = spawnServed(b)
			} else {
				h = spawn(b, contender(name))
			}
			h.pingTogether(b, 1000) // until it has grown to its size
			measure(name, h)
			h.end(b)
		}
	}
	reportOnly(b)
}
