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
	// forgetBatch bounds the tasks that are looked at, and dropBatch those that are removed, at once.
	forgetBatch = 50
	dropBatch   = 10
	// young is how old a task is at least that is forgotten because there are too many.
	young = 24 * time.Hour
)

// Keep says what is kept of what nobody waits for. What is zero is built in.
type Keep struct {
	For   time.Duration // how long; 0 for 30 days
	Tasks int           // how many tasks that are over, at most, but for those of the last day; 0 for 100,000, and -1 for none
}

func (k Keep) filled() Keep { return Keep{cmp.Or(k.For, 30*24*time.Hour), cmp.Or(k.Tasks, 100_000)} }

// tidy has the store looked through for what is older than it is kept, after the first change and then every pruneEvery puts.
func (e *Engine) tidy(writes int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.untidy -= writes; e.untidy <= 0 && e.o.Tidies {
		e.untidy = pruneEvery
		signal(e.messy)
	}
}

// keepTidy removes what is over whenever there may be something to remove, until ctx ends: a step after the other, so that
// nobody waits long behind one, and however much there is, a process that ends leaves the rest to the next one.
func (e *Engine) keepTidy(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.messy:
		}
		if err := e.clean(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, ErrStopped) {
			e.o.Logger.Warn("what is over was not removed", "err", err)
		}
	}
}

// clean removes what is over, all of it.
func (e *Engine) clean(ctx context.Context) error {
	before := e.Now() - core.Instant(e.o.Keep.For.Microseconds())
	for more := true; more; {
		removed, err := e.Do(ctx, Change{Apply: func(tx *Tx) (any, error) { return tx.Prune(before, pruneBatch) }})
		if err != nil {
			return err
		}
		more = removed.(int) >= pruneBatch
	}
	for _, status := range core.TaskStatuses() {
		if status.Forgettable() {
			if err := e.dropTasks(ctx, status); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropTasks removes tasks of a status that are too old, or too many, and that nobody needs. It looks for them in readings,
// which hold nobody up, because many may have to stay.
func (e *Engine) dropTasks(ctx context.Context, status core.TaskStatus) error {
	for after, over := int64(0), false; !over; {
		var ids []string
		if err := e.View(ctx, func(tx store.Tx) (err error) {
			ids, after, over, err = e.droppable(tx, status, after)
			return err
		}); err != nil {
			return err
		}
		for some := range slices.Chunk(ids, dropBatch) {
			if err := e.drop(ctx, some); err != nil {
				return err
			}
		}
	}
	return nil
}

// droppable gives those of a page of tasks that can be removed, and where to go on. over reports that nothing behind it can.
func (e *Engine) droppable(tx store.Tx, status core.TaskStatus, after int64) (ids []string, next int64, over bool, err error) {
	d, err := e.deadline(tx)
	if err != nil {
		return nil, after, false, err
	}
	page, err := tx.Tasks(store.TaskQuery{Status: status, After: after, Limit: forgetBatch})
	if err != nil || len(page) == 0 {
		return nil, after, true, err
	}
	for _, t := range page {
		if d.spares(t) {
			return ids, after, true, nil
		}
		after = t.Position
		ok, err := d.droppable(tx, t)
		if err != nil {
			return nil, after, false, err
		}
		if ok {
			ids = append(ids, t.ID)
		}
	}
	return ids, after, false, nil
}

// drop removes those of the tasks that can still be removed.
func (e *Engine) drop(ctx context.Context, ids []string) error {
	_, err := e.Do(ctx, Change{Apply: func(tx *Tx) (any, error) {
		for _, id := range ids {
			if err := tx.dropTask(id); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}})
	return err
}

func (tx *Tx) dropTask(id string) error {
	d, err := tx.engine.deadline(tx.Tx)
	if err != nil {
		return err
	}
	t, ok, err := tx.Task(id)
	if err != nil || !ok {
		return spared(err)
	}
	if ok, err = d.droppable(tx.Tx, t); err == nil && ok {
		_, err = tx.DropTask(id)
	}
	return spared(err)
}

// A deadline says which tasks that are over are kept: those that changed since.
type deadline struct{ since, now core.Instant }

// deadline gives the one of now: a later one as long as more tasks are over than are kept.
func (e *Engine) deadline(tx store.Tx) (deadline, error) {
	now := e.Now()
	d := deadline{now - core.Instant(e.o.Keep.For.Microseconds()), now}
	many, err := tooMany(tx, e.o.Keep)
	if many > 0 {
		d.since = max(d.since, now-core.Instant(young.Microseconds()))
	}
	return d, err
}

func (d deadline) passed(t core.Task) bool { return t.UpdatedAt < d.since }

// spares reports whether the task is so young that those which were created after it are kept as well. One that comes
// from a clock which was ahead says nothing about others.
func (d deadline) spares(t core.Task) bool { return t.CreatedAt >= d.since && t.CreatedAt <= d.now }

// tooMany gives how many more tasks are over than are kept.
func tooMany(tx store.Tx, keep Keep) (int, error) {
	counts, err := tx.TaskCounts()
	if err != nil {
		return 0, err
	}
	over := 0
	for status, n := range counts {
		if status.Forgettable() {
			over += n
		}
	}
	return over - max(keep.Tasks, 0), nil
}

// droppable reports whether a task can be removed: it is over and too old, and neither its run nor another task needs it.
func (d deadline) droppable(tx store.Tx, t core.Task) (bool, error) {
	if !t.Status().Forgettable() || !d.passed(t) {
		return false, nil
	}
	if id := t.Launch.RunID; id != "" {
		run, ok, err := tx.Run(id)
		if err != nil || ok && run.Live() {
			return false, spared(err)
		}
	}
	stays, err := needed(tx, t)
	return !stays && err == nil, spared(err)
}

// needed reports whether another task needs one that is over, which a store would refuse to drop.
func needed(tx store.Tx, t core.Task) (bool, error) {
	for after := ""; ; {
		ids, err := tx.Dependents(t.ID, after, forgetBatch)
		if err != nil || len(ids) == 0 {
			return false, err
		}
		for _, id := range ids {
			other, ok, err := tx.Task(id)
			if err != nil || !ok {
				return true, err
			}
			if t.Status().NeededBy(other.Status()) {
				return true, nil
			}
		}
		after = ids[len(ids)-1]
	}
}

// spared gives nil for damage: what cannot be read stays, and so does what it belongs to.
func spared(err error) error {
	if fault, ok := errors.AsType[*store.Error](err); ok && fault.Kind == store.Corrupt {
		return nil
	}
	return err
}
