package sqlite

import (
	"context"
	"encoding/json"

	"waybill/core"
	"waybill/store/rows"
)

// has reports whether the old store has a table. One of a former waybill has fewer.
func (w *wreck) has(table string) (bool, error) {
	n, err := w.old.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", table)
	return n > 0, err
}

// dropHalfTasks removes the tasks of which something that they are made of was lost. Half a task would
// break what everybody relies on who reads one, and it is still in the file that is set aside.
func (w *wreck) dropHalfTasks(ctx context.Context, t *rows.Tx) error {
	var halves []core.Task
	if err := rows.TasksTable().Scan(ctx, w.c, false, func(_ []any, item any, damage error) error {
		if damage != nil {
			return damage
		}
		task := item.(core.Task)
		detail, err := rows.Half(w.c, task)
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

func (w *wreck) dropTask(t *rows.Tx, task core.Task) error {
	removed, err := t.RemoveTask(task)
	for table, n := range removed {
		if _, counted := w.result.Kept[table]; counted {
			w.result.Kept[table] -= n
			w.result.Lost[table] += n
		}
	}
	return err
}

// Stranded is a task that was kept, but not what it waits for.
type Stranded struct {
	TaskID string
	// Lost are the tasks that it depends on and that were not kept, also such as had completed.
	Lost []string
}

// mendWaits makes the dependencies of the tasks that wait what their launches say, and lets each task wait
// for those that are not complete. One that was lost will never complete: it goes on to be waited for,
// because nobody knows what it left undone, and the result names who waits.
func (w *wreck) mendWaits(ctx context.Context, t *rows.Tx) error {
	var waiting []core.Task
	if err := rows.TasksTable().Scan(ctx, w.c, false, func(_ []any, item any, damage error) error {
		if task, ok := item.(core.Task); ok && damage == nil && task.Waits > 0 {
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

func (w *wreck) mendWaitsOf(t *rows.Tx, task core.Task) error {
	var dependsOn []string
	if json.Unmarshal([]byte(task.Launch.DependsOn), &dependsOn) != nil {
		return nil // nobody wrote them there
	}
	open, lost := 0, []string(nil)
	for _, on := range dependsOn {
		status, err := rows.TaskStatus(w.c, on)
		switch {
		case err != nil:
			return err
		case status == "":
			lost = append(lost, on)
			continue
		case status != core.StatusComplete:
			open++
		}
		if err := w.restoreDependency(t, task.ID, on); err != nil {
			return err
		}
	}
	// What the task says can be too much, if somebody completed whose dependency was not readable, but
	// never too little. So, of those that were lost, it tells how many had not completed.
	waits := max(open, min(task.Waits, open+len(lost)))
	if waits > open {
		w.result.Stranded = append(w.result.Stranded, Stranded{TaskID: task.ID, Lost: lost})
	}
	return t.SetWaits(task, waits)
}

// restoreDependency writes the row of a dependency if it was lost.
func (w *wreck) restoreDependency(t *rows.Tx, task, on string) error {
	added, err := t.RestoreDependency(task, on)
	if added {
		w.result.Kept["dependencies"]++
		if w.result.Lost["dependencies"] > 0 { // it was read, or the page that it was on was not
			w.result.Lost["dependencies"]--
		}
	}
	return err
}
