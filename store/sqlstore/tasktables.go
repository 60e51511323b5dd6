package sqlstore

import (
	"fmt"

	"waybill/core/task"
	"waybill/store"
)

// ownedAttempt is an attempt of the task at a position.
type ownedAttempt struct {
	position int64
	attempt  task.Attempt
}

type ownedReply struct {
	position int64
	reply    store.Reply
}

// taskTables returns the tables of tasks, in an order in which they can be filled.
func taskTables() []Table {
	return []Table{TasksTable(), attemptsTable(), repliesTable(), dependenciesTable(), breakersTable()}
}

// TasksTable stands for the tables with the texts of the tasks, too.
func TasksTable() Table {
	return Table{
		Name: "tasks", columns: taskColumns.Get(), keys: 1, from: taskTable(""),
		take:   func(r *Row, buf *encoder) (any, error) { return takeTask(r, buf) },
		Insert: func(t *Tx, item any) error { return t.createTask(item.(task.Task)) },
		whole: func(c Conn, item any) (store.Damage, error) {
			task := item.(task.Task)
			detail, err := Half(c, task)
			return store.Damage{What: "task " + task.ID, Detail: detail}, err
		},
	}
}

func attemptsTable() Table {
	return Table{
		Name: "attempts", columns: attemptColumns.Get(), keys: 2, from: attemptTable,
		take: func(r *Row, buf *encoder) (any, error) {
			position, a, err := takeOwnedAttempt(r, buf)
			return ownedAttempt{position, a}, err
		},
		Insert: func(t *Tx, item any) error {
			a := item.(ownedAttempt)
			_, err := t.c.Exec(insertAttempt.Get(), t.summed(kindAttempt, attemptRow(a.position, a.attempt))...)
			return err
		},
	}
}

func repliesTable() Table {
	return Table{
		Name: "replies", columns: replyColumns.Get(), keys: 2, from: replyTable,
		take: func(r *Row, buf *encoder) (any, error) {
			position, reply, err := takeReply(r, buf)
			return ownedReply{position, reply}, err
		},
		Insert: func(t *Tx, item any) error {
			r := item.(ownedReply)
			_, err := t.c.Exec(insertReply.Get(), t.summed(kindReply, replyRow(r.position, r.reply))...)
			return err
		},
	}
}

func dependenciesTable() Table {
	return Table{
		Name: "dependencies", columns: qualified("dependencies", dependencyNames), keys: 2,
		take: func(r *Row, buf *encoder) (any, error) { return takeDependency(r, buf) },
		Insert: func(t *Tx, item any) error {
			d := item.(dependency)
			_, err := t.c.Exec(insertDependent.Get(), t.summed(kindDependency, []any{d.on, d.task})...)
			return err
		},
	}
}

func breakersTable() Table {
	return Table{
		Name: "breakers", columns: breakerColumns.Get(), keys: 1,
		take:   func(r *Row, buf *encoder) (any, error) { return takeBreaker(r, buf) },
		Insert: func(t *Tx, item any) error { return t.PutBreaker(item.(task.Breaker)) },
	}
}

// Half returns the missing part of a task, or "".
func Half(c Conn, task task.Task) (detail string, err error) {
	if err := store.Coherent(task); err != nil {
		return err.Error(), nil
	}
	for _, of := range []string{"attempts", "replies"} {
		missing, err := Number(c, "SELECT coalesce(max(number), 0) - count(*) FROM "+of+" WHERE workspace = :w AND task = ?", task.Position)
		if err != nil {
			return "", err
		}
		if missing > 0 {
			return fmt.Sprintf("%d of its %s are missing", missing, of), nil
		}
	}
	return "", nil
}

// wholeness returns the fault of a row with correct checksums.
func (v *Verifier) wholeness(tb Table, item any) error {
	damage, err := tb.whole(v.Conn, item)
	if damage.Detail != "" {
		v.found = append(v.found, damage)
	}
	return err
}

// taskCounts compares the counts of the tasks with the rows.
func (v *Verifier) taskCounts() error {
	return v.Moment(func() error {
		counts, err := readTaskCounts(v.Conn)
		if err != nil {
			return err
		}
		for i, status := range task.Statuses() {
			rows, err := Number(v.Conn, "SELECT count(*) FROM tasks WHERE tasks.workspace = :w AND status = ?", string(status))
			if err != nil {
				return err
			}
			if rows != counts[i] {
				v.Add("the count of "+string(status)+" tasks", "it is %d, but there are %d", counts[i], rows)
			}
		}
		return nil
	})
}
