package web_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
	"waybill/web"
)

// A deed is something that is done, and what it adds to which samples.
type deed struct {
	name    string
	methods map[string]func(starter) starter
	do      func(h *house, o *outside)
	adds    map[string]float64
}

const onePlan = "# Plan\n\n- [ ] 1. First\n- [ ] 2. Second\n"

func deeds() []deed {
	return slices.Concat(deedsOfCalls(), deedsOfTasks(), deedsOfInstructions(), deedsOfRuns(), deedsOutside(), deedsAtTheDoor())
}

func deedsOfCalls() []deed {
	broken := false
	breaks := func(start starter) starter {
		return func(ctx ctx, params []byte, done func(api.Answer)) {
			if broken {
				done(api.Answer{Err: schema.NewError(schema.StoreIO, "no disk")})
				return
			}
			start(ctx, params, done)
		}
	}
	return []deed{
		{name: "a call", do: func(h *house, _ *outside) { h.call("ping", `{}`) }, adds: map[string]float64{
			`waybill_rpc_requests_total{method="ping",code="ok"}`:           1,
			`waybill_rpc_duration_seconds_bucket{method="ping",le="0.001"}`: 1,
			`waybill_rpc_duration_seconds_bucket{method="ping",le="+Inf"}`:  1,
			`waybill_rpc_duration_seconds_count{method="ping"}`:             1,
		}},
		{name: "a call that is not answered yet", do: func(h *house, _ *outside) {
			h.begin("dispatch_instructions", `{"wait_ms":500}`)
		}, adds: map[string]float64{"waybill_rpc_inflight": 1}},
		{name: "a call that the store fails", methods: map[string]func(starter) starter{"get_status": breaks}, do: func(h *house, _ *outside) {
			broken = true
			h.begin("get_status", `{}`)
		}, adds: map[string]float64{
			`waybill_store_errors_total{kind="STORE_IO_ERROR"}`: 2, // with that of the metrics
			"waybill_store_readable":                            -1,
		}},
		{name: "time", do: func(*house, *outside) { time.Sleep(3 * time.Second) }, adds: map[string]float64{"waybill_uptime_seconds": 3}},
	}
}

func deedsOfTasks() []deed {
	return []deed{
		{name: "a task that asks", do: func(h *house, _ *outside) {
			h.asked()
			time.Sleep(4 * time.Second)
		}, adds: map[string]float64{
			`waybill_tasks{status="AWAITING_RESPONSE"}`: 1,
			`waybill_tasks{status="COMPLETE"}`:          0,
			"waybill_awaiting_reply_age_seconds":        4,
			`waybill_events_total{type="task.settled"}`: 1,
		}},
		{name: "two replies", do: func(h *house, _ *outside) {
			reply := "/api/tasks/" + h.asked() + "/reply"
			h.ask("POST", reply, `{"reply":"oak"}`).ok()
			h.ask("POST", reply, `{"reply":"elm"}`).refused(409, schema.AlreadyResolved)
		}, adds: map[string]float64{
			"waybill_reply_conflicts_total":                                      1,
			"waybill_awaiting_reply_age_seconds":                                 0,
			`waybill_rpc_requests_total{method="reply",code="ALREADY_RESOLVED"}`: 1,
			`waybill_events_total{type="task.replied"}`:                          1,
		}},
		{name: "a report about what is somebody else's", do: func(h *house, _ *outside) {
			id := h.call("create_task", `{"prompt":"build a boat"}`).str("task.task_id")
			h.call("claim_task", `{"worker":"w"}`)
			h.call("finish_attempt", `{"task_id":%q,"lease_token":"lease_guess","status":"completed"}`, id)
		}, adds: map[string]float64{"waybill_stale_events_total": 1, `waybill_events_total{type="attempt.stale"}`: 1}},
	}
}

func deedsOfInstructions() []deed {
	return []deed{
		{name: "an instruction", do: func(h *house, _ *outside) { h.call("queue_instruction", `{"content":"look"}`) }, adds: map[string]float64{
			`waybill_instructions{state="queued"}`: 1, `waybill_events_total{type="instruction.queued"}`: 1,
			"waybill_store_commit_seconds_count": 1, `waybill_store_commit_seconds_bucket{le="0.00025"}`: 1,
		}},
		{name: "an instruction that is acknowledged", do: func(h *house, _ *outside) {
			id := h.call("queue_instruction_with_ack", `{"content":"look"}`).str("instruction.instruction_id")
			h.call("dispatch_instructions", `{}`)
			time.Sleep(10 * time.Second)
			h.call("acknowledge", `{"instruction_id":%q}`, id)
		}, adds: map[string]float64{
			`waybill_instruction_ack_latency_seconds_bucket{le="5"}`:  0,
			`waybill_instruction_ack_latency_seconds_bucket{le="15"}`: 1,
			`waybill_instruction_ack_latency_seconds_sum`:             10,
			`waybill_instruction_attempts_total`:                      1,
			`waybill_instructions{state="acknowledged"}`:              1,
		}},
		{name: "an instruction that is not", do: func(h *house, _ *outside) {
			h.call("queue_instruction_with_ack", `{"content":"look","max_retries":0}`)
			for range 2 {
				h.call("dispatch_instructions", `{}`)
			}
		}, adds: map[string]float64{
			`waybill_instruction_ack_latency_seconds_count`: 0,
			`waybill_instruction_attempts_total`:            1,
			`waybill_instructions_failed_total`:             1,
			`waybill_instructions{state="failed"}`:          1,
			`waybill_notices`:                               1,
		}},
	}
}

