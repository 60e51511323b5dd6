package mcp

import (
	"context"
	"time"

	"waybill/wire"
)

const (
	// grace is how long what is in hand may stand still, on the way out, until it is hurried.
	grace = time.Second
	// lastCall is how long it may stand still until it is answered in place of its handler.
	lastCall = 1150 * time.Millisecond
	// hardStop is how long it may stand still until it is left behind. With two times linger, Serve returns 1.5 s
	// after the last movement.
	hardStop = 1300 * time.Millisecond
	// linger is how long Serve waits for goroutines that have been told to end. What takes longer is in foreign
	// hands, such as a read that nothing interrupts.
	linger = 100 * time.Millisecond
	// openTime is how long a store that is being opened counts as movement: on a slow disk this takes longer than all
	// the rest of what a script may have asked for.
	openTime = 3 * time.Second
)

// serve serves until there is a reason to end, and cleans up.
func (d *door) serve(ctx context.Context) (exitCode int) {
	d.connect(d.legacy) // without ctx: what is in hand when that ends is still carried out
	d.connect(d.modern)
	go d.read() // ends with the input, or is interrupted by leave
	select {
	case <-d.ended:
	case <-d.outlet.broken:
	case <-ctx.Done():
	}
	d.leave()
	d.settle()
	d.release()
	return 0
}

// leave ends the reading, and the subscriptions, which would never end by themselves.
func (d *door) leave() {
	d.stop()
	wire.Interrupt(d.o.In)
	wire.Within(linger, d.ended)
	d.moved.Beat()
	d.hand.shutDown()
	d.hand.endAll(listening)
}

// settle lets everything in hand be carried out, answered and written, as long as that moves. What has stood still for
// a while is hurried, then answered as given up, and in the end left behind.
func (d *door) settle() {
	opening := time.Now().Add(openTime)
	for {
		if d.o.Table.Opening() && time.Now().Before(opening) {
			d.moved.Beat()
		}
		idle := d.moved.Idle()
		wait := grace - idle
		switch {
		case idle >= hardStop:
			return
		case idle >= lastCall:
			d.answerLeft()
			wait = hardStop - idle
		case idle >= grace:
			d.hand.hurry()
			wait = lastCall - idle
		}
		if wire.Within(wait, d.hand.empty) {
			return
		}
	}
}

// answerLeft answers, in place of their handlers, the requests that do not end.
func (d *door) answerLeft() {
	for _, f := range d.hand.left() {
		d.o.Logger.Warn("a request did not end and was given up", "method", f.method)
		f.pass()
		f.recall()
		if f.silenced {
			d.hand.land(f, false)
			continue
		}
		d.outlet.post(line{refused(f.id, leftBehind(f)), f})
	}
}

// release ends what is still there, and waits for it.
func (d *door) release() {
	d.stopNotes()
	close(d.finished)
	ended := make(chan struct{})
	go func() { // ends with the last of them
		defer close(ended)
		d.sessions.Wait()
		d.notes.Wait()
		d.outlet.writers.Wait()
	}()
	settled := wire.Within(linger, ended)
	d.outlet.close()
	_ = d.o.Out.Close()
	_ = d.o.In.Close()
	if !settled && !wire.Within(linger, ended) {
		d.o.Logger.Warn("a request or the notifier did not end and is left behind")
	}
	d.o.Logger.Info("the connection ended", d.o.Tally.Attrs()...)
}
