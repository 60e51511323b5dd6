package engine

import (
	"context"
	"time"

	"waybill/core"
	"waybill/store"
)

// Leases end by themselves, in the eyes of whoever looks. Somebody who slept, was stopped, or whose
// clock jumped cannot tell a worker that died from one that was not let speak, so he gives every lease
// its whole length again, from when he came back. How long he has looked without a gap is kept here.

const (
	// lookEvery is how often leases are looked at while there are any.
	lookEvery = time.Second
	// gap is how much later than expected a look must come to count as one.
	gap = 3 * time.Second
	// expireBatch bounds what one change ends, so that nobody waits long behind it.
	expireBatch = 64
)

// A watch knows since when leases have been looked at without a gap.
type watch struct {
	going bool         // leases are looked at every lookEvery
	last  time.Time    // the look before, by the monotonic clock; zero before the first
	wall  time.Time    // the same by the clock on the wall
	calm  core.Instant // zero: since ever
	back  bool         // the clock was set back since leases were last corrected
}

// look notes a look at the leases at a moment that the two clocks name.
func (w *watch) look(now, on time.Time) {
	on = on.Round(0) // without a reading of the monotonic clock
	if !w.last.IsZero() {
		elapsed, wall := now.Sub(w.last), on.Sub(w.wall)
		stopped := w.going && elapsed > lookEvery+gap   // we did not run
		jumped := wall-elapsed > gap                    // the machine slept, or its clock was set forward
		w.back = w.back || elapsed-wall > time.Second/2 // its clock was set back
		if stopped || jumped {
			w.calm = core.Instant(on.UnixMicro())
		}
	}
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
		if wait := e.lookAtLeases(ctx); wait > 0 {
			timer.Reset(wait)
		}
	}
}

// lookAtLeases ends what has run out and gives the time until the next look, or zero if nobody has a
// lease.
func (e *Engine) lookAtLeases(ctx context.Context) time.Duration {
	select {
	case <-e.opened:
	default:
		return 0 // nobody has needed the store yet
	}
	var first []core.Attempt
	if err := e.View(ctx, func(tx store.Tx) (err error) {
		first, err = tx.Leased(0, 1)
		return err
	}); err != nil {
		return lookEvery
	}
	_, back := e.looked()
	e.keepLooking(len(first) > 0)
	if len(first) == 0 {
		e.corrected()
		return 0
	}
	left := time.Duration(first[0].Phase.(core.Running).Lease.ExpiresAt-e.Now()) * time.Microsecond
	if !back && left > 0 {
		return min(left, lookEvery)
	}
	e.endLeases(ctx, back)
	return lookEvery
}

func (e *Engine) endLeases(ctx context.Context, back bool) {
	_, err := e.Do(ctx, Change{Finishes: true, Apply: func(tx *Tx) (any, error) {
		if back {
			return nil, tx.rebaseLeases()
		}
		return nil, tx.ExpireLeases()
	}})
	switch {
	case err != nil && ctx.Err() == nil:
		e.o.Logger.Warn("leases that ran out were not ended", "err", err)
	case err == nil && back:
		e.corrected()
	}
}

// ExpireLeases ends the attempts whose leases have run out. Of very many, the rest is for the next look.
func (tx *Tx) ExpireLeases() error {
	calm, _ := tx.engine.looked()
	first, err := tx.Leased(0, 1)
	if err != nil || len(first) == 0 || !due(first[0], tx.now) {
		return err
	}
	page, err := tx.Leased(0, store.DefaultLimit) // some may be due and spared, because of a gap
	if err != nil {
		return err
	}
	ended := 0
	for _, a := range page {
		if !due(a, tx.now) || ended == expireBatch {
			return nil
		}
		t, err := tx.expire(a, calm)
		if err != nil {
			return err
		}
		if t.Current != a {
			ended++
		}
	}
	return nil
}

func due(a core.Attempt, now core.Instant) bool { return a.Phase.(core.Running).Lease.ExpiresAt <= now }

// rebaseLeases corrects the leases that seem to last longer than they can, because the clock was set back.
func (tx *Tx) rebaseLeases() error {
	var after core.Instant
	for {
		page, err := tx.Leased(after, store.DefaultLimit)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, a := range page {
			if _, err := tx.expire(a, tx.now); err != nil {
				return err
			}
		}
		after = page[len(page)-1].Phase.(core.Running).Lease.ExpiresAt
		if len(page) == store.DefaultLimit && after > page[0].Phase.(core.Running).Lease.ExpiresAt {
			after-- // those that end with the last of a page may not all be in it
		}
	}
}

func (tx *Tx) expire(a core.Attempt, calm core.Instant) (core.Task, error) {
	t, err := tx.task(a.TaskID)
	if err != nil {
		return t, err
	}
	return tx.stepTask(t, core.ExpireLease{At: tx.now, Calm: calm, Next: tx.successor()})
}
