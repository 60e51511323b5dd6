package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/engine"
	"waybill/store"
)

// A gatedStore counts its reads and can block them.
type gatedStore struct {
	*hookedStore
	peek sync.Mutex // guards what follows
	n    int
	gate chan struct{} // nil: readings go through; otherwise they wait until it is closed
}

func newGatedStore(t testing.TB) *gatedStore { return &gatedStore{hookedStore: newHookedStore(t)} }

func (p *gatedStore) View(ctx context.Context, fn func(store.Tx) error) error {
	p.peek.Lock()
	p.n++
	gate := p.gate
	p.peek.Unlock()
	if gate != nil {
		<-gate
	}
	return p.hookedStore.View(ctx, fn)
}

// readings returns the number of reads.
func (p *gatedStore) readings() int {
	p.peek.Lock()
	defer p.peek.Unlock()
	return p.n
}

// hold blocks reads until release is called, so that no lease check runs.
func (p *gatedStore) hold() (release func()) {
	p.peek.Lock()
	defer p.peek.Unlock()
	gate := make(chan struct{})
	p.gate = gate
	return func() {
		p.peek.Lock()
		p.gate = nil
		p.peek.Unlock()
		close(gate)
		synctest.Wait()
	}
}

// A leaseHarness is an engine in fake time with an adjustable wall clock.
type leaseHarness struct {
	t     *testing.T
	st    *gatedStore
	e     *engine.Engine
	mu    sync.Mutex // guards shift
	shift time.Duration

	failing atomic.Bool // the store refuses updates
}

func withLeaseHarness(t *testing.T, test func(t *testing.T, h *leaseHarness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &leaseHarness{t: t, st: newGatedStore(t)}
		h.st.before = func(int) error {
			if h.failing.Load() {
				return &store.Error{Kind: store.IO, Message: "a bad moment"}
			}
			return nil
		}
		h.e = build(t, engine.Options{Open: open(h.st), Now: h.now})
		runEngine(t, h.e)
		test(t, h)
	})
}

func (h *leaseHarness) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.shift)
}

// shiftClock moves the wall clock but not the monotonic clock.
func (h *leaseHarness) shiftClock(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shift += by
}

// sleep advances the time and waits for everything that is due.
func (h *leaseHarness) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (h *leaseHarness) apply(fn func(tx *engine.Tx) (any, error)) any {
	h.t.Helper()
	return do(h.t, h.e, engine.Change{Apply: fn})
}

// create creates a task with that many attempts.
func (h *leaseHarness) create(attempts int) string {
	h.t.Helper()
	return h.apply(func(tx *engine.Tx) (any, error) {
		t, err := tx.CreateTask(task.Spec{Prompt: "x", MaxAttempts: attempts}, nil)
		return t.ID, err
	}).(string)
}

// claim claims a task with that lease.
func (h *leaseHarness) claim(lease time.Duration) engine.Claimed {
	h.t.Helper()
	return h.apply(func(tx *engine.Tx) (any, error) {
		return tx.ClaimTask(engine.Claim{Worker: "w", Length: lease.Microseconds()})
	}).(engine.Claimed)
}

func (h *leaseHarness) beat(c engine.Claimed, length time.Duration) engine.Reported {
	h.t.Helper()
	return h.apply(func(tx *engine.Tx) (any, error) {
		return tx.Heartbeat(c.Task.ID, c.Lease.Token, length.Microseconds(), engine.Progress{})
	}).(engine.Reported)
}

func (h *leaseHarness) task(id string) (task task.Task) {
	h.t.Helper()
	require.NoError(h.t, h.st.hookedStore.View(h.t.Context(), func(tx store.Tx) (err error) {
		task, _, err = tx.Task(id)
		return err
	}))
	return task
}

// requireState asserts the status and the number of the newest attempt.
func (h *leaseHarness) requireState(id string, status task.Status, attempt int) {
	h.t.Helper()
	t := h.task(id)
	require.Equal(h.t, fmt.Sprint(status, " ", attempt), fmt.Sprint(t.Status(), " ", t.Current.Number))
}
