package mcp

import (
	"context"
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

// A hand holds the flights.
type hand struct {
	moved *wire.Pulse   // beats when a flight begins, is answered, or lands
	freed chan struct{} // holds a token if there may be more room than before; never closed
	empty chan struct{} // closed when nothing is in hand, after shut

	mu      sync.Mutex // guards what follows, and what the flights say that it guards
	open    map[jsonrpc.ID]*flight
	byExtra map[*sdk.RequestExtra]*flight // those in open
	held    int                           // open, or their answers are not written yet
	bytes   int                           // of params of those in open
	lane    []*flight                     // changes, in order, from the first one on that has not passed
	shut    bool
}

func newHand(moved *wire.Pulse) *hand {
	return &hand{
		moved: moved, freed: make(chan struct{}, 1), empty: make(chan struct{}),
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

// begin takes a flight in, and reports whether that is still possible. A change gets its place behind the changes
// before it.
func (h *hand) begin(f *flight) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shut {
		return false
	}
	f.hand, f.extra = h, &sdk.RequestExtra{}
	if f.change {
		f.first = make(chan struct{})
		h.lane = append(h.lane, f)
		h.advance()
	}
	h.open[f.key], h.byExtra[f.extra] = f, f
	h.held++
	h.bytes += f.size
	h.moved.Beat()
	return true
}

// advance lets the first change take effect, when those before it have passed. One that let the others go before its
// turn came, and so is passed over, gets its turn too: it may still want to take effect. The caller holds mu.
func (h *hand) advance() {
	for len(h.lane) > 0 {
		f := h.lane[0]
		if !f.isFirst {
			f.isFirst = true
			close(f.first)
		}
		if !f.passed {
			return
		}
		h.lane[0] = nil
		h.lane = h.lane[1:]
	}
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
