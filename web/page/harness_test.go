package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/api"
	"waybill/core"
	"waybill/engine"
	"waybill/engine/resultfile"
	"waybill/engine/workspace"
	planfile "waybill/plan/file"
	"waybill/schema"
	"waybill/schema/codec"
	"waybill/store"
	"waybill/test/teststore"
	"waybill/web"
	"waybill/web/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(untilTheBrowserEnds{m}) }

type untilTheBrowserEnds struct{ *testing.M }

func (m untilTheBrowserEnds) Run() int {
	_ = flag.Set("test.parallel", "4") // the tests wait for the browser; the command line overrides it
	code := m.M.Run()
	if shared.end != nil {
		shared.end()
	}
	return code
}

// A harness is a real service with its store and front door, behind a proxy that counts requests and can replace
// answers.
type harness struct {
	t      *testing.T
	dir    string // the workspace
	table  *api.Table
	engine chan *engine.Engine // holds the engine once it is there
	token  string
	inner  http.Handler // proxy to the front door
	today  func() time.Time
	others []*harness // whose workspaces the page reaches, too

	mu     sync.Mutex // guards what follows
	front  *httptest.Server
	looked core.Instant             // when the person looked last
	gone   string                   // why the folder of the workspace cannot be used
	odd    map[string]http.Handler  // replaced answers, by path
	seen   map[string]int           // number of requests, by path
	key    map[string]struct{}      // every Idempotency-Key that was received
	tasks  map[string]claimedByTest // claims of the test's worker
}

// A claimedByTest identifies a claim in a report.
type claimedByTest struct{ lease, attempt string }

func newHarness(t *testing.T) *harness {
	t.Helper()
	return newHarnessOf(t, engine.Options{})
}

// newHarnessOf returns a harness whose engine has another clock, other ids, or another store.
func newHarnessOf(t *testing.T, o engine.Options) *harness {
	t.Helper()
	h := &harness{
		t: t, dir: t.TempDir(), engine: make(chan *engine.Engine, 1), token: web.NewToken(),
		odd: map[string]http.Handler{}, seen: map[string]int{}, key: map[string]struct{}{}, tasks: map[string]claimedByTest{},
	}
	if h.today = o.Now; h.today == nil {
		h.today = time.Now
	}
	if o.Open == nil {
		records := teststore.New(t)
		o.Open = func(context.Context) (store.Store, error) { return records, nil }
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	service, err := api.New(api.Options{
		Version: "test", Sources: workspace.Sources{Flag: h.dir}, Now: o.Now,
		Start: func(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
			root, err := planfile.Open(ws.Root, planfile.Options{MaxBytes: 1 << 20, Folders: true})
			if err != nil {
				return nil, nil, err
			}
			plans := engine.NewPlans(root, engine.PlanOptions{})
			o.Plans, o.MaxPending, o.Outputs = plans, schema.MaxPending, resultfile.Folders{Workspace: ws.Root}
			e, err := engine.New(o)
			if err != nil {
				return nil, nil, err
			}
			running.Go(func() { // ends with the test
				if err := e.Run(ctx); err != nil {
					t.Error(err)
				}
				_ = root.Close()
			})
			h.engine <- e
			return e, plans, nil
		},
	})
	require.NoError(t, err)
	h.table = service.Table()
	h.call("get_status", nil) // brings the engine to life
	leave := h.serve()
	h.open(steadyAddress(t))
	t.Cleanup(func() {
		h.shut()
		leave()
		cancel()
		running.Wait()
	})
	return h
}

// serve opens the front door. leave closes it.
func (h *harness) serve() (leave func()) {
	h.t.Helper()
	anywhere, err := web.ParseAddress("127.0.0.1:0")
	require.NoError(h.t, err)
	door, err := anywhere.Listen(h.t.Context())
	require.NoError(h.t, err)
	var files []web.File
	for _, file := range page.Files() {
		files = append(files, web.File(file))
	}
	e := <-h.engine
	h.engine <- e
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() { // ends when the door is closed
		left <- web.Serve(ctx, web.Options{
			Listener: door, Table: h.table, Token: h.token, Page: files, Workspaces: h,
			Subscribe: func() (<-chan struct{}, func(), error) { wake, stop := e.Subscribe(); return wake, stop, nil },
		})
	}()
	h.inner = proxyTo(web.URL(door))
	return func() {
		cancel()
		if err := <-left; err != nil {
			h.t.Error(err)
		}
	}
}

// ports numbers the addresses that steadyAddress returns.
var ports atomic.Int64

// steadyAddress returns a free address of this machine that no other test gets, and that the system gives no program
// which does not name it: a server can leave it and come back.
func steadyAddress(t *testing.T) string {
	t.Helper()
	const first, all = 20000, 10000
	for range all {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+(int64(os.Getpid())*64+ports.Add(1))%all))
		if err == nil {
			require.NoError(t, listener.Close())
			return listener.Addr().String()
		}
	}
	require.Fail(t, "every port is taken")
	return ""
}

// open starts the proxy at the given address.
func (h *harness) open(address string) {
	h.t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(h.t, err)
	front := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(h.pass)}}
	h.mu.Lock()
	h.front = front
	h.mu.Unlock()
	front.Start()
}

