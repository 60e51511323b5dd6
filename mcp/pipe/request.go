package pipe

import (
	"context"
	"errors"

	"waybill/api"
)

// A request is a request of the host until its answer is written.
type request struct {
	Request
	key string
	set *requests

	// ready is closed when all changes before this one have passed. It is nil if the request is no change.
	ready chan struct{}

	// The mutex of set guards the fields below.
	isReady  bool // ready is closed
	passed   bool // the change has taken effect or never will
	answered bool
	dropped  bool                    // the host has cancelled the request
	endCause error                   // why the handler must end, or nil
	cancel   context.CancelCauseFunc // nil before the handler starts
	onEnd    []func(delivered bool)  // called when the answer is delivered, or never will be
}

// end ends the handler. The caller holds the mutex of set.
func (r *request) end(cause error) {
	if r.endCause == nil {
		r.endCause = cause
	}
	if r.cancel != nil {
		r.cancel(cause)
	}
}

// drop ends the handler and drops its answer, because the host has cancelled the request.
func (r *request) drop() {
	r.set.mu.Lock()
	defer r.set.mu.Unlock()
	if r.answered {
		return
	}
	r.dropped = true
	r.end(context.Canceled)
}

// handlerContext returns the context of the request's handler.
func (r *request) handlerContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.set.mu.Lock()
	r.cancel = cancel
	if r.endCause != nil {
		cancel(r.endCause)
	}
	r.set.mu.Unlock()
	ctx = withTurn(ctx, Turn{Await: r.awaitTurn, Pass: r.pass, Undelivered: r.addUndelivered, Delivered: r.addDelivered})
	return ctx, func() { cancel(context.Canceled) }
}

// awaitTurn blocks until the change may take effect. It returns an error if the host cancels the request; a hurried
// request keeps its place.
func (r *request) awaitTurn(ctx context.Context) error {
	if r.ready == nil {
		return nil
	}
	select {
	case <-r.ready:
		return nil
	case <-ctx.Done():
	}
	if cause := context.Cause(ctx); !errors.Is(cause, api.ErrHurry) {
		return cause
	}
	<-r.ready // this ends soon, because shutdown hurries and then answers every earlier request
	return nil
}

// pass lets the next change take effect after all earlier ones have passed. A change that is refused at once must not
// let later ones overtake earlier ones.
func (r *request) pass() {
	if r.ready == nil {
		return
	}
	r.set.mu.Lock()
	defer r.set.mu.Unlock()
	r.passed = true
	r.set.advanceChanges()
}

// runUndelivered runs the callbacks for an answer that is not delivered.
func (r *request) runUndelivered() { r.runCallbacks(false) }

// runCallbacks runs the callbacks for an answer that is delivered or not. Further calls do nothing.
func (r *request) runCallbacks(delivered bool) {
	r.set.mu.Lock()
	callbacks := r.onEnd
	r.onEnd = nil
	r.set.mu.Unlock()
	for _, callback := range callbacks {
		callback(delivered)
	}
}

// addDelivered registers a callback for the case that the answer is delivered. If the request is answered already, the
// answer of its handler never is.
func (r *request) addDelivered(proceed func()) {
	r.set.mu.Lock()
	defer r.set.mu.Unlock()
	if !r.answered {
		r.onEnd = append(r.onEnd, func(delivered bool) {
			if delivered {
				proceed()
			}
		})
	}
}

// addUndelivered registers a callback for the case that the answer is not delivered. If the request is answered
// already, it runs the callback at once.
func (r *request) addUndelivered(undo func()) {
	r.set.mu.Lock()
	late := r.answered
	if !late {
		r.onEnd = append(r.onEnd, func(delivered bool) {
			if !delivered {
				undo()
			}
		})
	}
	r.set.mu.Unlock()
	if late {
		undo()
	}
}
