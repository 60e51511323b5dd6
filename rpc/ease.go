package rpc

import (
	"bytes"
	"context"
)

// This file keeps an outbox from growing: it knows how much waits in it, and lets who would add to that wait.

// full reports whether so much waits that not even a refusal fits.
func (o *outbox) full() bool {
	// The writer moves what is ahead to bytes, so in this order nothing is missed on the way.
	return o.ahead.Load()+o.bytes.Load()+itemBytes*o.items.Load() >= maxUnwrittenBytes
}

// behind reports whether the host does not keep up with what is written. Then the size of another
// answer has to be known at once, for nobody knows when the writer gets to it.
func (o *outbox) behind() bool {
	n := o.bytes.Load() + o.ahead.Load()
	return n >= chunkBytes || n > 0 && o.tried.Idle() >= slice
}

// goesLight reports whether an answer may be queued before its size is known, and counts it. Many
// workers can be ahead of the one writer, so only a few may.
func (o *outbox) goesLight() bool {
	if o.light.Add(1) <= fewItems {
		return true
	}
	o.light.Add(-1)
	return false
}

// weigh encodes an answer ahead of its turn, so that it counts for what it is. Once the host takes
// nothing any more, an answer counts for nothing.
func (o *outbox) weigh(it *item) {
	if it.silent {
		return
	}
	e := encoder{trouble: o.trouble}
	if !o.failed() {
		it.text = bytes.Clone(e.answer(nil, it)) // without the room that it grew into
	}
	it.answer.Result, it.answer.Err = nil, nil
	o.takeBack(e.lost)
}

// awaitEase waits while the outbox is full, until ctx ends or leaving is closed.
func (o *outbox) awaitEase(ctx context.Context, leaving <-chan struct{}) {
	if !o.full() {
		return
	}
	for o.full() {
		o.kick()
		select {
		case <-o.eased:
		case <-o.broken:
			return
		case <-leaving:
			return
		case <-ctx.Done():
			return
		}
	}
	o.ease() // there may be others who wait
}

// ease lets one who waits look again, unless there is no room.
func (o *outbox) ease() {
	if o.full() {
		return
	}
	select {
	case o.eased <- struct{}{}:
	default:
	}
}

// waitForSpace waits while the outbox is full. It is the only place where the reader waits for the
// host to read, and the host has to have left 16 MiB unread; the wait ends when the writer gives up.
func (o *outbox) waitForSpace(stopping <-chan struct{}) {
	for o.full() {
		o.kick()
		select {
		case <-o.gate.freed:
		case <-o.broken:
			return
		case <-stopping:
			return
		}
	}
}
