package conn

import (
	"context"
	"fmt"
	"time"

	"waybill/wire"
)

const (
	// cancelAfter is how long calls may make no progress during shutdown before they are cancelled.
	cancelAfter = time.Second
	// answerAfter is how long they may make no progress before they are answered with SHUTTING_DOWN.
	answerAfter = 1150 * time.Millisecond
	// abandonAfter is how long they may make no progress before Serve stops waiting for them. With two closeTimeouts,
	// Serve returns 1.5 s after the last progress.
	abandonAfter = 1300 * time.Millisecond
	// storeTime is how long opening or writing a store counts as progress during shutdown, from the last call that ended.
	// On a slow disk, one commit takes longer than cancelAfter, and a script that closes its pipe would lose the change.
	storeTime = 3 * time.Second
	// closeTimeout is how long Serve waits for what may never end: a read that cannot be interrupted, and a method that
	// was abandoned.
	closeTimeout = 100 * time.Millisecond
	// endTimeout is how long Serve waits for its goroutines after every call was answered. They end at once where there
	// is a free processor.
	endTimeout = 2 * time.Second
)

var errNoProgress = fmt.Errorf("no progress for %v during shutdown", abandonAfter)

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
	select {
	case <-c.stream.ended:
	case <-c.outbox.broken:
	case <-ctx.Done():
	case <-d.work.stopping:
	}
	c.stopReading()
	if c.drain(written) {
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

// drain waits until every accepted call is answered and written, while there is progress. It reports whether every
// method ended.
func (c *Conn) drain(written <-chan struct{}) bool {
	answered := c.waitWhileActive(c.dispatcher.limiter.slots.zero)
	c.background.stop()
	c.outbox.finish()
	if answered && c.waitWhileActive(written) {
		return !c.dispatcher.hung
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

// cleanUp ends the remaining goroutines and waits for them.
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

// waitWhileActive blocks until done is closed, and reports true. Without progress it cancels the calls, then answers
// them with SHUTTING_DOWN, and finally reports false.
func (c *Conn) waitWhileActive(done <-chan struct{}) bool {
	d := c.dispatcher
	var answeredAt time.Time // when the calls were answered, which does not count as progress
	left, storeDeadline := d.limiter.slots.n.Load(), time.Now().Add(storeTime)
	for {
		if n := d.limiter.slots.n.Load(); n < left {
			left, storeDeadline = n, time.Now().Add(storeTime)
		}
		if c.o.Busy != nil && c.o.Busy() && time.Now().Before(storeDeadline) {
			d.limiter.activity.Beat()
		}
		idle := d.limiter.activity.Idle()
		if !answeredAt.IsZero() {
			idle = answerAfter + time.Since(answeredAt)
		}
		idle = min(idle, c.outbox.activity.Idle())
		wait := abandonAfter - idle
		switch {
		case idle < cancelAfter:
			wait = cancelAfter - idle
		case idle >= abandonAfter && !answeredAt.IsZero():
			return false
		case idle < answerAfter:
			d.work.hurry()
			wait = answerAfter - idle
		case answeredAt.IsZero():
			d.work.hurry()
			d.hung = d.answerUnfinished()
			c.outbox.wakeWriter()
			answeredAt = time.Now()
			wait = abandonAfter - answerAfter
		}
		if wire.Within(wait, done) {
			return true
		}
	}
}
