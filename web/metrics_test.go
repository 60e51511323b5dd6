package web_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
	"waybill/test/golden"
	"waybill/web"
)

// metrics returns the exposition.
func (h *harness) metrics() string {
	h.t.Helper()
	a := h.ask("GET", "/metrics", "")
	require.Equal(h.t, 200, a.status, "%s", a.body)
	a.requireSecurityHeaders()
	require.Equal(h.t, "text/plain; version=0.0.4; charset=utf-8", a.header.Get("Content-Type"))
	return string(a.body)
}

// values returns the values of the samples of an exposition.
func values(t testing.TB, text string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		sample, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		number, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, line)
		require.NotContains(t, all, sample)
		all[sample] = number
	}
	return all
}

// An action is a step of the test. The golden file has the samples that it changes.
type action struct {
	name    string
	methods methods
	do      func(h *harness, o *environment)
}

const onePlan = "# Plan\n\n- [ ] 1. First\n- [ ] 2. Second\n"

func actions() []action {
	return slices.Concat(callActions(), taskActions(), instructionActions(), runActions(), environmentActions(), httpActions())
}

func callActions() []action {
	broken := false
	breaks := func(start startFunc) startFunc {
		return func(ctx ctx, params []byte, done func(api.Answer)) {
			if broken {
				done(api.Answer{Err: schema.NewError(schema.StoreIO, "no disk")})
				return
			}
			start(ctx, params, done)
		}
	}
	return []action{
		{name: "a call", do: func(h *harness, _ *environment) { h.call("ping", `{}`) }},
		{name: "a call that is not answered yet", do: func(h *harness, _ *environment) {
			h.begin("dispatch_instructions", `{"wait_ms":500}`)
		}},
		{name: "a call that the store fails", methods: methods{"get_status": breaks}, do: func(h *harness, _ *environment) {
			broken = true
			h.begin("get_status", `{}`)
		}},
		{name: "time", do: func(*harness, *environment) { time.Sleep(3 * time.Second) }},
	}
}

func taskActions() []action {
	return []action{
		{name: "a task that asks", do: func(h *harness, _ *environment) {
			h.taskThatAsks()
			time.Sleep(4 * time.Second)
		}},
		{name: "two replies", do: func(h *harness, _ *environment) {
			reply := "/api/tasks/" + h.taskThatAsks() + "/reply"
			h.ask("POST", reply, `{"reply":"oak"}`).requireOK()
			h.ask("POST", reply, `{"reply":"elm"}`).requireError(409, schema.AlreadyResolved)
		}},
		{name: "a report about what is somebody else's", do: func(h *harness, _ *environment) {
			id := h.call("create_task", `{"prompt":"build a boat"}`).str("task.task_id")
			h.call("claim_task", `{"worker":"w"}`)
			h.call("finish_attempt", `{"task_id":%q,"lease_token":"lease_guess","status":"completed"}`, id)
		}},
	}
}

func instructionActions() []action {
	return []action{
		{name: "an instruction", do: func(h *harness, _ *environment) { h.call("queue_instruction", `{"content":"look"}`) }},
		{name: "an instruction that is acknowledged", do: func(h *harness, _ *environment) {
			id := h.call("queue_instruction_with_ack", `{"content":"look"}`).str("instruction.instruction_id")
			h.call("dispatch_instructions", `{}`)
			time.Sleep(10 * time.Second)
			h.call("acknowledge", `{"instruction_id":%q}`, id)
		}},
		{name: "an instruction that is repeated, and one that is delivered", do: func(h *harness, _ *environment) {
			id := h.call("queue_instruction_with_ack", `{"content":"look"}`).str("instruction.instruction_id")
			h.call("queue_instruction", `{"content":"look"}`)
			for range 3 {
				h.call("dispatch_instructions", `{}`)
			}
			h.call("acknowledge", `{"instruction_id":%q}`, id)
		}},
		{name: "an instruction that does not reach the host at first", do: func(h *harness, _ *environment) {
			h.call("queue_instruction_with_ack", `{"content":"look"}`)
			for range 2 {
				h.lose("dispatch_instructions", `{}`)
				h.metrics()
				h.call("dispatch_instructions", `{}`)
			}
		}},
		{name: "an instruction that is not", do: func(h *harness, _ *environment) {
			h.call("queue_instruction_with_ack", `{"content":"look","max_retries":0}`)
			for range 2 {
				h.call("dispatch_instructions", `{}`)
			}
		}},
	}
}

