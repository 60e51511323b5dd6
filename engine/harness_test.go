package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/task"
	"waybill/engine"
	"waybill/engine/taskview"
	"waybill/store"
	"waybill/test/teststore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A hookedStore is a SQLite store that counts its updates, ignores Close, and calls hooks around an update. The hooks
// are set before the engine runs.
type hookedStore struct {
	store.Store
	changed chan struct{} // size 1, never closed: stands for the commits of another process

	// before an update and after it; an error of before is the update's.
	before func(n int) error
	after  func(n int)
	// reserved is before for UpdateReserved.
	reserved func() error

	mu      sync.Mutex // guards updates
	updates int
}

func newHookedStore(t testing.TB) *hookedStore {
	return &hookedStore{
		Store: teststore.New(t), changed: make(chan struct{}, 1),
		before: func(int) error { return nil }, after: func(int) {}, reserved: func() error { return nil },
	}
}

// number returns the number of the current or last update.
func (w *hookedStore) number() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.updates
}

func (w *hookedStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	w.mu.Lock()
	w.updates++
	n := w.updates
	w.mu.Unlock()
	if err := w.before(n); err != nil {
		return err
	}
	err := w.Store.Update(ctx, fn)
	w.after(n)
	return err
}

func (w *hookedStore) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	if err := w.reserved(); err != nil {
		return err
	}
	return w.Store.Update(ctx, fn)
}

func (w *hookedStore) Changed() <-chan struct{} { return w.changed }
func (w *hookedStore) Close() error             { return nil }

// open returns an Options.Open function for st.
func open(st store.Store) func(context.Context) (store.Store, error) {
	return func(context.Context) (store.Store, error) { return st, nil }
}

// build returns an engine that does not run yet.
func build(t *testing.T, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.New(o)
	require.NoError(t, err)
	return e
}

// runEngine runs the engine until stop is called or the test ends.
func runEngine(t *testing.T, e *engine.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }() // ends with ctx
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return stop
}

// start returns a running engine on a store.
func start(t *testing.T, st store.Store) *engine.Engine {
	t.Helper()
	e := build(t, engine.Options{Open: open(st)})
	runEngine(t, e)
	return e
}

// queue returns a change that queues a plain instruction. Its result is the content.
func queue(session, content string) engine.Change {
	return engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		in, err := tx.Queue(instruction.Instruction{Session: session, Content: content})
		return in.Content, err
	}}
}

// An outcome holds the arguments of done.
type outcome struct {
	result any
	err    error
}

// submit submits a change. The channel receives its outcome.
func submit(ctx context.Context, e *engine.Engine, c engine.Change) <-chan outcome {
	done := make(chan outcome, 2) // room for a second call, which would be a defect
	e.Submit(ctx, c, func(result any, err error) { done <- outcome{result, err} })
	return done
}

// blockEngine blocks the engine until release is called. Changes submitted meanwhile form one group.
func blockEngine(t *testing.T, e *engine.Engine) (release func()) {
	t.Helper()
	held, free := make(chan struct{}), make(chan struct{})
	submit(t.Context(), e, engine.Change{Apply: func(*engine.Tx) (any, error) {
		close(held)
		<-free
		return nil, nil
	}})
	<-held
	return sync.OnceFunc(func() { close(free) })
}

// contents returns the contents of all instructions in the order of queueing.
func contents(t *testing.T, e *engine.Engine) []string {
	t.Helper()
	list, after := []string{}, int64(0)
	for more := true; more; {
		require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
			found, err := tx.Instructions(store.InstructionQuery{After: after})
			for _, in := range found {
				list, after = append(list, in.Content), in.Position
			}
			more = len(found) > 0
			return err
		}))
	}
	return list
}

// events returns the whole event log.
func events(t *testing.T, e *engine.Engine) []store.Event {
	t.Helper()
	var all []store.Event
	require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
		var err error
		all, err = tx.Events(0, 1<<20, nil)
		return err
	}))
	return all
}

// requireRefused asserts that a change is refused.
func requireRefused(t *testing.T, e *engine.Engine, c engine.Change, kind core.RefusalKind) {
	t.Helper()
	_, err := e.Do(t.Context(), c)
	var refusal *core.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, kind, refusal.Kind)
}

// A taskFixture creates, claims and finishes tasks.
type taskFixture struct {
	t *testing.T
	e *engine.Engine
}

func newTaskFixture(t *testing.T) *taskFixture {
	t.Helper()
	return &taskFixture{t, start(t, newHookedStore(t))}
}

func (f *taskFixture) apply(fn func(tx *engine.Tx) (any, error)) any {
	f.t.Helper()
	return do(f.t, f.e, engine.Change{Apply: fn})
}

// create creates a task; its prompt is x, and it has one attempt unless the spec says otherwise.
func (f *taskFixture) create(spec task.Spec, dependsOn ...string) string {
	f.t.Helper()
	spec.Prompt, spec.MaxAttempts = "x", max(1, spec.MaxAttempts)
	return f.apply(func(tx *engine.Tx) (any, error) {
		t, err := tx.CreateTask(spec, dependsOn)
		return t.ID, err
	}).(string)
}

func (f *taskFixture) claim(length time.Duration) engine.Claimed {
	f.t.Helper()
	return f.apply(func(tx *engine.Tx) (any, error) {
		return tx.ClaimTask(engine.Claim{Worker: "w", Length: length.Microseconds()})
	}).(engine.Claimed)
}

func (f *taskFixture) finish(c engine.Claimed, report task.Finish) task.Task {
	f.t.Helper()
	report.Token = c.Lease.Token
	return f.apply(func(tx *engine.Tx) (any, error) {
		r, err := tx.FinishAttempt(c.Task.ID, report)
		return r.Task, err
	}).(task.Task)
}

// end claims the oldest ready task, which must be the given one, and finishes it.
func (f *taskFixture) end(id string, report task.Finish) task.Task {
	f.t.Helper()
	c := f.claim(time.Hour)
	require.Equal(f.t, id, c.Task.ID)
	return f.finish(c, report)
}

// task returns a task, and what it waits for.
func (f *taskFixture) task(id string) (found task.Task, holds []taskview.Hold) {
	f.t.Helper()
	require.NoError(f.t, f.e.View(f.t.Context(), func(tx store.Tx) (err error) {
		if found, _, err = tx.Task(id); err != nil {
			return err
		}
		holds, err = taskview.WaitsFor(tx, found)
		return err
	}))
	return found, holds
}
