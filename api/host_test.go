package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
	"waybill/engine/resultfile"
	"waybill/engine/workspace"
	planfile "waybill/plan/file"
	"waybill/schema"
	"waybill/schema/codec"
	"waybill/store"
	"waybill/test/teststore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A sharedStore outlives a process: Close does nothing. Tests can make it fail, hook into its transactions, and replace
// it while it is open, as a restore does.
type sharedStore struct {
	store.Store               // the first one
	views       atomic.Int64  // number of View calls
	changed     chan struct{} // size 1, never closed

	mu       sync.Mutex // guards the fields below
	now      store.Store
	fault    error                                            // returned by Update
	unread   error                                            // returned by View
	around   func(commit func() error) error                  // runs each commit
	inUpdate func(tx store.Tx, fn func(store.Tx) error) error // runs the function of each update
	inView   func(tx store.Tx, fn func(store.Tx) error) error // runs the function of each view
}

func newSharedStore(t testing.TB) *sharedStore {
	st := teststore.New(t)
	return &sharedStore{Store: st, now: st, changed: make(chan struct{}, 1)}
}

// set changes faults and hooks.
func (s *sharedStore) set(change func(s *sharedStore)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// fail makes every later Update fail; nil ends that.
func (s *sharedStore) fail(err error) { s.set(func(s *sharedStore) { s.fault = err }) }

// failViews makes every later View fail; nil ends that.
func (s *sharedStore) failViews(err error) { s.set(func(s *sharedStore) { s.unread = err }) }

func (s *sharedStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		return fault
	}
	return s.commit(fn, func(st store.Store, fn func(store.Tx) error) error { return st.Update(ctx, fn) })
}

func (s *sharedStore) commit(fn func(store.Tx) error, update func(store.Store, func(store.Tx) error) error) error {
	s.mu.Lock()
	st, around, inside := s.now, s.around, s.inUpdate
	s.mu.Unlock()
	commit := func() error { return update(st, hooked(fn, inside)) }
	if around != nil {
		return around(commit)
	}
	return commit()
}

func hooked(fn func(store.Tx) error, inside func(store.Tx, func(store.Tx) error) error) func(store.Tx) error {
	if inside == nil {
		return fn
	}
	return func(tx store.Tx) error { return inside(tx, fn) }
}

func (s *sharedStore) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	return s.commit(fn, func(st store.Store, fn func(store.Tx) error) error { return st.UpdateReserved(ctx, fn) })
}

func (s *sharedStore) View(ctx context.Context, fn func(store.Tx) error) error {
	s.views.Add(1)
	s.mu.Lock()
	st, unread, inside := s.now, s.unread, s.inView
	s.mu.Unlock()
	if unread != nil {
		return unread
	}
	return st.View(ctx, hooked(fn, inside))
}

func (s *sharedStore) Changed() <-chan struct{} { return s.changed }

func (*sharedStore) Close() error { return nil }

// setup configures a host. The zero value works.
type setup struct {
	dir        string      // the workspace; by default a new folder
	outputDir  string      // where results may lie besides
	store      store.Store // by default an empty one
	maxPending int
	newID      func(string) string
	now        func() time.Time
	sources    workspace.Sources // instead of the workspace
	version    string
	watcher    func(context.Context) schema.WatcherStatus
	connection func() *schema.ConnectionStatus
	heard      func(pid int64)
	dialects   []engine.DialectRule
	settings   schema.Settings
	changed    []schema.Setting
	checks     []string // of the workspace
	start      func(workspace.Workspace) (*engine.Engine, *engine.Plans, error)
}

// A clock stands still until the test moves it. It is safe for concurrent use.
type clock struct{ micros atomic.Int64 }

func newClock(at time.Time) *clock {
	c := new(clock)
	c.micros.Store(at.UnixMicro())
	return c
}

func (c *clock) now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }

func (c *clock) move(by time.Duration) { c.micros.Add(by.Microseconds()) }

// A host calls a service with method names and JSON, like a front door.
type host struct {
	*api.Service
	t       *testing.T
	dir     string
	store   store.Store
	table   *api.Table
	setup   setup
	clock   func() time.Time
	outputs string // where results may lie besides, for the tests that need it
	stop    func() // ends the process after the calls before it were carried out
}

