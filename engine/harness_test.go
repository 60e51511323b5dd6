package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/core"
	"waybill/engine"
	"waybill/store"
	"waybill/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A watched store is a store in memory that counts its updates, survives Close as a file would, and
// does what a test wants to happen around an update. The hooks are set before the engine runs.
type watched struct {
	*memory.Store
	changed chan struct{} // size 1, never closed: stands for the commits of another process

	// before an update and after it; an error of before is the update's.
	before func(n int) error
	after  func(n int)
	// reserved is before for UpdateReserved.
	reserved func() error

	mu      sync.Mutex // guards updates
	updates int
}

func watch() *watched {
	return &watched{
		Store: memory.New(), changed: make(chan struct{}, 1),
		before: func(int) error { return nil }, after: func(int) {}, reserved: func() error { return nil },
	}
}

// number is which update is under way, or was the last.
func (w *watched) number() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.updates
}

func (w *watched) Update(ctx context.Context, fn func(store.Tx) error) error {
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

func (w *watched) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	if err := w.reserved(); err != nil {
		return err
	}
	return w.Store.Update(ctx, fn)
}

func (w *watched) Changed() <-chan struct{} { return w.changed }
func (w *watched) Close() error             { return nil }

// open gives the function by which an engine opens st.
func open(st store.Store) func(context.Context) (store.Store, error) {
	return func(context.Context) (store.Store, error) { return st, nil }
}

// build makes an engine that does not run yet.
func build(t *testing.T, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.New(o)
	require.NoError(t, err)
	return e
}

// run runs the engine until stop is called or the test ends.
func run(t *testing.T, e *engine.Engine) (stop func()) {
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

// start gives a running engine on a store.
func start(t *testing.T, st store.Store) *engine.Engine {
	t.Helper()
	e := build(t, engine.Options{Open: open(st)})
	run(t, e)
	return e
}

// queue is the change that queues a plain instruction. Its result is the instruction's content.
func queue(session, content string) engine.Change {
	return engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		in, err := tx.Queue(core.Instruction{Session: session, Content: content})
		return in.Content, err
	}}
}

// An outcome is what done was called with.
type outcome struct {
	result any
	err    error
}

// submit submits a change. The outcome is sent once.
func submit(ctx context.Context, e *engine.Engine, c engine.Change) <-chan outcome {
	done := make(chan outcome, 2) // room for a second call, which would be a defect
	e.Submit(ctx, c, func(result any, err error) { done <- outcome{result, err} })
	return done
}

// plug holds the engine up: what is submitted until release is called waits, and is then one group.
func plug(t *testing.T, e *engine.Engine) (release func()) {
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

// contents gives the contents of all instructions as they were queued.
func contents(t *testing.T, e *engine.Engine) []string {
	t.Helper()
	list := []string{}
	require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
		found, err := tx.Instructions(store.InstructionQuery{})
		for _, in := range found {
			list = append(list, in.Content)
		}
		return err
	}))
	return list
}

// events gives the whole event log.
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
