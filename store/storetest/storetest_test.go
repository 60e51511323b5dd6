package storetest_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/store"
	"waybill/store/memory"
	"waybill/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSaboteurs runs every law against an honest store, where it must hold, and against a store that
// breaks this promise, where it must fail: a law that cannot fail is none.
func TestSaboteurs(t *testing.T) {
	saboteurs := saboteurs()
	seen := make(map[string]bool)
	for _, law := range storetest.Laws() {
		t.Run(law.Name, func(t *testing.T) {
			require.False(t, seen[law.Name], "two laws have one name")
			seen[law.Name] = true
			sabotage, ok := saboteurs[law.Name]
			require.True(t, ok, "the law has no saboteur")
			require.Empty(t, breaches(t, law, place(honest)), "the law fails on an honest store")
			breach := breaches(t, law, place(sabotage))
			require.NotEmpty(t, breach, "the law holds on a store that breaks it")
			t.Log(breach)
		})
	}
	require.Len(t, saboteurs, len(seen), "a saboteur has no law")
}

// place gives an open for one law. The store keeps its contents over a Close, as one on a disk does,
// unless the sabotage wraps it in something that does not.
func place(sabotage func(store.Store) store.Store) func() store.Store {
	kept, handles := memory.New(), &handles{}
	return func() store.Store {
		o := &opened{Store: kept, handles: handles, changed: make(chan struct{}, 1)}
		handles.add(o)
		return sabotage(o)
	}
}

// handles are all openings of one store, which signal their commits to each other.
type handles struct {
	mu  sync.Mutex // guards all
	all []*opened
}

func (h *handles) add(o *opened) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, o)
}

func (h *handles) signal(by *opened) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.all {
		if o == by {
			continue
		}
		select {
		case o.changed <- struct{}{}:
		default:
		}
	}
}

func honest(s store.Store) store.Store { return s }

// opened is one opening of a store that outlives it.
type opened struct {
	store.Store
	handles *handles
	changed chan struct{} // of size one; nobody closes it
	closed  atomic.Bool
}

func (o *opened) Changed() <-chan struct{} { return o.changed }

func (o *opened) Close() error {
	o.closed.Store(true)
	return nil
}

func (o *opened) refusal() error {
	if o.closed.Load() {
		return &store.Error{Kind: store.Closed, Message: "closed"}
	}
	return nil
}

func (o *opened) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := o.refusal(); err != nil {
		return err
	}
	err := o.Store.Update(ctx, fn)
	if err == nil {
		o.handles.signal(o)
	}
	return err
}

func (o *opened) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	return o.Update(ctx, fn)
}

func (o *opened) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := o.refusal(); err != nil {
		return err
	}
	return o.Store.View(ctx, fn)
}

func (o *opened) Verify(ctx context.Context) ([]store.Damage, error) {
	if err := o.refusal(); err != nil {
		return nil, err
	}
	return o.Store.Verify(ctx)
}

// recorder is a T that notes failures instead of failing the test that holds it.
type recorder struct {
	*testing.T
	failures atomic.Int32
	last     atomic.Value
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures.Add(1)
	r.last.Store(fmt.Sprintf(format, args...))
}

func (r *recorder) FailNow() {
	r.failures.Add(1)
	runtime.Goexit()
}

// breaches runs the law and gives what it says against the store, or "". Nobody waits for a signal that a
// saboteur keeps back: the time of the law is not that of the clock.
func breaches(t *testing.T, law storetest.Law, open func() store.Store) (breach string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { breach = breachesNow(t, law, open) })
	return breach
}

func breachesNow(t *testing.T, law storetest.Law, open func() store.Store) string {
	t.Helper()
	r := &recorder{T: t}
	done := make(chan struct{})
	go func() { // ends with the law, be it by FailNow
		defer close(done)
		law.Holds(r, open)
	}()
	<-done
	if r.failures.Load() == 0 {
		return ""
	}
	if text, ok := r.last.Load().(string); ok {
		return text
	}
	return "failed"
}
