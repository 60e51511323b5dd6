// Package pipe connects one host with a server over a pair of streams. It bounds the requests in flight, keeps changes in
// order, and ends in an orderly way.
//
// It knows no tool and no method but the cancellation of a request.
package pipe

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"strings"

	"waybill/schema"
	"waybill/wire"
)

// Options configures Serve. All fields but the last two are required.
type Options struct {
	// In is read until its end. Serve closes it.
	In io.ReadCloser
	// Out receives messages only. Serve closes it.
	Out io.WriteCloser
	// Accept returns how to carry out a request. It is called for one request after the other, and does not block.
	Accept func(r *Request) (Work, *Fault)
	// Listening is the method whose requests last as long as the connection.
	Listening string
	// Attach gets the connection before the first request.
	Attach func(c *Conn)
	// Busy reports whether a store is at work, which counts as progress during shutdown.
	Busy func() bool
	// Background runs from the first byte of the host until ctx ends.
	Background func(ctx context.Context)
	Logger     *slog.Logger
	// Tally counts the traffic, and the events that no answer reported.
	Tally *wire.Tally
	// MaxMessageBytes limits one message.
	MaxMessageBytes int
	// Predecessor is the notification by which a supervisor tells what the last process left, or "". TakeOver gets its
	// params, and returns how many processes have died.
	Predecessor string
	TakeOver    func(params []byte) (deaths int)
}

// A Request is a request of the host.
type Request struct {
	ID     []byte // as the host sent it
	Method string
	Params []byte // nil if absent
}

// A Work is how to carry out a request.
type Work struct {
	Run    func(ctx context.Context) (result any, fault *Fault)
	Inline bool // Run waits for nothing, and runs on the reader
	Change bool // Run changes something, and takes effect in the order of the lines
}

// A Fault is an error of the protocol.
type Fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitzero"`
}

// FaultOf returns the fault for an error.
func FaultOf(e *schema.Error) *Fault { return &Fault{e.Code, e.Message, e.Data} }

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
