//go:build unix

package e2e_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// metrics returns the samples of a process by their names and labels.
func (c *caller) metrics() map[string]float64 {
	c.t.Helper()
	res := c.send("GET", "/metrics", "")
	text, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	require.NoError(c.t, res.Body.Close())
	require.Equal(c.t, http.StatusOK, res.StatusCode, "%s", text)
	samples := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		samples[line[:at]], err = strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		require.NoError(c.t, err, line)
	}
	return samples
}

// Everything that is counted in one process, by packages that know nothing of each other, comes together at its door.
func TestMetricsOfAProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t, "--http")
	p.must("get_status", `{}`, nil)
	c := w.portFile(t)
	before := c.metrics()

	r, err := p.call("get_lost", `{}`)
	require.NoError(t, err)
	require.NotNil(t, r.Error)
	id := p.gets("instruction_id", "queue_instruction_with_ack", `{"content":"look"}`)
	p.must("dispatch_instructions", `{}`, nil)
	p.must("acknowledge", `{"instruction_id":"`+id+`"}`, nil)
	p.must("init_run", `{"plan":"tasks.md","item_id":"1"}`, nil)
	require.NoError(t, os.WriteFile(filepath.Join(w.workspace, "tasks.md"), []byte("- [ ] 1. First\n- [ ] 9. Ninth\n"), 0o600))
	p.heard("ledger/changed", func(params string) bool { return strings.Contains(params, `"9"`) })

	after := c.metrics()
	grew := func(least float64, sample string) {
		t.Helper()
		require.Contains(t, after, sample)
		require.GreaterOrEqual(t, after[sample]-before[sample], least, sample)
	}
	grew(300, `waybill_rpc_bytes_total{direction="in"}`)
	grew(300, `waybill_rpc_bytes_total{direction="out"}`)
	grew(1, `waybill_protocol_errors_total{kind="METHOD_NOT_FOUND"}`)
	grew(1, "waybill_instruction_ack_latency_seconds_count")
	grew(4, "waybill_store_commit_seconds_count")
	grew(1, "waybill_store_wal_bytes")
	if after[`waybill_watcher_mode{mode="polling"}`] == 0 { // as where the system has no watch left to give
		grew(1, "waybill_watcher_events_total")
	}
	require.Positive(t, after["waybill_store_commit_seconds_sum"])
	require.Greater(t, after["waybill_store_size_bytes"], after["waybill_store_wal_bytes"])
	require.Contains(t, after, "waybill_log_dropped_total")
	require.Contains(t, after, "waybill_store_busy_wait_seconds_count")
}
