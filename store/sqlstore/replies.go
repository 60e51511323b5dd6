package sqlstore

import (
	"fmt"

	"waybill/core"
	"waybill/store"
)

var (
	replyNames      = []string{"task", "number", "attempt_id", "question", "text", "option", "by_time", "by", "at"}
	replyColumns    = text{Of: func() string { return qualified("replies", replyNames) + ", tasks.id" }}
	insertReply     = text{Of: func() string { return inserting("replies", replyNames) }}
	dependencyNames = []string{"depends_on", "task"}
	insertDependent = text{Of: func() string { return inserting("dependencies", dependencyNames) }}
)

const replyTable = "replies LEFT JOIN tasks ON tasks.position = replies.task AND tasks.workspace = replies.workspace"

func replyRow(position int64, r store.Reply) []any {
	return []any{position, int64(r.Number), r.AttemptID, r.Question, r.Text, r.Option, flag(r.ByTime), r.By, int64(r.At)}
}

// takeReply takes replyColumns and checks them against their sum. A reply whose task is missing is damaged.
func takeReply(r *Row, buf *encoder) (position int64, reply store.Reply, err error) {
	sound := r.sound(kindReply, len(replyNames), buf)
	position, reply.Number, reply.AttemptID = r.Integer(), int(r.Integer()), r.Text()
	reply.Question, reply.Text, reply.Option, reply.ByTime = r.Text(), r.Text(), r.Text(), r.Integer() != 0
	reply.By, reply.At = r.Text(), core.Instant(r.Integer())
	r.take() // the sum
	reply.TaskID = r.Text()
	if !sound || r.err != nil {
		return position, reply, Damaged(fmt.Sprintf("reply %d to task %s", reply.Number, reply.TaskID))
	}
	return position, reply, nil
}

func (t *Tx) AddReply(r store.Reply) error {
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
		_, err = t.c.Exec(insertReply.Get(), t.summed(kindReply, replyRow(position, r))...)
		if err == nil {
			t.writes++
		}
		return err
	})
}

func (t *Tx) Replies(taskID string, after, limit int) ([]store.Reply, error) {
	return listed(t, limit, func(r *Row) (store.Reply, error) {
		_, reply, err := takeReply(r, &t.buf)
		return reply, err
	}, "SELECT "+replyColumns.Get()+" FROM "+replyTable+
		" WHERE tasks.workspace = :w AND tasks.id = ? AND replies.number > ? ORDER BY replies.number", taskID, int64(after))
}

func (t *Tx) AddDependency(taskID, on string) error {
	return t.put(func() error {
		added, err := t.c.Try(insertDependent.Get()+" ON CONFLICT DO NOTHING", t.summed(kindDependency, []any{on, taskID})...)
		if t.c.Refused(err) {
			return refuse("add dependency of %s on %s: one of them is no task", taskID, on)
		}
		t.writes += int(added)
		return err
	})
}

// dependency says that a task waits for another one.
type dependency struct{ on, task string }

func takeDependency(r *Row, buf *encoder) (d dependency, err error) {
	sound := r.sound(kindDependency, len(dependencyNames), buf)
	d.on, d.task = r.Text(), r.Text()
	if !sound || r.err != nil {
		return d, Damaged("the dependency of task " + d.task + " on " + d.on)
	}
	return d, nil
}

func (t *Tx) Dependents(on, after string, limit int) ([]string, error) {
	return listed(t, limit, func(r *Row) (string, error) {
		d, err := takeDependency(r, &t.buf)
		return d.task, err
	}, "SELECT "+qualified("dependencies", dependencyNames)+
		" FROM dependencies WHERE dependencies.workspace = :w AND depends_on = ? AND task > ? ORDER BY task", on, after)
}
