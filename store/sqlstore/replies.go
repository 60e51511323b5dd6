package sqlstore

import (
	"waybill/store"
	"waybill/store/record"
)

// takeReply takes the columns of a reply and the id of its task. A reply whose task is missing is damaged.
func takeReply(r *Row) (record.Reply, error) {
	return takeOwned(r, &replyRows, func(r *record.Reply) *string { return &r.TaskID })
}

// takeOwned takes the columns of a record that belongs to a task, and the id of the task.
func takeOwned[R any](r *Row, rs *rows[R], taskID func(*R) *string) (one R, err error) {
	one, err = rs.take(r)
	id, owned := r.values[r.next].(string)
	if *taskID(&one) = id; err != nil || !owned {
		err = Damaged(rs.kind.Label(&one))
	}
	return one, err
}

// owned returns the FROM clause for the columns of a record that belongs to a task, and those columns.
func owned[R any](rs *rows[R]) (from, columns string) {
	table := rs.kind.Table
	return table + " LEFT JOIN tasks ON tasks.position = " + table + ".task AND tasks.workspace = " + table + ".workspace", rs.columns() + ", tasks.id"
}

// selectingOwned returns the statement that reads such records with the ids of their tasks.
func selectingOwned[R any](rs *rows[R]) string {
	from, columns := owned(rs)
	return "SELECT " + columns + " FROM " + from
}

func (t attemptRecords) AddReply(r store.Reply) error {
	return t.put(func() error {
		position, err := Number(t.c, "SELECT position FROM tasks WHERE tasks.workspace = :w AND id = ?", r.TaskID)
		if err != nil {
			return err
		}
		if position == 0 {
			return refuse("add reply %d: there is no task %q", r.Number, r.TaskID)
		}
		last, err := Number(t.c, "SELECT coalesce(max(number), 0) FROM replies WHERE replies.workspace = :w AND task = ?", position)
		if err != nil {
			return err
		}
		if int64(r.Number) != last+1 {
			return refuse("add reply %d to task %s: the next one is %d", r.Number, r.TaskID, last+1)
		}
		text, args := replyRows.insert(record.Reply{Position: position, Reply: r})
		if _, err = t.c.Exec(text, args...); err == nil {
			t.writes++
		}
		return err
	})
}

func (t attemptRecords) Replies(taskID string, after, limit int) ([]store.Reply, error) {
	return listed(t.Tx, limit, func(r *Row) (store.Reply, error) {
		reply, err := takeReply(r)
		return reply.Reply, err
	}, selectingOwned(&replyRows)+" WHERE tasks.workspace = :w AND tasks.id = ? AND replies.number > ? ORDER BY replies.number",
		taskID, int64(after))
}

func (t taskRecords) AddDependency(taskID, on string) error {
	return t.put(func() error {
		added, err := t.addDependency(taskID, on)
		if t.c.Refused(err) {
			return refuse("add dependency of %s on %s: one of them is no task", taskID, on)
		}
		t.writes += int(added)
		return err
	})
}

func (t taskRecords) addDependency(taskID, on string) (added int64, err error) {
	text, args := dependencyRows.insert(record.Dependency{On: on, Task: taskID})
	return t.c.Try(text+" ON CONFLICT DO NOTHING", args...)
}

func (t taskRecords) Dependents(on, after string, limit int) ([]string, error) {
	return listed(t.Tx, limit, func(r *Row) (string, error) {
		d, err := dependencyRows.take(r)
		return d.Task, err
	}, dependencyRows.selecting()+" AND depends_on = ? AND task > ? ORDER BY task", on, after)
}
