package engine

import (
	"context"
	"errors"
	"time"

	"waybill/core"
	"waybill/store"
)

// Leases end by themselves, in the eyes of whoever looks. Somebody who slept, was stopped, has just begun
// or whose clock jumped cannot tell a worker that died from one that was not let speak. What follows from
// that is core's to decide; since when this process has looked without a gap is kept here.

const (
	// lookEvery is how often leases are looked at while there are any.
	lookEvery = time.Second
	// slack is how much later than expected a look may come, and how much the clock may jump. Less than
	// is needed costs nothing but that a dead worker's lease ends later.
	slack = 500 * time.Millisecond
	// rejected is how long a store that takes no writes at all is left alone.
	rejected = time.Minute
)

// A watch knows since when leases have been looked at without a gap.
type watch struct {
	going bool         // leases are looked at every lookEvery, and what ran out was ended
	last  time.Time    // the look before, by the monotonic clock; zero before the first
	wall  time.Time    // the same by the clock on the wall
	calm  core.Instant // since when; before the first look, nothing
	back  bool         // the clock was set back since leases were last corrected
}

// look notes a look at the leases at a moment that the two clocks name.
func (w *watch) look(now, on time.Time) {
	on = on.Round(0) // without a reading of the monotonic clock
	moment := core.Instant(on.UnixMicro())
	elapsed, wall := now.Sub(w.last), on.Sub(w.wall)
	stopped := !w.going || elapsed > lookEvery+slack // we did not look, or did not run
	jumped := wall-elapsed > slack                   // the machine slept, or its clock was set forward
	if stopped || jumped {
		w.calm = moment
	}
	w.calm = min(w.calm, moment) // nobody watches from a moment on that is still to come
	w.back = w.back || !w.last.IsZero() && elapsed-wall > slack
	w.last, w.wall = now, on
}

// looked notes a look and gives since when there was no gap, and whether leases are to be corrected.
func (e *Engine) looked() (calm core.Instant, back bool) {
	on := e.o.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.look(time.Now(), on)
	return e.watch.calm, e.watch.back
}

// keepLooking notes whether leases are looked at every second from now on.
func (e *Engine) keepLooking(going bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.going = going
}

// beginLooking has leases looked at from now on. It is called before anybody learns of a new one, so that
// no gap behind that is overlooked.
func (e *Engine) beginLooking() {
	e.keepLooking(true)
	signal(e.leased)
}

// corrected notes that the leases are as the clock on the wall has to see them.
func (e *Engine) corrected() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.back = false
}

// watchLeases ends the leases that run out, until ctx ends. While nobody has a lease it rests: only the
// opening of the store, a claim, or what another process commits wakes it.
func (e *Engine) watchLeases(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	opened := e.opened
	var told string // the trouble that was last told of
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
			told = e.tellOnce(told, err)
		}
		if wait > 0 {
			timer.Reset(wait)
		}
	}
}

// tellOnce tells of trouble that is not what was told before.
func (e *Engine) tellOnce(told string, trouble error) string {
	if trouble == nil {
		return ""
	}
	if text := trouble.Error(); text != told {
		e.o.Logger.Warn("leases that ran out are not ended", "err", trouble)
		return text
	}
	return told
}

// lookAtLeases ends what has run out and gives the time until the next look, or zero if nobody has a
// lease. After an error nobody could report either, so that a gap begins.
func (e *Engine) lookAtLeases(ctx context.Context) (wait time.Duration, err error) {
	select {
	case <-e.opened:
	default:
		return 0, nil // nobody has needed the store yet
	}
	first, leased, err := e.firstLease(ctx)
	if err != nil {
		return e.interrupted(err), err
	}
	_, back := e.looked()
	e.keepLooking(leased)
	if !leased {
		e.corrected()
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

// interrupted notes that the watch has a gap, and gives the time until it is tried again.
func (e *Engine) interrupted(err error) time.Duration {
	e.keepLooking(false)
	fault, ok := errors.AsType[*store.Error](err)
	if ok && (fault.Kind == store.ReadOnly || fault.Kind == store.NewerSchema) {
		return rejected
	}
	return lookEvery
}

// firstLease gives the lease that ends first, if somebody has one.
func (e *Engine) firstLease(ctx context.Context) (first core.Lease, leased bool, err error) {
	err = e.View(ctx, func(tx store.Tx) error {
		page, err := tx.Leased(0, 1)
		if leased = len(page) > 0; leased {
			first = leaseOf(page[0])
		}
		return err
	})
	return first, leased, err
}

// endLeases ends what has run out, or corrects the leases after the clock was set back. It gives how many
// it ended or spared.
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
		e.corrected()
	}
	return result.(int), nil
}