func deedsOfRuns() []deed {
	const compile = `{"run_id":%q,"role":"worker"}`
	prompted := map[string]float64{
		`waybill_runs{state="running"}`: 1, "waybill_prompts_total": 1, "waybill_prompt_overflows_total": 0,
		"waybill_compile_seconds_count": 1, "waybill_compile_bytes_count": 1, `waybill_compile_bytes_bucket{le="262144"}`: 1,
	}
	return []deed{
		{name: "a prompt", do: func(h *house, _ *outside) {
			given := h.call("compile_prompt", compile, h.run())
			prompted["waybill_compile_bytes_sum"] = float64(len(given.str("prompt")))
			tokens, err := strconv.ParseFloat(given.str("prompt_tokens_estimate"), 64)
			require.NoError(h.t, err)
			prompted["waybill_prompt_tokens_total"] = tokens
		}, adds: prompted},
		{name: "a preview", do: func(h *house, _ *outside) {
			h.ask("POST", "/api/runs/"+h.run()+"/prompt", `{"role":"worker"}`).ok()
		}, adds: map[string]float64{"waybill_prompts_total": 0, "waybill_compile_bytes_count": 0, "waybill_compile_seconds_count": 1}},
		{name: "a prompt with too little room", do: func(h *house, _ *outside) {
			h.begin("compile_prompt", compile[:len(compile)-1]+`,"max_input_tokens":1210}`, h.run())
		}, adds: map[string]float64{"waybill_prompt_overflows_total": 1, "waybill_prompts_total": 0}},
		{name: "results", do: func(h *house, _ *outside) {
			h.call("ingest_output", `{"run_id":%q,"role":"worker","output":"I had a look around."}`, h.run())
		}, adds: map[string]float64{`waybill_results_total{verdict="invalid"}`: 1, "waybill_retry_prompts_total": 1}},
		{name: "an edited plan", do: func(h *house, _ *outside) {
			run := h.run()
			h.plan(onePlan + "- [ ] 3. Third\n")
			h.call("get_snapshot", `{"run_id":%q}`, run)
		}, adds: map[string]float64{
			`waybill_ledger_rebuilds_total{reason="changed"}`: 1, `waybill_ledger_rebuilds_total{reason="item_gone"}`: 0,
		}},
		{name: "a plan that cannot be read", do: func(h *house, _ *outside) {
			run := h.run()
			require.NoError(h.t, os.Remove(filepath.Join(h.dir, "tasks.md")))
			h.call("compile_prompt", compile, run)
			time.Sleep(time.Second)
		}, adds: map[string]float64{
			"waybill_ledger_degraded": 1, "waybill_degraded": 1, `waybill_ledger_fallbacks_total{reason="rebuild_failed"}`: 1,
			`waybill_ledger_rebuilds_total{reason="changed"}`: 0,
		}},
	}
}

// deedsOutside has what other packages count, and test that they do: here it counts that it is shown.
func deedsOutside() []deed {
	return []deed{
		{name: "a host", do: func(_ *house, o *outside) {
			o.connection = schema.ConnectionStatus{NotificationsFailed: 2, NotificationsDropped: 3}
			o.host = web.Host{
				BytesIn: 10, BytesOut: 20, Refused: map[schema.Code]int64{schema.ParseError: 4}, Responses: 5, LogDropped: 6,
			}
		}, adds: map[string]float64{
			"waybill_notifications_failed_total": 2, "waybill_notifications_dropped_total": 3,
			`waybill_rpc_bytes_total{direction="in"}`: 10, `waybill_rpc_bytes_total{direction="out"}`: 20,
			`waybill_protocol_errors_total{kind="PARSE_ERROR"}`: 4, `waybill_protocol_errors_total{kind="UNASKED_RESPONSE"}`: 5,
			"waybill_log_dropped_total": 6,
		}},
		{name: "a watcher", do: func(_ *house, o *outside) {
			o.watcher = schema.WatcherStatus{Mode: "polling", Overflows: 1, Rescans: 2}
			o.seen = 4
		}, adds: map[string]float64{
			`waybill_watcher_mode{mode="polling"}`: 1, "waybill_watcher_overflows_total": 1, "waybill_watcher_rescans_total": 2,
			"waybill_watcher_events_total": 4,
		}},
		{name: "plans that are watched", do: func(h *house, _ *outside) { h.run() }, adds: map[string]float64{"waybill_watcher_plans": 1}},
		{name: "a disk, and another process", do: func(_ *house, o *outside) { o.size, o.wal, o.waited = 100, 60, 20*time.Millisecond }, adds: map[string]float64{
			"waybill_store_size_bytes": 100, "waybill_store_wal_bytes": 60,
			`waybill_store_busy_wait_seconds_bucket{le="0.01"}`: 0, `waybill_store_busy_wait_seconds_bucket{le="0.05"}`: 1,
			"waybill_store_busy_wait_seconds_sum": 0.02,
		}},
	}
}

