package web

import (
	"context"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"waybill/api"
	"waybill/meter"
	"waybill/schema"
)

const (
	// maxPages bounds how many pages of the event log are counted at a time; the next time goes on from there.
	maxPages = 20
	// measureTime is when a look at the store for metrics is given up.
	measureTime = 5 * time.Second
)

// counted is what the front door counts by itself.
type counted struct {
	reading sync.Mutex // held by the one who counts events; guards cursor
	cursor  string     // up to which events are counted, "" before the first time

	mu       sync.Mutex            // guards what follows
	rejected map[schema.Code]int64 // requests that were not let in
	events   map[string]int64      // by type
}

func (c *counted) reject(code schema.Code) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rejected == nil {
		c.rejected = map[schema.Code]int64{}
	}
	c.rejected[code]++
}

// metrics answers with what can be known now. Of a store that cannot be read, only that is said.
func (s *server) metrics(v *visit) {
	ctx, cancel := context.WithTimeout(v.r.Context(), measureTime)
	defer cancel()
	v.patient()
	var x exposition
	readable := s.ofStore(ctx, &x)
	s.ofCounts(ctx, &x, readable)
	ofCalls(&x, s.o.Table.Calls())
	s.ofDoor(&x)
	ofRuntime(&x)
	v.w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(writeTime))
	_, _ = v.w.Write(x.Bytes()) // a client that is gone wants no answer
}

// ofStore writes what the store has, and what waybill says about itself, and reports whether the store can be read.
func (s *server) ofStore(ctx context.Context, x *exposition) bool {
	status, ok := asked[*schema.StatusResult](ctx, s, "get_status", "{}")
	readable := 0.0
	if ok {
		readable = 1
	}
	x.one("waybill_store_readable", gauge, "Whether the store could be read just now.", readable)
	if !ok {
		return false
	}
	ofStatus(x, status)
	if waiting, ok := asked[*schema.AwaitingList](ctx, s, "list_awaiting", `{"limit":1}`); ok {
		oldest := 0.0
		for _, a := range waiting.Items {
			oldest = float64(a.WaitingMS) / 1000
		}
		x.one("waybill_awaiting_reply_age_seconds", gauge, "For how long the oldest question has been waiting; 0 if none is.", oldest)
	}
	if told, ok := asked[*schema.Telemetry](ctx, s, "get_telemetry", "{}"); ok {
		ofTelemetry(x, told)
	}
	s.countEvents(ctx)
	s.ofEvents(x)
	return true
}

// asked gives the result of a method.
func asked[R any](ctx context.Context, s *server, method, params string) (result R, ok bool) {
	found, fault := s.ask(ctx, method, []byte(params))
	if fault == nil {
		result, ok = found.(R)
	}
	return result, ok
}

func ofStatus(x *exposition, w *schema.StatusResult) {
	x.family("waybill_build_info", gauge, "The version of this process.")
	x.sample("waybill_build_info", 1, "version", w.Version, "go", runtime.Version())
	x.one("waybill_uptime_seconds", gauge, "For how long this process has been running.", float64(w.UptimeMS)/1000)
	by(x, "waybill_instructions", gauge, "Instructions in the store.", "state", w.Counts.Instructions)
	by(x, "waybill_tasks", gauge, "Tasks in the store.", "status", w.Counts.Tasks)
	by(x, "waybill_runs", gauge, "Runs in the store.", "state", w.Counts.Runs)
	x.one("waybill_notices", gauge, "Notices that nobody has consumed.", float64(w.Counts.NoticesOpen))
	x.one("waybill_degraded", gauge, "How many things are not as they should be; get_status says which.", float64(len(w.Degraded)))
	by(x, "waybill_watcher_mode", gauge, "How plans are watched.", "mode", map[string]int{w.Watcher.Mode: 1})
	x.one("waybill_watcher_plans", gauge, "Plans that are watched.", float64(w.Watcher.Plans))
	x.one("waybill_watcher_overflows_total", counter, "How often the system dropped notifications of files.", float64(w.Watcher.Overflows))
	x.one("waybill_watcher_rescans_total", counter, "How often all plans were looked at again because of that.", float64(w.Watcher.Rescans))
	x.one("waybill_store_size_bytes", gauge, "The size of the store on its disk.", float64(w.Store.SizeBytes))
	if c := w.Connection; c != nil {
		x.one("waybill_notifications_failed_total", counter, "Notifications of the host that failed.", float64(c.NotificationsFailed))
		x.one("waybill_notifications_dropped_total", counter, "Notifications that the host did not read in time.", float64(c.NotificationsDropped))
	}
}

