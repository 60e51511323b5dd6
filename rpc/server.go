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

// linger is how long Serve waits for goroutines that have been told to end. What takes longer is in
// foreign hands, such as a read that nothing interrupts.
const linger = 100 * time.Millisecond

// A server is one connection.
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
	t := &trouble{log: o.Logger, incident: o.incident, tally: o.Tally}
	g, stopping := newGate(), make(chan struct{})
	s.outbox = newOutbox(g, t)
	s.writer = newWriter(s.outbox, o.Out, o.Framing, t)
	s.stream = &stream{outbox: s.outbox, log: o.Logger, tally: o.Tally, stopping: stopping, ended: make(chan struct{})}
	s.stream.frames = wire.NewFrames(&source{o.In, s.writer.flush, &o.Tally.In}, o.maxMessageBytes, o.Framing, s.open)
	s.dispatcher = &dispatcher{
		stream: s.stream, table: o.Table, outbox: s.outbox, flush: s.writer.flush, gate: g, calls: newRegister(), open: newCountdown(),
		trouble: t, words: connectionWords(),
		lane: make(chan *call, maxInHand), reads: make(chan *call, maxInHand),
		quit: make(chan struct{}), stopping: stopping,
		stop: sync.OnceFunc(func() { close(stopping) }),
	}
	// What is in hand when ctx ends is still carried out.
	ctx = context.WithoutCancel(ctx)
	work, giveUp := context.WithCancelCause(ctx)
	s.dispatcher.work, s.dispatcher.giveUp = work, func() { giveUp(api.ErrHurry) }
	s.dispatcher.rota.next, s.dispatcher.rota.running = s.reader, &s.dispatcher.running
	s.library, s.endLibrary = context.WithCancel(ctx)
	s.notesCtx, s.stopNotes = context.WithCancel(ctx)
	return s
}

// A source has everything written that was answered on the spot before it reads on, so that this is
// written together.
type source struct {
	in    io.Reader
	flush func()
	bytes *atomic.Int64 // that were read
}

func (s *source) Read(p []byte) (int, error) {
	s.flush()
	n, err := s.in.Read(p)
	s.bytes.Add(int64(n))
	return n, err
}

// open is called when the framing is known: before that nothing could be written.
func (s *server) open(f wire.Framing) {
	s.writer.framing = f
	if s.o.Notify == nil {
		return
	}
	s.notes.Go(func() { // ends when stopNotes was called
		t := s.dispatcher.trouble
		defer func() { _ = t.caught(recover(), "the notifier") }()
		if err := s.o.Notify(s.notesCtx, s.outbox.notify); err != nil && s.notesCtx.Err() == nil {
			t.log.Warn("no more notifications will be sent", "cause", err)
		}
	})
}

// run serves until there is a reason to end, and cleans up.
func (s *server) run(ctx context.Context) (exitCode int) {
	d := s.dispatcher
	written := make(chan struct{})
	go func() { // ends when the outbox is closed and empty
		defer close(written)
		s.writer.run()
	}()
	d.running.Go(func() { d.serve(d.lane, d.carry) })
	d.rota.begin()
	select {
	case <-s.stream.ended:
	case <-s.outbox.broken:
	case <-ctx.Done():
	}
	s.leave()
	s.drain(written)
	s.release()
	if d.exited.Load() && !d.polite.Load() {
		return 1
	}
	return 0
}

// reader starts a reader.
func (s *server) reader() *shift {
	h := &shift{stream: s.stream}
	jsonrpc2.NewConn(s.library, h, s.dispatcher, jsonrpc2.SetLogger(libraryLog{s.o.Logger}))
	return h
}

// leave ends the reading.
func (s *server) leave() {
	d := s.dispatcher
	d.stop()
	d.gate.moved.Beat()
	wire.Interrupt(s.o.In)
	wire.Within(linger, s.stream.ended)
	d.open.close()
	d.gate.held.close()
}

// drain lets everything in hand be carried out, answered and written, as long as that moves.
func (s *server) drain(written <-chan struct{}) {
	d := s.dispatcher
	answered := d.settle(d.gate.held.zero)
	s.stopNotes()
	s.outbox.close()
	if answered && d.settle(written) {
		return
	}
	s.outbox.fail(errLeftBehind)
	_ = s.o.Out.Close()
	if !wire.Within(linger, written) {
		s.writer.abandon()
	}
}

var errLeftBehind = fmt.Errorf("nothing moved for %v on the way out", hardStop)

// release ends what is still there, and waits for it.
func (s *server) release() {
	d := s.dispatcher
	d.rota.end()
	d.giveUp()
	close(d.quit)
	_ = s.o.Out.Close()
	_ = s.o.In.Close()
	s.endLibrary()
	ended := make(chan struct{})
	go func() { // ends with the last of them
		defer close(ended)
		s.notes.Wait()
		d.running.Wait()
	}()
	if !wire.Within(linger, ended) {
		s.o.Logger.Warn("a method or the notifier did not end and is left behind")
	}
	s.o.Logger.Info("the connection ended", s.o.Tally.Attrs()...)
}

// A libraryLog takes what the library has to say: nothing that a host has to know.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Printf(format string, args ...any) {
	l.log.Debug(strings.TrimSpace(fmt.Sprintf(format, args...)))
}
