package web

import (
	"context"
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"waybill/api"
	"waybill/meter"
	"waybill/schema"
)

// maxPages limits the pages of the event log that one request counts. The next request continues there.
const maxPages = 20

// metrics counts what this package sees, and writes the metrics of this process and its store.
type metrics struct {
	calls   caller
	counts  func(ctx context.Context) Counts // nil without
	conns   *connLimiter
	streams *streams

	counting sync.Mutex // held while events are counted; guards cursor
	cursor   string     // events are counted up to here; "" before the first count

	mu       sync.Mutex            // guards the fields below
	rejected map[schema.Code]int64 // requests refused before their method was called
	events   map[string]int64      // by type
	first    sends
	repeats  sends
}

// sends counts sends of instructions, without those that did not reach the host. A counter never decreases, so that a
// send that is taken back after it was shown counts once it is sent again.
type sends struct{ reached, shown int64 }

// show returns the count for an answer.
func (c *sends) show() float64 {
	c.shown = max(c.shown, c.reached)
	return float64(c.shown)
}

func (m *metrics) reject(code schema.Code) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rejected == nil {
		m.rejected = map[schema.Code]int64{}
	}
	m.rejected[code]++
}

// text returns all metrics in the text format of Prometheus.
func (m *metrics) text(ctx context.Context) []byte {
	var x exposition
	readable := m.ofStore(ctx, &x)
	m.ofProcess(ctx, &x, readable)
	callMetrics(&x, m.calls.table.Calls())
	m.ofConnections(&x)
	runtimeMetrics(&x)
	return x.Bytes()
}

// ofStore writes the metrics of the store and of waybill's status, and reports whether the store can be read.
func (m *metrics) ofStore(ctx context.Context, x *exposition) bool {
	status, ok := resultOf[*schema.StatusResult](ctx, m.calls, "get_status", "{}")
	readable := 0.0
	if ok {
		readable = 1
	}
	x.one("waybill_store_readable", gauge, "Whether the store can be read.", readable)
	if !ok {
		return false
	}
	statusMetrics(x, status)
	if waiting, ok := resultOf[*schema.AwaitingList](ctx, m.calls, "list_awaiting", `{"limit":1}`); ok {
		oldest := 0.0
		for _, a := range waiting.Items {
			oldest = float64(a.WaitingMS) / 1000
		}
		x.one("waybill_awaiting_reply_age_seconds", gauge, "How long the oldest question has been waiting; 0 if none is.", oldest)
	}
	if told, ok := resultOf[*schema.Telemetry](ctx, m.calls, "get_telemetry", "{}"); ok {
		telemetryMetrics(x, told)
	}
	m.countEvents(ctx)
	m.ofEvents(x)
	return true
}

// resultOf calls a method and returns its result.
func resultOf[R any](ctx context.Context, calls caller, method, params string) (result R, ok bool) {
	found, fault := calls.result(ctx, method, []byte(params))
	if fault == nil {
		result, ok = found.(R)
	}
	return result, ok
}

func statusMetrics(x *exposition, w *schema.StatusResult) {
	x.family("waybill_build_info", gauge, "The version of this process.")
	x.sample("waybill_build_info", 1, "version", w.Version, "go", runtime.Version())
	x.one("waybill_uptime_seconds", gauge, "How long this process has been running.", float64(w.UptimeMS)/1000)
	perLabel(x, "waybill_instructions", gauge, "Instructions in the store.", "state", w.Counts.Instructions)
	perLabel(x, "waybill_tasks", gauge, "Tasks in the store.", "status", w.Counts.Tasks)
	perLabel(x, "waybill_runs", gauge, "Runs in the store.", "state", w.Counts.Runs)
	x.one("waybill_notices", gauge, "Notices that were not consumed.", float64(w.Counts.NoticesOpen))
	x.one("waybill_degraded", gauge, "Number of degradations; get_status lists them.", float64(len(w.Degraded)))
	perLabel(x, "waybill_watcher_mode", gauge, "How plans are watched.", "mode", map[string]int{w.Watcher.Mode: 1})
	x.one("waybill_watcher_plans", gauge, "Plans that are watched.", float64(w.Watcher.Plans))
	x.one("waybill_watcher_overflows_total", counter, "How often the system dropped notifications of files.", float64(w.Watcher.Overflows))
	x.one("waybill_watcher_rescans_total", counter, "How often all plans were read again because of dropped notifications.", float64(w.Watcher.Rescans))
	x.one("waybill_store_size_bytes", gauge, "The size of the store on its disk.", float64(w.Store.SizeBytes))
	if c := w.Connection; c != nil {
		x.one("waybill_notifications_failed_total", counter, "Notifications of the host that failed.", float64(c.NotificationsFailed))
		x.one("waybill_notifications_dropped_total", counter, "Notifications that the host did not read in time.", float64(c.NotificationsDropped))
	}
}