// ofTelemetry writes the counters that are kept with the runs, so that they outlast this process.
func ofTelemetry(x *exposition, w *schema.Telemetry) {
	x.one("waybill_prompts_total", counter, "Prompts that were compiled.", float64(w.Dispatch.Prompts))
	x.one("waybill_prompt_overflows_total", counter, "Prompts that were over their budget.", float64(w.Dispatch.Overflows))
	x.one("waybill_retry_prompts_total", counter, "Retry prompts that were given.", float64(w.Dispatch.RetryPrompts))
	x.one("waybill_prompt_tokens_total", counter, "Tokens of all prompts, as they were estimated.", float64(w.Tokens.Sent))
	by(x, "waybill_results_total", counter, "Results that were judged.", "verdict", w.Verdicts)
	by(x, "waybill_ledger_fallbacks_total", counter, "Prompts from stored facts, because the plan could not be read.", "reason", w.Rebuilds.Fallbacks)
}

// countEvents counts the events since the last time. The first time it only notes where the log ends.
func (s *server) countEvents(ctx context.Context) {
	c := &s.counted
	if !c.reading.TryLock() {
		return // somebody counts them just now
	}
	defer c.reading.Unlock()
	for range maxPages {
		if c.cursor == "" {
			c.cursor, _ = s.newest(ctx) // if it is not told, the next time does it
			return
		}
		page, fault := s.events(ctx, c.cursor)
		if fault != nil {
			if fault.Data.Code == schema.CursorGone {
				c.cursor = "" // what was pruned before it was counted is not counted
			}
			return
		}
		c.cursor = page.Cursor
		c.add(page.Events)
		if !page.More {
			return
		}
	}
}

func (c *counted) add(events []schema.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.events == nil {
		c.events = map[string]int64{}
	}
	for _, ev := range events {
		c.events[ev.Type]++
	}
}

// ofEvents writes what was counted of the event log, of all processes of the workspace.
func (s *server) ofEvents(x *exposition) {
	s.counted.mu.Lock()
	events := maps.Clone(s.counted.events)
	s.counted.mu.Unlock()
	const since = " since metrics were asked for first."
	by(x, "waybill_events_total", counter, "Records of the event log"+since, "type", events)
	x.one("waybill_instruction_attempts_total", counter, "Sends of instructions"+since, float64(events["instruction.sent"]))
	x.one("waybill_instructions_failed_total", counter, "Instructions that failed"+since, float64(events["instruction.failed"]))
	x.one("waybill_stale_events_total", counter, "Reports about attempts that had gone on"+since, float64(events["attempt.stale"]))
}

// ofCalls writes what the table has counted: calls of the host, over HTTP, and of waybill itself.
func ofCalls(x *exposition, all []api.Calls) {
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
		x.endings(c)
	}
	x.family("waybill_rpc_duration_seconds", histogram, "How long calls took, with their waiting.")
	for _, c := range all {
		spread(x, "waybill_rpc_duration_seconds", durations(c), time.Second, "method", c.Method)
	}
	x.family("waybill_compile_seconds", histogram, "How long it took to compile prompts.")
	spread(x, "waybill_compile_seconds", durations(of(all, "compile_prompt")), time.Second)
	x.one("waybill_rpc_inflight", gauge, "Calls that are not answered yet.", float64(inFlight))
	by(x, "waybill_store_errors_total", counter, "Calls that failed because of the store.", "kind", errors)
	x.one("waybill_reply_conflicts_total", counter, "Replies to tasks that did not wait for one any more.", float64(conflicts))
}

// of gives the calls of one method.
func of(all []api.Calls, method string) api.Calls {
	for _, c := range all {
		if c.Method == method {
			return c
		}
	}
	return api.Calls{}
}

// durations gives how long the calls of a method took.
func durations(c api.Calls) meter.Spread[time.Duration] {
	return meter.Spread[time.Duration]{Bounds: api.CallBounds[:], Within: c.Within[:], Count: c.Count, Sum: c.Total}
}

// endings writes how the calls of a method ended.
func (x *exposition) endings(c api.Calls) {
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

// ofDoor writes what goes on at the front door.
func (s *server) ofDoor(x *exposition) {
	s.counted.mu.Lock()
	rejected := maps.Clone(s.counted.rejected)
	s.counted.mu.Unlock()
	by(x, "waybill_http_rejected_total", counter, "Requests that were not let in.", "reason", rejected)
	x.one("waybill_http_connections", gauge, "Connections that are held.", float64(s.crowd.size()))
	s.streams.mu.Lock()
	open := s.streams.open
	s.streams.mu.Unlock()
	x.one("waybill_http_streams", gauge, "Streams of events that are open.", float64(open))
}

// ofRuntime writes what the runtime knows of this process.
func ofRuntime(x *exposition) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	x.one("go_goroutines", gauge, "Goroutines that there are.", float64(runtime.NumGoroutine()))
	x.one("go_memstats_heap_alloc_bytes", gauge, "Bytes of the heap that are in use.", float64(m.HeapAlloc))
	x.one("go_memstats_sys_bytes", gauge, "Bytes that were got from the system.", float64(m.Sys))
	x.one("go_memstats_mallocs_total", counter, "Objects that were allocated.", float64(m.Mallocs))
	x.one("go_gc_cycles_total", counter, "Collections of garbage.", float64(m.NumGC))
}