func runActions() []action {
	const compile = `{"run_id":%q,"role":"worker"}`
	return []action{
		{name: "a prompt", do: func(h *harness, _ *environment) {
			h.call("compile_prompt", compile, h.run())
		}},
		{name: "a preview", do: func(h *harness, _ *environment) {
			h.ask("POST", "/api/runs/"+h.run()+"/prompt", `{"role":"worker"}`).requireOK()
		}},
		{name: "a prompt with too little room", do: func(h *harness, _ *environment) {
			h.begin("compile_prompt", compile[:len(compile)-1]+`,"max_input_tokens":1210}`, h.run())
		}},
		{name: "results", do: func(h *harness, _ *environment) {
			h.call("ingest_output", `{"run_id":%q,"role":"worker","output":"I had a look around."}`, h.run())
		}},
		{name: "an edited plan", do: func(h *harness, _ *environment) {
			run := h.run()
			h.plan(onePlan + "- [ ] 3. Third\n")
			h.call("get_snapshot", `{"run_id":%q}`, run)
		}},
		{name: "a plan that cannot be read", do: func(h *harness, _ *environment) {
			run := h.run()
			require.NoError(h.t, os.Remove(filepath.Join(h.dir, "tasks.md")))
			h.call("compile_prompt", compile, run)
			time.Sleep(time.Second)
		}},
	}
}

// environmentActions has what other packages count, and test that they do: here it counts that it is shown.
func environmentActions() []action {
	return []action{
		{name: "a host", do: func(_ *harness, o *environment) {
			o.connection = schema.ConnectionStatus{NotificationsFailed: 2, NotificationsDropped: 3}
			o.host = web.Host{
				BytesIn: 10, BytesOut: 20, Refused: map[schema.Code]int64{schema.ParseError: 4}, Responses: 5, LogDropped: 6,
			}
		}},
		{name: "a watcher", do: func(_ *harness, o *environment) {
			o.watcher = schema.WatcherStatus{Mode: "polling", Overflows: 1, Rescans: 2}
			o.seen = 4
		}},
		{name: "plans that are watched", do: func(h *harness, _ *environment) { h.run() }},
		{name: "a disk, and another process", do: func(_ *harness, o *environment) { o.size, o.wal, o.waited = 100, 60, 20*time.Millisecond }},
	}
}

func httpActions() []action {
	return []action{
		{name: "who is not let in", do: func(h *harness, _ *environment) {
			h.ask("GET", "/metrics", "", "Authorization: Bearer guess").requireError(401, schema.Unauthorized)
			h.ask("GET", "/metrics", "", "Host: evil.test").requireError(403, schema.Forbidden)
		}},
		{name: "a connection", do: func(h *harness, _ *environment) {
			conn := h.connect()
			h.t.Cleanup(func() { _ = conn.Close() })
			synctest.Wait()
		}},
		{name: "a stream", do: func(h *harness, _ *environment) {
			require.Equal(h.t, http.StatusOK, h.stream(h.t.(*testing.T), "").head.status)
		}},
	}
}

// begin starts a call and does not wait for its end.
func (h *harness) begin(method, params string, args ...any) {
	h.t.Helper()
	entry, ok := h.table.Entry(method)
	require.True(h.t, ok, method)
	entry.Start(context.Background(), fmt.Appendf(nil, params, args...), func(api.Answer) {})
	synctest.Wait()
}

// lose makes a call whose answer does not reach the host.
func (h *harness) lose(method, params string) {
	h.t.Helper()
	entry, ok := h.table.Entry(method)
	require.True(h.t, ok, method)
	entry.Start(context.Background(), []byte(params), func(a api.Answer) { a.Undelivered() })
	synctest.Wait()
}

// plan writes a plan, whose writing ended a while ago.
func (h *harness) plan(text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, "tasks.md")
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o600))
	h.planWritten = h.planWritten.Add(time.Second)
	require.NoError(h.t, os.Chtimes(path, h.planWritten, h.planWritten))
}

// run begins the run of an item and returns its id.
func (h *harness) run() string {
	h.t.Helper()
	h.plan(onePlan)
	return h.call("init_run", `{"plan":"tasks.md","item_id":"1"}`).str("run.run_id")
}

var (
	// asked matches the samples that the request for metrics changes itself, and the buckets that the other golden file shows.
	asked = regexp.MustCompile(`method="(get_status|list_awaiting|get_telemetry|events_since)",(code="ok"|le=)|(rpc_duration|store_commit)_seconds_bucket|_(sum|count)\{method="(get|list|events)_`)
	// unsteady matches the samples that depend on the machine, or on ids.
	unsteady = regexp.MustCompile(`^go_|_compile_bytes_sum|_prompt_tokens_total`)
	label    = regexp.MustCompile(`([a-z]+)="([^"]*)"`)
	idLike   = regexp.MustCompile(`^[a-z]{2,5}_[0-9a-f-]{8,}|[^A-Za-z0-9_.+-]|tasks\.md|^$`)
	family   = regexp.MustCompile(`^(.*?)(_bucket|_sum|_count)?(\{|$)`)
)

// changes returns the samples that differ, and by how much.
func changes(before, after map[string]float64) string {
	var b strings.Builder
	for _, sample := range slices.Sorted(maps.Keys(after)) {
		switch more := after[sample] - before[sample]; {
		case more == 0 || asked.MatchString(sample) || strings.HasPrefix(sample, "go_"):
		case unsteady.MatchString(sample):
			fmt.Fprintf(&b, "%s more\n", sample)
		default:
			fmt.Fprintf(&b, "%s %+.4g\n", sample, more)
		}
	}
	return b.String()
}

