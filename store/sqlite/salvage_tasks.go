package sqlite

import (
	"context"
	"encoding/json"

	"waybill/core"
)

// has reports whether the old store has a table. One of a former waybill has fewer.
func (w *wreck) has(table string) (bool, error) {
	n, err := w.old.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", table)
	return n > 0, err
}

// dropHalfTasks removes the tasks of which something that they are made of was lost. Half a task would
// break what everybody relies on who reads one, and it is still in the file that is set aside.
func (w *wreck) dropHalfTasks(ctx context.Context, t *tx) error {
	var halves []core.Task
	if err := tasksTable().scan(ctx, t.c, false, func(_ []any, item any, damage error) error {
		if damage != nil {
			return damage
		}
		task := item.(core.Task)
		detail, err := half(t.c, task)
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

func (w *wreck) dropTask(t *tx, task core.Task) error {
	for _, of := range []struct {
		table, where string
		key          any
	}{
		{"replies", "task", task.Position},
		{"attempts", "task", task.Position},
		{"dependencies", "task", task.ID},
		{"dependencies", "depends_on", task.ID},
		{"carried", "task", task.Position},
		{"said", "task", task.Position},
		{"launches", "task", task.Position},
		{"tasks", "position", task.Position},
	} {
		n, err := t.c.exec("DELETE FROM "+of.table+" WHERE "+of.where+" = ?", of.key)
		if err != nil {
			return err
		}
		if _, counted := w.result.Kept[of.table]; counted {
			w.result.Kept[of.table] -= int(n)
			w.result.Lost[of.table] += int(n)
		}
	}
	return t.count(task.Status(), "")
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
func (w *wreck) mendWaits(ctx context.Context, t *tx) error {
	var waiting []core.Task
	if err := tasksTable().scan(ctx, t.c, false, func(_ []any, item any, damage error) error {
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

func (w *wreck) mendWaitsOf(t *tx, task core.Task) error {
	var dependsOn []string
	if json.Unmarshal([]byte(task.Launch.DependsOn), &dependsOn) != nil {
		return nil // nobody wrote them there
	}
	open, lost := 0, []string(nil)
	for _, on := range dependsOn {
		status, err := statusOf(t.c, on)
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
	mended := task
	// What the task says can be too much, if somebody completed whose dependency was not readable, but
	// never too little. So, of those that were lost, it tells how many had not completed.
	mended.Waits = max(open, min(task.Waits, open+len(lost)))
	if mended.Waits > open {
		w.result.Stranded = append(w.result.Stranded, Stranded{TaskID: task.ID, Lost: lost})
	}
	return t.replace("tasks", kindTask, taskNames, taskRow(task), taskRow(mended), "position = ?", task.Position)
}

// restoreDependency writes the row of a dependency if it was lost.
func (w *wreck) restoreDependency(t *tx, task, on string) error {
	n, err := t.c.exec(insertDependent+" ON CONFLICT DO NOTHING", t.summed(kindDependency, []any{on, task})...)
	if n > 0 {
		w.result.Kept["dependencies"]++
		if w.result.Lost["dependencies"] > 0 { // it was read, or the page that it was on was not
			w.result.Lost["dependencies"]--
		}
	}
	return err
}

// statusOf gives the status of a task, or "" if there is none.
func statusOf(c *conn, id string) (status core.TaskStatus, err error) {
	err = c.query(func(r *row) error {
		status = core.TaskStatus(r.text())
		return r.err
	}, "SELECT status FROM tasks WHERE id = ?", id)
	return status, err
}
