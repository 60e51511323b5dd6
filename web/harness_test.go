package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/meter"
	planfile "waybill/plan/file"
	"waybill/schema"
	"waybill/schema/codec"
	"waybill/store"
	"waybill/test/teststore"
	"waybill/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testToken is the token of every harness.
const testToken = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// testAddress is the address of a harness without a network.
const testAddress = "127.0.0.1:7777"

// A harness is a service on a store, served over HTTP. Without a network it works in a bubble of synctest.
type harness struct {
	*api.Service
	t           testing.TB
	dir         string    // the workspace
	planWritten time.Time // when the plan was, see plan
	at          string    // host:port
	dial        func(ctx context.Context) (net.Conn, error)
	table       *api.Table
	log         *logBuffer
	shutDown    func() // shuts the server down
	ended       chan error
	stop        func() // ends the service
	listener    net.Listener
	engine      *atomic.Pointer[engine.Engine] // to nil until a call needed it
}

// A setup configures a harness. The zero value works.
type setup struct {
	dir         string      // the workspace; by default a new folder
	store       store.Store // by default an empty one
	listener    net.Listener
	methods     methods // instead of those of the table
	subscribe   func() (<-chan struct{}, func(), error)
	environment *environment   // by default there is nothing, such as a host
	page        []web.File     // by default none
	workspaces  web.Workspaces // by default none
}

// An environment has the counters of other packages. A test changes it between requests.
type environment struct {
	connection schema.ConnectionStatus
	watcher    schema.WatcherStatus
	seen       int64 // notifications of files
	host       web.Host
	size, wal  int64         // of the store
	waited     time.Duration // for another process
	broken     bool          // the store
}

// breaks makes a method fail while the store is broken.
func (o *environment) breaks(start startFunc) startFunc {
	return func(ctx ctx, params []byte, done func(api.Answer)) {
		if o.broken {
			done(api.Answer{Err: schema.NewError(schema.StoreIO, "no disk")})
			return
		}
		start(ctx, params, done)
	}
}

// A storeWithSize reports the size and the waits of the environment.
type storeWithSize struct {
	store.Store
	*environment
}

func (o storeWithSize) Status(ctx context.Context) store.Status {
	st := o.Store.Status(ctx)
	st.SizeBytes, st.Stats.WALBytes = o.size, o.wal
	if o.waited > 0 {
		waits := meter.New(store.Latencies[:]...)
		waits.Observe(o.waited)
		st.Stats.Waits = waits.Read()
	}
	return st
}

type ctx = context.Context

type startFunc = func(ctx context.Context, params []byte, done func(api.Answer))

// newHarness starts a harness, without a network unless the setup has a listener.
func newHarness(t testing.TB, p setup) *harness {
	t.Helper()
	h := &harness{t: t, log: new(logBuffer), ended: make(chan error, 1), engine: new(atomic.Pointer[engine.Engine])}
	if p.dir == "" {
		p.dir = t.TempDir()
	}
	if p.store == nil {
		p.store = teststore.New(t)
	}
	if p.environment != nil {
		p.store = storeWithSize{p.store, p.environment}
	}
	if p.listener == nil {
		pipes := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		p.listener, h.at, h.dial = pipes, testAddress, pipes.dial
	} else {
		h.at = p.listener.Addr().String()
		h.dial = func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", h.at) }
	}
	h.listener, h.dir = p.listener, p.dir
	h.serve(p)
	h.open(p)
	return h
}

// serve runs a test with a harness in a bubble.
func serve(t *testing.T, test func(t *testing.T, h *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newHarness(t, setup{})) })
}

// serve creates the service.
func (h *harness) serve(p setup) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	service, err := api.New(api.Options{
		Connection: func() *schema.ConnectionStatus {
			if p.environment == nil {
				return nil
			}
			return &p.environment.connection
		},
		Watcher: func(context.Context) schema.WatcherStatus {
			if p.environment == nil {
				return schema.WatcherStatus{Mode: "off"}
			}
			return p.environment.watcher
		},
		Version: "test", Sources: workspace.Sources{Flag: p.dir},
		Start: func(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
			root, err := planfile.Open(ws.Root, planfile.Options{})
			if err != nil {
				return nil, nil, err
			}
			plans := engine.NewPlans(root, engine.PlanOptions{})
			e, err := engine.New(engine.Options{Open: func(context.Context) (store.Store, error) { return p.store, nil }, Plans: plans})
			if err != nil {
				return nil, nil, err
			}
			h.engine.Store(e)
			running.Go(func() { // ends with ctx
				_ = e.Run(ctx)
				_ = root.Close()
			})
			return e, plans, nil
		},
	})
	require.NoError(h.t, err)
	h.Service = service
	h.stop = func() {
		cancel()
		running.Wait()
	}
}

