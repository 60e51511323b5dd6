package rpc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"waybill/wire"
)

const (
	// chunkBytes is how much output is encoded before each write.
	chunkBytes = 256 << 10
	// pieceBytes is the size of one write to an output without deadlines.
	pieceBytes = 64 << 10
	// writeSlice is the time limit of one write, after which the writer encodes newly queued items.
	writeSlice = 10 * time.Millisecond
	// refuseAfter is how long a host may read nothing before new requests are refused.
	refuseAfter = 100 * time.Millisecond
	// hostGoneAfter is how long a host may read nothing before it counts as gone.
	hostGoneAfter = 5 * time.Second
	// keepBytes and keepItems are the sizes up to which an empty buffer is reused.
	keepBytes = 1 << 20
	keepItems = 4096
)

var errStalled = fmt.Errorf("the host read nothing for %v", hostGoneAfter)

// A writer encodes the items of the outbox and writes them in as few writes as possible. It is one goroutine. flush
// lets another goroutine write if that does not block, and abandon ends the work even if a write is blocked.
//
// If the output has deadlines, each write ends after writeSlice, and newly queued items are encoded so that their
// size is known. Without deadlines a write may block until hostGoneAfter.
type writer struct {
	outbox  *outbox
	out     io.WriteCloser
	framing wire.Framing // set before the first item is queued
	encoder encoder

	immediate func(text []byte) (int, error) // nil if out may block

	writing  sync.Mutex     // held while writing; guards the fields below
	timed    deadlineWriter // nil if out has no deadlines
	deadline time.Time      // last set on timed
	pending  []byte         // encoded
	written  int            // of pending

	mu          sync.Mutex   // guards the fields below
	taken       []item       // from the outbox
	next        int          // index of the first item of taken that is not encoded
	completions []completion // of the answers in pending not written in full, in order
}

// A deadlineWriter is an output with a write deadline.
type deadlineWriter interface{ SetWriteDeadline(time.Time) error }

func newWriter(o *outbox, out io.WriteCloser, f wire.Framing, defects *defectLog) *writer {
	w := &writer{outbox: o, out: out, framing: f, encoder: encoder{defects: defects}, immediate: immediate(out)}
	w.timed, _ = out.(deadlineWriter)
	return w
}

// run writes items until the outbox is closed and empty.
func (w *writer) run() {
	for {
		some, more := w.round()
		if !some && !more {
			break
		}
		if !some {
			<-w.outbox.wakeups
		}
	}
	w.abandon()
}

// round writes the queued items. It reports whether there were some, and whether more may come.
func (w *writer) round() (some, more bool) {
	w.writing.Lock()
	defer w.writing.Unlock()
	some, more = w.fetch()
	if w.outbox.failed() {
		w.abandonPending()
		w.abandonTaken()
		return some, more
	}
	w.encode(chunkBytes)
	w.write()
	return some, more
}

// maxUnsized is how many queued items flush writes itself, and how many may be queued before their size is known.
const maxUnsized = 4

// flush starts the writing of queued items without blocking. It writes a few items itself if the output accepts them
// at once, because waking the writer can take longer.
func (w *writer) flush() {
	switch n := w.outbox.unencoded.Load(); {
	case n == 0:
	case n > maxUnsized || w.immediate == nil || !w.writeNow():
		w.outbox.wakeWriter()
	}
}

// writeNow writes the queued items unless the writer is busy, and reports whether all were written. It leaves errors
// to the writer, which meets them again.
func (w *writer) writeNow() bool {
	if !w.writing.TryLock() {
		return false
	}
	defer w.writing.Unlock()
	if w.outbox.failed() || !w.extendDeadline() {
		return false
	}
	w.fetch()
	w.encode(chunkBytes)
	n, err := w.immediate(w.pending[w.written:])
	if n > 0 {
		w.progress(n)
	}
	if err != nil || w.written < len(w.pending) {
		return false
	}
	w.reset()
	return w.outbox.unencoded.Load() == 0
}

