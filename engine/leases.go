package engine

import (
	"context"
	"errors"
	"time"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

// The engine checks for expired leases every second. A suspended machine or a clock jump leaves a gap in these checks.
// After it, a dead worker looks like one that could not report. Package core decides the next state; leaseWatch
// records the gaps.

const (
	// lookEvery is the interval of the lease checks while any lease exists.
	lookEvery = time.Second
	// slack is the tolerated delay of a check, and the tolerated clock jump. A value that is too small only delays
	// the end of a dead worker's lease.
	slack = 500 * time.Millisecond
	// retryReadOnly is the delay after an error of a store that accepts no writes.
	retryReadOnly = time.Minute
)

// A leaseWatch records since when leases were checked without a gap.
type leaseWatch struct {
	looking      bool         // leases are checked every lookEvery
	last         time.Time    // the last check by the monotonic clock; zero before the first
	wall         time.Time    // the last check by the wall clock
	watchedSince core.Instant // the start of the checks without a gap
	clockSetBack bool         // the clock was set back since leases were corrected
}

// observe records a check at a moment of the monotonic and the wall clock.
func (w *leaseWatch) observe(now, on time.Time) {
	on = on.Round(0) // without a reading of the monotonic clock
	moment := core.Instant(on.UnixMicro())
	elapsed, wall := now.Sub(w.last), on.Sub(w.wall)
	stopped := !w.looking || elapsed > lookEvery+slack // no check was due, or this process did not run
	jumped := wall-elapsed > slack                     // the machine slept, or its clock was set forward
	if stopped || jumped {
		w.watchedSince = moment
	}
	w.watchedSince = min(w.watchedSince, moment) // watchedSince is never in the future
	w.clockSetBack = w.clockSetBack || !w.last.IsZero() && elapsed-wall > slack
	w.last, w.wall = now, on
}

// noteLook records a check and returns the start of the checks without a gap, and whether leases must be corrected.
func (e *Engine) noteLook() (calm core.Instant, back bool) {
	on := e.o.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.observe(time.Now(), on)
	return e.watch.watchedSince, e.watch.clockSetBack
}

// setLooking records whether leases are checked every second from now on.
func (e *Engine) setLooking(going bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.looking = going
}

// beginLooking starts the lease checks. It is called before the claim is answered, so that the first check sees no
// gap.
func (e *Engine) beginLooking() {
	e.setLooking(true)
	e.attend()
	signal(e.leased)
}

// leasesCorrected records that the leases fit the wall clock again.
func (e *Engine) leasesCorrected() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.clockSetBack = false
}

// watchLeases ends expired leases, from attend until ctx ends. Without leases it sleeps until the store is opened, a task is
// claimed, or another process commits.
func (e *Engine) watchLeases(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-e.attended:
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	opened := e.opened
	var logged string // the last logged error
	for {
		select {
		case <-ctx.Done():
			return
		case <-opened:
			opened = nil // once is enough
		case <-e.leased:
		case <-timer.C:
		}
		timer.Stop()
		wait, err := e.lookAtLeases(ctx)
		if ctx.Err() == nil {
			logged = e.logOnce(logged, err)
		}
		if wait > 0 {
			timer.Reset(wait)
		}
	}
}

// logOnce logs an error that differs from the last one.
func (e *Engine) logOnce(logged string, err error) string {
	if err == nil {
		return ""
	}
	if text := err.Error(); text != logged {
		e.o.Logger.Warn("expired leases cannot be ended", "err", err)
		return text
	}
	return logged
}

// lookAtLeases ends expired leases and returns the time until the next check, or zero without leases. An error means
// a gap, because workers could not report either.
func (e *Engine) lookAtLeases(ctx context.Context) (wait time.Duration, err error) {
	select {
	case <-e.opened:
	default:
		return 0, nil // no method used the store yet
	}
	first, leased, err := e.firstLease(ctx)
	if err != nil {
		return e.interrupted(err), err
	}
	_, back := e.noteLook()
	e.setLooking(leased)
	if !leased {
		e.leasesCorrected()
		return 0, nil
	}
	left := time.Duration(first.ExpiresAt-e.Now()) * time.Microsecond
	back = back || left > time.Duration(first.Length)*time.Microsecond
	if !back && left > 0 {
		return min(left, lookEvery), nil
	}
	moved, err := e.endLeases(ctx, back)
	if err != nil {
		return e.interrupted(err), err
	}
	if moved > 0 {
		signal(e.leased) // more of them may be due already
	}
	return lookEvery, nil
}

// interrupted records a gap in the checks and returns the delay of the next one.
func (e *Engine) interrupted(err error) time.Duration {
	e.setLooking(false)
	fault, ok := errors.AsType[*store.Error](err)
	if ok && (fault.Kind == store.ReadOnly || fault.Kind == store.NewerSchema) {
		return retryReadOnly
	}
	return lookEvery
}

// firstLease returns the lease that ends first, if any exists.
func (e *Engine) firstLease(ctx context.Context) (first task.Lease, leased bool, err error) {
	err = e.View(ctx, func(tx store.Tx) error {
		page, err := tx.Leased(0, 1)
		if leased = len(page) > 0; leased {
			first = leaseOf(page[0])
		}
		return err
	})
	return first, leased, err
}

// endLeases ends expired leases, or corrects all leases after the clock was set back. It returns how many it changed.
func (e *Engine) endLeases(ctx context.Context, back bool) (moved int, err error) {
	result, err := e.Do(ctx, Change{Finishes: true, Apply: func(tx *Tx) (any, error) {
		if back {
			return 0, tx.rebaseLeases()
		}
		return tx.expireLeases()
	}})
	if err != nil {
		return 0, err
	}
	if back {
		e.leasesCorrected()
	}
	return result.(int), nil
}
