package rpc

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"waybill/api"
	"waybill/wire"
)

// closeTimeout is how long Serve waits for goroutines that were asked to end. A read that cannot be interrupted takes
// longer.
const closeTimeout = 100 * time.Millisecond

// A server serves one connection.
type server struct {
	o          Options
	stream     *stream
	dispatcher *dispatcher
	outbox     *outbox
	writer     *writer

	library    context.Context // of its connections
	endLibrary context.CancelFunc

	notes     sync.WaitGroup // the notifier
	notesCtx  context.Context
	stopNotes context.CancelFunc
}

func newServer(ctx context.Context, o Options) *server {
	s := &server{o: o}
	defects := &defectLog{log: o.Logger, incident: o.incident, tally: o.Tally}
	l, stopping := newLimiter(), make(chan struct{})
	s.outbox = newOutbox(l, defects)
	s.writer = newWriter(s.outbox, o.Out, o.Framing, defects)
	s.stream = &stream{outbox: s.outbox, log: o.Logger, tally: o.Tally, stopping: stopping, ended: make(chan struct{})}
	s.stream.frames = wire.NewFrames(&flushingReader{o.In, s.writer.flush, &o.Tally.In}, o.maxMessageBytes, o.Framing, s.startNotifying)
	s.dispatcher = &dispatcher{
		stream: s.stream, table: o.Table, outbox: s.outbox, flush: s.writer.flush, limiter: l, calls: newRegister(), unanswered: newCountdown(),
		defects: defects, connectionMethods: connectionMethods(),
		changes: make(chan *call, maxInFlight), reads: make(chan *call, maxInFlight),
		quit: make(chan struct{}), stopping: stopping,
		stop: sync.OnceFunc(func() { close(stopping) }),
	}
	// Accepted calls still run after ctx ends.
	ctx = context.WithoutCancel(ctx)
	work, giveUp := context.WithCancelCause(ctx)
	s.dispatcher.callCtx, s.dispatcher.cancelCalls = work, func() { giveUp(api.ErrHurry) }
	s.dispatcher.handOver.startReader, s.dispatcher.handOver.running = s.startReader, &s.dispatcher.running
	s.library, s.endLibrary = context.WithCancel(ctx)
	s.notesCtx, s.stopNotes = context.WithCancel(ctx)
	return s
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

// startNotifying is called when the framing is known, before which nothing can be written.
func (s *server) startNotifying(f wire.Framing) {
	s.writer.framing = f
	if s.o.Notify == nil {
		return
	}
	s.notes.Go(func() { // ends when stopNotes was called
		t := s.dispatcher.defects
		defer func() { _ = t.recovered(recover(), "the notifier") }()
		if err := s.o.Notify(s.notesCtx, s.outbox.notify); err != nil && s.notesCtx.Err() == nil {
			t.log.Warn("the notifier failed; no more notifications are sent", "cause", err)
		}
	})
}

// run serves the connection until it ends, and cleans up.
func (s *server) run(ctx context.Context) (exitCode int) {
	d := s.dispatcher
	written := make(chan struct{})
	go func() { // ends when the outbox is closed and empty
		defer close(written)
		s.writer.run()
	}()
	d.running.Go(func() { d.runCalls(d.changes, d.runWhenRoom) })
	d.handOver.start()
	select {
	case <-s.stream.ended:
	case <-s.outbox.broken:
	case <-ctx.Done():
	}
	s.stopReading()
	s.drain(written)
	s.cleanUp()
	if d.exitAsked.Load() && !d.shutdownAsked.Load() {
		return 1
	}
	return 0
}

// startReader starts a goroutine of the library that reads the stream.
func (s *server) startReader() *readTurn {
	turn := &readTurn{stream: s.stream}
	jsonrpc2.NewConn(s.library, turn, s.dispatcher, jsonrpc2.SetLogger(libraryLog{s.o.Logger}))
	return turn
}

// stopReading ends the reading and closes the input to further calls.
func (s *server) stopReading() {
	d := s.dispatcher
	d.stop()
	d.limiter.activity.Beat()
	wire.Interrupt(s.o.In)
	wire.Within(closeTimeout, s.stream.ended)
	d.unanswered.close()
	d.limiter.slots.close()
}

// drain waits until every accepted call is answered and written, while there is progress.
func (s *server) drain(written <-chan struct{}) {
	d := s.dispatcher
	answered := d.waitWhileActive(d.limiter.slots.zero)
	s.stopNotes()
	s.outbox.close()
	if answered && d.waitWhileActive(written) {
		return
	}
	s.outbox.fail(errNoProgress)
	_ = s.o.Out.Close()
	if !wire.Within(closeTimeout, written) {
		s.writer.abandon()
	}
}

var errNoProgress = fmt.Errorf("no progress for %v during shutdown", abandonAfter)

// cleanUp ends the remaining goroutines and waits for them.
func (s *server) cleanUp() {
	d := s.dispatcher
	d.handOver.end()
	d.cancelCalls()
	close(d.quit)
	_ = s.o.Out.Close()
	_ = s.o.In.Close()
	s.endLibrary()
	ended := make(chan struct{})
	go func() { // ends with the last goroutine
		defer close(ended)
		s.notes.Wait()
		d.running.Wait()
	}()
	if !wire.Within(closeTimeout, ended) {
		s.o.Logger.Warn("a method or the notifier did not end and was abandoned")
	}
	s.o.Logger.Info("the connection ended", s.o.Tally.Attrs()...)
}

// A libraryLog writes the messages of the library to the debug log.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Printf(format string, args ...any) {
	l.log.Debug(strings.TrimSpace(fmt.Sprintf(format, args...)))
}
