package web_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// A metric is one family as a strict reader has it: samples by their name and labels.
type metric struct {
	kind, help string
	samples    map[string]float64
}

var (
	sampleLine = regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? (\S+)$`)
	helpLine   = regexp.MustCompile(`^# HELP ([a-z_]+) ([^\\]+)$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-z_]+) (counter|gauge|histogram)$`)
)

// parse reads an exposition and refuses what Prometheus would, and what it only advises against: a family that comes
// twice or without its two lines, a sample that is of no family or comes twice, a counter that is called like none.
func parse(t testing.TB, text string) map[string]*metric {
	t.Helper()
	require.True(t, strings.HasSuffix(text, "\n"))
	all := map[string]*metric{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	name := ""
	for i := 0; i < len(lines); i++ {
		if help := helpLine.FindStringSubmatch(lines[i]); help != nil {
			name = help[1]
			kind := typeLine.FindStringSubmatch(lines[i+1])
			require.NotNil(t, kind, lines[i+1])
			require.Equal(t, name, kind[1])
			require.Nil(t, all[name], "%s comes twice", name)
			require.Equal(t, kind[2] == "counter", strings.HasSuffix(name, "_total"), name)
			all[name] = &metric{kind: kind[2], help: help[2], samples: map[string]float64{}}
			i++
			continue
		}
		s := sampleLine.FindStringSubmatch(lines[i])
		require.NotNil(t, s, lines[i])
		family := s[1]
		if all[name].kind == "histogram" {
			family = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(family, "_bucket"), "_sum"), "_count")
		}
		require.Equal(t, name, family, "a sample among those of another")
		value, err := strconv.ParseFloat(s[4], 64)
		require.NoError(t, err, lines[i])
		key := s[1] + s[2]
		require.NotContains(t, all[name].samples, key)
		require.GreaterOrEqual(t, value, 0.0, lines[i])
		all[name].samples[key] = value
	}
	return all
}

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
	name, _, _ := strings.Cut(sample, "{")
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		name = strings.TrimSuffix(name, part)
	}
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

// TestMetricsAreThoseOfTheDocument: each metric that the document lists is there with these labels, and no other
// metric is.
func TestMetricsAreThoseOfTheDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{connected: true})
		h.metrics()
		got, want := h.metrics(), documented(t)
		for name, m := range got {
			require.Contains(t, want, name, "%s is not in docs/http.md", name)
			for sample := range m.samples {
				for _, label := range regexp.MustCompile(`([a-z]+)="`).FindAllStringSubmatch(sample, -1) {
					require.True(t, label[1] == "le" || slices.Contains(want[name], label[1]), "%s has %s", sample, label[1])
				}
			}
		}
		for name := range want {
			require.Contains(t, got, name)
		}
	})
}

func TestMetricsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		h.ask("GET", "/metrics", "", "Authorization: Bearer guess").refused(401, schema.Unauthorized)
		h.ask("GET", "/metrics", "", "Host: evil.test").refused(403, schema.Forbidden)
		h.metrics() // events are counted from here on
		id := h.asked()
		h.call("queue_instruction_with_ack", `{"content":"look","max_retries":0}`)
		for range 2 {
			h.call("dispatch_instructions", `{}`)
		}
		time.Sleep(3 * time.Second)
		m := h.metrics()
		has(t, m, 1, "waybill_store_readable")
		has(t, m, 3, "waybill_awaiting_reply_age_seconds")
		has(t, m, 1, `waybill_tasks{status="AWAITING_RESPONSE"}`)
		has(t, m, 0, `waybill_tasks{status="COMPLETE"}`)
		has(t, m, 1, `waybill_instructions{state="failed"}`)
		has(t, m, 1, "waybill_instruction_attempts_total")
		has(t, m, 1, "waybill_instructions_failed_total")
		has(t, m, 1, `waybill_events_total{type="task.settled"}`)
		has(t, m, 1, `waybill_http_rejected_total{reason="UNAUTHORIZED"}`)
		has(t, m, 1, `waybill_http_rejected_total{reason="FORBIDDEN"}`)
		has(t, m, 1, `waybill_rpc_requests_total{method="create_task",code="ok"}`)
		has(t, m, 1, `waybill_rpc_duration_seconds_bucket{method="create_task",le="+Inf"}`)
		has(t, m, 0, `waybill_compile_seconds_count`)
		has(t, m, 1, "waybill_http_connections")
		has(t, m, 1, `waybill_watcher_mode{mode="off"}`)

		reply := "/api/tasks/" + id + "/reply"
		h.ask("POST", reply, `{"reply":"oak"}`).ok()
		h.ask("POST", reply, `{"reply":"elm"}`).refused(409, schema.AlreadyResolved)
		m = h.metrics()
		has(t, m, 1, "waybill_reply_conflicts_total")
		has(t, m, 0, "waybill_awaiting_reply_age_seconds")
		has(t, m, 1, `waybill_rpc_requests_total{method="reply",code="ALREADY_RESOLVED"}`)
		has(t, m, 1, `waybill_events_total{type="task.replied"}`)
	})
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
		h := build(t, plot{methods: map[string]func(starter) starter{"get_status": broken}})
		m := h.metrics()
		has(t, m, 0, "waybill_store_readable")
		has(t, m, 1, `waybill_store_errors_total{kind="STORE_IO_ERROR"}`)
		require.NotContains(t, m, "waybill_tasks")
		require.Contains(t, m, "go_goroutines")
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
