package web_test

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

func (h *house) metrics() map[string]*metric {
	h.t.Helper()
	a := h.ask("GET", "/metrics", "")
	require.Equal(h.t, 200, a.status, "%s", a.body)
	a.guarded()
	require.Equal(h.t, "text/plain; version=0.0.4; charset=utf-8", a.header.Get("Content-Type"))
	return parse(h.t, string(a.body))
}

// has asserts the value of a sample.
func has(t testing.TB, all map[string]*metric, value float64, sample string) {
	t.Helper()
	name := familyOf(sample)
	require.Contains(t, all, name)
	require.Contains(t, all[name].samples, sample)
	require.InDelta(t, value, all[name].samples[sample], 0, sample)
}

// documented gives the metrics that docs/http.md lists, with the labels of each.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	doc, err := os.ReadFile("../docs/http.md")
	require.NoError(t, err)
	_, part, ok := strings.Cut(string(doc), "\n## Metrics\n")
	require.True(t, ok)
	part, _, _ = strings.Cut(part, "\n## ")
	names := map[string][]string{}
	for _, found := range regexp.MustCompile("`((?:waybill|go)_[a-z_]+)(?:\\{([a-z,]+)\\})?`").FindAllStringSubmatch(part, -1) {
		names[found[1]] = nil
		if found[2] != "" {
			names[found[1]] = strings.Split(found[2], ",")
		}
	}
	return names
}

// Of a histogram, each bucket has those before it, and the last has all.
func TestMetricsOfDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(start starter) starter {
			return func(ctx ctx, params []byte, done func(api.Answer)) {
				time.Sleep(200 * time.Millisecond)
				start(ctx, params, done)
			}
		}
		h := build(t, plot{methods: map[string]func(starter) starter{"ping": slow}})
		h.call("ping", `{}`)
		m := h.metrics()
		for le, want := range map[string]float64{"0.001": 0, "0.1": 0, "0.5": 1, "2.5": 1, "10": 1, "+Inf": 1} {
			has(t, m, want, fmt.Sprintf(`waybill_rpc_duration_seconds_bucket{method="ping",le=%q}`, le))
		}
		has(t, m, 0.2, `waybill_rpc_duration_seconds_sum{method="ping"}`)
	})
}

// A store that cannot be read costs the metrics of the store alone.
func TestMetricsOfABrokenStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := func(starter) starter {
			return func(_ ctx, _ []byte, done func(api.Answer)) {
				done(api.Answer{Err: schema.NewError(schema.StoreIO, "no disk")})
			}
		}
		h := build(t, plot{methods: map[string]func(starter) starter{"get_status": broken}, outside: new(outside)})
		m := h.metrics()
		has(t, m, 0, "waybill_store_readable")
		has(t, m, 1, `waybill_store_errors_total{kind="STORE_IO_ERROR"}`)
		require.NotContains(t, m, "waybill_tasks")
		require.NotContains(t, m, "waybill_store_wal_bytes")
		for _, name := range []string{"go_goroutines", "waybill_rpc_bytes_total", "waybill_store_commit_seconds"} {
			require.Contains(t, m, name)
		}
	})
}

// Where there is no host, as beside the page alone, nothing is said of one.
func TestMetricsWithoutAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := build(t, plot{}).metrics()
		for _, name := range []string{
			"waybill_rpc_bytes_total", "waybill_protocol_errors_total", "waybill_log_dropped_total",
			"waybill_notifications_failed_total", "waybill_notifications_dropped_total",
		} {
			require.NotContains(t, m, name)
		}
		require.Contains(t, m, "waybill_watcher_events_total")
	})
}

func TestMetricsOfTheRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const held = 64 << 20
		h := build(t, plot{})
		value := func(m map[string]*metric, name string) float64 { return m[name].samples[name] }
		before := h.metrics()
		memory, leave := make([]byte, held), make(chan struct{})
		for range 100 {
			go func() { <-leave }() // ends below
		}
		runtime.GC()
		after := h.metrics()
		close(leave)
		runtime.KeepAlive(memory)
		require.GreaterOrEqual(t, value(after, "go_goroutines")-value(before, "go_goroutines"), 50.0)
		require.Greater(t, value(after, "go_gc_cycles_total"), value(before, "go_gc_cycles_total"))
		require.Greater(t, value(after, "go_memstats_mallocs_total"), value(before, "go_memstats_mallocs_total"))
		require.GreaterOrEqual(t, value(after, "go_memstats_heap_alloc_bytes"), float64(held))
		require.GreaterOrEqual(t, value(after, "go_memstats_sys_bytes"), value(after, "go_memstats_heap_alloc_bytes"))
	})
}

// The log is counted page by page, and no event twice.
func TestMetricsOfManyEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		h.metrics()
		const many = 1200
		for range many {
			h.call("queue_instruction", `{"content":"look"}`)
		}
		for range 2 {
			has(t, h.metrics(), many, `waybill_events_total{type="instruction.queued"}`)
		}
	})
}