// telemetryMetrics writes the counters that the store keeps with the runs.
func telemetryMetrics(x *exposition, w *schema.Telemetry) {
	x.one("waybill_prompts_total", counter, "Prompts that were compiled.", float64(w.Dispatch.Prompts))
	x.one("waybill_prompt_overflows_total", counter, "Prompts that exceeded their budget.", float64(w.Dispatch.Overflows))
	x.one("waybill_retry_prompts_total", counter, "Retry prompts that were given.", float64(w.Dispatch.RetryPrompts))
	x.one("waybill_prompt_tokens_total", counter, "Estimated tokens of all prompts.", float64(w.Tokens.Sent))
	perLabel(x, "waybill_results_total", counter, "Results that were judged.", "verdict", w.Verdicts)
	perLabel(x, "waybill_ledger_fallbacks_total", counter, "Prompts from stored facts, because the plan could not be read.", "reason", w.Rebuilds.Fallbacks)
}

// countEvents counts the events since the last call. The first call only records the end of the log.
func (m *metrics) countEvents(ctx context.Context) {
	if !m.counting.TryLock() {
		return // another request counts them
	}
	defer m.counting.Unlock()
	for range maxPages {
		if m.cursor == "" {
			m.cursor, _ = m.calls.newest(ctx) // after an error the next call tries again
			return
		}
		page, fault := m.calls.events(ctx, m.cursor)
		if fault != nil {
			if fault.Data.Code == schema.CursorGone {
				m.cursor = "" // pruned events stay uncounted
			}
			return
		}
		m.cursor = page.Cursor
		m.add(page.Events)
		if !page.More {
			return
		}
	}
}

func (m *metrics) add(events []schema.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.events == nil {
		m.events = map[string]int64{}
	}
	for _, ev := range events {
		m.events[ev.Type]++
		switch ev.Type {
		case "instruction.sent":
			m.sends(ev, 0).reached++
		case "instruction.undelivered":
			m.sends(ev, 1).reached--
		}
	}
}

// sends returns the counter of the send that an event is about. since is how many sends the event took back.
func (m *metrics) sends(ev schema.Event, since int) *sends {
	var data struct{ Sends int }
	if json.Unmarshal(ev.Data, &data) == nil && data.Sends+since > 1 {
		return &m.repeats
	}
	return &m.first
}

// ofEvents writes the counts of the event log, which has the events of all processes of the workspace.
func (m *metrics) ofEvents(x *exposition) {
	m.mu.Lock()
	events, first, repeats := maps.Clone(m.events), m.first.show(), m.repeats.show()
	m.mu.Unlock()
	const since = " since the first request for metrics."
	perLabel(x, "waybill_events_total", counter, "Records of the event log"+since, "type", events)
	x.one("waybill_instruction_attempts_total", counter, "Sends of instructions"+since, first+repeats)
	x.one("waybill_instruction_first_sends_total", counter, "First sends of instructions"+since, first)
	x.one("waybill_instruction_repeats_total", counter, "Sends of instructions that were sent before"+since, repeats)
	x.one("waybill_instructions_acknowledged_total", counter, "Instructions that were acknowledged in time"+since, float64(events["instruction.acknowledged"]))
	x.one("waybill_instructions_failed_total", counter, "Instructions that failed"+since, float64(events["instruction.failed"]))
	x.one("waybill_stale_events_total", counter, "Reports about attempts that were no longer current"+since, float64(events["attempt.stale"]))
}

