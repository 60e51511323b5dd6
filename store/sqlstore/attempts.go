package sqlstore

import (
	"waybill/core"
	"waybill/core/task"
	"waybill/store/record"
)

const (
	leasedBehind = " WHERE attempts.workspace = :w AND attempts.expires_at > ? ORDER BY attempts.expires_at, attempts.id"
	ofSession    = "attempts.session = ? ORDER BY attempts.number DESC LIMIT 1"
)

func (t attemptRecords) Attempt(id string) (a task.Attempt, ok bool, err error) {
	err = t.get(func() error {
		a, ok, err = t.attempt("attempts.id = ?", id)
		return err
	})
	return a, ok, err
}

func (t attemptRecords) AttemptOf(session string) (a task.Attempt, ok bool, err error) {
	err = t.get(func() error {
		a, ok, err = t.attempt(ofSession, session)
		return err
	})
	return a, ok, err
}

func (t attemptRecords) AttemptUnder(token string) (a task.Attempt, ok bool, err error) {
	err = t.get(func() error {
		a, ok, err = t.attempt("attempts.token = ?", token)
		return err
	})
	return a, ok, err
}

func (t attemptRecords) attempt(where, key string) (a task.Attempt, ok bool, err error) {
	err = t.c.Query(func(r *Row) error {
		a, err = takeOwnedAttempt(r)
		ok = err == nil
		return err
	}, selectingOwned(&attemptRows)+" WHERE attempts.workspace = :w AND "+where, key)
	return a, ok, err
}

func (t attemptRecords) PutAttempt(a task.Attempt) error {
	return t.put(func() error { return t.putAttempt(a) })
}

// putAttempt reads no other attempt than the newest, unless it replaces an earlier one.
func (t attemptRecords) putAttempt(a task.Attempt) error {
	task, ok, err := t.task(a.TaskID)
	switch newest := task.Current; {
	case err != nil:
		return err
	case !ok:
		return refuse("put attempt %s: there is no task %q", a.ID, a.TaskID)
	case a.ID == newest.ID && newest.Number > 0:
		return t.replaceAttempt(task, newest, a)
	case a.Number == newest.Number+1:
		return t.createAttempt(task, a)
	}
	old, ok, err := t.attempt("attempts.id = ?", a.ID)
	switch {
	case err != nil:
		return err
	case !ok:
		return refuse("put attempt %s: number %d does not follow %d", a.ID, a.Number, task.Current.Number)
	}
	return t.replaceAttempt(task, old, a)
}

func (t attemptRecords) createAttempt(task task.Task, a task.Attempt) error {
	if newest := task.Current; newest.Number > 0 && !newest.Finished() {
		return refuse("put attempt %s: attempt %s of its task is not finished", a.ID, newest.ID)
	}
	if err := t.ownSession(task, a); err != nil {
		return err
	}
	text, args := attemptRows.insert(record.Attempt{Position: task.Position, Attempt: a})
	err := t.run(text, args)
	if t.c.Refused(err) {
		return refuse("put attempt %s: its id or token is that of another, or a law of core is broken: %v", a.ID, err)
	}
	if err == nil {
		t.noteAttempt(task, a)
	}
	return err
}

func (t attemptRecords) replaceAttempt(task task.Task, old, a task.Attempt) error {
	if old.TaskID != a.TaskID || old.Number != a.Number || old.Cause != a.Cause || old.CreatedAt != a.CreatedAt {
		return refuse("put attempt %s: its task, number, cause and creation cannot be replaced", a.ID)
	}
	if same := a; old.Finished() {
		if same.Stale = old.Stale; same != old {
			return refuse("put attempt %s: it is finished", a.ID)
		}
	}
	if a.Session() != old.Session() {
		if err := t.ownSession(task, a); err != nil {
			return err
		}
	}
	text, args := attemptRows.update(record.Attempt{Position: task.Position, Attempt: old}, record.Attempt{Position: task.Position, Attempt: a})
	err := t.run(text, args)
	if err == nil {
		t.noteAttempt(task, a)
	}
	return err
}

// ownSession refuses a session that belongs to another task. One attempt of the session decides, because all its
// attempts belong to one task. Together with one unfinished attempt per task, this keeps two unfinished attempts out of
// one session.
func (t attemptRecords) ownSession(task task.Task, a task.Attempt) error {
	if a.Session() == "" {
		return nil
	}
	carried, err := Number(t.c, "SELECT task FROM attempts WHERE attempts.workspace = :w AND session = ? LIMIT 1", a.Session())
	if err == nil && carried != 0 && carried != task.Position {
		err = refuse("put attempt %s: its session is that of another task", a.ID)
	}
	return err
}

// noteAttempt notes an attempt that was put.
func (t attemptRecords) noteAttempt(task task.Task, a task.Attempt) {
	if a.Number >= task.Current.Number {
		task.Current = a
	}
	t.noteTask(task)
}

func (t attemptRecords) Attempts(taskID string, after, limit int) ([]task.Attempt, error) {
	return listed(t.Tx, limit, takeOwnedAttempt, selectingOwned(&attemptRows)+" WHERE tasks.workspace = :w AND tasks.id = ? AND attempts.number > ? ORDER BY attempts.number", taskID, int64(after))
}

// Leased skips attempts of tasks that are known to be damaged: their end could not be recorded.
func (t attemptRecords) Leased(after core.Instant, limit int) ([]task.Attempt, error) {
	return listed(t.Tx, limit, func(r *Row) (task.Attempt, error) {
		a, err := takeOwnedAttempt(r)
		if of := Damaged("task " + a.TaskID); err == nil && t.o.IsSpoilt != nil && t.o.IsSpoilt(of) {
			err = of
		}
		return a, err
	}, selectingOwned(&attemptRows)+leasedBehind, int64(after))
}

// takeOwnedAttempt takes the columns of an attempt and the id of its task. An attempt whose task is missing is damaged.
func takeOwnedAttempt(r *Row) (task.Attempt, error) {
	a, err := takeOwned(r, &attemptRows, func(a *record.Attempt) *string { return &a.TaskID })
	return a.Attempt, err
}
