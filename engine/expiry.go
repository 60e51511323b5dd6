package engine

import (
	"errors"

	"waybill/core"
	"waybill/store"
)

// expireBatch bounds what one change ends, so that nobody waits long behind it.
const expireBatch = 64

// expireLeases sees to the attempts whose leases have run out: each is lost, or spared once. Both take it
// away from the head of the list, so that the rest of very many is for the next look. It gives how many
// it saw to.
func (tx *Tx) expireLeases() (moved int, err error) {
	calm, _ := tx.engine.looked()
	page, err := tx.Leased(0, 1)
	if err != nil || len(page) == 0 || !due(page[0], tx.now) {
		return 0, err
	}
	page, err = tx.Leased(0, store.DefaultLimit) // more than a batch, since some may be damaged
	if err != nil {
		return 0, err
	}
	for _, a := range page {
		if !due(a, tx.now) || moved == expireBatch {
			break
		}
		gone, err := tx.expire(a, calm)
		if err != nil {
			return moved, err
		}
		if gone {
			moved++
		}
	}
	return moved, nil
}

func leaseOf(a core.Attempt) core.Lease { return a.Phase.(core.Running).Lease }

func due(a core.Attempt, now core.Instant) bool { return leaseOf(a).ExpiresAt <= now }

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
		after = leaseOf(page[len(page)-1]).ExpiresAt
		if len(page) == store.DefaultLimit && after > leaseOf(page[0]).ExpiresAt {
			after-- // those that end with the last of a page may not all be in it
		}
	}
}

// expire puts a look at its lease to a task and reports whether the lease is another one now, or none. A
// task that is not what was written is passed by: the store has noted it, and its lease holds up no other.
func (tx *Tx) expire(a core.Attempt, calm core.Instant) (moved bool, err error) {
	t, err := tx.task(a.TaskID)
	if damaged(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	next, err := tx.stepTask(t, core.ExpireLease{At: tx.now, Calm: calm, Next: tx.successor()})
	return next.Current != a, err
}

// damaged reports whether an error says that one record is not what was written. The transaction goes on.
func damaged(err error) bool {
	fault, ok := errors.AsType[*store.Error](err)
	return ok && fault.Kind == store.Corrupt
}
