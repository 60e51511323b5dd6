package rpc

import (
	"bytes"
	"context"
)

// This file bounds an outbox: it measures the unwritten bytes and blocks callers while there are too many.

// full reports whether the outbox has no room even for a refusal.
func (o *outbox) full() bool {
	// The writer moves bytes from encodedAhead to unwritten, so this order of loads misses none.
	return o.encodedAhead.Load()+o.unwritten.Load()+itemBytes*o.unencoded.Load() >= maxUnwrittenBytes
}

// backlogged reports whether the host reads more slowly than waybill writes. The size of each further answer
// must then be known at once, because the writer may reach it only much later.
func (o *outbox) backlogged() bool {
	n := o.unwritten.Load() + o.encodedAhead.Load()
	return n >= chunkBytes || n > 0 && o.attempted.Idle() >= writeSlice
}

// admitUnsized reports whether an answer may be queued before its size is known, and counts it. The limit is
// low because many workers can run ahead of the one writer.
func (o *outbox) admitUnsized() bool {
	if o.unsized.Add(1) <= maxUnsized {
		return true
	}
	o.unsized.Add(-1)
	return false
}

// encodeAhead encodes an answer before the writer reaches it, so that full counts its real size. After the
// output has failed it drops the text instead.
func (o *outbox) encodeAhead(it *item) {
	if it.noReply {
		return
	}
	e := encoder{defects: o.defects}
	if !o.failed() {
		it.text = bytes.Clone(e.answer(nil, it)) // drops the spare capacity
	}
	it.answer.Result, it.answer.Err = nil, nil
	o.takeBack(e.undelivered)
}

// awaitRoom waits while the outbox is full, until ctx ends or leaving is closed.
func (o *outbox) awaitRoom(ctx context.Context, leaving <-chan struct{}) {
	if !o.full() {
		return
	}
	for o.full() {
		o.wakeWriter()
		select {
		case <-o.roomFreed:
		case <-o.broken:
			return
		case <-leaving:
			return
		case <-ctx.Done():
			return
		}
	}
	o.signalRoom() // wakes the next waiting call
}

// signalRoom wakes one call that waits in awaitRoom if the outbox has room.
func (o *outbox) signalRoom() {
	if o.full() {
		return
	}
	select {
	case o.roomFreed <- struct{}{}:
	default:
	}
}

// waitForSpace blocks the reader while the outbox is full, which means that the host has left 16 MiB unread.
// The wait ends at the latest when the writer finds the output broken.
func (o *outbox) waitForSpace(stopping <-chan struct{}) {
	for o.full() {
		o.wakeWriter()
		select {
		case <-o.limiter.freed:
		case <-o.broken:
			return
		case <-stopping:
			return
		}
	}
}
