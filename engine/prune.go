package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"waybill/core"
	"waybill/store"
)

const (
	// pruneEvery is how many puts pass between two looks for things that nobody waits for.
	pruneEvery = 5000
	// pruneBatch bounds what one change removes, so that nobody waits long behind it.
	pruneBatch = 500
	// forgetBatch bounds the tasks that one change looks at.
	forgetBatch = 100
	// young is how old a task is at least that is forgotten because there are too many.
	young = 24 * time.Hour
)

// Keep says what is kept of what nobody waits for. What is zero is built in.
type Keep struct {
	For   time.Duration // how long; 0 for 30 days
	Tasks int           // how many tasks that are over, at most, but for those of the last day; 0 for 100,000, and -1 for none
}

func (k Keep) filled() Keep { return Keep{cmp.Or(k.For, 30*24*time.Hour), cmp.Or(k.Tasks, 100_000)} }

// tidy looks for things that are older than the engine keeps them, once the store was opened and
// then every pruneEvery puts.
func (e *Engine) tidy(writes int) {
	e.mu.Lock()
	e.untidy -= writes
	due := e.untidy <= 0
	if due {
		e.untidy = pruneEvery
	}
	e.mu.Unlock()
	if due {
		e.prune(stroll{})
	}
}

// prune takes one step: it removes what is older than it is kept, and looks at some of the tasks that are over. It goes on
// until there is nothing left to do.
func (e *Engine) prune(from stroll) {
	now := e.Now()
	before := now - core.Instant(e.o.Keep.For.Microseconds())
	apply := func(tx *Tx) (any, error) {
		removed, err := tx.Prune(before, pruneBatch)
		if err != nil || removed >= pruneBatch {
			return from, err
		}
		return tx.dropTasks(from, now, e.o.Keep)
	}
	e.Submit(context.Background(), Change{Apply: apply}, func(next any, err error) {
		switch {
		case errors.Is(err, ErrStopped): // the next process does it
		case err != nil:
			e.o.Logger.Warn("old records were not removed", "err", err)
		case !next.(stroll).over:
			e.prune(next.(stroll))
		}
	})
}

// A stroll goes through the tasks of the statuses that may be forgotten, one status behind the other, by position.
type stroll struct {
	status int   // which of forgettable
	after  int64 // the position behind which to go on
	over   bool
}

// forgettable lists the statuses of tasks that may be forgotten.
var forgettable = slices.DeleteFunc(core.TaskStatuses(), func(s core.TaskStatus) bool { return !s.Forgettable() })

// dropTasks removes tasks that are over and too old, or too many. It looks at a few, and says where to go on.
func (tx *Tx) dropTasks(at stroll, now core.Instant, keep Keep) (stroll, error) {
	many, err := tx.tooMany(keep)
	if err != nil {
		return at, err
	}
	old := now - core.Instant(keep.For.Microseconds())
	grown := max(old, now-core.Instant(young.Microseconds()))
	for left := forgetBatch; left > 0 && !at.over; {
		page, err := tx.Tasks(store.TaskQuery{Status: forgettable[at.status], After: at.after, Limit: left})
		if err != nil {
			return at, err
		}
		whole := len(page) == left
		left -= len(page)
		for _, t := range page {
			limit := old
			if many > 0 {
				limit = grown
			}
			if t.CreatedAt >= limit { // and so was what was created behind it
				whole = false
				break
			}
			at.after = t.Position
			if t.UpdatedAt >= limit {
				continue
			}
			dropped, err := tx.dropTask(t)
			if err != nil {
				return at, err
			}
			if dropped {
				many--
			}
		}
		if !whole {
			at = at.further()
		}
	}
	return at, nil
}

// further goes on to the next status.
func (s stroll) further() stroll {
	return stroll{status: s.status + 1, over: s.status+1 == len(forgettable)}
}

// tooMany gives how many more tasks are over than are kept.
func (tx *Tx) tooMany(keep Keep) (int, error) {
	counts, err := tx.TaskCounts()
	if err != nil {
		return 0, err
	}
	over := 0
	for _, status := range forgettable {
		over += counts[status]
	}
	return over - max(keep.Tasks, 0), nil
}

// dropTask removes a task that is over, unless its run or another task still needs it.
func (tx *Tx) dropTask(t core.Task) (dropped bool, err error) {
	if id := t.Launch.RunID; id != "" {
		run, ok, err := tx.Run(id)
		if err != nil {
			return false, spared(err)
		}
		if ok && run.Live() {
			return false, nil
		}
	}
	dropped, err = tx.DropTask(t.ID)
	return dropped, spared(err)
}

// spared gives nil for what only says that a task stays: that another one needs it, or that its run cannot be read.
func spared(err error) error {
	if fault, ok := errors.AsType[*store.Error](err); ok && fault.Kind != store.Corrupt {
		return err
	}
	return nil
}
