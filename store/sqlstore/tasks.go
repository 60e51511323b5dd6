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
	known      map[string]task.Task // stored tasks that a writing transaction has read
	touched    map[string]bool      // tasks that must be coherent at the end
	counts     taskCounts
	countsRead bool
	countsPut  bool
}

func (t *Tx) Task(id string) (task task.Task, ok bool, err error) {
	err = t.get(func() error {
		task, ok, err = t.task(id)
		return err
	})
	return task, ok, err
}

func (t *Tx) task(id string) (task task.Task, ok bool, err error) {
	if task, ok = t.book.known[id]; ok {
		return task, true, nil
	}
	err = t.c.Query(func(r *Row) error {
		task, err = t.takeTask(r)
		ok = err == nil
		return err
	}, selectTask.Get(), id)
	return task, ok, err
}

// takeTask reads a task and records it. Only a task that this transaction wrote may be incoherent.
func (t *Tx) takeTask(r *Row) (task.Task, error) {
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
func (t *Tx) knowTask(tsk task.Task) {
	if !t.writable {
		return
	}
	if t.book.known == nil {
		t.book.known, t.book.touched = make(map[string]task.Task), make(map[string]bool)
	}
	t.book.known[tsk.ID] = tsk
}

// noteTask notes a task that was put, or of which an attempt was.
func (t *Tx) noteTask(task task.Task) {
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

func (t *Tx) PutTask(task task.Task) error {
	return t.put(func() error { return t.putTask(task) })
}

// putTask tries to insert a task that the transaction has not read, because a caller that changes a task has read it
// before.
func (t *Tx) putTask(tsk task.Task) error {
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

// createTask inserts a task. Only the first of its rows can be refused.
func (t *Tx) createTask(tsk task.Task) error {
	if _, err := t.c.Try(insertTask.Get(), t.summed(kindTask, taskRow(tsk))...); err != nil {
		return err
	}
	if _, err := t.c.Exec(insertSpec.Get(), t.summed(kindSpec, specRow(tsk))...); err != nil {
		return err
	}
	if err := t.putTexts(task.Task{}, tsk); err != nil {
		return err
	}
	return t.count("", tsk.Status())
}

func (t *Tx) replaceTask(old, task task.Task) error {
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

// putTexts writes the texts of a task that have changed.
func (t *Tx) putTexts(old, task task.Task) (err error) {
	if old.Output != task.Output || old.Question != task.Question || old.Offer != task.Offer {
		if hasOutput(task) {
			_, err = t.c.Exec(putOutput.Get(), t.summed(kindOutput, outputRow(task))...)
		} else {
			_, err = t.c.Exec("DELETE FROM task_outputs WHERE task_outputs.workspace = :w AND task = ?", task.Position)
		}
	}
	if err != nil || old.Reply == task.Reply && old.Choice == task.Choice {
		return err
	}
	if task.Reply != "" {
		_, err = t.c.Exec(putTaskReply.Get(), t.summed(kindTaskReply, taskReplyRow(task))...)
	} else {
		_, err = t.c.Exec("DELETE FROM task_replies WHERE task_replies.workspace = :w AND task = ?", task.Position)
	}
	return err
}
