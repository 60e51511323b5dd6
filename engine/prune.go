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
	// forgetBatch bounds the tasks that are looked at, and removed, at once.
	forgetBatch = 50
	// young is how old a task is at least that is forgotten because there are too many.
	young = 24 * time.Hour
)

// Keep says what is kept of what nobody waits for. What is zero is built in.
type Keep struct {
	For   time.Duration // how long; 0 for 30 days
	Tasks int           // how many tasks that are over, at most, but for those of the last day; 0 for 100,000, and -1 for none
}

func (k Keep) filled() Keep { return Keep{cmp.Or(k.For, 30*24*time.Hour), cmp.Or(k.Tasks, 100_000)} }

// tidy has the store looked through for what is older than it is kept, once it was opened and then every pruneEvery puts.
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
	for after := int64(0); ctx.Err() == nil; {
		var page []core.Task
		var d deadline
		if err := e.View(ctx, func(tx store.Tx) (err error) {
			if d, err = e.deadline(tx); err == nil {
				page, err = tx.Tasks(store.TaskQuery{Status: status, After: after, Limit: forgetBatch})
			}
			return err
		}); err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Position
		last := slices.IndexFunc(page, d.spares)
		if last >= 0 {
			page = page[:last]
		}
		page = slices.DeleteFunc(page, func(t core.Task) bool { return !d.passed(t) })
		if err := e.drop(ctx, page); err != nil || last >= 0 {
			return err
		}
	}
	return ctx.Err()
}

// drop removes those of the tasks that are still over and needed by nobody.
func (e *Engine) drop(ctx context.Context, tasks []core.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	_, err := e.Do(ctx, Change{Apply: func(tx *Tx) (any, error) {
		for _, t := range tasks {
			d, err := e.deadline(tx)
			if err != nil {
				return nil, err
			}
			t, ok, err := tx.Task(t.ID)
			if err == nil && ok && t.Status().Forgettable() && d.passed(t) {
				err = tx.dropTask(t)
			}
			if err = spared(err); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}})
	return err
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

// dropTask removes a task that is over, unless its run or another task still needs it.
func (tx *Tx) dropTask(t core.Task) error {
	if id := t.Launch.RunID; id != "" {
		run, ok, err := tx.Run(id)
		if err != nil || ok && run.Live() {
			return err
		}
	}
	_, err := tx.DropTask(t.ID)
	return err
}

// spared gives nil for what only says that a task stays: that another one needs it, or that its run cannot be read.
func spared(err error) error {
	if fault, ok := errors.AsType[*store.Error](err); ok && fault.Kind != store.Corrupt {
		return err
	}
	return nil
}
