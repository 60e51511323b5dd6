// Package pipe connects one host with an SDK server over a pair of streams. It supports both eras of the protocol, bounds
// the requests in flight, keeps changes in order, and ends in an orderly way.
//
// It knows no tool and no method of waybill.
package pipe

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/wire"
)

// Options configures Serve. All fields but Supervision are required.
type Options struct {
	// In is read until its end. Serve closes it.
	In io.ReadCloser
	// Out receives messages only. Serve closes it.
	Out io.WriteCloser
	// Server handles the requests.
	Server *sdk.Server
	// IsChange reports whether a tool changes something, so that its calls keep their order.
	IsChange func(tool string) bool
	// Busy reports whether a store is at work, which counts as progress during shutdown.
	Busy func() bool
	// Background runs from the first byte of the host until ctx ends.
	Background func(ctx context.Context) error
	Logger     *slog.Logger
	// Tally counts the traffic, and the events that no answer reported.
	Tally *wire.Tally
	// Supervision, if not nil, connects a supervisor that is between the host and this process.
	Supervision *Supervision
	// MaxMessageBytes limits one message.
	MaxMessageBytes int
}

// A Supervision is what a process and its successors leave each other. The host sees none of it.
type Supervision struct {
	// Method is the notification of the supervisor that says what the predecessor left.
	Method string
	// TakeOver gets its params. It returns how many predecessors have died.
	TakeOver func(params []byte) (deaths int)
	// Attach gets a function that sends a line to the supervisor, in order with the answers. It does not block, because
	// its caller may hold what the callbacks of undelivered answers need.
	Attach func(send func(line []byte))
}

// Serve serves the host until the input or ctx ends, or until the host stops reading. Every request that was read is then
// answered, if the host has read the answers.
//
// A bad message never ends the session: it is refused, or dropped if it has no answer, and the next line is read.
//
// Tools that change something take effect in the order of their lines; other requests run concurrently. At most 1,024
// requests are in flight. While there is progress the reader waits for room; after 3 s without it, further requests are
// answered OVERLOADED.
//
// During shutdown nothing more is read, accepted requests end and are answered, and subscriptions end. Requests without
// progress for 1 s are hurried, then answered with SHUTTING_DOWN, and abandoned within 1.5 s.
func Serve(ctx context.Context, o Options) { newConn(o).serve(ctx) }

// NewIncident returns a random id for a defect.
func NewIncident() string { return "inc_" + strings.ToLower(rand.Text()[:12]) }
