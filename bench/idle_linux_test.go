package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkIdle measures the time on a processor that waybill takes while nothing happens: with a claim
// that waits, with a lease to be watched, and, as the probe, with neither.
func BenchmarkIdle(b *testing.B) {
	const period = 3 * time.Second
	var hosts [3]*host
	for i := range hosts {
		hosts[i] = served(b)
		hosts[i].create(b, 1)
		newShift(hosts[i], 1).run(b, 2)
	}
	waiting, leased, idle := hosts[0], hosts[1], hosts[2]
	leased.create(b, 1)
	leased.call(b, `{"jsonrpc":"2.0","id":1,"method":"claim_task","params":{"worker":"bench","lease_ms":3600000}}`)
	used := map[*host]series{}
	for b.Loop() {
		before := map[*host]float64{}
		for _, h := range hosts {
			before[h] = h.onProcessor(b)
		}
		start := time.Now()
		waiting.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"claim_task","params":{"worker":"bench","wait_ms":%d}}`, period.Milliseconds()))
		took := time.Since(start).Seconds()
		for _, h := range hosts {
			used[h] = append(used[h], (h.onProcessor(b)-before[h])/took)
		}
	}
	reportOnly(b)
	b.ReportMetric(used[waiting].median(), "cpu-ms/s-waiting")
	b.ReportMetric(used[leased].median(), "cpu-ms/s-leased")
	b.ReportMetric(used[idle].median(), "cpu-ms/s-idle")
}

// onProcessor returns how long all threads of the server have run in ms. A thread that has ended meanwhile
// is not counted; Go keeps its threads.
func (h *host) onProcessor(b *testing.B) float64 {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", h.cmd.Process.Pid))
	require.NoError(b, err)
	require.NotEmpty(b, threads, "the kernel tells no times of threads")
	total := 0.0
	for _, path := range threads {
		text, err := os.ReadFile(path)
		require.NoError(b, err)
		first, _, _ := bytes.Cut(text, []byte(" "))
		nanos, err := strconv.ParseFloat(string(first), 64)
		require.NoError(b, err)
		total += nanos / 1e6
	}
	return total
}
