package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkOverQueue measures changes one at a time over stdio, each beside queue_instruction on the same store in the same
// round. What all changes need, such as the sync and the lock, cancels out of the ratio.
func BenchmarkOverQueue(b *testing.B) {
	const n = 20
	queue := fmt.Sprintf(`"method":"queue_instruction","params":{"content":%q}`, content)
	b.Run("ingest_output", func(b *testing.B) { // ten results a run, because those of many more are no work that is done
		r := reviewed(b)
		taken := 0
		overQueue(b, r.host, n, queue, func() string {
			if taken++; taken%10 == 0 {
				r.renew(b)
			}
			return strings.TrimSuffix(r.request, "}") // its end is that of the message
		})
	})
	b.Run("claim_task", func(b *testing.B) {
		h := served(b)
		overQueue(b, h, n, queue, func() string {
			h.create(b, 1)
			return `"method":"claim_task","params":{"worker":"bench"}`
		})
	})
	b.Run("finish_attempt", func(b *testing.B) {
		h := served(b)
		overQueue(b, h, n, queue, func() string {
			h.create(b, 1)
			claimed := h.call(b, `{"jsonrpc":"2.0","id":1,"method":"claim_task","params":{"worker":"bench"}}`)
			return fmt.Sprintf(`"method":"finish_attempt","params":{"status":"completed","output":"%s","task_id":%q,"lease_token":%q}`,
				content, member(claimed, "task_id"), member(claimed, "token"))
		})
	})
}

// overQueue times the requests that next returns, n of them a round, in turns with queue.
func overQueue(b *testing.B, h *host, n int, queue string, next func() string) {
	timed := func(request string) float64 {
		start := time.Now()
		h.call(b, `{"jsonrpc":"2.0","id":2,`+request+`}`)
		return micros(time.Since(start))
	}
	for range 500 { // until the store has grown to its size
		timed(queue)
		timed(next())
	}
	var ours, base, ratios series
	for b.Loop() {
		var round, baseRound series
		for range n {
			request := next()
			baseRound = append(baseRound, timed(queue))
			round = append(round, timed(request))
		}
		ours, base = append(ours, round...), append(base, baseRound...)
		ratios = append(ratios, round.median()/baseRound.median())
	}
	reportOnly(b)
	b.ReportMetric(ours.median(), "p50-µs")
	b.ReportMetric(base.median(), "p50-µs-queue")
	b.ReportMetric(ratios.median(), "x-queue")
}
