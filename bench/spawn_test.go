package bench

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkSpawn measures the time from the spawning of waybill to its first answer, beside that of the
// smallest Go server that can give one.
func BenchmarkSpawn(b *testing.B) {
	for _, first := range []struct{ name, request string }{
		{"initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":1}}`},
		{"ping", `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		{"queue", `{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":"begin"}}`},
	} {
		b.Run("first="+first.name, func(b *testing.B) {
			root := b.TempDir()
			var empty, ours series
			for b.Loop() {
				before := firstAnswer(b, exec.Command(programs.emptyServer), first.request)
				ours = append(ours, firstAnswer(b, waybill(root, filepath.Join(root, "state")), first.request))
				empty = append(empty, (before+firstAnswer(b, exec.Command(programs.emptyServer), first.request))/2)
			}
			reportOnly(b)
			b.ReportMetric(empty.median(), "p50-ms-empty-server")
			b.ReportMetric(ours.median(), "p50-ms")
			b.ReportMetric(ours.quantile(0.99), "p99-ms")
			b.ReportMetric(ours.over(empty), "x-empty-server")
		})
	}
}

// firstAnswer returns the time from the spawning of a server to its first answer in ms.
func firstAnswer(b *testing.B, cmd *exec.Cmd, request string) float64 {
	start := time.Now()
	h := spawn(b, cmd)
	h.call(b, request)
	took := millis(time.Since(start))
	h.end(b)
	return took
}
