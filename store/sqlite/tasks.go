package sqlite

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

func (t *tx) Task(id string) (task core.Task, ok bool, err error) {
	err = t.get(func() error {
		task, ok, err = t.task(id)
		return err
	})
	return task, ok, err
}

func (t *tx) task(id string) (task core.Task, ok bool, err error) {
	if task, ok = t.book.known[id]; ok {
		return task, true, nil
	}
	err = t.c.query(func(r *row) error {
		task, err = t.takeTask(r)
		ok = err == nil
		return err
	}, selectTask, id)
	return task, ok, err
}

// takeTask takes a task and notes it. Only one that this transaction has put may be incoherent.
func (t *tx) takeTask(r *row) (core.Task, error) {
	task, err := takeTask(r, &t.buf)
	if err != nil {
		return task, err
	}
	if !t.book.touched[task.ID] && store.Coherent(task) != nil {
		return task, damaged("task " + task.ID)
	}
	t.knowTask(task)
	return task, nil
}

// isSpoilt reports whether a row is known not to be what was written.
func (s *Store) isSpoilt(row damaged) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spoilt[row]
}

// leaveOut notes a row of a list that is not what was written, so that it holds up no other.
func (t *tx) leaveOut(err error) error {
	d, ok := errors.AsType[damaged](err)
	if !ok {
		return err
	}
	t.report(d)
	return nil
}

// knowTask notes what is stored, for a putting verb to come.
func (t *tx) knowTask(task core.Task) {
	if !t.writable {
		return
	}
	if t.book.known == nil {
		t.book.known, t.book.touched = make(map[string]core.Task), make(map[string]bool)
	}
	t.book.known[task.ID] = task
}

// noteTask notes a task that was put, or of which an attempt was.
func (t *tx) noteTask(task core.Task) {
	t.knowTask(task)
	t.book.touched[task.ID] = true
	t.writes++
}

// incoherent tells which of the tasks that the transaction touched is not coherent, or nil.
func (t *tx) incoherent() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(t.book.touched)) {
		if err := store.Coherent(t.book.known[id]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) PutTask(task core.Task) error {
	return t.put(func() error { return t.putTask(task) })
}

// putTask tries to insert what it has not met before: who changes a task has got it before.
func (t *tx) putTask(task core.Task) error {
	old, ok := t.book.known[task.ID]
	if !ok {
		task.Current = core.Attempt{}
		err := t.createTask(task)
		if err == nil {
			t.noteTask(task)
		}
		if !refused(err) {
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
func (t *tx) createTask(task core.Task) error {
	if _, err := t.c.exec(insertTask, t.summed(kindTask, taskRow(task))...); err != nil {
		return err
	}
	if _, err := t.c.exec(insertLaunch, t.summed(kindLaunch, launchRow(task))...); err != nil {
		return err
	}
	if err := t.putTexts(core.Task{}, task); err != nil {
		return err
	}
	return t.count("", task.Status())
}

func (t *tx) replaceTask(old, task core.Task) error {
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
func (t *tx) putTexts(old, task core.Task) (err error) {
	if old.Output != task.Output || old.Question != task.Question {
		if says(task) {
			_, err = t.c.exec(putSaid, t.summed(kindSaid, saidRow(task))...)
		} else {
			_, err = t.c.exec("DELETE FROM said WHERE task = ?", task.Position)
		}
	}
	if err != nil || old.Reply == task.Reply {
		return err
	}
	if task.Reply != "" {
		_, err = t.c.exec(putCarried, t.summed(kindCarried, carriedRow(task))...)
	} else {
		_, err = t.c.exec("DELETE FROM carried WHERE task = ?", task.Position)
	}
	return err
}
