package conn

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// pieceBytes is the size of one write to an output without deadlines.
	pieceBytes = 64 << 10
	// writeSlice is the time limit of one write.
	writeSlice = 10 * time.Millisecond
	// refuseAfter is how long a host may read nothing before new requests are refused.
	refuseAfter = 100 * time.Millisecond
	// hostGoneAfter is how long a host may read nothing before it counts as gone.
	hostGoneAfter = 5 * time.Second
	// keepBytes is the size up to which an empty buffer is reused.
	keepBytes = 1 << 20
)

var errStalled = fmt.Errorf("the host read nothing for %v", hostGoneAfter)

// A writer writes the text of the outbox in as few writes as possible. It is one goroutine. flush lets another
// goroutine write if that does not take long, and the work ends even if a write is blocked.
type writer struct {
	outbox    *outbox
	out       io.WriteCloser
	wrote     func(n int)
	failed    func(cause error)              // called once
	drained   func()                         // called when the outbox is empty, before the writer sleeps
	immediate func(text []byte) (int, error) // nil if out may block

	writing  sync.Mutex     // held while writing; guards the fields below
	timed    deadlineWriter // nil if out has no deadlines
	deadline time.Time      // last set on timed
	text     []byte         // taken from the outbox
	written  int            // of text
	position int64          // in the stream, behind what was written
}

// A deadlineWriter is an output with a write deadline.
type deadlineWriter interface{ SetWriteDeadline(time.Time) error }

// A promptWriter is an output whose WriteSoon writes what it can within a few milliseconds.
type promptWriter interface {
	WriteSoon(text []byte) (int, error)
}

func newWriter(o *outbox, out io.WriteCloser) *writer {
	w := &writer{outbox: o, out: out, immediate: immediate(out)}
	if prompt, ok := out.(promptWriter); ok {
		w.immediate = prompt.WriteSoon
	}
	w.timed, _ = out.(deadlineWriter)
	return w
}

// run writes until the outbox is finished and empty.
func (w *writer) run() {
	for {
		some, more := w.round()
		if !some && !more {
			break
		}
		if some {
			continue
		}
		w.drained()
		<-w.outbox.wakeups
	}
	w.outbox.abandon()
}

// round writes the text of the outbox. It reports whether there was some, and whether more may come.
func (w *writer) round() (some, more bool) {
	w.writing.Lock()
	defer w.writing.Unlock()
	more = w.fetch()
	some = len(w.text) > 0
	w.write()
	return some, more
}

// flush starts the writing of the text. It writes itself if the output takes the text at once, because waking the
// writer can take longer.
func (w *writer) flush() {
	if w.outbox.unwritten.Load() > 0 && (w.immediate == nil || !w.writeNow()) {
		w.outbox.wakeWriter()
	}
}

// writeNow writes the text unless the writer is busy, and reports whether all was written. It leaves errors to the
// writer, which meets them again.
func (w *writer) writeNow() bool {
	if !w.writing.TryLock() {
		return false
	}
	defer w.writing.Unlock()
	if w.outbox.failed() || !w.extendDeadline() {
		return false
	}
	w.fetch()
	n, err := w.immediate(w.text[w.written:])
	if n > 0 {
		w.advance(n)
	}
	if err != nil || w.written < len(w.text) {
		return false
	}
	return w.outbox.unwritten.Load() == 0
}

// fetch takes the text of the outbox once all taken before is written.
func (w *writer) fetch() (more bool) {
	if w.written < len(w.text) {
		return true
	}
	if cap(w.text) > keepBytes {
		w.text = nil
	}
	w.text, more = w.outbox.take(w.text)
	w.written = 0
	return more
}

// advance counts n more written bytes.
func (w *writer) advance(n int) {
	w.written += n
	w.position += int64(n)
	w.wrote(n)
	w.outbox.written(n, w.position)
}

// write writes the text, or fails if the host reads nothing.
func (w *writer) write() {
	w.outbox.attempted.Beat()
	blocked := time.Duration(0)
	for w.written < len(w.text) {
		n, err := w.attempt(w.text[w.written:])
		if n > 0 {
			blocked = 0
			w.advance(n)
		}
		timeout := errors.Is(err, os.ErrDeadlineExceeded)
		switch {
		case err == nil || timeout && n > 0:
			continue
		case timeout && blocked < hostGoneAfter-writeSlice:
			// This counts slices instead of clock time, so that a suspended process does not look like a host that is
			// gone.
			w.outbox.notes.Store(0)
			if blocked += writeSlice; blocked >= refuseAfter {
				w.outbox.blocked.Store(true)
				w.wrote(0)
			}
			continue
		case timeout:
			err = errStalled
		}
		w.fail(err)
	}
}

// fail ends the writing: all text is discarded.
func (w *writer) fail(cause error) {
	w.text, w.written = nil, 0
	if w.outbox.fail() {
		w.failed(cause)
	}
	w.outbox.abandon()
}

// attempt writes once and returns after writeSlice, or after hostGoneAfter if the output has no deadlines.
func (w *writer) attempt(text []byte) (int, error) {
	if w.outbox.failed() {
		return 0, errStalled
	}
	if w.extendDeadline() {
		return w.out.Write(text)
	}
	watchdog := time.AfterFunc(hostGoneAfter, func() {
		if w.outbox.fail() {
			w.failed(errStalled)
		}
	})
	defer watchdog.Stop()
	return w.out.Write(text[:min(len(text), pieceBytes)])
}

// extendDeadline sets the deadline of the next write, and reports whether the output supports deadlines.
func (w *writer) extendDeadline() bool {
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