// Each metric moves with what it counts, and by as much. The document lists exactly the metrics that exist, with their
// labels. No label has the value of one of many things, such as a task or a path.
func TestMetricsMatchTheDocumentAndCount(t *testing.T) {
	var moved strings.Builder
	found := map[string][]string{}
	for _, d := range actions() {
		synctest.Test(t, func(t *testing.T) {
			o := &environment{watcher: schema.WatcherStatus{Mode: "off"}}
			h := newHarness(t, setup{environment: o, methods: d.methods})
			before := values(t, h.metrics())
			d.do(h, o)
			synctest.Wait() // for what a change is followed by
			text := h.metrics()
			fmt.Fprintf(&moved, "== %s\n%s", d.name, changes(before, values(t, text)))
			for _, header := range regexp.MustCompile(`(?m)^# HELP (\S+) `).FindAllStringSubmatch(text, -1) {
				found[header[1]] = append(found[header[1]], "")
			}
			for sample := range values(t, text) {
				name := family.FindStringSubmatch(sample)[1]
				for _, l := range label.FindAllStringSubmatch(sample, -1) {
					require.NotRegexp(t, idLike, l[2], sample)
					if l[1] != "le" {
						found[name] = append(found[name], l[1])
					}
				}
			}
		})
	}
	golden.Equal(t, "metrics.txt", moved.String())
	for name, labels := range found {
		slices.Sort(labels)
		found[name] = slices.DeleteFunc(slices.Compact(labels), func(l string) bool { return l == "" })
	}
	want := documented(t)
	require.Equal(t, want, found)
	for name := range want {
		still := name == "waybill_build_info" || strings.HasPrefix(name, "go_")
		require.True(t, still || strings.Contains(moved.String(), "\n"+name), "nothing moves %s", name)
	}
}

// documented returns the metrics that docs/http.md lists, with the labels of each.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	doc, err := os.ReadFile("../docs/http.md")
	require.NoError(t, err)
	_, part, ok := strings.Cut(string(doc), "\n## Metrics\n")
	require.True(t, ok)
	part, _, _ = strings.Cut(part, "\n## ")
	names := map[string][]string{}
	for _, found := range regexp.MustCompile("`((?:waybill|go)_[a-z_]+)(?:\\{([a-z,]+)\\})?`").FindAllStringSubmatch(part, -1) {
		names[found[1]] = []string{}
		if found[2] != "" {
			names[found[1]] = slices.Sorted(strings.SplitSeq(found[2], ","))
		}
	}
	return names
}

// The exposition has the text format of Prometheus. In a histogram each bucket includes those before it.
func TestExpositionMatchesGolden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(start startFunc) startFunc {
			return func(ctx ctx, params []byte, done func(api.Answer)) {
				time.Sleep(200 * time.Millisecond)
				start(ctx, params, done)
			}
		}
		h := newHarness(t, setup{methods: methods{"ping": slow}, environment: new(environment)})
		h.call("ping", `{}`)
		h.call("queue_instruction", `{"content":"look"}`)
		text := strings.ReplaceAll(h.metrics(), runtime.Version(), "VERSION")
		golden.Equal(t, "exposition.txt", regexp.MustCompile(`(?m)^(go_\S+) .*$`).ReplaceAllString(text, "$1 N"))
	})
}

// If the store cannot be read, only the metrics of the store are missing.
func TestMetricsWithoutAReadableStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := replaceMethod(func(_ ctx, _ []byte, done func(api.Answer)) {
			done(api.Answer{Err: schema.NewError(schema.StoreIO, "no disk")})
		})
		h := newHarness(t, setup{methods: methods{"get_status": broken}, environment: new(environment)})
		m := h.metrics()
		for _, line := range []string{
			"\nwaybill_store_errors_total{kind=\"STORE_IO_ERROR\"} 1\n", "\ngo_goroutines ", "\nwaybill_rpc_bytes_total{", "\nwaybill_store_commit_seconds_count ",
		} {
			require.Contains(t, m, line)
		}
		require.Contains(t, m, "waybill_store_readable 0\n")
		require.NotContains(t, m, "waybill_tasks")
		require.NotContains(t, m, "waybill_store_wal_bytes")
	})
}

// The page is served without a host too.
func TestMetricsWithoutAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newHarness(t, setup{}).metrics()
		for _, name := range []string{
			"waybill_rpc_bytes_total", "waybill_protocol_errors_total", "waybill_log_dropped_total",
			"waybill_notifications_failed_total", "waybill_notifications_dropped_total",
		} {
			require.NotContains(t, m, name)
		}
		require.Contains(t, m, "waybill_watcher_events_total")
	})
}

// The log is counted page by page, and no event twice.
func TestMetricsOfManyEvents(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		h.metrics()
		const many = 1200
		for range many {
			h.call("queue_instruction", `{"content":"look"}`)
		}
		for range 2 {
			require.EqualValues(t, many, values(t, h.metrics())[`waybill_events_total{type="instruction.queued"}`])
		}
	})
}
