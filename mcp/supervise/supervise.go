// Package supervise keeps one conversation of the Model Context Protocol alive while the processes that serve it die and
// are started again, because most hosts lose a server that dies for the rest of their session.
//
// It passes whole lines between the host and a worker process, and remembers what a new worker must be told: the
// handshake, the subscriptions and the requests that may be repeated. It opens no store and knows no tool. It
// cannot know whether a lost change took effect, and answers that this is unknown.
package supervise

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"waybill/wire"
)

const (
	// maxDeaths within deathTime end the conversation: the next worker would die as well.
	maxDeaths = 5
	deathTime = time.Minute
	// retryAfter is the wait before the second and every later restart in a row.
	retryAfter = 200 * time.Millisecond
	// exitTime is how long a worker may take to exit after its output has ended, and its last lines to reach the host
	// after it has exited.
	exitTime = 5 * time.Second
)

// ErrKeepsDying is the error of Run after maxDeaths.
var ErrKeepsDying = errors.New("the process that serves the tools died 5 times within a minute")

// Options configures Run. All fields are required.
type Options struct {
	// In and Out connect the host, with one message a line.
	In  io.ReadCloser
	Out io.WriteCloser
	// Start starts a worker process.
	Start func() (*Worker, error)
	// Repeatable reports whether a request can be sent to the next worker if the first one died before it answered, and
	// whether that ends when the host answers a question of the worker, because the answer may have taken effect.
	Repeatable func(method string, params []byte) (repeatable, untilAnswer bool)
	Logger     *slog.Logger
	// MaxMessageBytes limits the messages that are examined. The worker refuses longer ones.
	MaxMessageBytes int
}

// A Worker is a process that serves a conversation.
type Worker struct {
	In      io.WriteCloser // its standard input
	Out     io.ReadCloser  // its standard output
	Written io.WriteCloser // gets a byte for each line of Out that the host was given
	// Leave asks the worker to end its work and exit.
	Leave func()
	// Kill ends it at once.
	Kill func()
	// Wait returns after the worker has exited, with its exit code, or -1 and how it died.
	Wait func() (code int, death string)
	// Unread returns how many lines it has not read. It is called after Wait, when In is closed.
	Unread func() int
}

// A supervisor is one conversation.
type supervisor struct {
	o        Options
	memory   memory
	hostGone chan struct{} // closed when the host cannot be written to
	goneOnce sync.Once

	// turn is held while lines are written to a worker. It guards the fields below.
	turn   sync.Mutex
	ready  *sync.Cond // of turn: worker or over has changed
	worker *Worker    // nil while none can take lines
	ended  bool       // the input has ended
	over   bool       // no worker will be started any more
}

// Run serves the host until its input or ctx ends, or until workers die again and again. It returns the exit code of the
// last worker, or -1 if a signal killed it. The error is ErrKeepsDying, or says why no worker could be started.
func Run(ctx context.Context, o Options) (exitCode int, err error) {
	s := &supervisor{o: o, hostGone: make(chan struct{})}
	s.ready = sync.NewCond(&s.turn)
	s.memory.init()
	s.turn.Lock()
	go s.readHost() // ends with the input or the process
	code, err := s.serve(ctx)
	s.over = true
	s.ready.Broadcast()
	s.turn.Unlock()
	for _, lost := range s.memory.takeLost() {
		s.toHost(unanswered(lost.id))
	}
	wire.Interrupt(o.In)
	_ = o.Out.Close()
	return code, err
}

// serve runs one worker after the other. It is called and returns with turn held.
func (s *supervisor) serve(ctx context.Context) (exitCode int, err error) {
	var deaths []time.Time
	for first := true; ; first = false {
		unread := 0
		w, err := s.o.Start()
		if err != nil {
			if first {
				return 0, err
			}
			s.o.Logger.Error("no new worker can be started", "cause", err)
		} else {
			var code int
			var death string
			code, death, unread = s.serveWith(ctx, w)
			if s.isLast(ctx, first && death == "") {
				return code, nil
			}
			s.o.Logger.Warn("the worker ended unasked; a new one takes over", "code", code, "death", death)
		}
		s.answerLost(unread)
		deaths = append(deaths, time.Now())
		if n := len(deaths) - maxDeaths; n >= 0 && time.Since(deaths[n]) < deathTime {
			return 1, ErrKeepsDying
		}
		if len(deaths) > 1 && time.Since(deaths[len(deaths)-2]) < deathTime {
			s.turn.Unlock() // without a worker, the lines of the host wait all the same
			pause(ctx, retryAfter)
			s.turn.Lock()
		}
	}
}

