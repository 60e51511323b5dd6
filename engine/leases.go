package engine

import (
	"context"
	"errors"
	"math"
	"time"

	"waybill/core"
	"waybill/core/task"
	"waybill/engine/lease"
	"waybill/store"
)

// retryReadOnly is the delay of a lease check after an error of a store that accepts no writes.
const retryReadOnly = time.Minute

// beginLooking starts the lease checks. It is called before the claim is answered, so that the first check sees no
// gap.
func (e *Engine) beginLooking() {
	e.watch.SetGoing(true)
	e.changes.Attend()
	signal(e.leased)
}

// watchLeases ends expired leases, from Attend until ctx ends. Without leases it sleeps until the store is opened, a task is
// claimed, or another process commits.
func (e *Engine) watchLeases(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-e.changes.Attended():
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	opened := e.changes.Opened()
	var logged string     // the last logged error
	var last core.Instant // when defaults were looked at last
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
		next, fault := e.lookAtDefaults(ctx, &last)
		if err = errors.Join(err, fault); wait == 0 || next > 0 && next < wait {
			wait = next
		}
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
	case <-e.changes.Opened():
	default:
		return 0, nil // no method used the store yet
	}
	first, leased, err := e.firstLease(ctx)
	if err != nil {
		return e.interrupted(err), err
	}
	_, back := e.watch.Check(time.Now(), e.o.Now())
	e.watch.SetGoing(leased)
	if !leased {
		e.watch.Corrected()
		return 0, nil
	}
	left := time.Duration(first.ExpiresAt-e.Now()) * time.Microsecond
	back = back || left > time.Duration(first.Length)*time.Microsecond
	if !back && left > 0 {
		return min(left, lease.Every), nil
	}
	moved, err := e.endLeases(ctx, back)
	if err != nil {
		return e.interrupted(err), err
	}
	if moved > 0 {
		signal(e.leased) // more of them may be due already
	}
	return lease.Every, nil
}

// longestWait bounds the wait for a default, because a timer stands still while the machine sleeps.
const longestWait = time.Minute

// lookAtDefaults answers the questions whose default is due, and returns the time until the next one may be, or zero. The
// first look, and one after the clock was set back, reaches all questions with a default.
func (e *Engine) lookAtDefaults(ctx context.Context, last *core.Instant) (wait time.Duration, err error) {
	select {
	case <-e.changes.Opened():
	default:
		return 0, nil // no method used the store yet
	}
	now := e.Now()
	by := now
	if now < *last || *last == 0 {
		by = math.MaxInt64
	}
	var due bool
	var next core.Instant
	err = e.View(ctx, func(tx store.Tx) error {
		page, err := tx.Tasks(store.TaskQuery{DefaultBy: by, Limit: 1})
		if due = len(page) > 0; err == nil {
			next, err = tx.NextReady(now)
		}
		return err
	})
	if err == nil && due {
		var full any
		full, err = e.Do(ctx, Change{Finishes: true, Apply: func(tx *Tx) (any, error) { return takeDefaults(tx, by) }})
		if full == true {
			return 0, nil // the change has signalled; last stays, so that the next look reaches as far
		}
	}
	switch {
	case err != nil:
		return retryReadOnly, err
	case due:
		signal(e.leased) // another one may be due by now
	case next > 0:
		wait = min(time.Duration(next-now)*time.Microsecond, longestWait)
	}
	*last = now
	return wait, nil
}

// interrupted records a gap in the checks and returns the delay of the next one.
func (e *Engine) interrupted(err error) time.Duration {
	e.watch.SetGoing(false)
	fault, ok := errors.AsType[*store.Error](err)
	if ok && (fault.Kind == store.ReadOnly || fault.Kind == store.NewerSchema) {
		return retryReadOnly
	}
	return lease.Every
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
		e.watch.Corrected()
	}
	return result.(int), nil
}
