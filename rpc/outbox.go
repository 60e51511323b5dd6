package rpc

import (
	"sync"
	"sync/atomic"

	"waybill/api"
	"waybill/schema"
	"waybill/wire"
)

const (
	// maxUnwrittenBytes bounds what is waiting to be written.
	maxUnwrittenBytes = 16 << 20
	// itemBytes is what an answer counts for until it is encoded.
	itemBytes = 512
	// maxNotes and noteBytes bound the notifications that wait, by themselves and behind answers.
	maxNotes  = 256
	noteBytes = 1 << 20
)

// An item is something to be written: an answer, the answers of a batch, or a notification.
type item struct {
	id     []byte // as it was sent; nil for a notification to the host
	answer api.Answer
	text   []byte // the whole answer, if it was encoded ahead of its turn
	batch  []item
	silent bool   // the answer of a notification: nobody hears it
	method string // of a notification to the host
	params any
	held   int  // places in the gate that are free once this is written
	change bool // the answer is that of a method that changes something
	light  bool // it is one of those that counts for little until it is encoded
}

// size is what was encoded ahead.
func (it *item) size() (n int) {
	n = len(it.text)
	for i := range it.batch {
		n += len(it.batch[i].text)
	}
	return n
}

func failed(e *schema.Error) api.Answer { return api.Answer{Err: e} }

// An outbox keeps, in one order, what is to be written until its writer gets to it. Nobody who puts
// something into it waits.
type outbox struct {
	gate    *gate
	trouble *trouble
	wake    chan struct{} // holds a token if the writer should look again; never closed
	// broken is closed by fail: the host takes no more.
	broken chan struct{}

	mu      sync.Mutex // guards what follows
	queue   []item
	batches map[*batch]bool // whose answers are not all there
	notes   int             // notifications in queue
	gap     int             // notifications that were dropped since the last one in queue
	closing bool            // nothing will be put any more
	gone    bool            // the writer ended or was given up: what is put now is undelivered

	moved wire.Pulse    // when some of an answer was written
	tried wire.Pulse    // when the writer began to write what is encoded, or the host took some
	eased chan struct{} // holds a token if less may be unwritten than before; never closed
	items atomic.Int64  // not taken over by the writer's encoder yet
	light atomic.Int64  // those of the items that are light
	// parked is how many bytes the answers in batches have that are not complete.
	parked atomic.Int64
	ahead  atomic.Int64 // bytes of those items that were encoded ahead
	bytes  atomic.Int64 // encoded and not written yet
	// stuck says that the host has taken nothing for a while although there is something to take.
	stuck atomic.Bool
}

func newOutbox(g *gate, t *trouble) *outbox {
	return &outbox{gate: g, trouble: t, batches: map[*batch]bool{}, moved: wire.NewPulse(), tried: wire.NewPulse(), eased: make(chan struct{}, 1), wake: make(chan struct{}, 1), broken: make(chan struct{})}
}

// put queues an answer, by itself or in its place in a batch. It leaves it to the caller to kick the
// writer.
func (o *outbox) put(b *batch, place int, it item) {
	if b != nil {
		o.parked.Add(int64(it.size()))
		whole, complete := b.put(place, it)
		if !complete {
			return
		}
		it = whole
		o.parked.Add(-int64(it.size()))
	}
	if it.silent && it.answer.Undelivered == nil {
		o.gate.leave(it.held)
		return
	}
	o.mu.Lock()
	delete(o.batches, b)
	gone := o.gone
	if !gone {
		o.queue = append(o.queue, it)
		o.items.Add(1)
		o.ahead.Add(int64(it.size()))
	}
	o.mu.Unlock()
	if gone {
		o.drop(&it)
	}
}

// expect tells of a batch whose answers will come.
func (o *outbox) expect(b *batch) {
	if b.missing == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batches[b] = true
}

// notify queues a notification, unless too many wait already. Then it is dropped, and a log
// notification in its place says so.
func (o *outbox) notify(method string, params any) {
	o.mu.Lock()
	switch {
	case o.gone || o.closing:
	case o.notes >= maxNotes || o.bytes.Load() >= noteBytes:
		o.gap++
		o.trouble.tally.Dropped.Add(1)
	default:
		o.mark()
		o.queue = append(o.queue, item{method: method, params: params})
		o.items.Add(1)
		o.notes++
	}
	o.mu.Unlock()
	o.kick()
}

// mark queues the marker of a gap, if there is one. The caller holds mu.
func (o *outbox) mark() {
	if o.gap == 0 {
		return
	}
	o.queue = append(o.queue, item{method: "log", params: &schema.LogNote{
		Level:   "warning",
		Message: "notifications were dropped here because they were not read in time; events_since has everything",
		Dropped: o.gap,
	}})
	o.items.Add(1)
	o.notes++
	o.gap = 0
}

// kick wakes the writer.
func (o *outbox) kick() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take gives the writer what is queued, in exchange for an empty slice. more is false when nothing
// is queued and nothing will be.
func (o *outbox) take(empty []item) (items []item, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.mark()
	}
	items, o.queue, o.notes = o.queue, empty, 0
	return items, len(items) > 0 || !o.closing
}

// close lets the writer end when it has written what is queued.
func (o *outbox) close() {
	o.mu.Lock()
	o.closing = true
	o.mu.Unlock()
	o.kick()
}

// drop is for what will not be written: its places are free, and what was handed out with it is
// taken back.
func (o *outbox) drop(it *item) {
	o.takeBack(it.undelivered())
	o.gate.leave(it.held)
}

func (o *outbox) takeBack(calls []func()) {
	for _, call := range calls {
		func() {
			defer func() { _ = o.trouble.caught(recover(), "taking back an answer") }()
			call()
		}()
	}
}

// fail notes that the host takes nothing any more, and why.
func (o *outbox) fail(cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.failed() {
		o.trouble.log.Warn("the output cannot be written any further", "cause", cause)
		close(o.broken)
	}
}

func (o *outbox) failed() bool {
	select {
	case <-o.broken:
		return true
	default:
		return false
	}
}

// leave takes what is left, and lets nothing in any more.
func (o *outbox) leave() []item {
	o.mu.Lock()
	defer o.mu.Unlock()
	left, batches := o.queue, o.batches
	o.queue, o.batches, o.gone = nil, nil, true
	for b := range batches {
		left = append(left, b.leave()...)
	}
	return left
}