func newHost(t *testing.T, s setup) *host {
	t.Helper()
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	if s.store == nil {
		s.store = newSharedStore(t)
	}
	if s.sources == (workspace.Sources{}) {
		s.sources.Flag = s.dir
	}
	h := &host{t: t, setup: s, dir: s.dir, store: s.store, clock: time.Now}
	if s.now != nil {
		h.clock = s.now
	}
	h.launch(s)
	h.table = h.Table()
	return h
}

// restart ends the process and starts the next one with the same workspace and store.
func (h *host) restart() *host {
	h.t.Helper()
	h.stop()
	return newHost(h.t, h.setup)
}

// launch creates the service.
func (h *host) launch(s setup) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	h.stop = func() {
		cancel()
		running.Wait()
	}
	h.t.Cleanup(h.stop)
	if s.start == nil {
		s.start = func(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
			root, err := planfile.Open(ws.Root, planfile.Options{MaxBytes: 64 << 10, Folders: true})
			if err != nil {
				return nil, nil, err
			}
			plans := engine.NewPlans(root, engine.PlanOptions{Now: s.now, Dialects: s.dialects})
			e, err := engine.New(engine.Options{
				Open:  func(context.Context) (store.Store, error) { return s.store, nil },
				Plans: plans, Now: s.now, NewID: s.newID, MaxPending: s.maxPending, Backoff: time.Second,
				Outputs: resultfile.Folders{Workspace: ws.Root, Other: s.outputDir},
			})
			running.Go(func() {
				if err := e.Run(ctx); err != nil {
					h.t.Error(err)
				}
				_ = root.Close()
			})
			return e, plans, err
		}
	}
	var err error
	h.Service, err = api.New(api.Options{
		Version: s.version, Sources: s.sources, Start: s.start, Watcher: s.watcher, Connection: s.connection, Host: s.heard, Now: s.now,
		Settings: s.settings, Changed: s.changed, RequireChecks: func() []string { return s.checks },
	})
	require.NoError(h.t, err)
}

// begin calls a method without waiting for its answer. params is JSON with format verbs for args.
func (h *host) begin(ctx context.Context, method, params string, args ...any) <-chan api.Answer {
	h.t.Helper()
	entry, ok := h.table.Entry(method)
	require.True(h.t, ok, "no method %s", method)
	done := make(chan api.Answer, 2) // room for a second answer, which would be a defect
	entry.Start(ctx, fmt.Appendf(nil, params, args...), func(a api.Answer) { done <- a })
	if entry.Kind != schema.Change {
		require.Len(h.t, done, 1, "%s had not answered when it returned", method)
	}
	return done
}

// call calls a method that must succeed.
func (h *host) call(method, params string, args ...any) object {
	h.t.Helper()
	return h.result(<-h.begin(h.t.Context(), method, params, args...))
}

// result returns the result of an answer, which must be a success.
func (h *host) result(a api.Answer) object {
	h.t.Helper()
	if a.Err != nil {
		require.Fail(h.t, "refused", "%s: %s\n%v\n%v", a.Err.Data.Code, a.Err.Message, a.Err.Data.Details, a.Cause)
	}
	text, err := codec.Encode(a.Result)
	require.NoError(h.t, err)
	return newObject(h.t, text)
}

// refused calls a method that must be refused with a code and change nothing.
func (h *host) refused(code schema.Code, method, params string, args ...any) object {
	h.t.Helper()
	before := h.seq()
	a := <-h.begin(h.t.Context(), method, params, args...)
	require.NotNil(h.t, a.Err, "%s was not refused", method)
	require.Nil(h.t, a.Result)
	require.Equal(h.t, code, a.Err.Data.Code, "%s", a.Err.Message)
	require.Equal(h.t, schema.ErrorNumber(code), a.Err.Code)
	require.Equal(h.t, schema.OutcomeNotApplied, a.Err.Data.Outcome)
	require.Equal(h.t, before, h.seq(), "it was refused and changed something")
	text, err := codec.Encode(a.Err)
	require.NoError(h.t, err)
	return newObject(h.t, text)
}

