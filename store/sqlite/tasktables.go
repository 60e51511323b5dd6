package sqlite

import (
	"fmt"

	"waybill/core"
	"waybill/store"
)

// ownedAttempt is an attempt of the task at a position.
type ownedAttempt struct {
	position int64
	attempt  core.Attempt
}

type ownedReply struct {
	position int64
	reply    store.Reply
}

// taskTables gives the tables of tasks, in an order in which they can be filled.
func taskTables() []table {
	return []table{tasksTable(), attemptsTable(), repliesTable(), dependenciesTable(), breakersTable()}
}

// tasksTable stands for the tables with the texts of the tasks, too.
func tasksTable() table {
	return table{
		name: "tasks", columns: taskColumns, keys: 1, from: taskTable(""),
		take:   func(r *row, buf *encoder) (any, error) { return takeTask(r, buf) },
		insert: func(t *tx, item any) error { return t.createTask(item.(core.Task)) },
		whole: func(c *conn, item any) (store.Damage, error) {
			task := item.(core.Task)
			detail, err := half(c, task)
			return store.Damage{What: "task " + task.ID, Detail: detail}, err
		},
	}
}

func attemptsTable() table {
	return table{
		name: "attempts", columns: attemptColumns, keys: 2, from: attemptTable,
		take: func(r *row, buf *encoder) (any, error) {
			position, a, err := takeOwnedAttempt(r, buf)
			return ownedAttempt{position, a}, err
		},
		insert: func(t *tx, item any) error {
			a := item.(ownedAttempt)
			_, err := t.c.exec(insertAttempt, t.summed(kindAttempt, attemptRow(a.position, a.attempt))...)
			return err
		},
	}
}

func repliesTable() table {
	return table{
		name: "replies", columns: replyColumns, keys: 2, from: replyTable,
		take: func(r *row, buf *encoder) (any, error) {
			position, reply, err := takeReply(r, buf)
			return ownedReply{position, reply}, err
		},
		insert: func(t *tx, item any) error {
			r := item.(ownedReply)
			_, err := t.c.exec(insertReply, t.summed(kindReply, replyRow(r.position, r.reply))...)
			return err
		},
	}
}

func dependenciesTable() table {
	return table{
		name: "dependencies", columns: qualified("dependencies", dependencyNames), keys: 2,
		take: func(r *row, buf *encoder) (any, error) { return takeDependency(r, buf) },
		insert: func(t *tx, item any) error {
			d := item.(dependency)
			_, err := t.c.exec(insertDependent, t.summed(kindDependency, []any{d.on, d.task})...)
			return err
		},
	}
}

func breakersTable() table {
	return table{
		name: "breakers", columns: breakerColumns, keys: 1,
		take:   func(r *row, buf *encoder) (any, error) { return takeBreaker(r, buf) },
		insert: func(t *tx, item any) error { return t.PutBreaker(item.(core.Breaker)) },
	}
}

// half tells what is missing of a task, or "".
func half(c *conn, task core.Task) (detail string, err error) {
	if err := store.Coherent(task); err != nil {
		return err.Error(), nil
	}
	for _, of := range []string{"attempts", "replies"} {
		missing, err := c.number("SELECT coalesce(max(number), 0) - count(*) FROM "+of+" WHERE task = ?", task.Position)
		if err != nil {
			return "", err
		}
		if missing > 0 {
			return fmt.Sprintf("%d of its %s are missing", missing, of), nil
		}
	}
	return "", nil
}

// wholeness reports what is wrong with a row whose sums are right.
func (v *verifier) wholeness(tb table, item any) error {
	damage, err := tb.whole(v.c, item)
	if damage.Detail != "" {
		v.found = append(v.found, damage)
	}
	return err
}

// taskCounts compares the counts of the tasks with the rows.
func (v *verifier) taskCounts() error {
	return v.moment(func() error {
		counts, err := readTaskCounts(v.c, nil)
		if err != nil {
			return err
		}
		for i, status := range core.TaskStatuses() {
			rows, err := v.c.number("SELECT count(*) FROM tasks WHERE status = ?", string(status))
			if err != nil {
				return err
			}
			if rows != counts[i] {
				v.add("the count of "+string(status)+" tasks", "it is %d, but there are %d", counts[i], rows)
			}
		}
		return nil
	})
}
