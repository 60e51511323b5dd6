package wire

import (
	"io"
	"sync/atomic"
	"time"
)

// A Pulse knows when something last moved. It may be used by any goroutine.
type Pulse struct {
	start time.Time
	last  atomic.Int64 // nanoseconds since start
}

// NewPulse gives a Pulse that beats now.
func NewPulse() Pulse { return Pulse{start: time.Now()} }

// Beat notes that something moves now.
func (p *Pulse) Beat() { p.last.Store(int64(time.Since(p.start))) }

// Idle tells how long ago it last moved.
func (p *Pulse) Idle() time.Duration { return time.Since(p.start) - time.Duration(p.last.Load()) }

// Within reports whether done was closed in time.
func Within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// Interrupt makes a Read that is under way come back, if anything can. It closes in only if that is the only
// way: in may be the output as well.
func Interrupt(in io.ReadCloser) {
	if r, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && r.SetReadDeadline(time.Unix(1, 0)) == nil {
		return
	}
	_ = in.Close()
}
