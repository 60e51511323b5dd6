// Package rpc serves the methods of a table to one host, in JSON-RPC 2.0 over a pair of byte streams
// such as stdin and stdout.
//
// It refuses to know what any method means, to open a store or a socket, to send requests to the host,
// and to let one bad message cost the session: whatever comes in is answered or skipped, and the next
// message is read.
//
// # Order
//
// Messages are read one after the other. Methods of the connection and Control methods are answered on
// the spot. Change methods are started in the order in which they were sent, one after the other;
// their answers come when they come. Read methods run beside them, at most 64 at a time. Everything is
// written in the order in which it became ready, so an answer precedes what is announced after it.
//
// A host that asks one thing after the other is answered by the goroutine that reads, because to wake
// another one takes longer than most answers. What comes in meanwhile waits for about 2 ms: then
// another goroutine reads on. The reader is always one of the library's.
//
// # When more comes in than goes out
//
// At most 1,024 requests are in hand: taken, and their answers not yet written. Those that have no answer
// yet have at most 64 MiB of params. When there is no room, there are two ways to keep the next one out,
// and each is right at its time.
//
// As long as something moves, the reader waits for room. A shell that pipes in 100,000 lines gets
// 100,000 answers, as fast as they can be given and read. The wait is short, for there is room with the
// next answer that is written.
//
// When nothing moves, the reader must not wait: behind what it would wait for may be the cancellation
// of a call, or the end of the input. So once the host has read nothing for 100 ms, or no call has been
// answered for 1 s (calls that wait for something can be as slow as that), requests beyond the bound
// are answered OVERLOADED at once, until something moves again. Refusals take memory too: if a host
// leaves 16 MiB unread, the reader does wait for it, and the wait ends with the rule that a host that
// has read nothing for 5 s is gone.
//
// # The way out
//
// The end of the input, the end of the context, exit, and an output that takes nothing all lead the
// same way: nothing more is read, what is in hand is carried out and answered, then Serve returns. What
// has not moved for 1 s is cancelled, then answered with SHUTTING_DOWN, and left behind within 1.5 s. A store
// that is being opened counts as movement for 3 s.
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

// Options says what Serve serves to whom. In, Out and Table are required.
type Options struct {
	// In is read until its end. Serve closes it. A Read that neither SetReadDeadline nor Close
	// interrupts, such as that of a terminal, is left behind when Serve returns.
	In io.ReadCloser
	// Out gets nothing but messages. Serve closes it. If it has SetWriteDeadline, a host that does
	// not read is noticed sooner.
	Out io.WriteCloser
	// Table has the methods. Those of the connection need no Start.
	Table *api.Table
	// Notify, if not nil, is called once, when the host has sent its first byte. It sends
	// notifications until ctx ends. send does not block; it may drop a notification and say so in
	// a notification of its own. The params must not change after they were sent.
	Notify func(ctx context.Context, send func(method string, params any)) error
	// Framing is wire.Auto unless the host needs to be told.
	Framing wire.Framing
	// Logger gets what the host cannot be told; by default nobody does.
	Logger *slog.Logger
	// Tally, if not nil, counts what goes over the connection and what the host was not told, for who wants to know.
	Tally *wire.Tally

	// maxMessageBytes bounds one message; it is schema.MaxMessageBytes, but tests have less memory.
	maxMessageBytes int
	// incident gives a new name for a defect, which is told to the host and to the log; tests want
	// one that they know.
	incident func() string
}

// Serve answers the host's requests until its input or ctx ends, it says exit, or it reads no answers
// any more. By then every request that was read has been answered, if the host took the answers.
//
// The exit code is 1 if the host said exit without shutdown, and else 0. An error means that the
// options are wrong, and nothing was done.
func Serve(ctx context.Context, o Options) (exitCode int, err error) {
	if err := o.fill(); err != nil {
		return 2, err
	}
	return newServer(ctx, o).run(ctx), nil
}

// fill checks the options and puts in the defaults.
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
