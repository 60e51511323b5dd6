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
	// workers is how many Read methods run at a time beside one that the reader is at.
	workers = 63
	// keepParams is up to what size params are left in memory until the answer is written.
	keepParams = 4 << 10
)

// A dispatcher is the library's Handler. Handle runs on the reader, and waits for room at most. What may take time is
// carried out by the lane, one after the other, or by a worker; or by the reader, who is relieved if it does.
type dispatcher struct {
	stream  *stream
	table   *api.Table
	outbox  *outbox
	flush   func() // has what is in the outbox written
	gate    *gate
	calls   *register
	open    countdown // calls that have no answer yet
	trouble *trouble
	words   map[string]string // every name of the connection's own methods, and what it means

	rota  rota
	lane  chan *call   // Change methods; never closed
	reads chan *call   // Read methods; never closed
	begun atomic.Int64 // Read methods that are in reads, or being carried out
	team  int          // workers so far; only the reader knows

	work    context.Context // of all calls; ends when what is left is given up
	giveUp  func()          // ends work, with api.ErrHurry for its cause
	running sync.WaitGroup  // the lane, the workers, and who waits to answer a shutdown
	quit    chan struct{}   // closed when no call will come any more

	polite   atomic.Bool   // shutdown was asked for
	exited   atomic.Bool   // exit was said
	stop     func()        // ends the reading
	stopping chan struct{} // closed by stop
}

// Handle takes the message that the stream hands over. req has its method; everything else stayed
// outside the library.
func (d *dispatcher) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	m := d.stream.take()
	if d.calls.busy(m.ID) {
		d.refuse(m, req.Method, duplicateID())
		return
	}
	if word, ok := d.words[req.Method]; ok {
		d.connection(word, m)
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
	d.begin(&call{message: m, entry: entry, size: len(m.Params)})
}

// admit waits for room and reserves it, or says why there is none.
func (d *dispatcher) admit(size int) *schema.Error {
	if d.polite.Load() {
		return shuttingDown()
	}
	for !d.gate.room(size) || d.outbox.full() {
		if fault := d.await(); fault != nil {
			return fault
		}
	}
	d.gate.enter(size)
	return nil
}

// await waits until there may be more room. A host that reads no answers, or work that does not move
// at all, is not waited for: what is behind in the input may be the cancellation that helps.
func (d *dispatcher) await() *schema.Error {
	if d.outbox.stuck.Load() || d.gate.moved.Idle() >= patience {
		return overloaded()
	}
	d.outbox.kick()
	again := time.NewTimer(patience)
	defer again.Stop()
	select {
	case <-d.gate.freed:
	case <-again.C:
	case <-d.stopping:
		return shuttingDown()
	}
	return nil
}

// refuse answers a request that is not begun. A notification cannot be answered, so it is logged.
func (d *dispatcher) refuse(m message, method string, fault *schema.Error) {
	if m.ID == nil {
		d.trouble.tally.Refuse(fault.Data.Code)
		d.trouble.unheard(method, fault)
		return
	}
	m.Fault = fault
	d.stream.refuse(m)
}

// begin carries the call out, or passes it to who does.
func (d *dispatcher) begin(c *call) {
	d.open.add(1)
	c.ctx = d.work
	if c.size > keepParams {
		c.ID = bytes.Clone(c.ID) // or it would keep the params in memory until it is answered
	}
	switch c.entry.Kind {
	case schema.Control, schema.Connection:
		d.start(c)
	case schema.Read:
		c.ctx, c.cancel = context.WithCancel(d.work)
		d.calls.add(c)
		d.ask(c)
	case schema.Change:
		c.ctx, c.cancel = context.WithCancel(d.work)
		d.calls.add(c)
		d.lane <- c
	}
}

// ask has a Read method carried out: by the reader if there is no other in hand, and nothing behind it in the input,
// and otherwise by a worker. To wake somebody can take longer than all the rest.
func (d *dispatcher) ask(c *call) {
	if d.begun.Add(1) == 1 && !d.stream.more() {
		d.flush() // what was answered on the spot does not wait for this one
		d.rota.enter(c)
		defer d.rota.leave(c)
		d.read(c)
		return
	}
	d.hire()
	d.reads <- c
}

func (d *dispatcher) read(c *call) {
	defer d.begun.Add(-1)
	d.carry(c)
}