// open starts the server.
func (h *harness) open(p setup) {
	var entries []api.Entry
	all := h.Table()
	for _, name := range all.Names() {
		entry, _ := all.Entry(name)
		e := *entry
		if change := p.methods[name]; change != nil {
			e.Start = change(e.Start)
		}
		entries = append(entries, e)
	}
	h.table = api.NewTable(entries)
	if p.subscribe == nil {
		p.subscribe = h.Subscribe
	}
	ctx, leave := context.WithCancel(context.Background())
	h.shutDown = leave
	go func() { // ends when the server has shut down
		h.ended <- web.Serve(ctx, web.Options{
			Listener: p.listener, Table: h.table, Subscribe: p.subscribe, Token: testToken, Page: p.page, Workspaces: p.workspaces, Logger: slog.New(slog.NewTextHandler(h.log, nil)),
			Counts: func(ctx context.Context) web.Counts { return h.counts(ctx, p) },
		})
	}()
	h.t.Cleanup(h.close)
}

// counts returns the counters of other packages.
func (h *harness) counts(ctx context.Context, p setup) (c web.Counts) {
	if e := h.engine.Load(); e != nil {
		c.Engine, c.Store = e.Stats(), p.store.Status(ctx).Stats
	}
	if p.environment != nil {
		c.WatcherEvents, c.Host = p.environment.seen, &p.environment.host
	}
	return c
}

// close ends everything.
func (h *harness) close() {
	h.shutDown()
	err := <-h.ended
	h.ended <- err
	h.stop()
	if h.at == testAddress {
		time.Sleep(time.Second) // of the bubble: the library leaves connections open for a while when it refuses a head
	}
	require.NoError(h.t, err)
}

// call calls a method as a host of another protocol does.
func (h *harness) call(method, params string, args ...any) object {
	h.t.Helper()
	entry, ok := h.table.Entry(method)
	require.True(h.t, ok, method)
	answers := make(chan api.Answer, 1)
	entry.Start(context.Background(), fmt.Appendf(nil, params, args...), func(a api.Answer) { answers <- a })
	a := <-answers
	require.Nil(h.t, a.Err, "%s: %v", method, a.Err)
	text, err := codec.Encode(a.Result)
	require.NoError(h.t, err)
	return read(h.t, text)
}

// taskThatAsks returns a task that waits for a person.
func (h *harness) taskThatAsks() (id string) {
	h.t.Helper()
	h.call("create_task", `{"prompt":"build a boat"}`)
	claim := h.call("claim_task", `{"worker":"w"}`)
	id = claim.str("claim.task.task_id")
	h.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"awaiting_response","output":"I looked.","question":"oak or elm?"}`,
		id, claim.str("claim.lease.token"))
	return id
}

// ask sends a request with the token. Headers are "Name: value"; one without a value takes the header away.
func (h *harness) ask(verb, path, body string, headers ...string) answer {
	h.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", verb, path)
	all := map[string][]string{"Host": {h.at}, "Authorization": {"Bearer " + testToken}}
	if verb == http.MethodPost {
		all["Content-Type"] = []string{"application/json"}
	}
	if body != "" || verb == http.MethodPost {
		all["Content-Length"] = []string{fmt.Sprint(len(body))}
	}
	given := map[string]bool{}
	for _, header := range headers {
		name, value, some := strings.Cut(header, ": ")
		if !given[name] {
			delete(all, name)
		}
		given[name] = true
		if some {
			all[name] = append(all[name], value)
		}
	}
	for name, values := range all {
		for _, value := range values {
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	return h.sendRaw(b.String() + "\r\n" + body)
}

// sendRaw sends bytes on a connection of their own, and reads one answer.
func (h *harness) sendRaw(text string) answer {
	h.t.Helper()
	conn := h.connect()
	defer func() { _ = conn.Close() }()
	written := make(chan struct{})
	go func() { // ends when the server has read the text or closed the connection
		defer close(written)
		_, _ = io.WriteString(conn, text)
	}()
	verb, _, _ := strings.Cut(text, " ")
	a := h.readAnswerTo(bufio.NewReader(conn), verb)
	_ = conn.Close()
	<-written
	return a
}

func (h *harness) connect() net.Conn {
	h.t.Helper()
	conn, err := h.dial(context.Background())
	require.NoError(h.t, err)
	return conn
}

// readAnswer reads one answer.
func (h *harness) readAnswer(in *bufio.Reader) answer { return h.readAnswerTo(in, http.MethodGet) }

// readAnswerTo reads the answer to a verb: one to HEAD has no body.
func (h *harness) readAnswerTo(in *bufio.Reader, verb string) answer {
	h.t.Helper()
	res, err := http.ReadResponse(in, &http.Request{Method: verb})
	require.NoError(h.t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(h.t, err)
	return answer{h.t, res.StatusCode, res.Header, body}
}
