package conn

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"waybill/schema"
)

const (
	// maxWorkers is how many Read calls run at a time, not counting the one that the reader runs.
	maxWorkers = 63
	// keepParamsBytes is the size up to which params stay in memory until the answer is written.
	keepParamsBytes = 4 << 10
)

// A dispatcher is the library's Handler. Handle runs on the reader and blocks only for room. One goroutine starts the
// changes in order, and workers run the reads. The reader may run a read itself; if that takes long, another reader
// replaces it.
type dispatcher struct {
	protocol   Protocol
	stream     *stream
	writer     *writer
	limiter    *limiter
	unanswered countdown   // calls without an answer
	hung       atomic.Bool // a call was answered although its method did not end
	defects    *defectLog

	handOver     handOver
	changes      chan *Call   // never closed
	reads        chan *Call   // never closed
	pendingReads atomic.Int64 // reads that wait in reads or run
	workerCount  int          // workers started; only the reader uses it

	running sync.WaitGroup // the goroutine of the changes, the workers, and those of Concurrent calls
	work    *work
}

// work is the context of all calls, and how they end.
type work struct {
	ctx      context.Context
	hurry    func()        // ends ctx with the cause Options.Hurry
	refusing atomic.Bool   // no more calls are accepted
	quit     chan struct{} // closed after the last call
	stop     func()        // ends the reading
	stopping chan struct{} // closed by stop
}

// A currentHandler is the Handler of one reader.
type currentHandler struct {
	*dispatcher
	reader *reader
}

// Handle accepts the current message of the stream. req has only its method and id; the params never pass through the
// library.
func (d currentHandler) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	c := d.reader.take()
	c.Method, c.owner = req.Method, d.dispatcher
	if fault := d.protocol.Accept(c); fault != nil {
		d.refuse(c, fault)
		return
	}
	if c.Kind == Own {
		d.limiter.acquire(0)
		d.run(c)
		return
	}
	if fault := d.admit(len(c.Params)); fault != nil {
		d.refuse(c, FaultOf(fault))
		return
	}
	d.dispatch(c)
}

// admit reserves room for a call of this size, and waits for it if necessary. It returns an error if there is none.
func (d *dispatcher) admit(size int) *schema.Error {
	if d.work.refusing.Load() {
		return shuttingDown()
	}
	for !d.limiter.hasRoom(size) || d.stream.outbox.full() {
		if fault := d.waitForRoom(); fault != nil {
			return fault
		}
	}
	d.limiter.acquire(size)
	return nil
}

// waitForRoom blocks until there may be more room. It returns OVERLOADED at once if the host reads no answers or no call
// makes progress, because the next message may be the cancellation that makes room.
func (d *dispatcher) waitForRoom() *schema.Error {
	if d.stream.outbox.blocked.Load() || d.limiter.activity.Idle() >= roomTimeout {
		return overloaded()
	}
	d.stream.outbox.wakeWriter()
	again := time.NewTimer(roomTimeout)
	defer again.Stop()
	select {
	case <-d.limiter.freed:
	case <-again.C:
	case <-d.work.stopping:
		return shuttingDown()
	}
	return nil
}

// refuse answers a call that was not accepted. It logs a notification, which has no answer.
func (d *dispatcher) refuse(c *Call, fault *Fault) {
	d.defects.tally.Refuse(fault.code())
	if c.ID == nil {
		d.defects.logFailedNotification(c.Method, fault)
		return
	}
	d.stream.outbox.waitForSpace(d.limiter.freed, d.work.stopping)
	c.owner = nil
	d.reply(c, Answer{Fault: fault})
}

// dispatch runs the call or queues it for another goroutine.
func (d *dispatcher) dispatch(c *Call) {
	d.unanswered.add()
	c.size = len(c.Params)
	if c.size > keepParamsBytes {
		c.ID = bytes.Clone(c.ID) // the original shares its memory with the params
	}
	if c.Kind == Inline {
		d.run(c)
		return
	}
	ctx, cancel := context.WithCancelCause(d.work.ctx)
	d.stream.calls.start(c, ctx, cancel)
	switch c.Kind {
	case Inline, Own:
	case Read:
		d.startRead(c)
	case Change:
		d.changes <- c
	case ConcurrentChange:
		c.turn = newTurn(d.work.quit)
		d.running.Go(func() { d.run(c) }) // ends with the call
		d.changes <- c
	case Concurrent:
		d.running.Go(func() { d.run(c) }) // ends with the call
	}
}

// startRead runs a read on the reader if no other one is pending and the input is empty; waking a worker can take longer
// than the call. Otherwise it queues the call for the workers.
func (d *dispatcher) startRead(c *Call) {
	if d.pendingReads.Add(1) == 1 && !d.stream.hasMore() && d.handOver.beginCall(c) {
		defer d.handOver.endCall(c)
		d.writer.flush() // earlier answers must not wait for this one
		d.runRead(c)
		return
	}
	d.addWorker()
	d.reads <- c
}

func (d *dispatcher) runRead(c *Call) {
	defer d.pendingReads.Add(-1)
	d.runWhenRoom(c)
}

// addWorker starts a worker unless every pending read has one.
func (d *dispatcher) addWorker() {
	if d.pendingReads.Load() <= int64(d.workerCount) || d.workerCount == maxWorkers {
		return
	}
	d.workerCount++
	d.running.Go(func() { d.runCalls(d.reads, d.runRead) })
}

// runCalls runs do for one call after the other until quit is closed.
func (d *dispatcher) runCalls(calls <-chan *Call, do func(*Call)) {
	for {
		select {
		case c := <-calls:
			do(c)
		case <-d.work.quit:
			return
		}
	}
}

