package tool

import (
	"context"
	"sync"

	"waybill/api"
	"waybill/wire/conn"
)

// A Turn is the position of a call among the calls of its connection, and what depends on its answer. All handlers start
// at once, so the context of each carries its turn.
type Turn struct {
	call *conn.Call

	mu       sync.Mutex             // guards the fields below
	onEnd    []func(delivered bool) // called when the answer is delivered, or never will be
	answered bool
}

type turnKey struct{}

// Begin returns the turn of a call, and a context that carries it.
func Begin(ctx context.Context, c *conn.Call) (context.Context, *Turn) {
	t := &Turn{call: c}
	return context.WithValue(ctx, turnKey{}, t), t
}

// turnOf returns the turn of a call. Without one, as for a renewal of a lease, the call does not wait.
func turnOf(ctx context.Context) *Turn {
	t, ok := ctx.Value(turnKey{}).(*Turn)
	if !ok {
		return &Turn{call: new(conn.Call)}
	}
	return t
}

// await blocks until the call may take effect, or returns why it may not.
func (t *Turn) await(ctx context.Context) error { return t.call.Await(ctx, api.ErrHurry) }

// end registers a callback for when the answer is delivered or never will be.
func (t *Turn) end(callback func(delivered bool)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onEnd = append(t.onEnd, callback)
}

// undelivered registers a callback for the case that the answer cannot be written to the host.
func (t *Turn) undelivered(undo func()) {
	t.end(func(delivered bool) {
		if !delivered {
			undo()
		}
	})
}

// delivered registers a callback for the case that the answer was written to the host.
func (t *Turn) delivered(proceed func()) {
	t.end(func(delivered bool) {
		if delivered {
			proceed()
		}
	})
}

// Answer returns the answer of the call. An error does not carry the result, so what was handed out is taken back.
func (t *Turn) Answer(result any, fault *conn.Fault) conn.Answer {
	t.mu.Lock()
	t.answered = true
	t.mu.Unlock()
	if fault != nil {
		t.run(false)
		return conn.Answer{Fault: fault}
	}
	return conn.Answer{Result: result, Delivered: func() { t.run(true) }, Undelivered: func() { t.run(false) }}
}

// Abandon takes back what was handed out if the call has no answer.
func (t *Turn) Abandon() {
	t.mu.Lock()
	answered := t.answered
	t.mu.Unlock()
	if !answered {
		t.run(false)
	}
}

// run runs the callbacks, once.
func (t *Turn) run(delivered bool) {
	t.mu.Lock()
	callbacks := t.onEnd
	t.onEnd = nil
	t.mu.Unlock()
	for _, callback := range callbacks {
		callback(delivered)
	}
}