// isLast reports whether no other worker may follow. The first one that exits before it has said a word has its reasons,
// such as a wrong command line.
func (s *supervisor) isLast(ctx context.Context, exitedFirst bool) bool {
	select {
	case <-s.hostGone:
		return true
	default:
		return s.ended || ctx.Err() != nil || exitedFirst && !s.memory.hasSpoken()
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// serveWith lets a worker serve until it has exited. It is called and returns with turn held; the host's lines pass
// meanwhile.
func (s *supervisor) serveWith(ctx context.Context, w *Worker) (code int, death string, unread int) {
	outputEnded, exited := make(chan struct{}), make(chan struct{})
	go func() { defer close(outputEnded); s.passOutput(w) }() // ends with the output
	go func() {                                               // ends with the worker
		defer close(exited)
		code, death = w.Wait()
		_ = w.In.Close() // ends a write, which gets no error for a missing reader while Unread can still read
	}()
	stop := context.AfterFunc(ctx, func() { s.stopWorker(w, exited) }) // a signal
	if s.introduce(w, outputEnded) && !s.ended {
		s.worker = w
		s.ready.Broadcast()
	} else {
		_ = w.In.Close()
	}
	s.turn.Unlock()
	select {
	case <-outputEnded:
		if !wire.Within(exitTime, exited) {
			w.Kill()
			<-exited
		}
	case <-exited: // its last lines may still be on their way to the host
		if !wire.Within(exitTime, outputEnded) {
			s.loseHost()
		}
	}
	stop()
	s.turn.Lock()
	s.worker = nil
	_ = w.Written.Close()
	return code, death, w.Unread()
}

// stopWorker asks a worker to end, and ends it if it does not.
func (s *supervisor) stopWorker(w *Worker, exited <-chan struct{}) {
	w.Leave()
	if !wire.Within(2*exitTime, exited) {
		w.Kill()
	}
}

// loseHost records that the host cannot be written to.
func (s *supervisor) loseHost() { s.goneOnce.Do(func() { close(s.hostGone) }) }

// introduce tells a worker what the host has told its predecessors, and reports whether the worker took all of it.
// It is called with turn held.
func (s *supervisor) introduce(w *Worker, outputEnded <-chan struct{}) bool {
	for _, step := range s.memory.introduction() {
		if _, err := w.In.Write(step.lines); err != nil {
			return false
		}
		s.memory.sent(step.lines, step.request)
		if step.answered == nil {
			continue
		}
		select {
		case <-step.answered:
		case <-outputEnded:
			return false
		}
	}
	return true
}

// answerLost answers the requests of a worker that died, except those that the next one gets, and withdraws its questions.
func (s *supervisor) answerLost(unread int) {
	lost, asked := s.memory.workerDied(unread)
	for _, id := range asked {
		s.toHost(withdrawal(id))
	}
	for _, r := range lost {
		s.toHost(unanswered(r.id))
	}
}

// toHost writes a line to the host. Only one goroutine calls it at a time: passOutput, or serve between two workers.
func (s *supervisor) toHost(line []byte) bool {
	select {
	case <-s.hostGone: // a write might never end
		return false
	default:
	}
	_, err := s.o.Out.Write(line)
	if err != nil {
		s.loseHost()
	}
	return err == nil
}

// passOutput passes the lines of a worker to the host until they end or the host is gone. A line without end is of no
// use: its writer died.
func (s *supervisor) passOutput(w *Worker) {
	defer func() { _ = w.Out.Close(); _ = w.Written.Close() }()
	in := wire.NewLineReader(w.Out, 0)
	for {
		line, whole, err := in.Next()
		if err != nil || !whole {
			return
		}
		if s.memory.recordWorker(line) && !s.toHost(line) {
			return
		}
		if _, err := w.Written.Write([]byte{'\n'}); err != nil {
			return
		}
	}
}

// readHost passes the lines of the host to the worker until they end.
func (s *supervisor) readHost() {
	in := wire.NewLineReader(s.o.In, s.o.MaxMessageBytes)
	inside := false // of a line that is too long to be examined
	for {
		line, whole, err := in.Next()
		if len(line) > 0 {
			var r *request
			pass := true
			if whole && !inside {
				r, pass = s.memory.recordHost(line, s.o.Repeatable)
			}
			inside = !whole
			if pass && !s.toWorker(line, r) {
				return
			}
		}
		if err != nil {
			break
		}
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	s.ended = true
	if s.worker != nil {
		_ = s.worker.In.Close()
	}
}

// toWorker writes a line to the present worker, or to the next one if that is dying. It reports false if there will be
// none.
func (s *supervisor) toWorker(line []byte, r *request) bool {
	s.turn.Lock()
	defer s.turn.Unlock()
	for {
		for s.worker == nil && !s.over {
			s.ready.Wait()
		}
		if s.over {
			return false
		}
		if _, err := s.worker.In.Write(line); err == nil {
			s.memory.sent(line, r)
			return true
		}
		s.worker = nil
	}
}
