package rpc

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"waybill/api"
	"waybill/schema"
)

const (
	// maxWorkers is how many Read methods run at a time, not counting the one that the reader runs.
	maxWorkers = 63
	// keepParamsBytes is the size up to which params stay in memory until the answer is written.
	keepParamsBytes = 4 << 10
)

// A dispatcher is the library's Handler. Handle runs on the reader and blocks only for room. One goroutine runs the
// Change methods in order, and workers run the Read methods. The reader may run a Read method itself; if that takes
// long, another reader replaces it.
type dispatcher struct {
	stream            *stream
	table             *api.Table
	outbox            *outbox
	flush             func() // starts the writing of queued items
	limiter           *limiter
	calls             *register
	unanswered        countdown // calls without an answer
	defects           *defectLog
	connectionMethods map[string]string // every name of the connection's own methods, see handleConnection

	handOver     readerHandOver
	changes      chan *call   // Change methods; never closed
	reads        chan *call   // Read methods; never closed
	pendingReads atomic.Int64 // Read methods that wait in reads or run
	workerCount  int          // workers started; only the reader uses it

	callCtx     context.Context // of all calls; ends when cancelCalls is called
	cancelCalls func()          // ends callCtx with the cause api.ErrHurry
	running     sync.WaitGroup  // the goroutine of the changes, the workers, and one that waits to answer shutdown
	quit        chan struct{}   // closed after the last call

	shutdownAsked atomic.Bool   // shutdown was called
	exitAsked     atomic.Bool   // exit was called
	stop          func()        // ends the reading
	stopping      chan struct{} // closed by stop
}

// Handle accepts the current message of the stream. req carries only its method and id; the params never pass
// through the library.
func (d *dispatcher) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	m := d.stream.take()
	if d.calls.busy(m.ID) {
		d.refuse(m, req.Method, duplicateID())
		return
	}
	if word, ok := d.connectionMethods[req.Method]; ok {
		d.handleConnection(word, m)
		return
	}
	entry, ok := d.table.Entry(req.Method)
	if !ok {
		d.refuse(m, req.Method, unknownMethod(req.Method, d.table.Names()))
		return
	}
	if fault := d.admit(len(m.Params)); fault != nil {
		d.refuse(m, entry.Name, fault)
		return
	}
	d.dispatch(&call{message: m, entry: entry, size: len(m.Params)})
}

// admit reserves room for a call of this size, and waits for it if necessary. It returns an error if there is none.
func (d *dispatcher) admit(size int) *schema.Error {
	if d.shutdownAsked.Load() {
		return shuttingDown()
	}
	for !d.limiter.hasRoom(size) || d.outbox.full() {
		if fault := d.waitForRoom(); fault != nil {
			return fault
		}
	}
	d.limiter.acquire(size)
	return nil
}

// waitForRoom blocks until there may be more room. It returns OVERLOADED at once if the host reads no answers or no
// call makes progress, because the next message may be the cancellation that makes room.
func (d *dispatcher) waitForRoom() *schema.Error {
	if d.outbox.blocked.Load() || d.limiter.activity.Idle() >= roomTimeout {
		return overloaded()
	}
	d.outbox.wakeWriter()
	again := time.NewTimer(roomTimeout)
	defer again.Stop()
	select {
	case <-d.limiter.freed:
	case <-again.C:
	case <-d.stopping:
		return shuttingDown()
	}
	return nil
}

// refuse answers a request that was not accepted. It logs a notification, which has no answer.
func (d *dispatcher) refuse(m message, method string, fault *schema.Error) {
	if m.ID == nil {
		d.defects.tally.Refuse(fault.Data.Code)
		d.defects.logFailedNotification(method, fault)
		return
	}
	m.Fault = fault
	d.stream.refuse(m)
}

// dispatch runs the call or queues it for another goroutine.
func (d *dispatcher) dispatch(c *call) {
	d.unanswered.add(1)
	c.ctx = d.callCtx
	if c.size > keepParamsBytes {
		c.ID = bytes.Clone(c.ID) // the original shares its memory with the params
	}
	switch c.entry.Kind {
	case schema.Control, schema.Connection:
		d.run(c)
	case schema.Read:
		c.ctx, c.cancel = context.WithCancel(d.callCtx)
		d.calls.add(c)
		d.startRead(c)
	case schema.Change:
		c.ctx, c.cancel = context.WithCancel(d.callCtx)
		d.calls.add(c)
		d.changes <- c
	}
}

// startRead runs a Read method on the reader if no other one is pending and the input is empty; waking a worker can
// take longer than the method. Otherwise it queues the call for the workers.
func (d *dispatcher) startRead(c *call) {
	if d.pendingReads.Add(1) == 1 && !d.stream.hasMore() {
		d.flush() // earlier answers must not wait for this one
		d.handOver.beginCall(c)
		defer d.handOver.endCall(c)
		d.runRead(c)
		return
	}
	d.addWorker()
	d.reads <- c
}

