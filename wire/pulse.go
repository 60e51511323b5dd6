package wire

import (
	"io"
	"sync/atomic"
	"time"
)

// A Pulse records the time of the last progress. Any goroutine may use it.
type Pulse struct {
	start time.Time
	last  atomic.Int64 // nanoseconds since start
}

// NewPulse returns a Pulse that has just beaten.
func NewPulse() Pulse { return Pulse{start: time.Now()} }

// Beat records progress.
func (p *Pulse) Beat() { p.last.Store(int64(time.Since(p.start))) }

// Idle returns the time since the last progress.
func (p *Pulse) Idle() time.Duration { return time.Since(p.start) - time.Duration(p.last.Load()) }

// Within waits for done and reports whether it was closed within d.
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

// Interrupt makes a running Read return, if possible. It closes in only if it has no deadlines, because in may also be
// the output.
func Interrupt(in io.ReadCloser) {
	if r, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && r.SetReadDeadline(time.Unix(1, 0)) == nil {
		return
	}
	_ = in.Close()
}
