package conn

import (
	"sync"
	"sync/atomic"
	"time"

	"waybill/wire"
)

const (
	// maxInFlight limits the requests without a written answer and the notifications that have not ended.
	maxInFlight = 1024
	// maxInFlightBytes limits the params of calls that have not ended. One message always fits.
	maxInFlightBytes = 64 << 20
	// roomTimeout is how long the reader waits for room without progress. Opening a store on a slow disk takes longer
	// than a second, and piped input must not be refused because of it.
	roomTimeout = 3 * time.Second
)

// A countdown counts calls. After close it closes zero when the count reaches 0.
type countdown struct {
	n      atomic.Int64
	closed atomic.Bool
	once   sync.Once
	zero   chan struct{} // closed once n is 0 and closed is set
}

func (c *countdown) add() { c.n.Add(1) }

func (c *countdown) done() {
	if c.n.Add(-1) == 0 && c.closed.Load() {
		c.once.Do(func() { close(c.zero) })
	}
}

// close declares that add will not be called again.
func (c *countdown) close() {
	c.closed.Store(true)
	if c.n.Load() == 0 {
		c.once.Do(func() { close(c.zero) })
	}
}

// A limiter bounds the requests in flight. Only the reader acquires; any goroutine may release.
type limiter struct {
	slots    countdown // requests in flight
	bytes    atomic.Int64
	activity wire.Pulse    // when a request was accepted, ended or written
	freed    chan struct{} // holds a token if room may have been freed; never closed
}

func newLimiter() *limiter {
	return &limiter{slots: countdown{zero: make(chan struct{})}, activity: wire.NewPulse(), freed: make(chan struct{}, 1)}
}

func (g *limiter) acquire(size int) {
	g.slots.add()
	g.bytes.Add(int64(size))
	g.activity.Beat()
}

// hasRoom reports whether a request of that size may be accepted.
func (g *limiter) hasRoom(size int) bool {
	bytes := g.bytes.Load()
	return g.slots.n.Load() < maxInFlight && (bytes == 0 || bytes+int64(size) <= maxInFlightBytes)
}

// releaseBytes frees the bytes of a request that has ended.
func (g *limiter) releaseBytes(size int) {
	g.bytes.Add(-int64(size))
	g.activity.Beat()
	g.signal()
}

// releaseSlot frees the slot of a request whose answer is written or never will be.
func (g *limiter) releaseSlot() {
	g.activity.Beat()
	g.slots.done()
	g.signal()
}

// signal wakes the reader if it waits for room.
func (g *limiter) signal() {
	select {
	case g.freed <- struct{}{}:
	default:
	}
}
