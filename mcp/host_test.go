package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/mcp"
	planfile "waybill/plan/file"
	"waybill/schema/codec"
	"waybill/store"
	"waybill/test/teststore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The two eras of the protocol.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// A harness is a service on a store with an MCP server.
type harness struct {
	*api.Service
	t      testing.TB
	dir    string // the workspace
	table  *api.Table
	notify func(ctx context.Context, send func(method string, params any)) error
	hooks  bool
	log    *logBuffer
	beats  atomic.Int64 // calls of heartbeat
}

// A setup configures a harness. The zero value works.
type setup struct {
	dir     string                                                                // the workspace; by default a new folder
	methods map[string]func(start startFunc) startFunc                            // instead of those of the table
	notify  func(ctx context.Context, send func(method string, params any)) error // instead of the service's
	opens   time.Duration                                                         // how long the store takes to open
	hooks   bool                                                                  // the host has hooks
	asleep  bool                                                                  // the server sends no notifications
}

type startFunc = func(ctx context.Context, params []byte, done func(api.Answer))

// instead replaces a method by another.
func instead(start startFunc) func(startFunc) startFunc {
	return func(startFunc) startFunc { return start }
}

// newHarness starts a harness.
func newHarness(t testing.TB, p setup) *harness {
	t.Helper()
	if p.dir == "" {
		p.dir = t.TempDir()
	}
	h := &harness{t: t, dir: p.dir, log: new(logBuffer)}
	h.serve(p.opens)
	h.open(p)
	return h
}

// serve makes the service, on a store that takes so long to open.
func (h *harness) serve(opens time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	records := teststore.New(h.t)
	var running sync.WaitGroup
	service, err := api.New(api.Options{
		Version: "test", Sources: workspace.Sources{Flag: h.dir},
		Start: func(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
			root, err := planfile.Open(ws.Root, planfile.Options{})
			if err != nil {
				return nil, nil, err
			}
			plans := engine.NewPlans(root, engine.PlanOptions{})
			e, err := engine.New(engine.Options{Plans: plans, Open: func(context.Context) (store.Store, error) {
				time.Sleep(opens)
				return records, nil
			}})
			if err != nil {
				return nil, nil, err
			}
			running.Go(func() { // ends with ctx
				_ = e.Run(ctx)
				_ = root.Close()
			})
			return e, plans, nil
		},
	})
	require.NoError(h.t, err)
	h.Service = service
	h.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

// open prepares what every server of the harness has.
func (h *harness) open(p setup) {
	h.table, h.notify, h.hooks = h.replaced(p.methods), p.notify, p.hooks
	if p.notify == nil && !p.asleep {
		h.notify = h.Notify
	}
}

func (h *harness) logger() *slog.Logger { return slog.New(slog.NewTextHandler(h.log, nil)) }

// replaced returns the table with other functions for some methods.
func (h *harness) replaced(methods map[string]func(start startFunc) startFunc) *api.Table {
	var entries []api.Entry
	for _, name := range h.Table().Names() {
		entry, _ := h.Table().Entry(name)
		e := *entry
		if change := methods[name]; change != nil {
			e.Start = change(e.Start)
		}
		if start := e.Start; name == "heartbeat" {
			e.Start = func(ctx context.Context, params []byte, done func(api.Answer)) {
				h.beats.Add(1)
				start(ctx, params, done)
			}
		}
		entries = append(entries, e)
	}
	return api.NewTable(entries)
}

// A sdkClient is a client of the SDK that is connected to the server.
type sdkClient struct {
	*sdk.ClientSession
	h    *harness
	wire *logBuffer // a line for each message
	stop func()     // ends the connection and the server
}

// connect connects a client of the SDK that speaks the newest version of an era to a server of its own.
func (h *harness) connect(era string, o *sdk.ClientOptions) *sdkClient {
	h.t.Helper()
	p := servePipe(h.table, func(o *mcp.Options) {
		o.Notify, o.Hooks, o.Version, o.Logger = h.notify, h.hooks, "test", h.logger()
	})
	wire := new(logBuffer)
	here := &sdk.LoggingTransport{Transport: &sdk.IOTransport{Reader: p.out, Writer: p.in}, Writer: wire}
	client := sdk.NewClient(&sdk.Implementation{Name: "guest", Version: "1"}, o)
	cs, err := client.Connect(context.Background(), here, &sdk.ClientSessionOptions{ProtocolVersion: era})
	require.NoError(h.t, err)
	require.Equal(h.t, era, cs.InitializeResult().ProtocolVersion)
	stop := sync.OnceFunc(func() {
		_ = cs.Close()
		require.Zero(h.t, <-p.exit)
	})
	h.t.Cleanup(stop)
	return &sdkClient{cs, h, wire, stop}
}

// decode returns the first message of the server that has this text in it.
func (g *sdkClient) decode(text string) object {
	g.h.t.Helper()
	for line := range strings.Lines(g.wire.String()) {
		if message, ok := strings.CutPrefix(line, "read: "); ok && strings.Contains(message, text) {
			return read(g.h.t, []byte(message))
		}
	}
	require.Fail(g.h.t, "no message has it", "%s in:\n%s", text, g.wire)
	return nil
}

// callTool calls a tool, which must succeed, and returns its structured content and its texts.
func (g *sdkClient) callTool(name, arguments string, values ...any) (object, []string) {
	g.h.t.Helper()
	r := g.call(name, arguments, values...)
	require.False(g.h.t, r.IsError, "%s: %s", name, texts(r))
	return structured(g.h.t, r), texts(r)
}

// callRefused calls a tool, which must refuse, and returns what it says.
func (g *sdkClient) callRefused(name, arguments string, values ...any) string {
	g.h.t.Helper()
	r := g.call(name, arguments, values...)
	require.True(g.h.t, r.IsError, "%s: %s", name, texts(r))
	require.Nil(g.h.t, r.StructuredContent)
	require.Len(g.h.t, r.Content, 1)
	return texts(r)[0]
}

func (g *sdkClient) call(name, arguments string, values ...any) *sdk.CallToolResult {
	g.h.t.Helper()
	r, err := g.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(fmt.Sprintf(arguments, values...))})
	require.NoError(g.h.t, err, name)
	requireSameFacts(g.h.t, r)
	return r
}

