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

const onePlan = "# Plan\n\n- [ ] 1. First\n- [ ] 2. Second\n"

// happenings are the steps that are no call: what other packages count, and test that they do, and connections.
var happenings = map[string]func(h *harness, o *environment){
	"broken": func(_ *harness, o *environment) { o.broken = true },
	"host": func(_ *harness, o *environment) {
		o.connection = schema.ConnectionStatus{NotificationsFailed: 2, NotificationsDropped: 3}
		o.host = web.Host{
			BytesIn: 10, BytesOut: 20, Refused: map[schema.Code]int64{schema.ParseError: 4}, Responses: 5, LogDropped: 6,
		}
	},
	"watcher": func(_ *harness, o *environment) {
		o.watcher, o.seen = schema.WatcherStatus{Mode: "polling", Overflows: 1, Rescans: 2}, 4
	},
	"disk": func(_ *harness, o *environment) { o.size, o.wal, o.waited = 100, 60, 20*time.Millisecond },
	"connection": func(h *harness, _ *environment) {
		conn := h.connect()
		h.t.Cleanup(func() { _ = conn.Close() })
		synctest.Wait()
	},
	"stream": func(h *harness, _ *environment) {
		require.Equal(h.t, http.StatusOK, h.stream(h.t.(*testing.T), "").head.status)
	},
	"metrics": func(h *harness, _ *environment) { h.metrics() },
}

// step does what a line of testdata/metrics.txt says. It returns the id of what was made last, which $id stands for.
func (h *harness) step(line string, o *environment, id string) string {
	h.t.Helper()
	verb, rest, _ := strings.Cut(strings.ReplaceAll(line, "$id", id), " ")
	method, params, _ := strings.Cut(rest, " ")
	switch verb {
	case "call":
		made, _ := h.call(method, "%s", params).v.(map[string]any)
		for _, kind := range []string{"task", "instruction", "run"} {
			if one, ok := made[kind].(map[string]any); ok && one[kind+"_id"] != nil {
				id = fmt.Sprint(one[kind+"_id"])
			}
		}
	case "begin":
		h.begin(method, func(api.Answer) {}, params)
	case "lose": // a call whose answer does not reach the host
		h.begin(method, func(a api.Answer) { a.Undelivered() }, params)
	case "ask":
		headers := strings.Split(params, " | ")
		path, body, _ := strings.Cut(headers[0], " ")
		h.ask(method, path, body, headers[1:]...)
	case "asks":
		return h.taskThatAsks()
	case "run":
		return h.run()
	case "plan":
		h.plan(onePlan + rest + "\n")
	case "remove":
		require.NoError(h.t, os.Remove(filepath.Join(h.dir, rest)))
	case "sleep":
		d, err := time.ParseDuration(rest)
		require.NoError(h.t, err)
		time.Sleep(d)
	default:
		happenings[verb](h, o)
	}
	return id
}

// begin starts a call and does not wait for its end.
func (h *harness) begin(method string, done func(api.Answer), params string) {
	h.t.Helper()
	entry, ok := h.table.Entry(method)
	require.True(h.t, ok, method)
	entry.Start(context.Background(), []byte(params), done)
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

// Each part of testdata/metrics.txt has steps, behind a ">", and the samples that they change, which -update writes.
// Each metric moves with what it counts, and by as much. The document lists exactly the metrics that exist, with their
// labels. No label has the value of one of many things, such as a task or a path.
func TestMetricsMatchTheDocumentAndCount(t *testing.T) {
	var moved strings.Builder
	found := map[string][]string{}
	script, err := os.ReadFile("testdata/metrics.txt")
	require.NoError(t, err)
	for _, part := range strings.Split(string(script), "== ")[1:] {
		synctest.Test(t, func(t *testing.T) {
			o := &environment{watcher: schema.WatcherStatus{Mode: "off"}}
			h := newHarness(t, setup{environment: o, methods: methods{"get_status": o.breaks}})
			before, id := values(t, h.metrics()), ""
			name, lines, _ := strings.Cut(part, "\n")
			moved.WriteString("== " + name + "\n")
			for line := range strings.Lines(lines) {
				if step, ok := strings.CutPrefix(line, "> "); ok {
					moved.WriteString(line)
					id = h.step(strings.TrimSpace(step), o, id)
				}
			}
			synctest.Wait() // for what a change is followed by
			text := h.metrics()
			moved.WriteString(changes(before, values(t, text)))
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
