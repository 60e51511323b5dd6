package conn

import (
	"context"
	"fmt"
	"time"

	"waybill/wire"
)

const (
	// patience is how long calls may make no progress during shutdown before they are cancelled. A host waits two
	// seconds for the answer to shutdown.
	patience = time.Second
	// inputPatience is how long unanswered calls may make no progress after the input ends. A script closes its
	// pipe behind its last call, and a loaded machine takes seconds to open a store.
	inputPatience = 3 * time.Second
	// answerAfter is how long cancelled calls may go on before they are answered with SHUTTING_DOWN.
	answerAfter = 150 * time.Millisecond
	// abandonAfter is the time from cancellation until Serve stops waiting.
	abandonAfter = 300 * time.Millisecond
	// closeTimeout is how long Serve waits for what may never end: a read that cannot be interrupted, and a method that
	// was abandoned.
	closeTimeout = 100 * time.Millisecond
	// endTimeout is how long Serve waits for its goroutines after every call was answered. They end at once where there
	// is a free processor.
	endTimeout = 2 * time.Second
)

var errNoProgress = fmt.Errorf("no progress for %v during shutdown", patience+abandonAfter)

// run serves the connection until it ends, and cleans up.
func (c *Conn) run(ctx context.Context) {
	d := c.dispatcher
	written := make(chan struct{})
	go func() { // ends when the outbox is finished and empty
		defer close(written)
		c.writer.run()
	}()
	d.running.Go(func() { d.runCalls(d.changes, d.runChange) })
	d.handOver.start()
	callPatience := patience
	select {
	case <-c.stream.ended:
		callPatience = inputPatience
		defer context.AfterFunc(ctx, d.work.hurry)() // a signal ends what the host no longer waits for
	case <-c.outbox.broken:
	case <-ctx.Done():
	case <-d.work.stopping:
	}
	c.stopReading()
	if c.drain(written, callPatience) {
		c.cleanUp(endTimeout)
	} else {
		c.cleanUp(closeTimeout)
	}
}

// stopReading ends the reading and closes the input to further calls.
func (c *Conn) stopReading() {
	d := c.dispatcher
	d.work.stop()
	d.limiter.activity.Beat()
	wire.Interrupt(c.o.In)
	wire.Within(closeTimeout, c.stream.ended)
	c.stream.calls.endLasting()
	d.unanswered.close()
	d.limiter.slots.close()
}

// drain waits until every accepted call is answered and written, while there is progress. It reports whether
// all answers were written and no call was abandoned.
func (c *Conn) drain(written <-chan struct{}, callPatience time.Duration) bool {
	answered := c.waitWhileActive(c.dispatcher.limiter.slots.zero, callPatience)
	c.background.stop()
	c.outbox.finish()
	if answered && c.waitWhileActive(written, patience) {
		return !c.dispatcher.hung.Load()
	}
	if c.outbox.fail() {
		c.writer.failed(errNoProgress)
	}
	_ = c.o.Out.Close()
	if !wire.Within(closeTimeout, written) {
		c.outbox.abandon()
	}
	return false
}

// cleanUp ends the goroutines and waits at most timeout.
func (c *Conn) cleanUp(timeout time.Duration) {
	d := c.dispatcher
	d.handOver.end()
	d.work.hurry()
	close(d.work.quit)
	_ = c.o.Out.Close()
	_ = c.o.In.Close()
	close(c.stream.released)
	c.endLibrary()
	ended := make(chan struct{})
	go func() { // ends with the last goroutine
		defer close(ended)
		c.background.Wait()
		d.running.Wait()
	}()
	if !wire.Within(timeout, ended) {
		c.o.Logger.Warn("a method or the notifier did not end and was abandoned")
	}
	c.o.Logger.Info("the connection ended", c.o.Tally.Attrs()...)
}

// waitWhileActive reports whether done closed before progress stopped. Without progress it cancels the calls, then answers
// them with SHUTTING_DOWN.
func (c *Conn) waitWhileActive(done <-chan struct{}, callPatience time.Duration) bool {
	d := c.dispatcher
	var answeredAt time.Time // when the calls were answered, which does not count as progress
	for {
		overdue := d.limiter.activity.Idle() - patience
		if d.unanswered.n.Load() > 0 {
			overdue = d.limiter.activity.Idle() - callPatience
		}
		if !answeredAt.IsZero() {
			overdue = answerAfter + time.Since(answeredAt)
		}
		overdue = min(overdue, c.outbox.activity.Idle()-patience)
		wait := abandonAfter - overdue
		switch {
		case overdue < 0:
			wait = -overdue
		case overdue >= abandonAfter && !answeredAt.IsZero():
			return false
		case overdue < answerAfter:
			d.work.hurry()
			wait = answerAfter - overdue
		case answeredAt.IsZero():
			d.work.hurry()
			d.answerUnfinished()
			c.outbox.wakeWriter()
			answeredAt = time.Now()
			wait = abandonAfter - answerAfter
		}
		if wire.Within(wait, done) {
			return true
		}
	}
}