func texts(r *sdk.CallToolResult) []string {
	var all []string
	for _, c := range r.Content {
		all = append(all, c.(*sdk.TextContent).Text)
	}
	return all
}

// An object is JSON as it was read.
type object map[string]any

func structured(t testing.TB, r *sdk.CallToolResult) object {
	t.Helper()
	raw, err := json.Marshal(r.StructuredContent)
	require.NoError(t, err)
	return read(t, raw)
}

func read(t testing.TB, raw []byte) object {
	t.Helper()
	var o object
	require.NoError(t, json.Unmarshal(raw, &o), "%s", raw)
	return o
}

// str returns the string at a path of names with dots between them.
func (o object) str(path string) string {
	var at any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		members, _ := at.(map[string]any)
		at = members[name]
	}
	s, _ := at.(string)
	return s
}

// call calls a method as a host of another protocol does.
func (h *harness) call(method, params string, values ...any) object {
	h.t.Helper()
	entry, ok := h.table.Entry(method)
	require.True(h.t, ok, method)
	answers := make(chan api.Answer, 1)
	entry.Start(context.Background(), fmt.Appendf(nil, params, values...), func(a api.Answer) { answers <- a })
	a := <-answers
	require.Nil(h.t, a.Err, "%s: %v", method, a.Err)
	text, err := codec.Encode(a.Result)
	require.NoError(h.t, err)
	return read(h.t, text)
}

// taskThatAsks brings a task to where it waits for a person.
func (h *harness) taskThatAsks(question string) (taskID string) {
	h.t.Helper()
	h.call("create_task", `{"prompt":"build a boat"}`)
	claim := h.call("claim_task", `{"worker":"w"}`)
	taskID = claim.str("claim.task.task_id")
	h.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"awaiting_response","output":"I looked.","question":%s}`,
		taskID, claim.str("claim.lease.token"), quoted(question))
	return taskID
}

// quoted returns a text as JSON has it.
func quoted(text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return raw
}

// A logBuffer is a log that is read while it is written.
type logBuffer struct {
	mu   sync.Mutex // guards what follows
	text bytes.Buffer
}

func (r *logBuffer) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *logBuffer) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
