package conn

import (
	"context"
	"sync"
	"sync/atomic"

	"waybill/wire"
)

const (
	// maxUnwrittenBytes limits the answers that wait to be written.
	maxUnwrittenBytes = 16 << 20
	// maxNotes limits the notifications that wait for the writer; noteBytes is how many unwritten bytes stop further ones.
	maxNotes  = 256
	noteBytes = 1 << 20
)

// A receiver learns what becomes of a text.
type receiver interface{ complete(delivered bool) }

// A completion records the end of a text in the stream, and who learns of it.
type completion struct {
	end      int64
	receiver receiver
}

// An outbox is the text that waits for the writer, in order. Adding to it never blocks.
type outbox struct {
	wakeups   chan struct{} // holds a token if the writer should look at the text; never closed
	broken    chan struct{} // closed by fail, when the output cannot be written any more
	roomFreed chan struct{} // holds a token if there may be room again; never closed

	activity  wire.Pulse   // when part of an answer was written
	attempted wire.Pulse   // when the writer began to write or the host read some
	unwritten atomic.Int64 // bytes, also those that the writer has taken
	parked    atomic.Int64 // bytes of the answers in incomplete batches
	notes     atomic.Int64 // notifications since the writer last looked at the text
	blocked   atomic.Bool  // the host has read nothing for refuseAfter although output waits

	mu          sync.Mutex // guards the fields below
	text        []byte     // not taken by the writer
	end         int64      // of text in the stream
	completions []completion
	tooLate     []receiver // of texts that were added when the outbox was closed
	state       outboxState
}

type outboxState uint8

const (
	accepting outboxState = iota
	closing               // nothing more will be added
	closed                // added text is not written
)

func newOutbox() *outbox {
	return &outbox{
		wakeups: make(chan struct{}, 1), broken: make(chan struct{}), roomFreed: make(chan struct{}, 1),
		activity: wire.NewPulse(), attempted: wire.NewPulse(),
	}
}

// add adds a message in pieces. to may be nil. The caller wakes the writer, and then calls completeLate without a lock of
// the library: a receiver may send a message.
func (o *outbox) add(f wire.Framing, to receiver, pieces ...[]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == closed {
		if to != nil {
			o.tooLate = append(o.tooLate, to)
		}
		return
	}
	before := len(o.text)
	o.text = f.Append(o.text, pieces...)
	o.end += int64(len(o.text) - before)
	o.unwritten.Add(int64(len(o.text) - before))
	if to != nil {
		o.completions = append(o.completions, completion{o.end, to})
	}
}

// completeLate completes the texts that were added after the outbox was closed.
func (o *outbox) completeLate() {
	o.mu.Lock()
	late := o.tooLate
	o.tooLate = nil
	o.mu.Unlock()
	for _, to := range late {
		to.complete(false)
	}
}

// take returns the text and continues with the spare buffer. more is false when the outbox is empty for good.
func (o *outbox) take(spare []byte) (text []byte, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, o.text = o.text, spare[:0]
	o.notes.Store(0)
	return text, len(text) > 0 || o.state == accepting
}

// written completes the texts that end before this place in the stream.
func (o *outbox) written(n int, upTo int64) {
	o.blocked.Store(false)
	o.attempted.Beat()
	o.unwritten.Add(int64(-n))
	for _, c := range o.completed(upTo) {
		c.receiver.complete(true)
	}
	o.signalRoom()
}

// completed removes the completions up to a place.
func (o *outbox) completed(upTo int64) []completion {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.completions) > 0 {
		o.activity.Beat()
	}
	n := 0
	for n < len(o.completions) && o.completions[n].end <= upTo {
		n++
	}
	done := o.completions[:n:n]
	if o.completions = o.completions[n:]; len(o.completions) == 0 {
		o.completions = nil
	}
	return done
}

// full reports whether the outbox has no room even for a refusal.
func (o *outbox) full() bool { return o.unwritten.Load() >= maxUnwrittenBytes }

// awaitRoom waits while the outbox is full, until ctx ends or leaving is closed.
func (o *outbox) awaitRoom(ctx context.Context, leaving <-chan struct{}) {
	if !o.full() {
		return
	}
	for o.full() {
		o.wakeWriter()
		select {
		case <-o.roomFreed:
		case <-o.broken:
			return
		case <-leaving:
			return
		case <-ctx.Done():
			return
		}
	}
	o.signalRoom() // wakes the next waiting call
}

// signalRoom wakes one call that waits in awaitRoom if the outbox has room.
func (o *outbox) signalRoom() {
	if o.full() {
		return
	}
	select {
	case o.roomFreed <- struct{}{}:
	default:
	}
}

// waitForSpace blocks the reader while the outbox is full, which means that the host has left 16 MiB unread. freed holds
// a token when something was written. The wait ends at the latest when the writer finds the output broken.
func (o *outbox) waitForSpace(freed, stopping <-chan struct{}) {
	for o.full() {
		o.wakeWriter()
		select {
		case <-freed:
		case <-o.broken:
			return
		case <-stopping:
			return
		}
	}
}

// wakeWriter wakes the writer.
func (o *outbox) wakeWriter() {
	select {
	case o.wakeups <- struct{}{}:
	default:
	}
}

// finish makes the writer end after it has written the text.
func (o *outbox) finish() {
	o.mu.Lock()
	o.state = max(o.state, closing)
	o.mu.Unlock()
	o.wakeWriter()
}

// fail records that the output cannot be written any more. It reports whether that is new.
func (o *outbox) fail() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed() {
		return false
	}
	close(o.broken)
	return true
}

func (o *outbox) failed() bool {
	select {
	case <-o.broken:
		return true
	default:
		return false
	}
}

// abandon discards the text, and all that is added later.
func (o *outbox) abandon() {
	o.mu.Lock()
	left := o.completions
	o.text, o.completions, o.state = nil, nil, closed
	o.unwritten.Store(0)
	o.mu.Unlock()
	for _, c := range left {
		c.receiver.complete(false)
	}
}

// A batch collects the answers to the messages of one array until all are there.
type batch struct {
	outbox  *outbox
	mu      sync.Mutex // guards the fields below
	answers [][]byte   // in the order of the members that get one
	calls   []receiver
	missing int
}

// reserve returns the position of one more answer.
func (b *batch) reserve() position {
	b.missing++
	return position{b, b.missing - 1}
}

// put stores an answer. It returns all of them after the last one.
func (b *batch) put(index int, to receiver, text []byte) (whole []byte, complete bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answers == nil {
		b.answers = make([][]byte, b.missing)
	}
	b.answers[index] = text
	b.calls = append(b.calls, to)
	b.outbox.parked.Add(int64(len(text)))
	if b.missing--; b.missing > 0 {
		return nil, false
	}
	whole = []byte{'['}
	for i, answer := range b.answers {
		if i > 0 {
			whole = append(whole, ',')
		}
		whole = append(whole, answer...)
		b.outbox.parked.Add(int64(-len(answer)))
	}
	return append(whole, ']'), true
}

// complete completes the calls of the batch.
func (b *batch) complete(delivered bool) {
	b.mu.Lock()
	calls := b.calls
	b.calls = nil
	b.mu.Unlock()
	for _, c := range calls {
		if c != nil {
			c.complete(delivered)
		}
	}
}
