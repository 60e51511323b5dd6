// Package lease records since when leases were checked without a gap. A suspended machine or a clock jump leaves a gap in
// the checks: after it, a dead worker looks like one that could not report. The package decides nothing about a lease.
package lease

import (
	"sync"
	"time"

	"waybill/core"
)

const (
	// Every is the interval of the checks while any lease exists.
	Every = time.Second
	// slack is the tolerated delay of a check, and the tolerated clock jump. A value that is too small only delays
	// the end of a dead worker's lease.
	slack = 500 * time.Millisecond
)

// A Watch records the checks. Its zero value has seen none. Its methods may be called from any goroutine.
type Watch struct {
	mu           sync.Mutex   // guards the fields below
	going        bool         // checks follow in intervals of Every
	last         time.Time    // the last check by the monotonic clock; zero before the first
	wall         time.Time    // the last check by the wall clock
	since        core.Instant // the start of the checks without a gap
	clockSetBack bool         // the clock was set back since leases were corrected
}

// Check records a check at a moment of the monotonic and of the wall clock. It returns the start of the checks without a
// gap, and whether leases must be corrected because the clock was set back.
func (w *Watch) Check(now, on time.Time) (since core.Instant, back bool) {
	on = on.Round(0) // without a reading of the monotonic clock
	moment := core.Instant(on.UnixMicro())
	w.mu.Lock()
	defer w.mu.Unlock()
	elapsed, wall := now.Sub(w.last), on.Sub(w.wall)
	stopped := !w.going || elapsed > Every+slack // no check was due, or this process did not run
	jumped := wall-elapsed > slack               // the machine slept, or its clock was set forward
	if stopped || jumped {
		w.since = moment
	}
	w.since = min(w.since, moment) // never in the future
	w.clockSetBack = w.clockSetBack || !w.last.IsZero() && elapsed-wall > slack
	w.last, w.wall = now, on
	return w.since, w.clockSetBack
}

// SetGoing records whether checks follow in intervals of Every from now on.
func (w *Watch) SetGoing(going bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.going = going
}

// Corrected records that the leases fit the wall clock again.
func (w *Watch) Corrected() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clockSetBack = false
}

// Restart forgets the checks before now.
func (w *Watch) Restart(now core.Instant) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.going, w.since = false, now
}
