package sqlstore

import (
	"waybill/core/task"
)

// The methods that remove tasks, and the changes that a salvage makes to kept ones.

// TaskStatus returns the status of a task, or "" if there is none.
func TaskStatus(c Conn, id string) (status task.Status, err error) {
	err = c.Query(func(r *Row) error {
		status = task.Status(r.Text())
		return r.err
	}, "SELECT status FROM tasks WHERE tasks.workspace = :w AND id = ?", id)
	return status, err
}

func (t taskRecords) DropTask(id string) (ok bool, err error) {
	err = t.put(func() error {
		var task task.Task
		if task, ok, err = t.task(id); err != nil || !ok {
			return err
		}
		if !task.Status().Forgettable() {
			return refuse("drop task %s: it is %s", id, task.Status())
		}
		needed, err := t.needed(task)
		if err != nil {
			return err
		}
		if needed {
			return refuse("drop task %s: another one depends on it that may still go on", id)
		}
		if _, err := t.RemoveTask(task); err != nil {
			return err
		}
		t.writes++
		t.pruned = true
		return nil
	})
	return ok && err == nil, err
}

// needed reports whether another task depends on a finished one.
func (t taskRecords) needed(tsk task.Task) (needed bool, err error) {
	err = t.c.Query(func(r *Row) error {
		needed = needed || tsk.Status().NeededBy(task.Status(r.Text()))
		return r.err
	}, selectDependentStatuses, tsk.ID)
	return needed, err
}

const selectDependentStatuses = "SELECT DISTINCT tasks.status FROM dependencies CROSS JOIN tasks ON tasks.id = dependencies.task AND " +
	"tasks.workspace = dependencies.workspace WHERE dependencies.workspace = :w AND dependencies.depends_on = ?"

// RemoveTask removes a task with all that belongs to it, and returns how many rows of each table that were.
func (t *Tx) RemoveTask(task task.Task) (removed map[string]int, err error) {
	removed = make(map[string]int)
	for _, of := range []struct {
		table, where string
		key          any
	}{
		{"replies", "task", task.Position},
		{"attempts", "task", task.Position},
		{"dependencies", "task", task.ID},
		{"dependencies", "depends_on", task.ID},
		{"task_specs", "task", task.Position},
		{"tasks", "position", task.Position},
	} {
		n, err := t.c.Exec("DELETE FROM "+of.table+" WHERE workspace = :w AND "+of.where+" = ?", of.key)
		if err != nil {
			return removed, err
		}
		removed[of.table] += int(n)
	}
	delete(t.book.known, task.ID)
	delete(t.book.touched, task.ID)
	return removed, taskRecords{t}.countTask(task.Status(), "")
}

// SetWaits has a task wait for that many others.
func (t *Tx) SetWaits(task task.Task, waits int) error {
	mended := task
	mended.Waits = waits
	text, args := taskRows.update(task, mended)
	return t.run(text, args)
}

// RestoreDependency writes the row of a dependency if it is not there, and reports whether it was not.
func (t *Tx) RestoreDependency(task, on string) (added bool, err error) {
	n, err := taskRecords{t}.addDependency(task, on)
	return n > 0, err
}
