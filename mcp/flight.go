package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/api"
)

// A flight is a request on its way to its answer.
type flight struct {
	id     []byte // as it was sent
	key    jsonrpc.ID
	era    *session
	method string
	size   int // of its params
	change bool
	hand   *hand
	// extra goes along through the SDK, so that a handler is known to be that of this flight.
	extra *sdk.RequestExtra

	// first is closed when all changes before this one have passed. It is nil if this is none.
	first chan struct{}

	// The hand's mutex guards what follows.
	isFirst  bool // first is closed
	passed   bool // the change has taken its effect, or will have none
	answered bool
	silenced bool                    // the host does not want the answer any more
	why      error                   // the handler is to end; nil if it is not
	cancel   context.CancelCauseFunc // nil before the handler begins
	takeBack []func()                // to call if the answer is not delivered
}

// end has the handler of the flight end. The caller holds the hand's mutex.
func (f *flight) end(cause error) {
	if f.why == nil {
		f.why = cause
	}
	if f.cancel != nil {
		f.cancel(cause)
	}
}

// silence notes that the host does not want the answer any more, and has the handler end.
func (f *flight) silence() {
	f.hand.mu.Lock()
	defer f.hand.mu.Unlock()
	if f.answered {
		return
	}
	f.silenced = true
	f.end(context.Canceled)
}

// board gives the context of the flight's handler.
func (f *flight) board(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	f.hand.mu.Lock()
	f.cancel = cancel
	if f.why != nil {
		cancel(f.why)
	}
	f.hand.mu.Unlock()
	ctx = withTurn(ctx, turn{await: f.await, pass: f.pass, undelivered: f.undelivered})
	return ctx, func() { cancel(context.Canceled) }
}

// await waits until it is the flight's turn to take effect. One that the host has cancelled waits no longer; one that is
// only hurried keeps its place.
func (f *flight) await(ctx context.Context) error {
	if f.first == nil {
		return nil
	}
	select {
	case <-f.first:
		return nil
	case <-ctx.Done():
	}
	if cause := context.Cause(ctx); !errors.Is(cause, api.ErrHurry) {
		return cause
	}
	<-f.first // soon: those before are hurried too, and on the way out every place is given up in the end
	return nil
}

// pass lets the next change take effect, once those before this one have passed as well: one that was refused at once
// must not let those behind it overtake.
func (f *flight) pass() {
	if f.first == nil {
		return
	}
	f.hand.mu.Lock()
	defer f.hand.mu.Unlock()
	f.passed = true
	f.hand.advance()
}

// recall takes back what was handed out with the answer.
func (f *flight) recall() {
	f.hand.mu.Lock()
	takeBack := f.takeBack
	f.takeBack = nil
	f.hand.mu.Unlock()
	for _, undo := range takeBack {
		undo()
	}
}

// undelivered keeps what is to be taken back if the answer is not delivered. If that is known already, it is at once.
func (f *flight) undelivered(takeBack func()) {
	f.hand.mu.Lock()
	late := f.answered
	if !late {
		f.takeBack = append(f.takeBack, takeBack)
	}
	f.hand.mu.Unlock()
	if late {
		takeBack()
	}
}
