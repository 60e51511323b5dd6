package pipe

import (
	"context"
	"time"

	"waybill/wire"
)

const (
	// hurryAfter is how long requests may make no progress during shutdown before they are hurried.
	hurryAfter = time.Second
	// answerAfter is how long they may make no progress before they are answered with SHUTTING_DOWN.
	answerAfter = 1150 * time.Millisecond
	// abandonAfter is how long they may make no progress before Serve stops waiting for them. With two closeTimeouts,
	// Serve returns 1.5 s after the last progress.
	abandonAfter = 1300 * time.Millisecond
	// closeTimeout is how long Serve waits for goroutines that were asked to end. A read that cannot be interrupted
	// takes longer.
	closeTimeout = 100 * time.Millisecond
	// storeTime is how long opening or writing a store counts as progress. On a slow disk, one commit takes longer than
	// hurryAfter.
	storeTime = 3 * time.Second
)

// serve serves the connection until it ends, and cleans up.
func (c *Conn) serve(ctx context.Context) {
	go c.read() // ends with the input, or when stopReading interrupts it
	select {
	case <-c.ended:
	case <-c.writer.broken:
	case <-ctx.Done():
	}
	c.stopReading()
	c.drain()
	c.cleanUp()
}

// stopReading ends the reading, and the subscriptions, which would otherwise never end.
func (c *Conn) stopReading() {
	c.stop()
	wire.Interrupt(c.o.In)
	wire.Within(closeTimeout, c.ended)
	c.activity.Beat()
	c.inFlight.refuseMore()
	c.inFlight.endMethod(c.o.Listening)
}

// drain waits until every accepted request is answered and written. Without progress it hurries the requests, then
// answers them with SHUTTING_DOWN, and finally stops waiting.
func (c *Conn) drain() {
	storeDeadline := time.Now().Add(storeTime)
	for {
		if c.o.Busy() && time.Now().Before(storeDeadline) {
			c.activity.Beat()
		}
		idle := c.activity.Idle()
		wait := hurryAfter - idle
		switch {
		case idle >= abandonAfter:
			return
		case idle >= answerAfter:
			c.answerUnfinished()
			wait = abandonAfter - idle
		case idle >= hurryAfter:
			c.inFlight.hurry()
			wait = answerAfter - idle
		}
		if wire.Within(wait, c.inFlight.drained) {
			return
		}
	}
}

// answerUnfinished answers the requests whose handlers do not end.
func (c *Conn) answerUnfinished() {
	for _, r := range c.inFlight.takeUnanswered() {
		c.o.Logger.Warn("a request did not end during shutdown and was abandoned", "method", r.Method)
		r.pass()
		r.runUndelivered()
		if r.dropped {
			c.inFlight.complete(r, false)
			continue
		}
		c.writer.writeAsync(line{refusalMessage(r.ID, FaultOf(unfinished(r))), r})
	}
}

// cleanUp ends the remaining goroutines and waits for them.
func (c *Conn) cleanUp() {
	c.background.stop()
	close(c.closing)
	ended := make(chan struct{})
	go func() { // ends with the last goroutine
		defer close(ended)
		c.handlers.Wait()
		c.background.Wait()
		c.writer.writers.Wait()
	}()
	settled := wire.Within(closeTimeout, ended)
	c.writer.close()
	_ = c.o.Out.Close()
	_ = c.o.In.Close()
	if !settled && !wire.Within(closeTimeout, ended) {
		c.o.Logger.Warn("a request or the notifier did not end and was abandoned")
	}
	c.o.Logger.Info("the connection ended", c.o.Tally.Attrs()...)
}
