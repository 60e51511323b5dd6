// Package conn serves one host over a pair of byte streams in JSON-RPC 2.0, on the connection of
// github.com/sourcegraph/jsonrpc2: its Conn reads every request, passes it to its Handler, writes every answer and
// notification, and matches the answers of the host to requests of ours. The ObjectStream below it detects the framing,
// keeps params and results as bytes, divides batches, and answers what would end the library's connection.
//
// It knows no method. A Protocol says how each call is carried out. A bad message never ends the session: it is answered
// or skipped, and the next one is read.
//
// # Order
//
// Messages are read one after the other. The reader itself runs Inline calls. Changes start in the order of their lines;
// their answers may come in another order. At most 64 reads run at the same time. Output is written in the order in which
// it becomes ready, so an answer precedes every notification that follows from it.
//
// A single read runs on the reader, because waking another goroutine takes longer than most answers. If it takes longer
// than about 2 ms, another Conn of the library continues to read.
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
// Four events end a connection: the end of the input, the end of the context, Stop, and a broken output. The reading
// stops, accepted calls end and are answered, and Serve returns. Calls without progress for 1 s, or for 3 s after the end
// of the input, are cancelled, then answered with SHUTTING_DOWN, and abandoned within another 0.5 s.
package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"waybill/schema"
	"waybill/wire"
)

// Options configures Serve. In, Out and Protocol are required.
type Options struct {
	// In is read until its end. Serve closes it. If neither SetReadDeadline nor Close interrupts a Read, as with a
	// terminal, that Read outlives Serve.
	In io.ReadCloser
	// Out receives messages only. Serve closes it. If it has SetWriteDeadline, Serve notices a host that does not
	// read sooner.
	Out io.WriteCloser
	// Framing is wire.Auto, the default, unless the host requires one.
	Framing wire.Framing
	// Batches says that the protocol has batches.
	Batches bool
	// Protocol carries out the calls.
	Protocol Protocol
	// Attach, if not nil, gets the connection before the first call.
	Attach func(c *Conn)
	// Background, if not nil, runs from the first byte of the host until ctx ends.
	Background func(ctx context.Context)
	// Hurry is the cause by which calls are cancelled during shutdown.
	Hurry error
	// Logger receives events that no answer can report. The default discards them.
	Logger *slog.Logger
	// Tally, if not nil, counts the traffic of the connection and the events that no answer reported.
	Tally *wire.Tally
	// MaxMessageBytes limits one message. The default is schema.MaxMessageBytes.
	MaxMessageBytes int
	// Incident returns a new id for a defect. The default is NewIncident.
	Incident func() string
	// Dropped returns the notification that reports dropped ones. Without it none is dropped.
	Dropped func(n int) (method string, params any)
}

// A Protocol says what calls mean.
type Protocol interface {
	// Accept sets how to carry out a call, or returns why not. The reader calls it for one call after the other.
	Accept(c *Call) *Fault
	// Start carries out a call, which is answered once by its Answer.
	Start(ctx context.Context, c *Call)
}

