package rpc

import (
	"sync"
	"sync/atomic"

	"waybill/api"
	"waybill/schema"
	"waybill/wire"
)

const (
	// maxUnwrittenBytes limits the answers that wait to be written.
	maxUnwrittenBytes = 16 << 20
	// itemBytes is the assumed size of an answer before it is encoded.
	itemBytes = 512
	// maxNotes limits the queued notifications; noteBytes is how many unwritten bytes stop further ones.
	maxNotes  = 256
	noteBytes = 1 << 20
)

// An item is queued output: an answer, the answers of a batch, or a notification.
type item struct {
	id      []byte // as the host sent it; nil for a notification to the host
	answer  api.Answer
	text    []byte // the whole answer, if encodeAhead encoded it
	batch   []item
	noReply bool   // the outcome of a notification, which is not written
	method  string // of a notification to the host
	params  any
	slots   int  // slots of the limiter that its write releases
	change  bool // the answer of a Change method
	unsized bool // counts as itemBytes until it is encoded
}

// aheadBytes returns the size of the text that was encoded ahead.
func (it *item) aheadBytes() (n int) {
	n = len(it.text)
	for i := range it.batch {
		n += len(it.batch[i].text)
	}
	return n
}

func errorAnswer(e *schema.Error) api.Answer { return api.Answer{Err: e} }

// An outbox is the ordered queue of items for the writer. Adding an item never blocks.
type outbox struct {
	limiter *limiter
	defects *defectLog
	wakeups chan struct{} // holds a token if the writer should check the queue; never closed
	// broken is closed by fail, when the output cannot be written any more.
	broken chan struct{}

	mu      sync.Mutex // guards the fields below
	queue   []item
	batches map[*batch]bool // incomplete batches
	notes   int             // notifications in queue
	dropped int             // notifications dropped since the last one in queue
	closing bool            // nothing more will be queued
	closed  bool            // the writer ended: further items are undelivered

	activity  wire.Pulse    // when part of an answer was written
	attempted wire.Pulse    // when the writer began to write or the host read some
	roomFreed chan struct{} // holds a token if there may be room again; never closed
	unencoded atomic.Int64  // items that the writer has not encoded
	unsized   atomic.Int64  // items that are unsized
	// parkedBytes is the size of the answers in incomplete batches.
	parkedBytes  atomic.Int64
	encodedAhead atomic.Int64 // bytes of queued items that were encoded ahead
	unwritten    atomic.Int64 // encoded and not written yet
	// blocked is set while the host has read nothing for refuseAfter although output waits.
	blocked atomic.Bool
}

func newOutbox(l *limiter, defects *defectLog) *outbox {
	return &outbox{limiter: l, defects: defects, batches: map[*batch]bool{}, activity: wire.NewPulse(), attempted: wire.NewPulse(), roomFreed: make(chan struct{}, 1), wakeups: make(chan struct{}, 1), broken: make(chan struct{})}
}

// put queues an answer, alone or at its index in a batch. The caller wakes the writer.
func (o *outbox) put(b *batch, place int, it item) {
	if b != nil {
		o.parkedBytes.Add(int64(it.aheadBytes()))
		whole, complete := b.put(place, it)
		if !complete {
			return
		}
		it = whole
		o.parkedBytes.Add(-int64(it.aheadBytes()))
	}
	if it.noReply && it.answer.Undelivered == nil {
		o.limiter.releaseSlots(it.slots)
		return
	}
	o.mu.Lock()
	delete(o.batches, b)
	gone := o.closed
	if !gone {
		o.queue = append(o.queue, it)
		o.unencoded.Add(1)
		o.encodedAhead.Add(int64(it.aheadBytes()))
	}
	o.mu.Unlock()
	if gone {
		o.dropItem(&it)
	}
}

// addBatch registers a batch that waits for answers.
func (o *outbox) addBatch(b *batch) {
	if b.missing == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batches[b] = true
}

// notify queues a notification, or drops it if too many wait. A log notification then reports the number dropped.
func (o *outbox) notify(method string, params any) {
	o.mu.Lock()
	switch {
	case o.closed || o.closing:
	case o.notes >= maxNotes || o.unwritten.Load() >= noteBytes:
		o.dropped++
		o.defects.tally.Dropped.Add(1)
	default:
		o.markDropped()
		o.queue = append(o.queue, item{method: method, params: params})
		o.unencoded.Add(1)
		o.notes++
	}
	o.mu.Unlock()
	o.wakeWriter()
}

// markDropped queues the notification that reports dropped ones, if there are any. The caller holds mu.
func (o *outbox) markDropped() {
	if o.dropped == 0 {
		return
	}
	o.queue = append(o.queue, item{method: "log", params: &schema.LogNote{
		Level:   "warning",
		Message: "the host did not read in time, so notifications were dropped here; events_since returns all events",
		Dropped: o.dropped,
	}})
	o.unencoded.Add(1)
	o.notes++
	o.dropped = 0
}

// wakeWriter wakes the writer.
func (o *outbox) wakeWriter() {
	select {
	case o.wakeups <- struct{}{}:
	default:
	}
}

// take returns the queue and continues with the spare slice. more is false when the queue is empty for good.
func (o *outbox) take(spare []item) (items []item, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.markDropped()
	}
	items, o.queue, o.notes = o.queue, spare, 0
	return items, len(items) > 0 || !o.closing
}

// close makes the writer end after it has written the queue.
func (o *outbox) close() {
	o.mu.Lock()
	o.closing = true
	o.mu.Unlock()
	o.wakeWriter()
}

// dropItem discards an item that will not be written: it runs the undelivered callbacks and frees the slots.
func (o *outbox) dropItem(it *item) {
	o.takeBack(it.undelivered())
	o.limiter.releaseSlots(it.slots)
}

func (o *outbox) takeBack(calls []func()) {
	for _, call := range calls {
		func() {
			defer func() { _ = o.defects.recovered(recover(), "taking back an answer") }()
			call()
		}()
	}
}

// fail records that the output cannot be written any more, and logs why.
func (o *outbox) fail(cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.failed() {
		o.defects.log.Warn("writing the output failed", "cause", cause)
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

// abandon closes the outbox and returns the items that were not taken, including those of incomplete batches.
func (o *outbox) abandon() []item {
	o.mu.Lock()
	defer o.mu.Unlock()
	left, batches := o.queue, o.batches
	o.queue, o.batches, o.closed = nil, nil, true
	for b := range batches {
		left = append(left, b.abandon()...)
	}
	return left
}
