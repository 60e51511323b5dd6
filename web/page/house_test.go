package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store"
	"waybill/store/memory"
	"waybill/web/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A house is a real service with its store in memory, behind the thinnest door that the page can go through.
type house struct {
	t      *testing.T
	dir    string // the workspace
	table  *api.Table
	engine chan *engine.Engine // holds the engine once it is there

	mu    sync.Mutex // guards what follows
	front *httptest.Server
	inner http.Handler             // what is behind the checks
	gone  chan struct{}            // closed when the streams are to end
	odd   map[string]http.Handler  // what is answered otherwise at a path
	codes map[string]bool          // that can be exchanged once
	seen  map[string]int           // how often each route was asked for
	key   map[string]struct{}      // every Idempotency-Key that came
	tasks map[string]claimedByTest // what the test's worker has in hand
}

// A claimedByTest is what a worker needs to report.
type claimedByTest struct{ lease, attempt string }

const secret = "token-of-the-test"

// policy is that of the front door.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// doors are the routes that the page uses: what they are called, and which method each is.
var doors = []struct{ pattern, method, fixed string }{
	{pattern: "GET /api/status", method: "get_status"},
	{pattern: "GET /api/tasks", method: "list_tasks"},
	{pattern: "GET /api/tasks/{task_id}", method: "get_task"},
	{pattern: "GET /api/tasks/{task_id}/timeline", method: "get_timeline"},
	{pattern: "POST /api/tasks/{task_id}/reply", method: "reply"},
	{pattern: "POST /api/tasks/{task_id}/retry", method: "retry_task"},
	{pattern: "POST /api/tasks/{task_id}/cancel", method: "cancel_task"},
	{pattern: "GET /api/awaiting", method: "list_awaiting"},
	{pattern: "GET /api/instructions", method: "list_instructions"},
	{pattern: "POST /api/instructions", method: "queue_instruction_with_ack"},
	{pattern: "POST /api/instructions/{instruction_id}/cancel", method: "cancel_instruction"},
	{pattern: "GET /api/plans", method: "list_plans"},
	{pattern: "GET /api/plans/{plan}", method: "get_plan"},
	{pattern: "GET /api/plans/{plan}/ready", method: "ready_items"},
	{pattern: "POST /api/plans/{plan}/items/{item_id}/status", method: "set_item_status"},
	{pattern: "GET /api/plans/{plan}/items/{item_id}/run", method: "resume_run"},
	{pattern: "POST /api/plans/{plan}/items/{item_id}/run", method: "init_run"},
	{pattern: "GET /api/runs", method: "list_runs"},
	{pattern: "GET /api/runs/{run_id}", method: "get_snapshot"},
	{pattern: "GET /api/runs/{run_id}/ledger", method: "get_ledger"},
	{pattern: "POST /api/runs/{run_id}/prompt", method: "compile_prompt", fixed: "preview"},
	{pattern: "POST /api/runs/{run_id}/replan", method: "replan"},
	{pattern: "GET /api/telemetry", method: "get_telemetry"},
	{pattern: "GET /api/notices", method: "list_notices"},
	{pattern: "POST /api/notices/consume", method: "consume_notices"},
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{
		t: t, dir: t.TempDir(), engine: make(chan *engine.Engine, 1),
		odd: map[string]http.Handler{}, codes: map[string]bool{}, seen: map[string]int{}, key: map[string]struct{}{}, tasks: map[string]claimedByTest{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	service, err := api.New(api.Options{
		Version: "test", Sources: workspace.Sources{Flag: h.dir},
		Start: func(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
			root, err := planfile.Open(ws.Root, planfile.Options{MaxBytes: 1 << 20, Folders: true})
			if err != nil {
				return nil, nil, err
			}
			plans := engine.NewPlans(root, engine.PlanOptions{})
			e, err := engine.New(engine.Options{
				Open: func(context.Context) (store.Store, error) { return memory.New(), nil }, Plans: plans,
				MaxPending: schema.MaxPending, Outputs: engine.Outputs{Workspace: ws.Root},
			})
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
	h.open("")
	t.Cleanup(func() {
		h.shut()
		cancel()
		running.Wait()
	})
	return h
}

// open lets the page in again, at an address it had before, or at any.
func (h *house) open(address string) {
	h.t.Helper()
	mux := http.NewServeMux()
	for _, file := range page.Files() {
		mux.HandleFunc("GET "+file.Path+exactly(file.Path), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", file.Type)
			_, _ = io.WriteString(w, file.Text)
		})
	}
	mux.HandleFunc("POST /api/login", h.login)
	mux.HandleFunc("GET /api/events", h.stream)
	for _, door := range doors {
		mux.HandleFunc(door.pattern, func(w http.ResponseWriter, r *http.Request) { h.carry(w, r, door.pattern, door.method, door.fixed) })
	}
	front := httptest.NewUnstartedServer(h.guarded(mux))
	if address != "" {
		listener, err := listen(address)
		require.NoError(h.t, err)
		_ = front.Listener.Close()
		front.Listener = listener
	}
	h.mu.Lock()
	h.gone = make(chan struct{})
	h.front, h.inner = front, mux
	h.mu.Unlock()
	front.Start()
}

// exactly makes the pattern of the document one that matches nothing below it.
func exactly(path string) string {
	if path == "/" {
		return "{$}"
	}
	return ""
}

// shut lets nobody in any more, and ends the streams.
func (h *house) shut() {
	h.mu.Lock()
	front := h.front
	h.front = nil
	if front != nil {
		close(h.gone)
	}
	h.mu.Unlock()
	if front != nil {
		front.CloseClientConnections()
		front.Close()
	}
}

// guarded sets the headers of the front door, checks the token, and answers otherwise where a test wants it so.
func (h *house) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cross-Origin-Embedder-Policy", "require-corp")
		header.Set("Cache-Control", "no-store")
		open := !strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/api/login"
		if !open && r.Header.Get("Authorization") != "Bearer "+secret {
			refuse(w, http.StatusUnauthorized, &schema.Error{Message: "the request does not carry the token"})
			return
		}
		h.mu.Lock()
		odd := h.odd[r.Method+" "+r.URL.Path]
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			h.key[key] = struct{}{}
		}
		h.mu.Unlock()
		if odd != nil {
			odd.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// instead makes the house answer otherwise at a path such as "GET /api/status"; nil ends that.
func (h *house) instead(at string, handler http.Handler) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if handler == nil {
		delete(h.odd, at)
		return
	}
	h.odd[at] = handler
}

func refuse(w http.ResponseWriter, status int, fault *schema.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body, _ := schema.Encode(struct {
		Error *schema.Error `json:"error"`
	}{fault})
	_, _ = w.Write(body)
}

// link gives an address with a fresh one-time code, as a person would be given one.
func (h *house) link() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	code := fmt.Sprintf("code-%d", len(h.codes))
	h.codes[code] = true
	return h.front.URL + "/#c=" + code
}

func (h *house) url() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.front.URL
}

func (h *house) login(w http.ResponseWriter, r *http.Request) {
	var said struct {
		Code string `json:"code"`
	}
	_ = json.NewDecoder(r.Body).Decode(&said)
	h.mu.Lock()
	good := h.codes[said.Code]
	h.codes[said.Code] = false
	h.mu.Unlock()
	if !good {
		refuse(w, http.StatusUnauthorized, &schema.Error{Message: "the code is spent"})
		return
	}
	_, _ = fmt.Fprintf(w, `{"token":%q}`, secret)
}

// carry carries out the method of a route.
func (h *house) carry(w http.ResponseWriter, r *http.Request, pattern, method, fixed string) {
	h.mu.Lock()
	h.seen[pattern]++
	h.mu.Unlock()
	entry, ok := h.table.Entry(method)
	if !ok {
		http.NotFound(w, r)
		return
	}
	params := map[string]any{}
	if r.Method == http.MethodPost {
		_ = json.NewDecoder(r.Body).Decode(&params)
	}
	for name, values := range r.URL.Query() {
		params[name] = wanted(entry.Params, name, values)
	}
	for _, part := range strings.Split(pattern, "/") {
		if name, isParam := strings.CutPrefix(part, "{"); isParam {
			name = strings.TrimSuffix(name, "}")
			params[name] = r.PathValue(name)
		}
	}
	if fixed != "" {
		params[fixed] = true
	}
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		params["idempotency_key"] = key
	}
	a := h.answer(entry, params)
	if a.Err != nil {
		refuse(w, statusOf(a.Err), a.Err)
		return
	}
	body, err := schema.Encode(a.Result)
	if err != nil {
		refuse(w, http.StatusInternalServerError, schema.NewError(schema.Internal, err.Error()))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// wanted gives a value of a query as what the method wants.
func wanted(params reflect.Type, name string, values []string) any {
	for _, field := range reflect.VisibleFields(params) {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		kind := field.Type.Kind()
		if kind == reflect.Pointer {
			kind = field.Type.Elem().Kind()
		}
		switch {
		case tag != name:
		case kind == reflect.Slice:
			return values
		case kind == reflect.Int || kind == reflect.Int64:
			n, _ := strconv.Atoi(values[0])
			return n
		}
	}
	return values[0]
}

// statusOf gives the HTTP status for an error: the number of its code begins with it, but for a few.
func statusOf(fault *schema.Error) int {
	switch {
	case fault.Data.Code == schema.InvalidState:
		return http.StatusConflict
	case fault.Code < 0:
		return http.StatusBadRequest
	case fault.Code/10 > 505:
		return http.StatusServiceUnavailable
	}
	return fault.Code / 10
}

func (h *house) answer(entry *api.Entry, params map[string]any) api.Answer {
	text, err := json.Marshal(params)
	if err != nil {
		return api.Answer{Err: schema.NewError(schema.Internal, err.Error())}
	}
	done := make(chan api.Answer, 1)
	entry.Start(context.Background(), text, func(a api.Answer) { done <- a })
	return <-done
}

// stream answers with the events of the log, from the cursor that the page names, or from now.
func (h *house) stream(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	gone := h.gone
	h.seen["GET /api/events"]++
	h.mu.Unlock()
	e := <-h.engine
	h.engine <- e
	wake, stop := e.Subscribe()
	defer stop()
	cursor := r.Header.Get("Last-Event-ID")
	if cursor == "" {
		var now schema.InitializeResult
		h.into(&now, "initialize", map[string]any{})
		cursor = now.Cursor
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_, _ = fmt.Fprintf(w, "retry: 50\nid: %s\nevent: ready\ndata: {}\n\n", cursor)
	_ = out.Flush()
	for {
		var list schema.EventList
		h.into(&list, "events_since", map[string]any{"cursor": cursor})
		for _, event := range list.Events {
			text, _ := schema.Encode(event)
			_, _ = fmt.Fprintf(w, "id: %d\ndata: %s\n\n", event.Seq, text)
		}
		_ = out.Flush()
		if cursor = list.Cursor; list.More {
			continue
		}
		select {
		case <-wake:
		case <-gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// into calls a method that is to succeed.
func (h *house) into(result any, method string, params map[string]any) {
	a := h.result(method, params)
	text, err := schema.Encode(a)
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		h.t.Error(err)
	}
}

func (h *house) result(method string, params map[string]any) any {
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

// call calls a method that is to succeed, and gives its result as JSON.
func (h *house) call(method string, params map[string]any) map[string]any {
	h.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	got := map[string]any{}
	h.into(&got, method, params)
	return got
}

// create makes a task and gives its id.
func (h *house) create(params map[string]any) string {
	h.t.Helper()
	return h.call("create_task", params)["task"].(map[string]any)["task_id"].(string)
}

// claim takes the next task for the test's worker.
func (h *house) claim() string {
	h.t.Helper()
	claim, ok := h.call("claim_task", map[string]any{"worker": "w1", "lease_ms": 3600000})["claim"].(map[string]any)
	require.True(h.t, ok, "no task can be claimed")
	id := claim["task"].(map[string]any)["task_id"].(string)
	h.tasks[id] = claimedByTest{claim["lease"].(map[string]any)["token"].(string), claim["attempt"].(map[string]any)["attempt_id"].(string)}
	return id
}

// finish reports the end of what the test's worker has in hand.
func (h *house) finish(id, status string, more map[string]any) {
	h.t.Helper()
	params := map[string]any{"task_id": id, "lease_token": h.tasks[id].lease, "status": status}
	for name, value := range more {
		params[name] = value
	}
	require.Equal(h.t, true, h.call("finish_attempt", params)["applied"])
}

// asks makes a task that waits for an answer.
func (h *house) asks(description, question string) string {
	h.t.Helper()
	h.create(map[string]any{"prompt": "Do it: " + description, "description": description})
	id := h.claim()
	h.finish(id, "awaiting_response", map[string]any{"output": "So far: half of it.", "question": question})
	return id
}

func (h *house) status(id string) string {
	h.t.Helper()
	return h.call("get_task", map[string]any{"task_id": id})["task"].(map[string]any)["status"].(string)
}

// replies gives the answers that a task was given.
func (h *house) replies(id string) []string {
	h.t.Helper()
	var texts []string
	for _, r := range h.call("get_task", map[string]any{"task_id": id})["replies"].([]any) {
		texts = append(texts, r.(map[string]any)["reply"].(string))
	}
	return texts
}

// write writes a file of the workspace.
func (h *house) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o644))
}

// between holds a request at a path back whose body has the words, until hold is closed; asked is closed when it came.
func (h *house) between(at, words string, asked, hold chan struct{}) {
	h.instead(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), words) {
			close(asked)
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.inner.ServeHTTP(w, r)
	}))
}

// asked gives how often a route was asked for.
func (h *house) asked(pattern string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[pattern]
}

// keys gives how many different idempotency keys came.
func (h *house) keys() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.key)
}

var errNoBrowser = errors.New("no chromium is installed")
