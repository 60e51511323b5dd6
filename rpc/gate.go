package rpc

import (
	"sync"
	"sync/atomic"
	"time"

	"waybill/wire"
)

const (
	// maxInHand bounds the requests that were taken and whose answers are not written yet, and the
	// notifications that are not carried out yet.
	maxInHand = 1024
	// maxInHandBytes bounds the params of what is not carried out yet. One message always fits.
	maxInHandBytes = 64 << 20
	// patience is how long the reader waits for room while nothing at all moves. Opening a store takes longer than
	// a second where the disk is slow, and what was piped in at once is not to be refused for that.
	patience = 3 * time.Second
)

// A countdown counts what is going on and says when, after it was shut, nothing is.
type countdown struct {
	n    atomic.Int64
	shut atomic.Bool
	once sync.Once
	zero chan struct{} // closed by the one who finds n at 0 after shut
}

func newCountdown() countdown { return countdown{zero: make(chan struct{})} }

func (c *countdown) add(n int) { c.n.Add(int64(n)) }

func (c *countdown) done(n int) {
	if c.n.Add(-int64(n)) == 0 && c.shut.Load() {
		c.once.Do(func() { close(c.zero) })
	}
}

// close says that there will be no add any more.
func (c *countdown) close() {
	c.shut.Store(true)
	if c.n.Load() == 0 {
		c.once.Do(func() { close(c.zero) })
	}
}

// A gate knows how much is in hand. Only the reader lets in; anyone may let out.
type gate struct {
	held  countdown // places
	bytes atomic.Int64
	moved wire.Pulse    // when something was let in, was carried out, or was let out
	freed chan struct{} // holds a token if there may be more room than before; never closed
}

func newGate() *gate {
	return &gate{held: newCountdown(), moved: wire.NewPulse(), freed: make(chan struct{}, 1)}
}

func (g *gate) enter(size int) {
	g.held.add(1)
	g.bytes.Add(int64(size))
	g.moved.Beat()
}

// room reports whether something of that size may enter.
func (g *gate) room(size int) bool {
	bytes := g.bytes.Load()
	return g.held.n.Load() < maxInHand && (bytes == 0 || bytes+int64(size) <= maxInHandBytes)
}

// free gives memory back: something is carried out.
func (g *gate) free(size int) {
	g.bytes.Add(-int64(size))
	g.moved.Beat()
	g.wake()
}

// leave gives places back: something is written, or will never be.
func (g *gate) leave(places int) {
	if places > 0 {
		g.moved.Beat()
		g.held.done(places)
		g.wake()
	}
}

// wake lets the reader look again.
func (g *gate) wake() {
	select {
	case g.freed <- struct{}{}:
	default:
	}
}
