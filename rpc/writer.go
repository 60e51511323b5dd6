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
	// chunkBytes is how much is encoded before it is written.
	chunkBytes = 256 << 10
	// pieceBytes is how much is written at a time to an output that knows no deadlines.
	pieceBytes = 64 << 10
	// slice is how long one attempt to write lasts before the writer looks at what else there is.
	slice = 10 * time.Millisecond
	// deaf is how long a host may leave everything unread until new requests are refused.
	deaf = 100 * time.Millisecond
	// stall is how long a host may leave everything unread until it counts as gone.
	stall = 5 * time.Second
	// keepBytes and keepItems are up to what size an empty buffer is kept.
	keepBytes = 1 << 20
	keepItems = 4096
)

var errStalled = fmt.Errorf("the host read nothing for %v", stall)

// A writer takes what is in the outbox, encodes it, and writes all that is ready at once. It is one
// goroutine, which never has to be waited for: flush lets another one do its work if that takes no
// waiting, and abandon gives up what it may be stuck in.
//
// Where the output knows deadlines, no attempt to write lasts longer than a slice: what is queued
// meanwhile gets encoded, so that its size is known and bounded. Where it does not, a write may last
// as long as the host likes, and only the stall rule ends it.
type writer struct {
	outbox  *outbox
	out     io.WriteCloser
	framing wire.Framing // written before the first item is queued
	encoder encoder

	immediate func(text []byte) (int, error) // nil if out cannot write without waiting

	turn     sync.Mutex // held while writing; guards what follows
	limiter  deadliner  // nil if out does not know deadlines
	deadline time.Time  // that was last set
	pending  []byte     // encoded
	written  int        // of pending

	mu       sync.Mutex // guards what follows
	taken    []item     // from the outbox
	next     int        // the first of taken that is not encoded
	receipts []receipt  // of what is in pending and not written in full, in order
}

// A deadliner is an output whose Write can be told when to come back.
type deadliner interface{ SetWriteDeadline(time.Time) error }

func newWriter(o *outbox, out io.WriteCloser, f wire.Framing, t *trouble) *writer {
	w := &writer{outbox: o, out: out, framing: f, encoder: encoder{trouble: t}, immediate: immediate(out)}
	w.limiter, _ = out.(deadliner)
	return w
}

// run writes until the outbox is closed and empty.
func (w *writer) run() {
	for {
		some, more := w.round()
		if !some && !more {
			break
		}
		if !some {
			<-w.outbox.wake
		}
	}
	w.abandon()
}

// round writes what there is. It reports whether there was something, and whether more may come.
func (w *writer) round() (some, more bool) {
	w.turn.Lock()
	defer w.turn.Unlock()
	some, more = w.fetch()
	if w.outbox.failed() {
		w.forget()
		w.discard()
		return some, more
	}
	w.encode(chunkBytes)
	w.write()
	return some, more
}

// fewItems is up to how many items are not worth to wake the writer for, if it is idle.
const fewItems = 4

// flush sees to it that what is queued gets written, and waits for nothing. A few items are written on
// the spot if the output takes them at once: that the writer wakes up can cost more than all the rest.
func (w *writer) flush() {
	switch n := w.outbox.items.Load(); {
	case n == 0:
	case n > fewItems || w.immediate == nil || !w.direct():
		w.outbox.kick()
	}
}

// direct does the work of the writer, unless that is at it, and reports whether nothing is left to do.
// What went wrong, the writer will find out.
func (w *writer) direct() bool {
	if !w.turn.TryLock() {
		return false
	}
	defer w.turn.Unlock()
	if w.outbox.failed() || !w.extend() {
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
	return w.outbox.items.Load() == 0
}

// fetch takes what the outbox has, if everything taken before is encoded.
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

// encode puts items behind what is pending until that is limit bytes long.
func (w *writer) encode(limit int) {
	lost, places := w.encodeHeard(limit)
	w.outbox.takeBack(lost)
	w.outbox.gate.leave(places)
	w.outbox.ease()
}

// encodeHeard leaves out what nobody hears, and gives what to call for it and the places that it held.
func (w *writer) encodeHeard(limit int) (lost []func(), places int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.compact()
	before, ahead, light := w.next, 0, 0
	for ; w.next < len(w.taken) && len(w.pending)-w.written < limit; w.next++ {
		ahead += w.taken[w.next].size()
		if w.taken[w.next].light {
			light++
		}
		switch it := &w.taken[w.next]; {
		case it.silent:
			lost, places = append(lost, it.undelivered()...), places+it.held
		case it.method != "":
			w.pending = w.framing.Append(w.pending, w.encoder.item(it))
		default:
			w.pending = w.framing.Append(w.pending, w.encoder.item(it))
			w.receipts = append(w.receipts, receipt{end: len(w.pending), held: it.held, undelivered: it.undelivered()})
		}
		w.taken[w.next] = item{}
	}
	w.outbox.items.Add(int64(before - w.next))
	w.outbox.bytes.Store(int64(len(w.pending) - w.written))
	w.outbox.ahead.Add(int64(-ahead))
	w.outbox.light.Add(int64(-light))
	lost, w.encoder.lost = append(lost, w.encoder.lost...), nil
	return lost, places
}

// write brings pending to the host, or finds out that there is none.
func (w *writer) write() {
	w.outbox.tried.Beat()
	stuck := time.Duration(0)
	for w.written < len(w.pending) {
		n, err := w.attempt(w.pending[w.written:])
		if n > 0 {
			stuck = 0
			w.progress(n)
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, os.ErrDeadlineExceeded) && n > 0:
			continue
		case errors.Is(err, os.ErrDeadlineExceeded) && stuck < stall-slice:
			// Slices are counted, not the clock: one that spans a suspension of the process is one.
			stuck += slice
			w.absorb(stuck)
			continue
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = errStalled
		}
		w.outbox.fail(err)
		w.forget()
	}
	w.reset()
}

// reset is for when everything that is pending is written.
func (w *writer) reset() { w.pending, w.written = empty(w.pending), 0 }

// empty gives the buffer back for reuse, unless it is very large.
func empty(buffer []byte) []byte {
	if cap(buffer) > keepBytes {
		return nil
	}
	return buffer[:0]
}

// attempt writes as much as goes without waiting long.
func (w *writer) attempt(text []byte) (int, error) {
	if w.outbox.failed() {
		return 0, errStalled
	}
	if w.extend() {
		return w.out.Write(text)
	}
	watchdog := time.AfterFunc(stall, func() { w.outbox.fail(errStalled) })
	defer watchdog.Stop()
	return w.out.Write(text[:min(len(text), pieceBytes)])
}

// extend makes sure that the next write comes back in time; it reports whether the output can.
func (w *writer) extend() bool {
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

// absorb uses the time in which the host takes nothing.
func (w *writer) absorb(stuck time.Duration) {
	if stuck >= deaf {
		w.outbox.stuck.Store(true)
		w.outbox.gate.wake()
	}
	w.fetch()
	w.encode(maxUnwrittenBytes)
}
