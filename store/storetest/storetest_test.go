package storetest_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

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
	kept := memory.New()
	return func() store.Store { return sabotage(&opened{Store: kept}) }
}

func honest(s store.Store) store.Store { return s }

// opened is one opening of a store that outlives it.
type opened struct {
	store.Store
	closed atomic.Bool
}

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
	return o.Store.Update(ctx, fn)
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

// breaches runs the law and gives what it says against the store, or "".
func breaches(t *testing.T, law storetest.Law, open func() store.Store) string {
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
