package rows

import (
	"errors"
	"maps"
	"slices"

	"waybill/core"
	"waybill/store"
)

// taskBook is what a transaction knows of tasks.
type taskBook struct {
	known      map[string]core.Task // what is stored of those met so far by a transaction that writes
	touched    map[string]bool      // those that have to be coherent in the end
	counts     taskCounts
	countsRead bool
	countsPut  bool
}

func (t *Tx) Task(id string) (task core.Task, ok bool, err error) {
	err = t.get(func() error {
		task, ok, err = t.task(id)
		return err
	})
	return task, ok, err
}

func (t *Tx) task(id string) (task core.Task, ok bool, err error) {
	if task, ok = t.book.known[id]; ok {
		return task, true, nil
	}
	err = t.c.Query(func(r *Row) error {
		task, err = t.takeTask(r)
		ok = err == nil
		return err
	}, selectTask, id)
	return task, ok, err
}

// takeTask takes a task and notes it. Only one that this transaction has put may be incoherent.
func (t *Tx) takeTask(r *Row) (core.Task, error) {
	task, err := takeTask(r, &t.buf)
	if err != nil {
		return task, err
	}
	if !t.book.touched[task.ID] && store.Coherent(task) != nil {
		return task, Damaged("task " + task.ID)
	}
	t.knowTask(task)
	return task, nil
}

// leaveOut notes a row of a list that is not what was written, so that it holds up no other.
func (t *Tx) leaveOut(err error) error {
	d, ok := errors.AsType[Damaged](err)
	if !ok {
		return err
	}
	t.report(d)
	return nil
}

// knowTask notes what is stored, for a putting verb to come.
func (t *Tx) knowTask(task core.Task) {
	if !t.writable {
		return
	}
	if t.book.known == nil {
		t.book.known, t.book.touched = make(map[string]core.Task), make(map[string]bool)
	}
	t.book.known[task.ID] = task
}

// noteTask notes a task that was put, or of which an attempt was.
func (t *Tx) noteTask(task core.Task) {
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

func (t *Tx) PutTask(task core.Task) error {
	return t.put(func() error { return t.putTask(task) })
}

// putTask tries to insert what it has not met before: who changes a task has got it before.
func (t *Tx) putTask(task core.Task) error {
	if task.Position < 1 {
		return refuse("put task %s: position %d is below 1", task.ID, task.Position)
	}
	old, ok := t.book.known[task.ID]
	if !ok {
		task.Current = core.Attempt{}
		err := t.createTask(task)
		if err == nil {
			t.noteTask(task)
		}
		if !t.c.Refused(err) {
			return err
		}
		cause := err
		if old, ok, err = t.task(task.ID); err != nil {
			return err
		}
		if !ok {
			return refuse("put task %s: position %d is taken or below 1, or a law of core is broken: %v",
				task.ID, task.Position, cause)
		}
	}
	if old.Launch != task.Launch || old.Position != task.Position || old.CreatedAt != task.CreatedAt {
		return refuse("put task %s: how it was launched, its position and when it was created cannot be replaced", task.ID)
	}
	return t.replaceTask(old, task)
}

// createTask inserts a task. Only the first of its rows can be refused.
func (t *Tx) createTask(task core.Task) error {
	if _, err := t.c.Try(insertTask, t.summed(kindTask, taskRow(task))...); err != nil {
		return err
	}
	if _, err := t.c.Exec(insertLaunch, t.summed(kindLaunch, launchRow(task))...); err != nil {
		return err
	}
	if err := t.putTexts(core.Task{}, task); err != nil {
		return err
	}
	return t.count("", task.Status())
}

func (t *Tx) replaceTask(old, task core.Task) error {
	if err := t.replace("tasks", kindTask, taskNames, taskRow(old), taskRow(task), "position = ?", task.Position); err != nil {
		return err
	}
	if err := t.putTexts(old, task); err != nil {
		return err
	}
	if err := t.count(old.Status(), task.Status()); err != nil {
		return err
	}
	task.Current = old.Current
	t.noteTask(task)
	return nil
}

// putTexts writes what a task says and carries, where that is other than before.
func (t *Tx) putTexts(old, task core.Task) (err error) {
	if old.Output != task.Output || old.Question != task.Question {
		if says(task) {
			_, err = t.c.Exec(putSaid, t.summed(kindSaid, saidRow(task))...)
		} else {
			_, err = t.c.Exec("DELETE FROM said WHERE said.workspace = :w AND task = ?", task.Position)
		}
	}
	if err != nil || old.Reply == task.Reply {
		return err
	}
	if task.Reply != "" {
		_, err = t.c.Exec(putCarried, t.summed(kindCarried, carriedRow(task))...)
	} else {
		_, err = t.c.Exec("DELETE FROM carried WHERE carried.workspace = :w AND task = ?", task.Position)
	}
	return err
}
