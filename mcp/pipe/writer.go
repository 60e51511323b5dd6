package pipe

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"waybill/wire"
)

const (
	// pieceBytes is the size of one write.
	pieceBytes = 64 << 10
	// writeSlice is the time limit of one write.
	writeSlice = 100 * time.Millisecond
	// hostGoneAfter is how long a host may read nothing before it counts as gone.
	hostGoneAfter = 5 * time.Second
	// maxUnwrittenBytes limits the refusals that wait to be written.
	maxUnwrittenBytes = 16 << 20
	// keepBytes is the size up to which an empty buffer is reused.
	keepBytes = 1 << 20
)

var errStalled = fmt.Errorf("the host read nothing for %v", hostGoneAfter)

// A line is one message to the host.
type line struct {
	text    []byte   // with its line end
	request *request // answered by the line, or nil
}

// A lineWriter writes lines in their order of arrival. The goroutine that adds a line while none writes becomes the
// writer, and also writes lines added meanwhile. So an answer needs no other goroutine to wake up.
type lineWriter struct {
	o         Options
	activity  *wire.Pulse // beats when the host has read something
	completed func(line, bool)
	roomFreed chan struct{} // holds a token if there may be room again; never closed
	broken    chan struct{} // closed when the output cannot be written any more
	writers   sync.WaitGroup

	// Only the writer uses the fields below.
	timed    deadlineWriter // nil if out has no deadlines
	deadline time.Time      // last set on timed
	buffer   []byte

	mu      sync.Mutex // guards the fields below
	queue   []line
	bytes   int  // of queue
	writing bool // there is a writer
	failed  bool
}

// A deadlineWriter is an output with a write deadline.
type deadlineWriter interface{ SetWriteDeadline(time.Time) error }

func newLineWriter(o Options, activity *wire.Pulse, completed func(line, bool)) *lineWriter {
	w := &lineWriter{
		o: o, activity: activity, completed: completed,
		roomFreed: make(chan struct{}, 1), broken: make(chan struct{}),
	}
	w.timed, _ = o.Out.(deadlineWriter)
	return w
}

// write writes a line, or queues it if another goroutine writes. It may block until the host reads.
func (w *lineWriter) write(l line) {
	if w.enqueue(l) {
		w.writeQueue()
	}
}

// writeAsync writes a line without blocking the caller.
func (w *lineWriter) writeAsync(l line) {
	if w.enqueue(l) {
		w.writers.Go(w.writeQueue) // ends when the queue is empty or the host is gone
	}
}

// enqueue queues a line and reports whether the caller must now write the queue.
func (w *lineWriter) enqueue(l line) bool {
	w.mu.Lock()
	if w.failed {
		w.mu.Unlock()
		w.completed(l, false)
		return false
	}
	defer w.mu.Unlock()
	w.queue = append(w.queue, l)
	w.bytes += len(l.text)
	isWriter := !w.writing
	w.writing = true
	return isWriter
}

// full reports whether the queue has no room even for a refusal.
func (w *lineWriter) full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes >= maxUnwrittenBytes
}

// writeQueue writes lines until the queue is empty.
func (w *lineWriter) writeQueue() {
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
			w.completed(l, written >= 0)
		}
	}
}

// take returns the queued lines, or nil if there are none; then there is no writer any more.
func (w *lineWriter) take() []line {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.queue
	w.queue, w.bytes = nil, 0
	w.writing = len(lines) > 0
	select {
	case w.roomFreed <- struct{}{}:
	default:
	}
	return lines
}

// writeAll writes the text and returns how many bytes were written.
func (w *lineWriter) writeAll(text []byte) (written int, err error) {
	blocked := time.Duration(0)
	for written < len(text) {
		n, err := w.attempt(text[written:min(len(text), written+pieceBytes)])
		if n > 0 {
			blocked = 0
			written += n
			w.o.Tally.Out.Add(int64(n))
			w.activity.Beat()
		}
		switch {
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return written, err
		case n == 0:
			// This counts slices instead of clock time, so that a suspended process does not look like a host that is
			// gone.
			if blocked += writeSlice; blocked >= hostGoneAfter {
				return written, errStalled
			}
		}
	}
	return written, nil
}

// attempt writes once and returns after writeSlice, or after hostGoneAfter if the output has no deadlines.
func (w *lineWriter) attempt(text []byte) (int, error) {
	select {
	case <-w.broken:
		return 0, errStalled
	default:
	}
	if w.extendDeadline() {
		return w.o.Out.Write(text)
	}
	watchdog := time.AfterFunc(hostGoneAfter, func() { w.fail(errStalled) })
	defer watchdog.Stop()
	return w.o.Out.Write(text)
}

// extendDeadline sets the deadline of the next write, and reports whether the output supports deadlines.
func (w *lineWriter) extendDeadline() bool {
	if w.timed == nil {
		return false
	}
	now := time.Now()
	if w.deadline.Sub(now) > writeSlice/2 {
		return true
	}
	w.deadline = now.Add(writeSlice)
	if w.timed.SetWriteDeadline(w.deadline) != nil {
		w.timed = nil
	}
	return w.timed != nil
}

// fail stops the writing and logs why.
func (w *lineWriter) fail(cause error) {
	if w.close() {
		w.o.Logger.Warn("writing the output failed", "cause", cause)
	}
}

// close stops the writing. It reports whether the writer was open.
func (w *lineWriter) close() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed {
		return false
	}
	w.failed = true
	close(w.broken)
	return true
}
