package rows

import "waybill/core"

// What a salvage changes of tasks that were kept.

// TaskStatus gives the status of a task, or "" if there is none.
func TaskStatus(c Conn, id string) (status core.TaskStatus, err error) {
	err = c.Query(func(r *Row) error {
		status = core.TaskStatus(r.Text())
		return r.err
	}, "SELECT status FROM tasks WHERE tasks.workspace = :w AND id = ?", id)
	return status, err
}

// DropTask removes a task with all that belongs to it, and gives how many rows of each table that were.
func (t *Tx) DropTask(task core.Task) (removed map[string]int, err error) {
	removed = make(map[string]int)
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
		n, err := t.c.Exec("DELETE FROM "+of.table+" WHERE workspace = :w AND "+of.where+" = ?", of.key)
		if err != nil {
			return removed, err
		}
		removed[of.table] += int(n)
	}
	return removed, t.count(task.Status(), "")
}

// SetWaits has a task wait for that many others.
func (t *Tx) SetWaits(task core.Task, waits int) error {
	mended := task
	mended.Waits = waits
	return t.replace("tasks", kindTask, taskNames, taskRow(task), taskRow(mended), "position = ?", task.Position)
}

// RestoreDependency writes the row of a dependency if it is not there, and reports whether it was not.
func (t *Tx) RestoreDependency(task, on string) (added bool, err error) {
	n, err := t.c.Exec(insertDependent+" ON CONFLICT DO NOTHING", t.summed(kindDependency, []any{on, task})...)
	return n > 0, err
}