// Check sets the defaults of the options. It returns an error that names what is missing.
func (o *Options) Check() error {
	switch {
	case o.In == nil:
		return errors.New("Options.In is missing")
	case o.Out == nil:
		return errors.New("Options.Out is missing")
	case o.Framing > wire.Headers:
		return fmt.Errorf("Options.Framing is %v", o.Framing)
	}
	if o.Tally == nil {
		o.Tally = new(wire.Tally)
	}
	if o.MaxMessageBytes == 0 {
		o.MaxMessageBytes = schema.MaxMessageBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Incident == nil {
		o.Incident = NewIncident
	}
	return nil
}

// A Conn is the connection to one host. Any goroutine may use it.
type Conn struct {
	o          Options
	stream     *stream
	dispatcher *dispatcher
	outbox     *outbox
	writer     *writer

	library    context.Context // of its connections
	endLibrary context.CancelFunc
	background background

	lastID  atomic.Int64 // of a request to the host
	notes   sync.Mutex   // guards dropped, and keeps a notification behind the report of those dropped before it
	dropped int
}

// A background is the goroutine of Options.Background.
type background struct {
	sync.WaitGroup
	ctx  context.Context
	stop context.CancelFunc
}

// Serve serves the host until the input or ctx ends, the protocol stops, or the host stops reading. Every request that
// was read is then answered, if the host has read the answers. The options must have passed Check.
func Serve(ctx context.Context, o Options) {
	c := newConn(o)
	if o.Attach != nil {
		o.Attach(c)
	}
	c.run(ctx)
}

func newConn(o Options) *Conn {
	c := &Conn{o: o, outbox: newOutbox()}
	defects := &defectLog{log: o.Logger, incident: o.Incident, tally: o.Tally}
	l, w := newLimiter(), &work{quit: make(chan struct{}), stopping: make(chan struct{})}
	w.stop = sync.OnceFunc(func() { close(w.stopping) })
	base := context.Background() // accepted calls still run after the context of Serve ends
	ctx, giveUp := context.WithCancelCause(base)
	w.ctx, w.hurry = ctx, func() { giveUp(o.Hurry) }
	c.writer = newWriter(c.outbox, o.Out)
	c.writer.wrote = func(n int) { o.Tally.Out.Add(int64(n)); l.signal() }
	c.writer.failed = func(cause error) { o.Logger.Warn("writing the output failed", "cause", cause) }
	c.writer.drained = c.reportDropped
	c.stream = &stream{
		batches: o.Batches, calls: register{open: map[jsonrpc2.ID]*Call{}}, outbox: c.outbox, freed: l.freed, log: o.Logger, tally: o.Tally,
		stopping: w.stopping, ended: make(chan struct{}), released: make(chan struct{}),
	}
	c.stream.frames = wire.NewFrames(&flushingReader{o.In, c.writer.flush, &o.Tally.In}, o.MaxMessageBytes, o.Framing, c.begin)
	c.dispatcher = &dispatcher{
		protocol: o.Protocol, stream: c.stream, writer: c.writer, limiter: l, unanswered: countdown{zero: make(chan struct{})},
		defects: defects, changes: make(chan *Call, maxInFlight), reads: make(chan *Call, maxInFlight), work: w,
	}
	c.dispatcher.handOver = handOver{startReader: c.startReader, running: &c.dispatcher.running}
	c.library, c.endLibrary = context.WithCancel(base)
	c.background.ctx, c.background.stop = context.WithCancel(base)
	return c
}

// A flushingReader flushes the answers of the last read before the next one, so that they are written together.
type flushingReader struct {
	in    io.Reader
	flush func()
	bytes *atomic.Int64 // that were read
}

func (s *flushingReader) Read(p []byte) (int, error) {
	s.flush()
	n, err := s.in.Read(p)
	s.bytes.Add(int64(n))
	return n, err
}

// begin is called when the framing is known, before which nothing can be written.
func (c *Conn) begin(f wire.Framing) {
	c.stream.framing = f
	if c.o.Background == nil {
		return
	}
	c.background.Go(func() { // ends when stop was called
		defer func() { _ = c.dispatcher.defects.recovered(recover(), "the notifier") }()
		c.o.Background(c.background.ctx)
	})
}

// startReader starts a Conn of the library that reads the stream.
func (c *Conn) startReader() *reader {
	r := &reader{stream: c.stream}
	r.conn = jsonrpc2.NewConn(c.library, r, currentHandler{c.dispatcher, r}, jsonrpc2.SetLogger(libraryLog{c.o.Logger}),
		jsonrpc2.OnSend(r.sending), jsonrpc2.OnRecv(r.received))
	return r
}

// A libraryLog writes the messages of the library to the debug log.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Printf(format string, args ...any) {
	l.log.Debug(strings.TrimSpace(fmt.Sprintf(format, args...)))
}
