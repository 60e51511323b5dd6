package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkWake measures the time from a create_task until a claim that waits in another process is answered. The probe
// is a claim that waits in the same process.
func BenchmarkWake(b *testing.B) {
	root := b.TempDir()
	work := filepath.Join(root, "work")
	require.NoError(b, os.Mkdir(work, 0o700))
	var waiting, creating *host
	for _, h := range []**host{&waiting, &creating} {
		*h = connected(b, waybill(work, filepath.Join(root, "state")))
		(*h).call(b, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	}
	var near, far series
	for b.Loop() {
		near = append(near, waiting.wake(b, waiting))
		far = append(far, waiting.wake(b, creating))
	}
	reportOnly(b)
	b.ReportMetric(near.median(), "p50-ms-same")
	b.ReportMetric(far.median(), "p50-ms")
	b.ReportMetric(far.quantile(0.99), "p99-ms")
	b.ReportMetric(far.over(near), "x-same")
}

// The ids of the requests that may be in flight together.
const (
	claimID = firstID + iota
	otherID
)

// wake has a claim wait, and returns the time in ms until it has the task that the other one creates.
func (h *host) wake(b *testing.B, other *host) float64 {
	require.NoError(b, h.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"claim_task","params":{"worker":"bench","wait_ms":25000}}`+"\n", claimID)))
	// Changes take effect in the order of their lines: by the time of this answer the claim waits.
	h.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"queue_instruction","params":{"content":"x"}}`, otherID))
	start := time.Now()
	create := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"create_task","params":{"prompt":%q}}`+"\n", otherID, content)
	require.NoError(b, other.send([]byte(create)))
	claim, err := h.answerTo(claimID)
	took := millis(time.Since(start))
	require.NoError(b, err)
	task, lease := member(claim, "task_id"), member(claim, "token")
	if other != h {
		_, err = other.answerTo(otherID)
		require.NoError(b, err)
	}
	require.NoError(b, h.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"finish_attempt","params":{"task_id":%q,`+
		`"lease_token":%q,"status":"completed","output":"done"}}`+"\n", claimID, task, lease)))
	_, err = h.answerTo(claimID)
	require.NoError(b, err)
	return took
}

// answerTo returns the answer to the request with that id, and passes over those to others. It is valid until the
// next line is asked for.
func (h *host) answerTo(id int) ([]byte, error) {
	mark := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,`, id)
	for {
		answer, err := h.answer()
		if err != nil || bytes.HasPrefix(answer, mark) {
			return answer, err
		}
	}
}