func (d *dispatcher) runRead(c *call) {
	defer d.pendingReads.Add(-1)
	d.runWhenRoom(c)
}

// addWorker starts a worker unless every pending Read method has one.
func (d *dispatcher) addWorker() {
	if d.pendingReads.Load() <= int64(d.workerCount) || d.workerCount == maxWorkers {
		return
	}
	d.workerCount++
	d.running.Go(func() { d.runCalls(d.reads, d.runRead) })
}

// runCalls runs do for one call after the other until quit is closed.
func (d *dispatcher) runCalls(calls <-chan *call, do func(*call)) {
	for {
		select {
		case c := <-calls:
			do(c)
		case <-d.quit:
			return
		}
	}
}

// runWhenRoom runs a call once the unread answers leave room for another. During shutdown a change does not wait
// for room, because every accepted change takes effect.
func (d *dispatcher) runWhenRoom(c *call) {
	var leaving <-chan struct{}
	if c.changes() {
		leaving = d.stopping
	}
	d.outbox.awaitRoom(c.ctx, leaving)
	if c.batch != nil && d.outbox.parkedBytes.Load() >= maxUnwrittenBytes {
		d.finish(c, errorAnswer(batchTooLarge()))
		return
	}
	d.run(c)
}

// run runs the method. When it returns, the call is answered, unless the method is a change.
func (d *dispatcher) run(c *call) {
	defer func() {
		if fault := d.defects.recovered(recover(), c.entry.Name); fault != nil {
			if c.changes() {
				fault.Data.Outcome = schema.OutcomeUnknown
			}
			d.finish(c, errorAnswer(fault))
		}
	}()
	// This comes before the check of ctx: a call that is abandoned after ctx ended and has not started never starts.
	c.started.Store(true)
	if c.ctx.Err() != nil {
		d.finish(c, errorAnswer(cancelled()))
		return
	}
	c.entry.Start(c.ctx, c.Params, func(a api.Answer) { d.finish(c, a) })
	d.limiter.activity.Beat()
	if !c.changes() && c.state.Load() == open {
		d.finish(c, errorAnswer(d.defects.report(c.entry.Name+" returned no answer", nil)))
	}
}

// finish answers a call. Any goroutine may call it, and it does not block.
func (d *dispatcher) finish(c *call, a api.Answer) {
	if !c.state.CompareAndSwap(open, answered) {
		d.finishLate(c, a)
		return
	}
	c.Params = nil
	d.sendAnswer(c, a)
}

// finishLate handles a second answer to a call: it runs the undelivered callback, or logs a defect.
func (d *dispatcher) finishLate(c *call, a api.Answer) {
	if c.state.Load() != abandoned {
		d.defects.log.Error("a method answered twice", "method", c.entry.Name)
		return
	}
	it := item{answer: a}
	d.outbox.takeBack(it.undelivered())
}

// answerUnfinished answers the calls whose methods do not end.
func (d *dispatcher) answerUnfinished() {
	for _, c := range d.calls.unanswered() {
		if c.state.CompareAndSwap(open, abandoned) {
			d.defects.log.Warn("a method did not end during shutdown and was abandoned", "method", c.entry.Name)
			d.sendAnswer(c, errorAnswer(unfinished(c)))
		}
	}
}

// sendAnswer queues the answer of a call and releases its memory.
func (d *dispatcher) sendAnswer(c *call, a api.Answer) {
	if c.cancel != nil {
		c.cancel()
		d.calls.remove(c)
	}
	d.limiter.releaseBytes(c.size)
	a = d.defects.withIncident(a, c.entry.Name)
	if c.ID == nil && a.Err != nil {
		d.defects.logFailedNotification(c.entry.Name, a.Err)
	}
	it := item{id: c.ID, answer: a, change: c.changes(), noReply: c.ID == nil, slots: 1}
	heavy := c.batch != nil || d.outbox.backlogged()
	if c.entry.Kind == schema.Read && !heavy && !it.noReply {
		it.unsized = d.outbox.admitUnsized()
		heavy = !it.unsized
	}
	if heavy {
		d.outbox.encodeAhead(&it)
	}
	d.outbox.put(c.batch, c.index, it)
	switch c.entry.Kind {
	case schema.Control, schema.Connection: // the reader flushes before its next read
	case schema.Read:
		d.flush()
	case schema.Change:
		d.flushIfLast()
	}
	d.unanswered.done(1)
}

// flushIfLast writes the answer of a change at once if no other call is unanswered, which is faster than waking the
// writer. Otherwise it wakes the writer, so that the goroutine of the changes can continue.
func (d *dispatcher) flushIfLast() {
	if d.unanswered.n.Load() == 1 {
		d.flush()
		return
	}
	d.outbox.wakeWriter()
}
