// Package rpc serves the methods of a table to one host, in JSON-RPC 2.0 over a pair of byte streams
// such as stdin and stdout.
//
// It does not know what a method means, opens no store or socket, and sends no requests to the host. A bad
// message never ends the session: it is answered or skipped, and the next one is read.
//
// # Order
//
// Messages are read one after the other. The reader itself answers methods of the connection and Control
// methods. Change methods start in the order of their lines; their answers may come in another order. At most
// 64 Read methods run at the same time. Output is written in the order in which it becomes ready, so an answer
// precedes every notification that follows from it.
//
// A single Read method runs on the reader, because waking another goroutine takes longer than most answers. If
// it takes longer than about 2 ms, another goroutine of the library continues to read.
//
// # Backpressure
//
// At most 1,024 requests are in flight: accepted, with their answers not yet written. The params of unanswered
// requests take at most 64 MiB. Beyond these limits the reader waits or refuses.
//
// While there is progress, the reader waits for room. A shell that pipes in 100,000 lines gets 100,000 answers.
// The wait is short, because the next written answer makes room.
//
// Without progress the reader must not wait, because the next message may be a cancellation or the end of the
// input. Once the host has read nothing for 100 ms, or no call has made progress for 3 s, further requests are
// answered OVERLOADED at once. Refusals take memory too: if the host leaves 16 MiB unread, the reader waits.
// A host that has read nothing for 5 s counts as gone, which ends every wait.
//
// # Shutdown
//
// Four events end a connection: the end of the input, the end of the context, exit, and a broken output. The
// reading stops, accepted calls end and are answered, and Serve returns. Calls without progress for 1 s are
// cancelled, then answered with SHUTTING_DOWN, and abandoned within 1.5 s. Opening or writing a store counts as
// progress for 3 s.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"waybill/api"
	"waybill/schema"
	"waybill/wire"
)

// Options configures Serve. In, Out and Table are required.
type Options struct {
	// In is read until its end. Serve closes it. If neither SetReadDeadline nor Close interrupts a Read, as with a
	// terminal, that Read outlives Serve.
	In io.ReadCloser
	// Out receives messages only. Serve closes it. If it has SetWriteDeadline, Serve notices a host that does not
	// read sooner.
	Out io.WriteCloser
	// Table holds the methods. Methods of the connection need no Start.
	Table *api.Table
	// Notify, if not nil, is called once, after the host's first byte. It sends notifications until ctx ends. send
	// does not block; it may drop notifications and report their number later. The params must not change afterwards.
	Notify func(ctx context.Context, send func(method string, params any)) error
	// Framing is wire.Auto, the default, unless the host requires one.
	Framing wire.Framing
	// Logger receives events that no answer can report. The default discards them.
	Logger *slog.Logger
	// Tally, if not nil, counts the traffic of the connection and the events that no answer reported.
	Tally *wire.Tally

	// maxMessageBytes limits one message. Tests set it; the default is schema.MaxMessageBytes.
	maxMessageBytes int
	// incident returns a new id for a defect. Tests set it to get predictable ids.
	incident func() string
}

// Serve answers the host's requests until the input or ctx ends, the host calls exit, or it stops reading. Every
// request that was read is then answered, if the host has read the answers.
//
// The exit code is 1 if the host called exit without shutdown, and otherwise 0. An error means that the options
// are wrong; Serve has then done nothing.
func Serve(ctx context.Context, o Options) (exitCode int, err error) {
	if err := o.fill(); err != nil {
		return 2, err
	}
	return newServer(ctx, o).run(ctx), nil
}

// fill checks the options and sets the defaults.
func (o *Options) fill() error {
	switch {
	case o.In == nil:
		return errors.New("rpc: Options.In is missing")
	case o.Out == nil:
		return errors.New("rpc: Options.Out is missing")
	case o.Table == nil:
		return errors.New("rpc: Options.Table is missing")
	case o.Framing > wire.Headers:
		return fmt.Errorf("rpc: Options.Framing is %v", o.Framing)
	}
	if o.Tally == nil {
		o.Tally = new(wire.Tally)
	}
	if o.maxMessageBytes == 0 {
		o.maxMessageBytes = schema.MaxMessageBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.incident == nil {
		o.incident = newIncident
	}
	return nil
}
