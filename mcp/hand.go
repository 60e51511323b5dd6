package mcp

import (
	"context"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/api"
	"waybill/wire"
)

const (
	// maxInHand bounds the requests that were taken and whose answers are not written yet.
	maxInHand = 1024
	// maxInHandBytes bounds the params of what is not answered yet. One message always fits.
	maxInHandBytes = 64 << 20
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

	before <-chan struct{} // closed when the change before this one has its place
	passed chan struct{}   // closed by pass
	pass   func()          // lets the next change take effect

	// The hand's mutex guards what follows.
	answered bool
	silenced bool                    // the host does not want the answer any more
	hurried  error                   // why the handler is to end soon
	cancel   context.CancelCauseFunc // nil before the handler begins
	takeBack []func()                // to call if the answer is not delivered
}

// A hand holds the flights.
type hand struct {
	moved *wire.Pulse   // beats when a flight begins, is answered, or lands
	freed chan struct{} // holds a token if there may be more room than before; never closed
	empty chan struct{} // closed when nothing is in hand, after shut

	last <-chan struct{} // closed when the newest change has its place; only the reader knows

	mu      sync.Mutex // guards what follows
	open    map[jsonrpc.ID]*flight
	byExtra map[*sdk.RequestExtra]*flight // those in open
	held    int                           // open, or their answers are not written yet
	bytes   int                           // of params of those in open
	shut    bool
}

func newHand(moved *wire.Pulse) *hand {
	begun := make(chan struct{})
	close(begun)
	return &hand{
		moved: moved, freed: make(chan struct{}, 1), empty: make(chan struct{}), last: begun,
		open: map[jsonrpc.ID]*flight{}, byExtra: map[*sdk.RequestExtra]*flight{},
	}
}

// room reports whether a request with so many bytes of params may begin.
func (h *hand) room(size int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held < maxInHand && (h.bytes == 0 || h.bytes+size <= maxInHandBytes)
}

// find gives the flight with this id that has no answer yet, or nil.
func (h *hand) find(key jsonrpc.ID) *flight {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open[key]
}

// of gives the flight of a handler, or nil if its request did not come through a door.
func (h *hand) of(extra *sdk.RequestExtra) *flight {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.byExtra[extra]
}

// begin takes a flight in, and reports whether that is still possible. A change gets its place behind the change
// before it. Only the reader calls it.
func (h *hand) begin(f *flight) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shut {
		return false
	}
	f.hand, f.extra, f.pass = h, &sdk.RequestExtra{}, func() {}
	if f.change {
		f.passed, f.before = make(chan struct{}), h.last
		f.pass = sync.OnceFunc(func() { close(f.passed) })
		h.last = f.passed
	}
	h.open[f.key], h.byExtra[f.extra] = f, f
	h.held++
	h.bytes += f.size
	h.moved.Beat()
	return true
}

// answer notes that the flight with this id has its answer, and gives it; nil if it has had one.
func (h *hand) answer(key jsonrpc.ID) *flight {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.open[key]
	if f == nil {
		return nil
	}
	h.close(f)
	h.moved.Beat()
	return f
}

// close removes a flight from those without an answer. The caller holds mu.
func (h *hand) close(f *flight) {
	delete(h.open, f.key)
	delete(h.byExtra, f.extra)
	h.bytes -= f.size
	f.answered = true
}

// left closes all flights that have no answer, and gives them.
func (h *hand) left() (all []*flight) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.open {
		h.close(f)
		all = append(all, f)
	}
	return all
}

// land lets go of a flight whose answer was written, or will never be.
func (h *hand) land(f *flight, delivered bool) {
	if !delivered {
		f.recall()
	}
	h.mu.Lock()
	h.held--
	if h.held == 0 && h.shut {
		close(h.empty)
	}
	h.mu.Unlock()
	select {
	case h.freed <- struct{}{}:
	default:
	}
}

// shutDown says that nothing begins any more. It is called once.
func (h *hand) shutDown() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shut = true
	if h.held == 0 {
		close(h.empty)
	}
}

// hurry has all handlers end soon: what was taken is carried out, and what waits for something is answered with what
// there is.
func (h *hand) hurry() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.open {
		f.end(api.ErrHurry)
	}
}

// endAll has the handlers of a method end.
func (h *hand) endAll(method string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.open {
		if f.method == method {
			f.end(context.Canceled)
		}
	}
}

// end has the handler of the flight end. The caller holds the hand's mutex.
func (f *flight) end(cause error) {
	if f.hurried == nil {
		f.hurried = cause
	}
	if f.cancel != nil {
		f.cancel(cause)
	}
}

// silence notes that the host does not want the answer any more, and has the handler end. It reports whether that is
// news.
func (f *flight) silence() bool {
	f.hand.mu.Lock()
	defer f.hand.mu.Unlock()
	if f.silenced || f.answered {
		return false
	}
	f.silenced = true
	f.end(context.Canceled)
	return true
}

// board gives the context of the flight's handler.
func (f *flight) board(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	f.hand.mu.Lock()
	f.cancel = cancel
	if f.hurried != nil {
		cancel(f.hurried)
	}
	f.hand.mu.Unlock()
	ctx = withTurn(ctx, turn{await: f.await, pass: f.pass, undelivered: f.undelivered})
	return ctx, func() { cancel(context.Canceled) }
}

// await waits until the changes before this one have their place. One that is given up by the host waits no longer;
// one that is only hurried keeps its place.
func (f *flight) await(ctx context.Context) error {
	if f.before == nil {
		return nil
	}
	select {
	case <-f.before:
		return nil
	case <-ctx.Done():
	}
	if !errors.Is(context.Cause(ctx), api.ErrHurry) {
		return context.Cause(ctx)
	}
	<-f.before // soon: those before are hurried too, and on the way out every place is given up in the end
	return nil
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