// proxyTo returns a proxy to the door. It rewrites Host and Origin, so that requests look as they do without it.
func proxyTo(door string) http.Handler {
	at, err := url.Parse(door)
	if err != nil {
		panic(err)
	}
	return &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(at)
			if r.In.Header.Get("Origin") == "http://"+r.In.Host {
				r.Out.Header.Set("Origin", door)
			}
		},
	}
}

// shut closes the proxy. Tokens stay valid when it opens again.
func (h *harness) shut() {
	h.mu.Lock()
	front := h.front
	h.front = nil
	h.mu.Unlock()
	if front != nil {
		front.CloseClientConnections()
		front.Close()
	}
}

// pass records a request, and returns a replaced answer if the test has set one.
func (h *harness) pass(w http.ResponseWriter, r *http.Request) {
	at := r.Method + " " + r.URL.Path
	h.mu.Lock()
	odd, inner := h.odd[at], h.inner
	h.seen[at]++
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		h.key[key] = struct{}{}
	}
	h.mu.Unlock()
	if odd != nil {
		odd.ServeHTTP(w, r)
		return
	}
	inner.ServeHTTP(w, r)
}

// instead replaces the answers at a path such as "GET /api/status"; nil ends that.
func (h *harness) instead(at string, handler http.Handler) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if handler == nil {
		delete(h.odd, at)
		return
	}
	h.odd[at] = handler
}

// refusal answers with an error, whatever is asked.
func refusal(status int, fault *schema.Error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		says(w, status, map[string]*schema.Error{"error": fault})
	})
}

// says answers with what a JSON text can say.
func says(w http.ResponseWriter, status int, what any) {
	body, _ := codec.Encode(what) // it has no text but the test's
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// link returns an address with a fresh one-time code, as a person would be given one.
func (h *harness) link() string {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url()+"/api/codes", strings.NewReader("{}"))
	require.NoError(h.t, err)
	r.Header.Set("Authorization", "Bearer "+h.token)
	r.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	require.NoError(h.t, err)
	var issued struct{ Code string }
	require.NoError(h.t, json.NewDecoder(res.Body).Decode(&issued))
	require.NoError(h.t, res.Body.Close())
	return h.url() + "/#c=" + issued.Code
}

func (h *harness) url() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.front.URL
}

func (h *harness) answer(entry *api.Entry, params map[string]any) api.Answer {
	text, err := json.Marshal(params)
	if err != nil {
		return api.Answer{Err: schema.NewError(schema.Internal, err.Error())}
	}
	done := make(chan api.Answer, 1)
	entry.Start(context.Background(), text, func(a api.Answer) { done <- a })
	return <-done
}

// into calls a method that is to succeed.
func (h *harness) into(result any, method string, params map[string]any) {
	a := h.result(method, params)
	text, err := codec.Encode(a)
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		h.t.Error(err)
	}
}

func (h *harness) result(method string, params map[string]any) any {
	entry, ok := h.table.Entry(method)
	if !ok {
		h.t.Errorf("there is no method %s", method)
		return nil
	}
	a := h.answer(entry, params)
	if a.Err != nil {
		h.t.Errorf("%s was refused: %s %v %v", method, a.Err.Message, a.Err.Data.Details, a.Cause)
	}
	return a.Result
}

// call calls a method that is to succeed, and returns its result as JSON.
func (h *harness) call(method string, params map[string]any) map[string]any {
	h.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	got := map[string]any{}
	h.into(&got, method, params)
	return got
}

// create makes a task and returns its id.
func (h *harness) create(params map[string]any) string {
	h.t.Helper()
	return h.call("create_task", params)["task"].(map[string]any)["task_id"].(string)
}

// claim takes the next task for the test's worker.
func (h *harness) claim() string {
	h.t.Helper()
	claim, ok := h.call("claim_task", map[string]any{"worker": "w1", "lease_ms": 3600000})["claim"].(map[string]any)
	require.True(h.t, ok, "no task can be claimed")
	id := claim["task"].(map[string]any)["task_id"].(string)
	h.tasks[id] = claimedByTest{claim["lease"].(map[string]any)["token"].(string), claim["attempt"].(map[string]any)["attempt_id"].(string)}
	return id
}

// finish reports the end of what the test's worker has in hand.
func (h *harness) finish(id, status string, more map[string]any) {
	h.t.Helper()
	params := map[string]any{"task_id": id, "lease_token": h.tasks[id].lease, "status": status}
	for name, value := range more {
		params[name] = value
	}
	require.Equal(h.t, true, h.call("finish_attempt", params)["applied"])
}

// asks makes a task that waits for an answer.
func (h *harness) asks(description, question string) string {
	h.t.Helper()
	return h.offers(description, map[string]any{"output": "So far: half of it.", "question": question})
}

func (h *harness) status(id string) string {
	h.t.Helper()
	return h.call("get_task", map[string]any{"task_id": id})["task"].(map[string]any)["status"].(string)
}

// replies returns the answers that a task was given.
func (h *harness) replies(id string) []string {
	h.t.Helper()
	var texts []string
	for _, r := range h.call("get_task", map[string]any{"task_id": id})["replies"].([]any) {
		texts = append(texts, r.(map[string]any)["reply"].(string))
	}
	return texts
}

// write writes a file of the workspace.
func (h *harness) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o644))
}

// asked returns how often a path was asked for.
func (h *harness) asked(at string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[at]
}

// keys returns how many different idempotency keys came.
func (h *harness) keys() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.key)
}

var errNoBrowser = errors.New("no chromium is installed")
