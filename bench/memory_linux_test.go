package bench

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// manyCalls is after how many calls the memory must be what it was.
const manyCalls = 100_000

// BenchmarkMemory measures the resident memory of waybill: with a store that was used once, with the
// store and every buffer at work, and what is added by a hundred thousand calls more.
func BenchmarkMemory(b *testing.B) {
	var idle, working, after series
	for b.Loop() {
		h := spawnServed(b)
		h.call(b, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		h.call(b, `{"jsonrpc":"2.0","id":2,"method":"queue_instruction","params":{"content":"begin"}}`)
		idle = append(idle, h.resident(b))
		e := newErrand(h, "m", window)
		e.passes = true
		e.run(b, manyCalls/10)
		working = append(working, h.resident(b))
		e.run(b, manyCalls)
		after = append(after, h.resident(b))
		h.end(b)
	}
	reportOnly(b)
	b.ReportMetric(idle.median(), "MiB-idle")
	b.ReportMetric(working.median(), "MiB-working")
	b.ReportMetric(after.median(), fmt.Sprintf("MiB-after-%d", manyCalls))
	b.ReportMetric(after.median()-working.median(), "MiB-grown")
}

// BenchmarkMemoryOfIngest measures what a hundred thousand ingested results add to the resident memory.
func BenchmarkMemoryOfIngest(b *testing.B) {
	var working, after, latency series
	for b.Loop() {
		r := reviewed(b)
		r.run(b, manyCalls/10, window, &latency)
		working = append(working, r.host.resident(b))
		r.run(b, manyCalls, window, &latency)
		after = append(after, r.host.resident(b))
	}
	reportOnly(b)
	b.ReportMetric(working.median(), "MiB-working")
	b.ReportMetric(after.median(), fmt.Sprintf("MiB-after-%d", manyCalls))
	b.ReportMetric(after.median()-working.median(), "MiB-grown")
}

var vmRSS = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

// resident returns the resident memory of the server in MiB.
func (h *host) resident(b *testing.B) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.cmd.Process.Pid))
	require.NoError(b, err)
	found := vmRSS.FindSubmatch(status)
	require.NotNil(b, found)
	kib, err := strconv.Atoi(string(found[1]))
	require.NoError(b, err)
	return float64(kib) / 1024
}
