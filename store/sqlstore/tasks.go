package sqlstore

import (
	"errors"
	"maps"
	"slices"

	"waybill/core/task"
	"waybill/store"
)

// taskBook is the knowledge of a transaction about tasks.
type taskBook struct {
	known   map[string]task.Task // stored tasks that a writing transaction has read
	touched map[string]bool      // tasks that must be coherent at the end
}

func (t taskRecords) Task(id string) (task task.Task, ok bool, err error) {
	err = t.get(func() error {
		task, ok, err = t.task(id)
		return err
	})
	return task, ok, err
}

func (t taskRecords) task(id string) (task task.Task, ok bool, err error) {
	if task, ok = t.book.known[id]; ok {
		return task, true, nil
	}
	err = t.c.Query(func(r *Row) error {
		task, err = t.takeTask(r)
		ok = err == nil
		return err
	}, "SELECT "+taskColumns()+" FROM "+taskTable("")+" WHERE tasks.workspace = :w AND tasks.id = ?", id)
	return task, ok, err
}

// takeTask reads a task and records it. Only a task that this transaction wrote may be incoherent.
func (t taskRecords) takeTask(r *Row) (task.Task, error) {
	task, err := takeTask(r)
	if err != nil {
		return task, err
	}
	if !t.book.touched[task.ID] && store.Coherent(task) != nil {
		return task, Damaged("task " + task.ID)
	}
	t.knowTask(task)
	return task, nil
}

// leaveOut records a damaged row of a list, so that it does not hold up the others.
func (t *Tx) leaveOut(err error) error {
	d, ok := errors.AsType[Damaged](err)
	if !ok {
		return err
	}
	t.report(d)
	return nil
}

// knowTask notes what is stored, for a putting verb to come.
func (t taskRecords) knowTask(tsk task.Task) {
	if !t.writable {
		return
	}
	if t.book.known == nil {
		t.book.known, t.book.touched = make(map[string]task.Task), make(map[string]bool)
	}
	t.book.known[tsk.ID] = tsk
}

// noteTask notes a task that was put, or of which an attempt was.
func (t taskRecords) noteTask(task task.Task) {
	t.knowTask(task)
	t.book.touched[task.ID] = true
	t.writes++
}

// Incoherent tells which of the tasks that the transaction touched is not coherent, or nil.
func (t *Tx) Incoherent() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(t.book.touched)) {
		if err := store.Coherent(t.book.known[id]); err != nil {
			return err
		}
	}
	return nil
}

func (t taskRecords) PutTask(task task.Task) error {
	return t.put(func() error { return t.putTask(task) })
}

// putTask tries to insert a task that the transaction has not read, because a caller that changes a task has read it
// before.
func (t taskRecords) putTask(tsk task.Task) error {
	if tsk.Position < 1 {
		return refuse("put task %s: position %d is below 1", tsk.ID, tsk.Position)
	}
	old, ok := t.book.known[tsk.ID]
	if !ok {
		tsk.Current = task.Attempt{}
		err := t.createTask(tsk)
		if err == nil {
			t.noteTask(tsk)
		}
		if !t.c.Refused(err) {
			return err
		}
		cause := err
		if old, ok, err = t.task(tsk.ID); err != nil {
			return err
		}
		if !ok {
			return refuse("put task %s: position %d is taken or below 1, or a law of core is broken: %v",
				tsk.ID, tsk.Position, cause)
		}
	}
	if old.Spec != tsk.Spec || old.Position != tsk.Position || old.CreatedAt != tsk.CreatedAt {
		return refuse("put task %s: its spec, its position and when it was created cannot be replaced", tsk.ID)
	}
	return t.replaceTask(old, tsk)
}

// createTask inserts a task. If its first row is refused, it has written nothing.
func (t taskRecords) createTask(tsk task.Task) error {
	text, args := taskRows.insert(tsk)
	if err := t.run(text, args); err != nil {
		return err
	}
	text, args = specRows.insert(tsk)
	err := t.run(text, args)
	if t.c.Refused(err) { // no refusal can undo the row before it
		return Damaged("the spec of another task at the position of " + specRows.kind.Label(&tsk))
	}
	if err != nil {
		return err
	}
	return t.countTask("", tsk.Status())
}

func (t taskRecords) replaceTask(old, task task.Task) error {
	text, args := taskRows.update(old, task)
	if err := t.run(text, args); err != nil {
		return err
	}
	if err := t.countTask(old.Status(), task.Status()); err != nil {
		return err
	}
	task.Current = old.Current
	t.noteTask(task)
	return nil
}

// countTask notes, for commit to store, that a task has come from one status to another. "" is none.
func (t taskRecords) countTask(from, to task.Status) error {
	if from == to {
		return nil
	}
	h, err := t.ChangeHead()
	if err != nil {
		return err
	}
	if from != "" {
		h.tasks[taskIndex(from)]--
	}
	if to != "" {
		h.tasks[taskIndex(to)]++
	}
	return nil
}

func (t taskRecords) TaskCounts() (counts map[task.Status]int, err error) {
	err = t.get(func() error {
		h, err := t.theHead()
		if err != nil {
			return err
		}
		counts = make(map[task.Status]int)
		for i, status := range task.Statuses() {
			counts[status] = int(h.tasks[i])
		}
		return nil
	})
	return counts, err
}

func taskIndex(s task.Status) int { return slices.Index(task.Statuses(), s) }

const newestAttempt = ` LEFT JOIN attempts ON attempts.task = tasks.position AND attempts.workspace = tasks.workspace
	AND attempts.number = (SELECT max(number) FROM attempts AS a WHERE a.task = tasks.position AND a.workspace = tasks.workspace)`

// taskColumns are all that make a task, with its newest attempt.
func taskColumns() string {
	return taskRows.columns() + ", " + specRows.columns() + ", " + attemptRows.columns()
}

// taskTable returns the FROM clause for taskColumns. by is the index for the tasks.
func taskTable(by string) string {
	return "tasks" + by + newestAttempt + " LEFT JOIN task_specs ON task_specs.task = tasks.position AND task_specs.workspace = tasks.workspace"
}

// takeTask takes taskColumns.
func takeTask(r *Row) (t task.Task, err error) {
	rest, sound := taskRows.kind.Take(r.values[r.next:], &t)
	if sound {
		rest, sound = specRows.kind.Take(rest, &t)
	}
	if !sound {
		return t, Damaged(taskRows.kind.Label(&t))
	}
	if r.next = len(r.values) - len(rest); rest[0] == nil {
		return t, nil // only within the transaction that creates it, a task has no attempt
	}
	a, err := attemptRows.take(r)
	a.TaskID = t.ID
	t.Current = a.Attempt
	return t, err
}
