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

	"waybill/core"
	"waybill/engine"
	"waybill/store"
)

// A peeked store counts its readings, and can hold them up.
type peeked struct {
	*watched
	peek sync.Mutex // guards what follows
	n    int
	gate chan struct{} // nil: readings go through; otherwise they wait until it is closed
}

func peekable() *peeked { return &peeked{watched: watch()} }

func (p *peeked) View(ctx context.Context, fn func(store.Tx) error) error {
	p.peek.Lock()
	p.n++
	gate := p.gate
	p.peek.Unlock()
	if gate != nil {
		<-gate
	}
	return p.watched.View(ctx, fn)
}

// readings is how often the store was read.
func (p *peeked) readings() int {
	p.peek.Lock()
	defer p.peek.Unlock()
	return p.n
}

// hold holds readings up until release is called, as if the watch over the leases did not run.
func (p *peeked) hold() (release func()) {
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

// A yard is an engine in fake time, whose clock on the wall can be set.
type yard struct {
	t     *testing.T
	st    *peeked
	e     *engine.Engine
	mu    sync.Mutex // guards shift
	shift time.Duration

	failing atomic.Bool // the store refuses updates
}

func inYard(t *testing.T, test func(t *testing.T, y *yard)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		y := &yard{t: t, st: peekable()}
		y.st.before = func(int) error {
			if y.failing.Load() {
				return &store.Error{Kind: store.IO, Message: "a bad moment"}
			}
			return nil
		}
		y.e = build(t, engine.Options{Open: open(y.st), Now: y.now})
		run(t, y.e)
		test(t, y)
	})
}

func (y *yard) now() time.Time {
	y.mu.Lock()
	defer y.mu.Unlock()
	return time.Now().Add(y.shift)
}

// set sets the clock on the wall; the monotonic one goes on as it did.
func (y *yard) set(by time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.shift += by
}

// sleep lets time go by and everything that is due happen.
func (y *yard) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (y *yard) apply(fn func(tx *engine.Tx) (any, error)) any {
	y.t.Helper()
	return do(y.t, y.e, engine.Change{Apply: fn})
}

// create creates a task that may fail so often.
func (y *yard) create(attempts int) string {
	y.t.Helper()
	return y.apply(func(tx *engine.Tx) (any, error) {
		t, err := tx.CreateTask(core.Launch{Prompt: "x", MaxAttempts: attempts}, nil)
		return t.ID, err
	}).(string)
}

// claim claims a task for so long.
func (y *yard) claim(lease time.Duration) engine.Claimed {
	y.t.Helper()
	return y.apply(func(tx *engine.Tx) (any, error) {
		return tx.ClaimTask(engine.Claim{Worker: "w", Length: lease.Microseconds()})
	}).(engine.Claimed)
}

func (y *yard) beat(c engine.Claimed, length time.Duration) engine.Reported {
	y.t.Helper()
	return y.apply(func(tx *engine.Tx) (any, error) {
		return tx.Heartbeat(c.Task.ID, c.Lease.Token, length.Microseconds(), engine.Progress{})
	}).(engine.Reported)
}

func (y *yard) task(id string) (task core.Task) {
	y.t.Helper()
	require.NoError(y.t, y.st.watched.View(y.t.Context(), func(tx store.Tx) (err error) {
		task, _, err = tx.Task(id)
		return err
	}))
	return task
}

// is asserts the status and the number of the newest attempt.
func (y *yard) is(id string, status core.TaskStatus, attempt int) {
	y.t.Helper()
	t := y.task(id)
	require.Equal(y.t, fmt.Sprint(status, " ", attempt), fmt.Sprint(t.Status(), " ", t.Current.Number))
}
