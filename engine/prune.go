package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"waybill/core"
	"waybill/core/task"
	"waybill/engine/commit"
	"waybill/store"
)

const (
	// pruneWrites is the number of writes between two searches for finished records.
	pruneWrites = 5000
	// pruneInterval is the longest time between two searches.
	pruneInterval = 24 * time.Hour
	// pruneBatch bounds the removals of one change, so that other changes do not wait long.
	pruneBatch = 500
	// forgetBatch bounds the tasks that one transaction examines, and dropBatch those that it removes.
	forgetBatch = 50
	dropBatch   = 10
	// minDropAge is the least age of a task that is removed because there are too many.
	minDropAge = 24 * time.Hour
)

// Retention limits how many finished records the engine keeps, and for how long. A zero field has its default.
type Retention struct {
	For   time.Duration // how long; 0 means 30 days
	Tasks int           // the most finished tasks besides those of the last day; 0 means 100,000, -1 means none
}

func (k Retention) withDefaults() Retention {
	return Retention{cmp.Or(k.For, 30*24*time.Hour), cmp.Or(k.Tasks, 100_000)}
}

// schedulePrune requests a prune after the first change and then after every pruneWrites writes.
func (e *Engine) schedulePrune(writes int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.writesToPrune -= writes; e.writesToPrune <= 0 && e.o.Prunes {
		e.writesToPrune = pruneWrites
		signal(e.pruneDue)
	}
}

// pruneLoop prunes on request, and daily because records also get old without writes. It works in small steps, so
// that no change waits long. It returns when ctx ends.
func (e *Engine) pruneLoop(ctx context.Context) {
	timer := time.NewTimer(0)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.pruneDue:
		case <-timer.C:
		}
		timer.Reset(pruneInterval)
		if err := e.prune(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, commit.ErrStopped) {
			e.o.Logger.Warn("finished records could not be removed", "err", err)
		}
	}
}

// prune removes all finished records beyond the retention limits.
func (e *Engine) prune(ctx context.Context) error {
	for more := true; more; {
		removed, err := e.Do(ctx, Change{Apply: func(tx *Tx) (any, error) {
			before, err := e.cutoff(tx.Tx, e.o.Retention.For)
			if err != nil {
				return 0, err
			}
			return tx.Prune(before, pruneBatch)
		}})
		if err != nil {
			return err
		}
		more = removed.(int) >= pruneBatch
	}
	for _, status := range task.Statuses() {
		if status.Forgettable() {
			if err := e.dropTasks(ctx, status); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropTasks removes the tasks of a status that are too old or too many and that no other record needs. It finds them
// in read transactions, which block no change.
func (e *Engine) dropTasks(ctx context.Context, status task.Status) error {
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

// droppable returns the removable tasks of one page and the position of the next page. over reports that no later
// task is removable.
func (e *Engine) droppable(tx store.Tx, status task.Status, after int64) (ids []string, next int64, over bool, err error) {
	ages, err := e.cutoffs(tx)
	if err != nil {
		return nil, after, false, err
	}
	d, err := e.deadline(tx, ages)
	if err != nil {
		return nil, after, false, err
	}
	page, err := tx.Tasks(store.TaskQuery{Status: status, After: after, Limit: forgetBatch})
	if err != nil || len(page) == 0 {
		return nil, after, true, err
	}
	for _, t := range page {
		if d.endsScan(t) {
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

// drop removes the tasks that are still removable.
func (e *Engine) drop(ctx context.Context, ids []string) error {
	_, err := e.Do(ctx, Change{Apply: func(tx *Tx) (any, error) {
		ages, err := e.cutoffs(tx.Tx)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if err := tx.dropTask(id, ages); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}})
	return err
}

func (tx *Tx) dropTask(id string, ages cutoffs) error {
	d, err := tx.engine.deadline(tx.Tx, ages)
	if err != nil {
		return err
	}
	t, ok, err := tx.Task(id)
	if err != nil || !ok {
		return ignoreDamage(err)
	}
	if ok, err = d.droppable(tx.Tx, t); err == nil && ok {
		_, err = tx.DropTask(id)
	}
	return ignoreDamage(err)
}

// A deadline keeps the finished tasks that changed after since.
type deadline struct{ since, now core.Instant }

// deadline returns the current deadline. It is later while there are too many finished tasks.
func (e *Engine) deadline(tx store.TaskRecords, ages cutoffs) (deadline, error) {
	d := deadline{ages.old, e.Now()}
	many, err := tooMany(tx, e.o.Retention)
	if many > 0 {
		d.since = max(ages.old, ages.young)
	}
	return d, err
}

// cutoffs are the times before which tasks are older than Retention.For, and older than minDropAge.
type cutoffs struct{ old, young core.Instant }

func (e *Engine) cutoffs(tx store.EventLog) (c cutoffs, err error) {
	if c.old, err = e.cutoff(tx, e.o.Retention.For); err != nil {
		return c, err
	}
	c.young, err = e.cutoff(tx, minDropAge)
	return c, err
}

// cutoff returns the instant before which records are older than age, as core.Retention decides.
func (e *Engine) cutoff(tx store.EventLog, age time.Duration) (core.Instant, error) {
	_, newest, err := tx.Bounds()
	if err != nil {
		return 0, err
	}
	r := core.Retention{
		Age: core.Instant(age.Microseconds()), Now: e.Now(),
		Began: e.began, Ran: core.Instant(time.Since(e.running).Microseconds()),
	}
	if r.Newest, err = timeOf(tx, newest); err != nil {
		return 0, err
	}
	return r.Cutoff(func(since core.Instant) (first, before core.Instant, err error) {
		seq, err := tx.SeqBefore(since)
		if err != nil {
			return 0, 0, err
		}
		if before, err = timeOf(tx, seq); err != nil {
			return 0, 0, err
		}
		first, err = timeOf(tx, seq+1)
		return first, before, err
	})
}

// timeOf returns the time of an event, or 0 if the log does not keep it.
func timeOf(tx store.EventLog, seq int64) (core.Instant, error) {
	found, err := tx.Events(seq-1, 1, nil)
	if err != nil || len(found) == 0 || found[0].Seq != seq {
		return 0, err
	}
	return found[0].At, nil
}

func (d deadline) passed(t task.Task) bool { return t.UpdatedAt < d.since }

// endsScan reports whether a task is so young that later tasks are kept too. A creation time in the future proves
// nothing, because the clock was wrong.
func (d deadline) endsScan(t task.Task) bool { return t.CreatedAt >= d.since && t.CreatedAt <= d.now }

// tooMany returns by how many the finished tasks exceed the limit.
func tooMany(tx store.TaskRecords, keep Retention) (int, error) {
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

// droppable reports whether a task is finished, too old, and not needed by its run or another task.
func (d deadline) droppable(tx store.Tx, t task.Task) (bool, error) {
	if !t.Status().Forgettable() || !d.passed(t) {
		return false, nil
	}
	if id := t.Spec.RunID; id != "" {
		run, ok, err := tx.Run(id)
		if err != nil || ok && run.Live() {
			return false, ignoreDamage(err)
		}
	}
	stays, err := needed(tx, t)
	return !stays && err == nil, ignoreDamage(err)
}

// needed reports whether another task needs a finished one.
func needed(tx store.TaskRecords, t task.Task) (bool, error) {
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

// ignoreDamage returns nil for an error about damage, so that damaged records and their dependents are kept.
func ignoreDamage(err error) error {
	if fault, ok := errors.AsType[*store.Error](err); ok && fault.Kind == store.Corrupt {
		return nil
	}
	return err
}
