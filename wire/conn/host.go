package conn

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/sourcegraph/jsonrpc2"
)

// This file has the methods that a protocol calls.

// Stop ends the reading.
func (c *Conn) Stop() { c.dispatcher.work.stop() }

// Refuse makes the connection refuse further calls, and calls then when all accepted ones are answered or abandoned.
func (c *Conn) Refuse(then func()) {
	d := c.dispatcher
	d.work.refusing.Store(true)
	d.unanswered.close()
	d.limiter.activity.Beat()
	d.running.Go(func() { // ends within the time of a shutdown after the last progress
		c.waitWhileActive(d.unanswered.zero, patience)
		then()
	})
}

// Cancel ends the context of the request with this id, if there is one. drop says that the host does not want the answer;
// a request that has not started then ends at once.
func (c *Conn) Cancel(id []byte, drop bool) {
	call := c.stream.calls.find(id)
	if call == nil || call.cancel == nil {
		return
	}
	call.progress.dropped.Store(drop)
	call.cancel(context.Canceled)
	if drop && call.progress.started.CompareAndSwap(false, true) {
		c.dispatcher.finish(call, Answer{Fault: FaultOf(cancelled())})
	}
}

// Notify sends a notification to the host, in order with the answers. It does not block. The host has written at least
// one byte before: Options.Background runs, or a call was read.
func (c *Conn) Notify(method string, params any) {
	c.notes.Lock()
	defer c.notes.Unlock()
	c.notify(method, params)
	c.outbox.wakeWriter()
}

// Offer is Notify for a notification that may be dropped if too many wait. A later one then reports their number.
func (c *Conn) Offer(method string, params any) {
	c.notes.Lock()
	defer c.notes.Unlock()
	if c.outbox.notes.Load() >= maxNotes || c.outbox.unwritten.Load() >= noteBytes {
		c.dropped++
		c.o.Tally.Dropped.Add(1)
		return
	}
	c.markDropped()
	c.outbox.notes.Add(1)
	c.notify(method, params)
	c.outbox.wakeWriter()
}

// reportDropped reports dropped notifications once all other text is written.
func (c *Conn) reportDropped() {
	c.notes.Lock()
	defer c.notes.Unlock()
	if c.outbox.unwritten.Load() == 0 {
		c.markDropped()
	}
}

// markDropped sends the notification that reports dropped ones, if there are any. The caller holds notes.
func (c *Conn) markDropped() {
	if c.dropped > 0 {
		method, params := c.o.Dropped(c.dropped)
		c.notify(method, params)
		c.dropped = 0
		c.outbox.wakeWriter()
	}
}

// notify passes a notification to the library. The caller holds notes.
func (c *Conn) notify(method string, params any) {
	n, ok := c.encodeNote(method, params)
	if !ok {
		return
	}
	for {
		r := c.dispatcher.handOver.reader()
		if r.conn.Notify(c.library, method, nil, jsonrpc2.ExtraField(encoded, n)) == nil || r == c.dispatcher.handOver.reader() {
			return
		}
	}
}

// encodeNote returns a note with the params as the stream writes them.
func (c *Conn) encodeNote(method string, params any) (*note, bool) {
	if params == nil {
		return new(note), true
	}
	text, err := encode(nil, params)
	if err != nil {
		_ = c.dispatcher.defects.report("a notification cannot be encoded", err, "method", method)
	}
	return &note{params: text}, err == nil
}

// cancellation is the notification by which a request to the host is withdrawn.
const cancellation = "notifications/cancelled"

// Call sends a request to the host and decodes its result, which the library matches to it. If ctx ends before the
// answer, it withdraws the request.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	n, ok := c.encodeNote(method, params)
	if !ok {
		return errors.New("the request cannot be encoded")
	}
	r := c.dispatcher.handOver.ask()
	defer c.dispatcher.handOver.answered()
	id := c.lastID.Add(1)
	waiting, err := r.conn.DispatchCall(ctx, method, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: uint64(id)}), jsonrpc2.ExtraField(encoded, n))
	if err != nil {
		return err
	}
	c.outbox.wakeWriter()
	var text jsontext.Value
	err = waiting.Wait(ctx, &text)
	if err != nil && ctx.Err() != nil {
		n.withdrawn.Store(true)
		c.Notify(cancellation, map[string]any{"requestId": id, "reason": "the call that asked has ended"})
	}
	if fault, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return fmt.Errorf("calling %q: %s", method, fault.Message)
	}
	if err == nil && json.Unmarshal(text, result) != nil {
		return fmt.Errorf("calling %q: the result cannot be read", method)
	}
	return err
}

// SkipIDs makes the ids of requests to the host begin behind n, so that a late answer to a request of another process is
// none to one of this.
func (c *Conn) SkipIDs(n int64) { c.lastID.Store(n) }

// Report logs a defect under a new incident id, and returns the id.
func (c *Conn) Report(what string, cause any, attrs ...any) (incident string) {
	return c.dispatcher.defects.report(what, cause, attrs...).Data.Incident
}