// seq returns the number of the newest event.
func (h *host) seq() (newest int64) {
	h.t.Helper()
	require.NoError(h.t, h.store.View(h.t.Context(), func(tx store.Tx) (err error) {
		_, newest, err = tx.Bounds()
		return err
	}))
	return newest
}

// write writes a workspace file with an old modification time.
func (h *host) write(name, text string, ago time.Duration) {
	h.t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o644))
	require.NoError(h.t, os.Chtimes(path, time.Time{}, h.clock().Add(-ago)))
}

// remove removes a file of the workspace.
func (h *host) remove(name string) {
	h.t.Helper()
	require.NoError(h.t, os.Remove(filepath.Join(h.dir, filepath.FromSlash(name))))
}

// An object is a JSON object as a host receives it.
type object struct {
	t     *testing.T
	text  string
	value any
}

func newObject(t *testing.T, text []byte) object {
	t.Helper()
	o := object{t: t, text: string(text)}
	require.NoError(t, json.Unmarshal(text, &o.value))
	return o
}

// find returns the value at a path such as items.0.state, if there is one.
func (o object) find(path string) (v any, ok bool) {
	v = o.value
	for _, step := range strings.Split(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			v, ok = node[step]
		case []any:
			i, err := strconv.Atoi(step)
			if ok = err == nil && i < len(node); ok {
				v = node[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return v, true
}

// at returns the value at a path, which must exist. Numbers are of type float64.
func (o object) at(path string) any {
	o.t.Helper()
	v, ok := o.find(path)
	require.True(o.t, ok, "nothing is at %s of %s", path, o.text)
	return v
}

// str returns the string at a path.
func (o object) str(path string) string {
	o.t.Helper()
	s, ok := o.at(path).(string)
	require.True(o.t, ok, "no string is at %s of %s", path, o.text)
	return s
}

// has asserts the value at a path; more are further values, each followed by its path.
func (o object) has(want any, path string, more ...any) {
	o.t.Helper()
	switch n := want.(type) {
	case int:
		want = float64(n)
	case int64:
		want = float64(n)
	}
	require.Equal(o.t, want, o.at(path), "at %s of %s", path, o.text)
	if len(more) > 0 {
		o.has(more[0], more[1].(string), more[2:]...)
	}
}

// lacks asserts that paths do not exist.
func (o object) lacks(paths ...string) {
	o.t.Helper()
	for _, path := range paths {
		v, ok := o.find(path)
		require.False(o.t, ok, "at %s is %v", path, v)
	}
}

// each returns the strings at a path in every element of a list.
func (o object) each(list, path string) []string {
	o.t.Helper()
	elements, ok := o.at(list).([]any)
	require.True(o.t, ok, "no list is at %s of %s", list, o.text)
	got := make([]string, len(elements))
	for i, element := range elements {
		got[i] = object{o.t, o.text, element}.str(path)
	}
	return got
}

// pages returns the strings at a path of the items of each page of a list. params are further JSON members.
func (h *host) pages(method, path, params string) (pages [][]string) {
	h.t.Helper()
	limit := `"limit":2`
	if strings.Contains(params, `"limit"`) {
		limit, params = params[1:], ""
	}
	for cursor := ""; ; {
		page := h.call(method, `{%s,"cursor":%q%s}`, limit, cursor, params)
		pages = append(pages, page.each("items", path))
		next, ok := page.find("next_cursor")
		if !ok {
			return pages
		}
		cursor = next.(string)
	}
}

// bad asserts that a call is refused with a pointer to the invalid param.
func (h *host) bad(pointer, method, params string, args ...any) object {
	h.t.Helper()
	fault := h.refused(schema.InvalidParams, method, params, args...)
	fault.has(pointer, "data.details.errors.0.pointer")
	return fault
}

// inFakeTime runs a test with a new host in fake time.
func inFakeTime(t *testing.T, test func(t *testing.T, h *host)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newHost(t, setup{})) })
}

// instant returns the time at a path.
func (o object) instant(path string) time.Time {
	o.t.Helper()
	at, err := time.Parse(time.RFC3339Nano, o.str(path))
	require.NoError(o.t, err)
	return at
}
