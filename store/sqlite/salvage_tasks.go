package sqlite

import (
	"context"
	"encoding/json"

	"waybill/core/task"
	"waybill/store/sqlstore"
)

// has reports whether the old store has a table, which damage can have taken away.
func (w *salvager) has(table string) (bool, error) {
	n, err := w.old.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", table)
	return n > 0, err
}

// dropHalfTasks removes tasks that lost one of their parts. Readers of a task rely on all its parts, and the damaged
// file still has the rest.
func (w *salvager) dropHalfTasks(ctx context.Context, t *sqlstore.Tx) error {
	var halves []task.Task
	if err := sqlstore.TasksTable().Scan(ctx, w.c, false, func(_ []any, item any, damage error) error {
		if damage != nil {
			return damage
		}
		task := item.(task.Task)
		detail, err := sqlstore.Half(w.c, task)
		if detail != "" {
			halves = append(halves, task)
		}
		return err
	}); err != nil {
		return err
	}
	for _, task := range halves {
		if err := w.dropTask(t, task); err != nil {
			return err
		}
	}
	return nil
}

func (w *salvager) dropTask(t *sqlstore.Tx, task task.Task) error {
	removed, err := t.RemoveTask(task)
	for table, n := range removed {
		if _, counted := w.result.Kept[table]; counted {
			w.result.Kept[table] -= n
			w.result.Lost[table] += n
		}
	}
	return err
}

// Stranded is a kept task with a lost dependency.
type Stranded struct {
	TaskID string
	// Lost are its lost dependencies, including completed ones.
	Lost []string
}

// mendWaits restores the dependencies of waiting tasks from their specs, and lets each task wait for the incomplete
// ones. A lost task never completes. Its dependents keep waiting, because it is unknown what the task left undone; the
// result names them.
func (w *salvager) mendWaits(ctx context.Context, t *sqlstore.Tx) error {
	var waiting []task.Task
	if err := sqlstore.TasksTable().Scan(ctx, w.c, false, func(_ []any, item any, damage error) error {
		if task, ok := item.(task.Task); ok && damage == nil && task.Waits > 0 {
			waiting = append(waiting, task)
		}
		return damage
	}); err != nil {
		return err
	}
	for _, task := range waiting {
		if err := w.mendWaitsOf(t, task); err != nil {
			return err
		}
	}
	return nil
}

func (w *salvager) mendWaitsOf(t *sqlstore.Tx, tsk task.Task) error {
	var dependsOn []string
	if json.Unmarshal([]byte(tsk.Spec.DependsOn), &dependsOn) != nil {
		return nil // they were never written there
	}
	open, lost := 0, []string(nil)
	for _, on := range dependsOn {
		status, err := sqlstore.TaskStatus(w.c, on)
		switch {
		case err != nil:
			return err
		case status == "":
			lost = append(lost, on)
			continue
		case status != task.StatusComplete:
			open++
		}
		if err := w.restoreDependency(t, tsk.ID, on); err != nil {
			return err
		}
	}
	// The stored number can be too large if a dependency completed that was not readable, but never too small. So it tells
	// how many of the lost dependencies had not completed.
	waits := max(open, min(tsk.Waits, open+len(lost)))
	if waits > open {
		w.result.Stranded = append(w.result.Stranded, Stranded{TaskID: tsk.ID, Lost: lost})
	}
	return t.SetWaits(tsk, waits)
}

// restoreDependency writes the row of a dependency if it was lost.
func (w *salvager) restoreDependency(t *sqlstore.Tx, task, on string) error {
	added, err := t.RestoreDependency(task, on)
	if added {
		w.result.Kept["dependencies"]++
		if w.result.Lost["dependencies"] > 0 { // it was read, or the page that it was on was not
			w.result.Lost["dependencies"]--
		}
	}
	return err
}
