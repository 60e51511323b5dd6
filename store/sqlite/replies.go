package sqlite

import (
	"fmt"

	"waybill/core"
	"waybill/store"
)

var (
	replyNames      = []string{"task", "number", "attempt_id", "question", "text", "by", "at"}
	replyColumns    = qualified("replies", replyNames) + ", tasks.id"
	insertReply     = inserting("replies", replyNames)
	dependencyNames = []string{"depends_on", "task"}
	insertDependent = inserting("dependencies", dependencyNames)
)

const replyTable = "replies LEFT JOIN tasks ON tasks.position = replies.task"

func replyRow(position int64, r store.Reply) []any {
	return []any{position, int64(r.Number), r.AttemptID, r.Question, r.Text, r.By, int64(r.At)}
}

// takeReply takes replyColumns and checks them against their sum. A reply whose task is missing is damaged.
func takeReply(r *row, buf *encoder) (position int64, reply store.Reply, err error) {
	sound := r.sound(kindReply, len(replyNames), buf)
	position, reply.Number, reply.AttemptID = r.integer(), int(r.integer()), r.text()
	reply.Question, reply.Text, reply.By, reply.At = r.text(), r.text(), r.text(), core.Instant(r.integer())
	r.take() // the sum
	reply.TaskID = r.text()
	if !sound || r.err != nil {
		return position, reply, damaged(fmt.Sprintf("reply %d to task %s", reply.Number, reply.TaskID))
	}
	return position, reply, nil
}

func (t *tx) AddReply(r store.Reply) error {
	return t.put(func() error {
		position, err := t.c.number("SELECT position FROM tasks WHERE id = ?", r.TaskID)
		if err != nil {
			return err
		}
		if position == 0 {
			return refuse("add reply %d: there is no task %q", r.Number, r.TaskID)
		}
		last, err := t.c.number("SELECT coalesce(max(number), 0) FROM replies WHERE task = ?", position)
		if err != nil {
			return err
		}
		if int64(r.Number) != last+1 {
			return refuse("add reply %d to task %s: the next one is %d", r.Number, r.TaskID, last+1)
		}
		_, err = t.c.exec(insertReply, t.summed(kindReply, replyRow(position, r))...)
		if err == nil {
			t.writes++
		}
		return err
	})
}

func (t *tx) Replies(taskID string, after, limit int) ([]store.Reply, error) {
	return listed(t, limit, func(r *row) (store.Reply, error) {
		_, reply, err := takeReply(r, &t.buf)
		return reply, err
	}, "SELECT "+replyColumns+" FROM "+replyTable+
		" WHERE tasks.id = ? AND replies.number > ? ORDER BY replies.number", taskID, int64(after))
}

func (t *tx) AddDependency(taskID, on string) error {
	return t.put(func() error {
		added, err := t.c.exec(insertDependent+" ON CONFLICT DO NOTHING", t.summed(kindDependency, []any{on, taskID})...)
		if refused(err) {
			return refuse("add dependency of %s on %s: one of them is no task", taskID, on)
		}
		t.writes += int(added)
		return err
	})
}

// dependency says that a task waits for another one.
type dependency struct{ on, task string }

func takeDependency(r *row, buf *encoder) (d dependency, err error) {
	sound := r.sound(kindDependency, len(dependencyNames), buf)
	d.on, d.task = r.text(), r.text()
	if !sound || r.err != nil {
		return d, damaged("the dependency of task " + d.task + " on " + d.on)
	}
	return d, nil
}

func (t *tx) Dependents(on, after string, limit int) ([]string, error) {
	return listed(t, limit, func(r *row) (string, error) {
		d, err := takeDependency(r, &t.buf)
		return d.task, err
	}, "SELECT "+qualified("dependencies", dependencyNames)+
		" FROM dependencies WHERE depends_on = ? AND task > ? ORDER BY task", on, after)
}
