package mcp

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"waybill/wire"
)

const (
	// pieceBytes is how much is written at a time.
	pieceBytes = 64 << 10
	// slice is how long one attempt to write lasts.
	slice = 100 * time.Millisecond
	// stall is how long a host may leave everything unread until it counts as gone.
	stall = 5 * time.Second
	// maxUnwrittenBytes bounds the refusals that wait to be written.
	maxUnwrittenBytes = 16 << 20
	// keepBytes is up to what size an empty buffer is kept.
	keepBytes = 1 << 20
)

var errStalled = fmt.Errorf("the host read nothing for %v", stall)

// A line is one message to the host.
type line struct {
	text   []byte  // with its end
	flight *flight // that it answers, or nil
}

// An outlet writes lines in the order in which they come. Whoever puts one while nobody writes becomes the writer, and
// writes what others put meanwhile; so an answer is written where it is made, and nobody waits for a goroutine to wake.
type outlet struct {
	out     io.WriteCloser
	tally   *wire.Tally
	log     *slog.Logger
	moved   *wire.Pulse // beats when the host has taken something
	landed  func(line, bool)
	eased   chan struct{} // holds a token if less may wait than before; never closed
	broken  chan struct{} // closed by fail: the host takes no more
	writers sync.WaitGroup

	// Only the writer touches what follows.
	limiter  deadliner // nil if out does not know deadlines
	deadline time.Time // that was last set
	buffer   []byte

	mu      sync.Mutex // guards what follows
	queue   []line
	bytes   int  // in queue
	writing bool // there is a writer
	failed  bool
}

// A deadliner is an output whose Write can be told when to come back.
type deadliner interface{ SetWriteDeadline(time.Time) error }

func newOutlet(o Options, moved *wire.Pulse, landed func(line, bool)) *outlet {
	w := &outlet{
		out: o.Out, tally: o.Tally, log: o.Logger, moved: moved, landed: landed,
		eased: make(chan struct{}, 1), broken: make(chan struct{}),
	}
	w.limiter, _ = o.Out.(deadliner)
	return w
}

// put writes a line, now or when its turn comes. It may wait for the host.
func (w *outlet) put(l line) {
	if w.queued(l) {
		w.write()
	}
}

// post is put for who must not wait.
func (w *outlet) post(l line) {
	if w.queued(l) {
		w.writers.Go(w.write) // ends when nothing is left to write, or the host is gone
	}
}

// queued takes a line in, and reports whether who put it is the writer now.
func (w *outlet) queued(l line) bool {
	w.mu.Lock()
	if w.failed {
		w.mu.Unlock()
		w.landed(l, false)
		return false
	}
	defer w.mu.Unlock()
	w.queue = append(w.queue, l)
	w.bytes += len(l.text)
	mine := !w.writing
	w.writing = true
	return mine
}

// full reports whether so much waits that not even a refusal fits.
func (w *outlet) full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes >= maxUnwrittenBytes
}

// write writes until nothing waits.
func (w *outlet) write() {
	for {
		lines := w.take()
		if lines == nil {
			return
		}
		w.buffer = w.buffer[:0]
		for _, l := range lines {
			w.buffer = append(w.buffer, l.text...)
		}
		written, err := w.writeAll(w.buffer)
		if cap(w.buffer) > keepBytes {
			w.buffer = nil
		}
		if err != nil {
			w.fail(err)
		}
		for _, l := range lines {
			written -= len(l.text)
			w.landed(l, written >= 0)
		}
	}
}

// take gives the lines that are written next, or nil if there is none and there is no writer any more.
func (w *outlet) take() []line {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.queue
	w.queue, w.bytes = nil, 0
	w.writing = len(lines) > 0
	select {
	case w.eased <- struct{}{}:
	default:
	}
	return lines
}

// writeAll brings the text to the host, and gives how much of it arrived.
func (w *outlet) writeAll(text []byte) (written int, err error) {
	stuck := time.Duration(0)
	for written < len(text) {
		n, err := w.attempt(text[written:min(len(text), written+pieceBytes)])
		if n > 0 {
			stuck = 0
			written += n
			w.tally.Out.Add(int64(n))
			w.moved.Beat()
		}
		switch {
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return written, err
		case n == 0:
			// Slices are counted, not the clock: one that spans a suspension of the process is one.
			if stuck += slice; stuck >= stall {
				return written, errStalled
			}
		}
	}
	return written, nil
}

// attempt writes as much as goes without waiting long.
func (w *outlet) attempt(text []byte) (int, error) {
	select {
	case <-w.broken:
		return 0, errStalled
	default:
	}
	if w.extend() {
		return w.out.Write(text)
	}
	watchdog := time.AfterFunc(stall, func() { w.fail(errStalled) })
	defer watchdog.Stop()
	return w.out.Write(text)
}

// extend makes sure that the next write comes back in time; it reports whether the output can.
func (w *outlet) extend() bool {
	if w.limiter == nil {
		return false
	}
	now := time.Now()
	if w.deadline.Sub(now) > slice/2 {
		return true
	}
	w.deadline = now.Add(slice)
	if w.limiter.SetWriteDeadline(w.deadline) != nil {
		w.limiter = nil
	}
	return w.limiter != nil
}

// fail notes that the host takes nothing any more, and why.
func (w *outlet) fail(cause error) {
	if w.close() {
		w.log.Warn("the output cannot be written any further", "cause", cause)
	}
}

// close has nothing written any more. It reports whether that is news.
func (w *outlet) close() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed {
		return false
	}
	w.failed = true
	close(w.broken)
	return true
}