func deedsAtTheDoor() []deed {
	return []deed{
		{name: "who is not let in", do: func(h *house, _ *outside) {
			h.ask("GET", "/metrics", "", "Authorization: Bearer guess").refused(401, schema.Unauthorized)
			h.ask("GET", "/metrics", "", "Host: evil.test").refused(403, schema.Forbidden)
		}, adds: map[string]float64{
			`waybill_http_rejected_total{reason="UNAUTHORIZED"}`: 1, `waybill_http_rejected_total{reason="FORBIDDEN"}`: 1,
		}},
		{name: "a connection", do: func(h *house, _ *outside) {
			conn := h.connect()
			h.t.Cleanup(func() { _ = conn.Close() })
			synctest.Wait()
		}, adds: map[string]float64{"waybill_http_connections": 1, "waybill_http_streams": 0}},
		{name: "a stream", do: func(h *house, _ *outside) {
			require.Equal(h.t, http.StatusOK, h.stream(h.t.(*testing.T), "").head.status)
		}, adds: map[string]float64{"waybill_http_connections": 1, "waybill_http_streams": 1}},
	}
}

// begin begins a call, and leaves it to end as it does.
func (h *house) begin(method, params string, args ...any) {
	h.t.Helper()
	entry, ok := h.table.Entry(method)
	require.True(h.t, ok, method)
	entry.Start(context.Background(), fmt.Appendf(nil, params, args...), func(api.Answer) {})
	synctest.Wait()
}

// plan writes a plan, whose writing ended a while ago.
func (h *house) plan(text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, "tasks.md")
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o600))
	h.written = h.written.Add(time.Second)
	require.NoError(h.t, os.Chtimes(path, h.written, h.written))
}

// run begins the run of an item and gives its id.
func (h *house) run() string {
	h.t.Helper()
	h.plan(onePlan)
	return h.call("init_run", `{"plan":"tasks.md","item_id":"1"}`).str("run.run_id")
}

// Each metric moves with what it counts and by as much. All that are there are in the document with the labels that they
// have, each that is in the document is there, and each but one that does not change is moved by something here.
func TestMetricsAreThoseOfTheDocumentAndMove(t *testing.T) {
	found, labels, moved := map[string]bool{}, map[string]map[string]bool{}, map[string]bool{"waybill_build_info": true}
	for _, d := range deeds() {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &outside{watcher: schema.WatcherStatus{Mode: "off"}}
				h := build(t, plot{outside: o, methods: d.methods})
				before := h.metrics()
				d.do(h, o)
				synctest.Wait() // for what a change is followed by
				after := h.metrics()
				for sample, more := range d.adds {
					name := familyOf(sample)
					require.Contains(t, after, name)
					require.InDelta(t, more, after[name].samples[sample]-before[name].samples[sample], 1e-9, sample)
					moved[name] = moved[name] || more != 0
				}
				for name, m := range after {
					found[name] = true
					if labels[name] == nil {
						labels[name] = map[string]bool{}
					}
					maps.Copy(labels[name], m.labels())
					namesNobody(t, m)
				}
			})
		})
	}
	want := documented(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(found)))
	for name, of := range want {
		require.ElementsMatch(t, of, slices.Collect(maps.Keys(labels[name])), name)
		require.True(t, moved[name] || name[:3] == "go_", "nothing moves %s", name)
	}
}

var (
	idLike    = regexp.MustCompile(`^[a-z]{2,5}_[0-9a-f-]{8,}`)
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)
)

// namesNobody refuses labels that name one of many things, such as a task or a path.
func namesNobody(t *testing.T, m *metric) {
	t.Helper()
	for sample := range m.samples {
		for _, label := range labelOf.FindAllStringSubmatch(sample, -1) {
			require.Regexp(t, plainWord, label[2], sample)
			require.NotRegexp(t, idLike, label[2], sample)
			require.NotContains(t, label[2], "tasks.md", sample)
		}
	}
}
