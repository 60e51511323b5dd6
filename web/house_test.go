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
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/engine/workspace"
	"waybill/meter"
	"waybill/schema"
	"waybill/store"
	"waybill/store/memory"
	"waybill/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// token is what the houses of tests ask for.
const token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// place is where a house without a network says that it is.
const place = "127.0.0.1:7777"

// A house is a service on a store in memory, with the front door open. Without a network it may be in a bubble of
// synctest.
type house struct {
	*api.Service
	t        testing.TB
	dir      string    // the workspace
	written  time.Time // when the plan was, see plan
	at       string    // host:port
	dial     func(ctx context.Context) (net.Conn, error)
	table    *api.Table
	log      *record
	leave    func() // makes the front door leave
	gone     chan error
	stop     func() // ends the service
	listener net.Listener
	engine   *atomic.Pointer[engine.Engine] // to nil until a call needed it
}

// A plot is what a house is built on. The zero value works.
type plot struct {
	dir       string      // the workspace; by default a new folder
	store     store.Store // by default an empty one
	listener  net.Listener
	methods   map[string]func(start starter) starter // instead of those of the table
	subscribe func() (<-chan struct{}, func(), error)
	outside   *outside   // by default there is nothing, such as a host
	page      []web.File // by default none
}

// An outside is what goes on around a service, as far as it is told. A test changes it while nobody asks.
type outside struct {
	connection schema.ConnectionStatus
	watcher    schema.WatcherStatus
	seen       int64 // notifications of files
	host       web.Host
	size, wal  int64         // of the store
	waited     time.Duration // for another process
}

// An outsized store has the size of what is outside, and was kept waiting by it.
type outsized struct {
	store.Store
	*outside
}

func (o outsized) Status(ctx context.Context) store.Status {
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

type starter = func(ctx context.Context, params []byte, done func(api.Answer))

// build builds a house, without a network unless the plot has a listener.
func build(t testing.TB, p plot) *house {
	t.Helper()
	h := &house{t: t, log: new(record), gone: make(chan error, 1), engine: new(atomic.Pointer[engine.Engine])}
	if p.dir == "" {
		p.dir = t.TempDir()
	}
	if p.store == nil {
		p.store = lasting{memory.New()}
	}
	if p.outside != nil {
		p.store = outsized{p.store, p.outside}
	}
	if p.listener == nil {
		pipes := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		p.listener, h.at, h.dial = pipes, place, pipes.dial
	} else {
		h.at = p.listener.Addr().String()
		h.dial = func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", h.at) }
	}
	h.listener, h.dir = p.listener, p.dir
	h.serve(p)
	h.open(p)
	return h
}

// serve makes the service.
func (h *house) serve(p plot) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	service, err := api.New(api.Options{
		Connection: func() *schema.ConnectionStatus {
			if p.outside == nil {
				return nil
			}
			return &p.outside.connection
		},
		Watcher: func(context.Context) schema.WatcherStatus {
			if p.outside == nil {
				return schema.WatcherStatus{Mode: "off"}
			}
			return p.outside.watcher
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

// open opens the front door.
func (h *house) open(p plot) {
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
	h.leave = leave
	go func() { // ends when the door has been left
		h.gone <- web.Serve(ctx, web.Options{
			Listener: p.listener, Table: h.table, Subscribe: p.subscribe, Token: token, Page: p.page, Logger: slog.New(slog.NewTextHandler(h.log, nil)),
			Counts: func(ctx context.Context) web.Counts { return h.counts(ctx, p) },
		})
	}()
	h.t.Cleanup(h.close)
}

// counts gives what others have counted.
func (h *house) counts(ctx context.Context, p plot) (c web.Counts) {
	if e := h.engine.Load(); e != nil {
		c.Engine, c.Store = e.Stats(), p.store.Status(ctx).Stats
	}
	if p.outside != nil {
		c.WatcherEvents, c.Host = p.outside.seen, &p.outside.host
	}
	return c
}

// close ends everything.
func (h *house) close() {
	h.leave()
	err := <-h.gone
	h.gone <- err
	h.stop()
	if h.at == place {
		time.Sleep(time.Second) // of the bubble: the library leaves connections open for a while when it refuses a head
	}
	require.NoError(h.t, err)
}

// call carries a method out as the host on the other door does.
func (h *house) call(method, params string, args ...any) object {
	h.t.Helper()
	entry, ok := h.table.Entry(method)
	require.True(h.t, ok, method)
	answers := make(chan api.Answer, 1)
	entry.Start(context.Background(), fmt.Appendf(nil, params, args...), func(a api.Answer) { answers <- a })
	a := <-answers
	require.Nil(h.t, a.Err, "%s: %v", method, a.Err)
	text, err := schema.Encode(a.Result)
	require.NoError(h.t, err)
	return read(h.t, text)
}

// asked brings a task to where it waits for a person.
func (h *house) asked() (id string) {
	h.t.Helper()
	h.call("create_task", `{"prompt":"build a boat"}`)
	claim := h.call("claim_task", `{"worker":"w"}`)
	id = claim.str("claim.task.task_id")
	h.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"awaiting_response","output":"I looked.","question":"oak or elm?"}`,
		id, claim.str("claim.lease.token"))
	return id
}

// ask sends a request with the token. Headers are "Name: value"; one without a value takes the header away.
func (h *house) ask(verb, path, body string, headers ...string) answer {
	h.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", verb, path)
	all := map[string][]string{"Host": {h.at}, "Authorization": {"Bearer " + token}}
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
	return h.raw(b.String() + "\r\n" + body)
}

// raw sends bytes on a connection of their own, and reads one answer.
func (h *house) raw(text string) answer {
	h.t.Helper()
	conn := h.connect()
	defer func() { _ = conn.Close() }()
	written := make(chan struct{})
	go func() { // ends when the door has read it, or has closed the connection
		defer close(written)
		_, _ = io.WriteString(conn, text)
	}()
	verb, _, _ := strings.Cut(text, " ")
	a := h.heard(bufio.NewReader(conn), verb)
	_ = conn.Close()
	<-written
	return a
}

func (h *house) connect() net.Conn {
	h.t.Helper()
	conn, err := h.dial(context.Background())
	require.NoError(h.t, err)
	return conn
}

// hear reads one answer.
func (h *house) hear(in *bufio.Reader) answer { return h.heard(in, http.MethodGet) }

// heard reads the answer to a verb: one to HEAD has no body.
func (h *house) heard(in *bufio.Reader, verb string) answer {
	h.t.Helper()
	res, err := http.ReadResponse(in, &http.Request{Method: verb})
	require.NoError(h.t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(h.t, err)
	return answer{h.t, res.StatusCode, res.Header, body}
}