// hire adds a worker unless there is one for each Read method in hand.
func (d *dispatcher) hire() {
	if d.begun.Load() <= int64(d.team) || d.team == workers {
		return
	}
	d.team++
	d.running.Go(func() { d.serve(d.reads, d.read) })
}

// serve carries calls out one after the other until quit.
func (d *dispatcher) serve(calls <-chan *call, do func(*call)) {
	for {
		select {
		case c := <-calls:
			do(c)
		case <-d.quit:
			return
		}
	}
}

// carry starts a call when the answers that the host left unread leave room for another. On the way
// out a change does not wait for that: it was taken, so it takes effect.
func (d *dispatcher) carry(c *call) {
	var leaving <-chan struct{}
	if c.changes() {
		leaving = d.stopping
	}
	d.outbox.awaitEase(c.ctx, leaving)
	if c.batch != nil && d.outbox.parked.Load() >= maxUnwrittenBytes {
		d.finish(c, failed(heavyBatch()))
		return
	}
	d.start(c)
}

// start runs the method. It has its answer when this returns, unless it is a change.
func (d *dispatcher) start(c *call) {
	defer func() {
		if fault := d.trouble.caught(recover(), c.entry.Name); fault != nil {
			if c.changes() {
				fault.Data.Outcome = schema.OutcomeUnknown
			}
			d.finish(c, failed(fault))
		}
	}()
	// Before the look at ctx: a call that is given up after ctx ended, and is not begun, never will be.
	c.begun.Store(true)
	if c.ctx.Err() != nil {
		d.finish(c, failed(cancelled()))
		return
	}
	c.entry.Start(c.ctx, c.Params, func(a api.Answer) { d.finish(c, a) })
	d.gate.moved.Beat()
	if !c.changes() && c.state.Load() == open {
		d.finish(c, failed(d.trouble.broken(c.entry.Name+" gave no answer", nil)))
	}
}

// finish takes the answer of a call. It may be called by any goroutine, and waits for nothing.
func (d *dispatcher) finish(c *call, a api.Answer) {
	if !c.state.CompareAndSwap(open, answered) {
		d.late(c, a)
		return
	}
	c.Params = nil
	d.answer(c, a)
}

// late takes an answer of a call that has one.
func (d *dispatcher) late(c *call, a api.Answer) {
	if c.state.Load() != givenUp {
		d.trouble.log.Error("a method answered twice", "method", c.entry.Name)
		return
	}
	it := item{answer: a}
	d.outbox.takeBack(it.undelivered())
}

// answerLeft answers, in place of their methods, the calls that do not end.
func (d *dispatcher) answerLeft() {
	for _, c := range d.calls.left() {
		if c.state.CompareAndSwap(open, givenUp) {
			d.trouble.log.Warn("a method did not end and was given up", "method", c.entry.Name)
			d.answer(c, failed(leftBehind(c)))
		}
	}
}

// answer passes the answer of a call on.
func (d *dispatcher) answer(c *call, a api.Answer) {
	if c.cancel != nil {
		c.cancel()
		d.calls.remove(c)
	}
	d.gate.free(c.size)
	a = d.trouble.explained(a, c.entry.Name)
	if c.ID == nil && a.Err != nil {
		d.trouble.unheard(c.entry.Name, a.Err)
	}
	it := item{id: c.ID, answer: a, change: c.changes(), silent: c.ID == nil, held: 1}
	heavy := c.batch != nil || d.outbox.behind()
	if c.entry.Kind == schema.Read && !heavy && !it.silent {
		it.light = d.outbox.goesLight()
		heavy = !it.light
	}
	if heavy {
		d.outbox.weigh(&it)
	}
	d.outbox.put(c.batch, c.place, it)
	switch c.entry.Kind {
	case schema.Control, schema.Connection: // the reader flushes before it reads on
	case schema.Read:
		d.flush()
	case schema.Change:
		d.flushLone()
	}
	d.open.done(1)
}

// flushLone sees to it that the answer of a change gets written. Whoever answers changes has better
// things to do than to write, unless nobody waits for them: then it is faster than to wake the writer.
func (d *dispatcher) flushLone() {
	if d.open.n.Load() == 1 {
		d.flush()
		return
	}
	d.outbox.kick()
}
