package sqlite

import "waybill/core"

const leasedBehind = " WHERE attempts.expires_at > ? ORDER BY attempts.expires_at, attempts.id"

func (t *tx) Attempt(id string) (a core.Attempt, ok bool, err error) {
	err = t.get(func() error {
		a, ok, err = t.attempt("attempts.id = ?", id)
		return err
	})
	return a, ok, err
}

func (t *tx) AttemptOf(session string) (a core.Attempt, ok bool, err error) {
	err = t.get(func() error {
		a, ok, err = t.attempt("attempts.session = ?", session)
		return err
	})
	return a, ok, err
}

func (t *tx) AttemptUnder(token string) (a core.Attempt, ok bool, err error) {
	err = t.get(func() error {
		a, ok, err = t.attempt("attempts.token = ?", token)
		return err
	})
	return a, ok, err
}

func (t *tx) attempt(where, key string) (a core.Attempt, ok bool, err error) {
	err = t.c.query(func(r *row) error {
		_, a, err = takeOwnedAttempt(r, &t.buf)
		ok = err == nil
		return err
	}, selectAttempts+" WHERE "+where, key)
	return a, ok, err
}

func (t *tx) PutAttempt(a core.Attempt) error {
	return t.put(func() error { return t.putAttempt(a) })
}

// putAttempt needs no look at the attempts beside the newest one, unless an earlier one is replaced.
func (t *tx) putAttempt(a core.Attempt) error {
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

func (t *tx) createAttempt(task core.Task, a core.Attempt) error {
	if newest := task.Current; newest.Number > 0 && !newest.Finished() {
		return refuse("put attempt %s: attempt %s of its task is not finished", a.ID, newest.ID)
	}
	_, err := t.c.exec(insertAttempt, t.summed(kindAttempt, attemptRow(task.Position, a))...)
	if refused(err) {
		return refuse("put attempt %s: its id, token or session is that of another, or a law of core is broken: %v", a.ID, err)
	}
	if err == nil {
		t.noteAttempt(task, a)
	}
	return err
}

func (t *tx) replaceAttempt(task core.Task, old, a core.Attempt) error {
	if old.TaskID != a.TaskID || old.Number != a.Number || old.Cause != a.Cause || old.CreatedAt != a.CreatedAt {
		return refuse("put attempt %s: its task, number, cause and creation cannot be replaced", a.ID)
	}
	if same := a; old.Finished() {
		if same.Stale = old.Stale; same != old {
			return refuse("put attempt %s: it is finished", a.ID)
		}
	}
	err := t.replace("attempts", kindAttempt, attemptNames, attemptRow(task.Position, old), attemptRow(task.Position, a),
		"task = ? AND number = ?", task.Position, int64(a.Number))
	if err == nil {
		t.noteAttempt(task, a)
	}
	return err
}

// noteAttempt notes an attempt that was put.
func (t *tx) noteAttempt(task core.Task, a core.Attempt) {
	if a.Number >= task.Current.Number {
		task.Current = a
	}
	t.noteTask(task)
}

func (t *tx) Attempts(taskID string, after, limit int) (page []core.Attempt, err error) {
	err = t.get(func() error {
		return t.c.query(func(r *row) error {
			_, a, err := takeOwnedAttempt(r, &t.buf)
			page = append(page, a)
			return err
		}, selectAttempts+" WHERE tasks.id = ? AND attempts.number > ? ORDER BY attempts.number LIMIT ?+0",
			taskID, int64(after), int64(max(limit, 0)))
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

func (t *tx) Leased(after core.Instant, limit int) (page []core.Attempt, err error) {
	err = t.get(func() error {
		if limit < 1 {
			return nil
		}
		return ending(t.c.query(func(r *row) error {
			_, a, err := takeOwnedAttempt(r, &t.buf)
			if err == nil && t.isSpoilt != nil && t.isSpoilt(damaged("task "+a.TaskID)) {
				return nil // whoever would end it could not even read what it is an attempt of
			}
			if err != nil {
				return t.leaveOut(err)
			}
			if page = append(page, a); len(page) == limit {
				return errEnough
			}
			return nil
		}, selectAttempts+leasedBehind, int64(after)))
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}