// callMetrics writes the counts of the table: calls of the host, over HTTP, and of waybill itself.
func callMetrics(x *exposition, all []api.Calls) {
	x.family("waybill_rpc_requests_total", counter, "Calls that were answered, by the code of the error, or ok.")
	errors, conflicts, inFlight := map[schema.Code]int64{}, int64(0), int64(0)
	for _, c := range all {
		inFlight += c.InFlight
		for code, n := range c.Codes {
			if strings.HasPrefix(string(code), "STORE_") {
				errors[code] += n
			}
		}
		if c.Method == "reply" {
			conflicts = c.Codes[schema.AlreadyResolved] + c.Codes[schema.InvalidState]
		}
		x.callsByCode(c)
	}
	x.family("waybill_rpc_duration_seconds", histogram, "How long calls took, including waiting.")
	for _, c := range all {
		histogramSamples(x, "waybill_rpc_duration_seconds", durations(c), time.Second, "method", c.Method)
	}
	x.family("waybill_compile_seconds", histogram, "How long it took to compile prompts.")
	histogramSamples(x, "waybill_compile_seconds", durations(callsOf(all, "compile_prompt")), time.Second)
	x.one("waybill_rpc_inflight", gauge, "Calls that are not answered yet.", float64(inFlight))
	perLabel(x, "waybill_store_errors_total", counter, "Calls that failed because of the store.", "kind", errors)
	x.one("waybill_reply_conflicts_total", counter, "Replies to tasks that no longer waited for one.", float64(conflicts))
}

// callsOf returns the counts of one method.
func callsOf(all []api.Calls, method string) api.Calls {
	for _, c := range all {
		if c.Method == method {
			return c
		}
	}
	return api.Calls{}
}

// durations returns the durations of the calls of a method.
func durations(c api.Calls) meter.Spread[time.Duration] {
	return meter.Spread[time.Duration]{Bounds: api.CallBounds[:], Within: c.Within[:], Count: c.Count, Sum: c.Total}
}

// callsByCode writes the calls of a method by their result code.
func (x *exposition) callsByCode(c api.Calls) {
	named := map[string]int64{}
	for code, n := range c.Codes {
		if code == "" {
			code = "ok"
		}
		named[string(code)] = n
	}
	for _, code := range slices.Sorted(maps.Keys(named)) {
		x.sample("waybill_rpc_requests_total", float64(named[code]), "method", c.Method, "code", code)
	}
}

// ofConnections writes the counts of requests, connections and streams.
func (m *metrics) ofConnections(x *exposition) {
	m.mu.Lock()
	rejected := maps.Clone(m.rejected)
	m.mu.Unlock()
	perLabel(x, "waybill_http_rejected_total", counter, "Requests that were refused before their method was called.", "reason", rejected)
	x.one("waybill_http_connections", gauge, "Open connections.", float64(m.conns.size()))
	x.one("waybill_http_streams", gauge, "Open streams of events.", float64(m.streams.count()))
}

// runtimeMetrics writes metrics of the Go runtime.
func runtimeMetrics(x *exposition) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	x.one("go_goroutines", gauge, "Number of goroutines.", float64(runtime.NumGoroutine()))
	x.one("go_memstats_heap_alloc_bytes", gauge, "Bytes of heap in use.", float64(m.HeapAlloc))
	x.one("go_memstats_sys_bytes", gauge, "Bytes obtained from the system.", float64(m.Sys))
	x.one("go_memstats_mallocs_total", counter, "Objects that were allocated.", float64(m.Mallocs))
	x.one("go_gc_cycles_total", counter, "Garbage collections.", float64(m.NumGC))
}