// runChange starts a change, or lets it have its turn.
func (d *dispatcher) runChange(c *Call) {
	if c.turn == nil {
		d.runWhenRoom(c)
		return
	}
	close(c.turn.ready)
	select {
	case <-c.turn.passed:
	case <-d.work.quit:
	}
}

// runWhenRoom runs a call once the unread answers leave room for another. During shutdown a change does not wait for
// room, because every accepted change takes effect.
func (d *dispatcher) runWhenRoom(c *Call) {
	var leaving <-chan struct{}
	if c.changes() {
		leaving = d.work.stopping
	}
	d.stream.outbox.awaitRoom(c.ctx, leaving)
	if c.batch != nil && d.stream.outbox.parked.Load() >= maxUnwrittenBytes {
		d.finish(c, Answer{Fault: FaultOf(batchTooLarge())})
		return
	}
	d.run(c)
}

// run runs the call.
func (d *dispatcher) run(c *Call) {
	// This comes before the check of ctx: a call that is cancelled or abandoned before it starts never starts.
	if !c.progress.started.CompareAndSwap(false, true) {
		return
	}
	ctx := d.work.ctx
	if c.ctx != nil {
		ctx = c.ctx
	}
	if ctx.Err() != nil && c.Kind != Own {
		d.finish(c, Answer{Fault: FaultOf(cancelled())})
		return
	}
	defer func() {
		if fault := d.defects.recovered(recover(), c.Method); fault != nil {
			if c.changes() {
				fault.Data.Outcome = schema.OutcomeUnknown
			}
			d.finish(c, Answer{Fault: FaultOf(fault)})
		}
	}()
	d.protocol.Start(ctx, c)
	d.limiter.activity.Beat()
	if (c.Kind == Inline || c.Kind == Read) && c.progress.state.Load() == open {
		d.finish(c, Answer{Fault: FaultOf(d.defects.report(c.Method+" returned no answer", nil))})
	}
}

// finish answers a call. Any goroutine may call it, and it does not block.
func (d *dispatcher) finish(c *Call, a Answer) {
	if c.progress.state.CompareAndSwap(open, answered) {
		c.Params = nil
		d.settle(c, a)
		return
	}
	if c.progress.state.Load() != abandoned {
		d.defects.log.Error("a method answered twice", "method", c.Method)
		return
	}
	d.defects.takeBack(a.Undelivered)
}

// answerUnfinished answers the calls whose methods do not end.
func (d *dispatcher) answerUnfinished() {
	for _, c := range d.stream.calls.all() {
		if c.progress.state.CompareAndSwap(open, abandoned) {
			d.defects.log.Warn("a method did not end during shutdown and was abandoned", "method", c.Method)
			d.settle(c, Answer{Fault: FaultOf(unfinished(c))})
			d.hung.Store(true)
		}
	}
}

// settle writes the answer of a call, or drops it, and releases the memory of the call.
func (d *dispatcher) settle(c *Call, a Answer) {
	if c.cancel != nil {
		c.cancel(context.Canceled)
	}
	c.Pass()
	d.limiter.releaseBytes(c.size)
	switch {
	case c.ID == nil:
		if a.Fault != nil {
			d.defects.logFailedNotification(c.Method, a.Fault)
		}
		d.defects.takeBack(a.Undelivered)
		d.limiter.releaseSlot()
	case c.progress.dropped.Load():
		d.stream.calls.take(c.key)
		d.defects.takeBack(a.Undelivered)
		d.limiter.releaseSlot()
	default:
		d.reply(c, a)
		d.flushAfter(c)
	}
	if c.Kind != Own {
		d.unanswered.done()
	}
}

// flushAfter starts the writing of an answer. The answer of the last call is written at once, which is faster than
// waking the writer. The others of changes wake it, so that the goroutine of the changes can continue.
func (d *dispatcher) flushAfter(c *Call) {
	switch {
	case c.Kind == Inline: // the reader flushes before its next read
	case c.Kind == Read, c.Kind != Own && d.unanswered.n.Load() == 1:
		d.writer.flush()
	default:
		d.stream.outbox.wakeWriter()
	}
}

// buffers are reused to encode answers.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// reply passes the answer of a call to the library.
func (d *dispatcher) reply(c *Call, a Answer) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	text, fault := reuse(*buffer), a.Fault
	if fault == nil {
		var err error
		if text, err = encode(text, a.Result); err != nil {
			fault = FaultOf(d.unencodable(c, err))
			d.defects.takeBack(a.Undelivered)
			a.Undelivered, a.Delivered = nil, nil
		}
	}
	c.outcome = outcome{a.Delivered, a.Undelivered}
	response := &jsonrpc2.Response{ID: c.key}
	if fault == nil {
		response.Result = raw(&text)
	} else {
		var data *json.RawMessage
		text, data = d.encodeData(text, c, fault)
		response.Error = &jsonrpc2.Error{Code: int64(fault.Code), Message: fault.Message, Data: data}
	}
	*buffer = text
	d.send(c, response)
}

// send sends a response through the current reader. If another reader takes over meanwhile, it tries that one.
func (d *dispatcher) send(c *Call, response *jsonrpc2.Response) {
	for {
		r := d.handOver.reader()
		if r.conn.SendResponse(d.work.ctx, response) == nil {
			d.stream.outbox.completeLate()
			return
		}
		if r == d.handOver.reader() { // the connection has ended
			c.complete(false)
			return
		}
	}
}

// complete is called when the answer of a call is written or never will be.
func (d *dispatcher) complete(c *Call, delivered bool) {
	switch {
	case !delivered:
		d.defects.takeBack(c.outcome.undelivered)
	case c.outcome.delivered != nil:
		c.outcome.delivered()
	}
	d.limiter.releaseSlot()
}