// fetch takes the items of the outbox once all items taken before are encoded.
func (w *writer) fetch() (some, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next < len(w.taken) {
		return true, true
	}
	used := w.taken[:0]
	if cap(used) > keepItems {
		used = nil
	}
	w.taken, more = w.outbox.take(used)
	w.next = 0
	return len(w.taken) > 0, more
}

// encode appends items to pending until that has limit bytes.
func (w *writer) encode(limit int) {
	undelivered, slots := w.encodeQueued(limit)
	w.outbox.takeBack(undelivered)
	w.outbox.limiter.releaseSlots(slots)
	w.outbox.signalRoom()
}

// encodeQueued appends items to pending, except those without a reply. It returns the undelivered callbacks to run and
// the slots to free.
func (w *writer) encodeQueued(limit int) (undelivered []func(), slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.compact()
	before, ahead, light := w.next, 0, 0
	for ; w.next < len(w.taken) && len(w.pending)-w.written < limit; w.next++ {
		ahead += w.taken[w.next].aheadBytes()
		if w.taken[w.next].unsized {
			light++
		}
		switch it := &w.taken[w.next]; {
		case it.noReply:
			undelivered, slots = append(undelivered, it.undelivered()...), slots+it.slots
		case it.method != "":
			w.pending = w.framing.Append(w.pending, w.encoder.item(it))
		default:
			w.pending = w.framing.Append(w.pending, w.encoder.item(it))
			w.completions = append(w.completions, completion{end: len(w.pending), slots: it.slots, undelivered: it.undelivered()})
		}
		w.taken[w.next] = item{}
	}
	w.outbox.unencoded.Add(int64(before - w.next))
	w.outbox.unwritten.Store(int64(len(w.pending) - w.written))
	w.outbox.encodedAhead.Add(int64(-ahead))
	w.outbox.unsized.Add(int64(-light))
	undelivered, w.encoder.undelivered = append(undelivered, w.encoder.undelivered...), nil
	return undelivered, slots
}

// write writes pending, or fails the outbox if the host reads nothing.
func (w *writer) write() {
	w.outbox.attempted.Beat()
	blocked := time.Duration(0)
	for w.written < len(w.pending) {
		n, err := w.attempt(w.pending[w.written:])
		if n > 0 {
			blocked = 0
			w.progress(n)
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, os.ErrDeadlineExceeded) && n > 0:
			continue
		case errors.Is(err, os.ErrDeadlineExceeded) && blocked < hostGoneAfter-writeSlice:
			// This counts slices instead of clock time, so that a suspended process does not look like a host that is
			// gone.
			blocked += writeSlice
			w.encodeWhileBlocked(blocked)
			continue
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = errStalled
		}
		w.outbox.fail(err)
		w.abandonPending()
	}
	w.reset()
}

// reset empties pending after all of it is written.
func (w *writer) reset() { w.pending, w.written = reuse(w.pending), 0 }

// reuse returns the buffer with length 0, or nil if it is very large.
func reuse(buffer []byte) []byte {
	if cap(buffer) > keepBytes {
		return nil
	}
	return buffer[:0]
}

// attempt writes once and returns after writeSlice, or after hostGoneAfter if the output has no deadlines.
func (w *writer) attempt(text []byte) (int, error) {
	if w.outbox.failed() {
		return 0, errStalled
	}
	if w.extendDeadline() {
		return w.out.Write(text)
	}
	watchdog := time.AfterFunc(hostGoneAfter, func() { w.outbox.fail(errStalled) })
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

// encodeWhileBlocked encodes queued items while the host reads nothing, and refuses new requests after refuseAfter.
func (w *writer) encodeWhileBlocked(blocked time.Duration) {
	if blocked >= refuseAfter {
		w.outbox.blocked.Store(true)
		w.outbox.limiter.signal()
	}
	w.fetch()
	w.encode(maxUnwrittenBytes)
}
