package conn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"waybill/schema"
	"waybill/wire"
)

// A Kind says how a call is carried out.
type Kind uint8

// These are the kinds. Changes start in the order of their lines, and reads run beside them.
const (
	// Inline runs on the reader. It waits for nothing and answers before it returns.
	Inline Kind = iota
	// Read answers before it returns, but may take long.
	Read
	// Change starts in the order of the lines, one after the other. It may answer later.
	Change
	// Concurrent runs on a goroutine of its own.
	Concurrent
	// ConcurrentChange runs on a goroutine of its own, too. It has a turn among the changes: it takes effect between
	// Await and Pass.
	ConcurrentChange
	// Own is a method of the connection, such as shutdown. It runs on the reader, needs no room, and may answer later.
	Own
)

// A Call is a request or a notification of the host.
type Call struct {
	// ID is nil for a notification. A request is answered with exactly these bytes.
	ID     []byte
	Method string
	Params []byte // nil if absent

	// Accept sets the fields below.
	Kind Kind
	// Entry is of use to the protocol only.
	Entry any
	// Lasting says that the call lasts until it is cancelled, at the latest when the reading ends.
	Lasting bool

	size     int // bytes, as counted by the limiter
	position     // of its answer in a batch
	key      jsonrpc2.ID
	ctx      context.Context // a field, because a call waits before it runs
	cancel   context.CancelCauseFunc
	progress progress
	turn     *turn // of a ConcurrentChange

	owner   owner // nil after the call was refused
	outcome outcome
}

// An owner carries out calls.
type owner interface {
	finish(c *Call, a Answer)
	complete(c *Call, delivered bool)
}

// An outcome has the callbacks of an answer, for when it is written or never will be.
type outcome struct{ delivered, undelivered func() }

// A position is the place of an answer in a batch, if there is one.
type position struct {
	batch *batch // nil if the answer stands alone
	index int
}

// progress is how far a call has come.
type progress struct {
	started atomic.Bool
	state   atomic.Int32 // open until the call is answered or abandoned
	dropped atomic.Bool  // the host does not want the answer
	lasting bool         // see Call.Lasting; guarded by the mutex of the register
}

// These are the states of a call.
const (
	open      = iota
	answered  // by its method, or by a refusal
	abandoned // answered during shutdown while its method still runs
)

// An Answer is the result of a call, or its fault.
type Answer struct {
	// Result is encoded with codec.Encode. Nil is null.
	Result any
	Fault  *Fault
	// Undelivered, if not nil, is called when the answer could not be written to the host, and Delivered when it was.
	// Neither blocks.
	Undelivered, Delivered func()
}

// A Fault is an error of JSON-RPC.
type Fault struct {
	Code    int
	Message string
	Data    any // nil if absent
}

// FaultOf returns the fault for an error.
func FaultOf(e *schema.Error) *Fault { return &Fault{e.Code, e.Message, e.Data} }

// Answer answers the call. It does not block. Any goroutine may call it, once.
func (c *Call) Answer(a Answer) { c.owner.finish(c, a) }

// complete is called when the answer is written or never will be.
func (c *Call) complete(delivered bool) {
	if c.owner != nil {
		c.owner.complete(c, delivered)
	}
}

// changes reports whether the call changes something.
func (c *Call) changes() bool { return c.Kind == Change || c.Kind == ConcurrentChange }

// A turn is the place of a ConcurrentChange among the changes.
type turn struct {
	ready, passed chan struct{}
	never         <-chan struct{} // closed when no further change has its turn
	pass          func()
}

func newTurn(never <-chan struct{}) *turn {
	t := &turn{ready: make(chan struct{}), passed: make(chan struct{}), never: never}
	t.pass = sync.OnceFunc(func() { close(t.passed) })
	return t
}

// Await blocks until the change may take effect, which is at once for other kinds. It returns an error if ctx ends
// before, unless the cause is hurry: the change then keeps its place, which does not take long.
func (c *Call) Await(ctx context.Context, hurry error) error {
	if c.turn == nil {
		return nil
	}
	select {
	case <-c.turn.ready:
		return nil
	case <-ctx.Done():
	}
	if cause := context.Cause(ctx); !errors.Is(cause, hurry) {
		return cause
	}
	select {
	case <-c.turn.ready:
	case <-c.turn.never:
	}
	return nil
}

// Pass lets the next change take effect. It may be called more than once.
func (c *Call) Pass() {
	if c.turn != nil {
		c.turn.pass()
	}
}

// keyOf returns the library's form of a valid id.
func keyOf(id []byte) jsonrpc2.ID {
	if id[0] == '"' {
		return jsonrpc2.ID{Str: wire.Text(id), IsString: true}
	}
	n := uint64(0)
	for _, c := range id {
		n = 10*n + uint64(c-'0')
	}
	return jsonrpc2.ID{Num: n}
}

// isKey reports whether the library can have sent this id.
func isKey(id []byte) bool {
	if len(id) == 0 || len(id) > 19 {
		return false
	}
	for _, c := range id {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// A register holds the requests without an answer, to cancel them and to refuse a second one with the same id.
type register struct {
	mu   sync.Mutex // guards open
	open map[jsonrpc2.ID]*Call
}

// add adds a request. It reports false if another one has the id.
func (r *register) add(c *Call) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[c.key] != nil {
		return false
	}
	r.open[c.key] = c
	return true
}

// start sets the context of a call, so that it can be cancelled.
func (r *register) start(c *Call, ctx context.Context, cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.ctx, c.cancel, c.progress.lasting = ctx, cancel, c.Lasting
}

// endLasting cancels the calls that last until they are cancelled.
func (r *register) endLasting() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.open {
		if c.progress.lasting {
			c.cancel(context.Canceled)
		}
	}
}

// take removes the request with this id and returns it, or nil.
func (r *register) take(key jsonrpc2.ID) *Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.open[key]
	delete(r.open, key)
	return c
}

// find returns the request with the id that the host has sent, or nil.
func (r *register) find(id []byte) *Call {
	if len(id) == 0 || id[0] != '"' && !isKey(id) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open[keyOf(id)]
}

// all returns the requests without an answer that can be cancelled.
func (r *register) all() []*Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*Call, 0, len(r.open))
	for _, c := range r.open {
		if c.cancel != nil {
			list = append(list, c)
		}
	}
	return list
}
