package engine

import (
	"fmt"

	"waybill/core"
	"waybill/core/task"
)

// Claimers is the session under which claim calls wait for a task. No host can use this name.
const Claimers = "\x00claim"

// A Reported is the effect of a worker's report.
type Reported struct {
	Applied bool
	// Reason says why the report was not applied: ReasonStale or ReasonUnknown.
	Reason  string
	Task    task.Task
	Attempt task.Attempt // the attempt named by the report, if known
	// Next is the attempt that follows a failed one, or nil.
	Next *task.Attempt
}

// The reasons why a report is not applied.
const (
	ReasonStale   = "stale_attempt"
	ReasonUnknown = "unknown_session"
)

// BindSession records the session and the model of an attempt.
func (tx *Tx) BindSession(taskID, attemptID, token, session string, model task.Model) (Reported, error) {
	t, err := tx.task(taskID)
	if err != nil {
		return Reported{}, err
	}
	if a, ok, err := tx.Attempt(attemptID); err != nil || !ok || a.TaskID != taskID {
		return Reported{}, orMissing(err, "attempt", attemptID)
	}
	e := task.Bind{At: tx.now, AttemptID: attemptID, Token: token, Session: session, Model: model}
	next, effects, err := t.Step(e)
	if err != nil {
		return tx.recordLate(t, token, "bind_session", allowing(t, err))
	}
	if err := tx.sessionFree(session, t); err != nil {
		return Reported{}, err
	}
	bound := Reported{Applied: true, Task: next, Attempt: next.Current}
	if next == t {
		return bound, nil
	}
	if err := tx.moveBreaker(t.Current, next.Current); err != nil {
		return Reported{}, err
	}
	return bound, tx.saveTask(t, next, effects, Progress{})
}

// sessionFree refuses a session that belongs to another task or to an unfinished attempt. A later attempt of the same
// task may use it again.
func (tx *Tx) sessionFree(session string, t task.Task) error {
	bound, taken, err := tx.AttemptOf(session)
	if err != nil || !taken || bound.ID == t.Current.ID || bound.TaskID == t.ID && bound.Finished() {
		return err
	}
	what := fmt.Sprintf("attempt %s of task %s, which is %s; a session belongs to one task for ever", bound.ID, bound.TaskID, bound.Status())
	if bound.TaskID == t.ID {
		what = fmt.Sprintf("attempt %s of this task, which is %s; a session runs one attempt at a time", bound.ID, bound.Status())
	}
	return &core.Refusal{
		Kind: core.SessionTaken, Noun: "task", Subject: t.ID, State: string(t.Status()),
		Message: fmt.Sprintf("session %q belongs to %s", session, what),
	}
}

// moveBreaker updates the circuit breakers of both models when an attempt is bound to another model than it was
// claimed for.
func (tx *Tx) moveBreaker(was, is task.Attempt) error {
	if was.Model.Key() == is.Model.Key() {
		return nil
	}
	b, known, err := tx.Breaker(was.Model.Key())
	if err != nil {
		return err
	}
	if freed := b.Leave(was.ID); known && freed != b {
		tx.touched = append(tx.touched, Claimers) // a waiting claim may now succeed
		if err := tx.PutBreaker(freed); err != nil {
			return err
		}
	}
	return tx.admitAttempt(is)
}

// Heartbeat extends the lease of an attempt. A length of zero keeps the length of the lease.
func (tx *Tx) Heartbeat(taskID, token string, length int64, progress Progress) (Reported, error) {
	t, err := tx.task(taskID)
	if err != nil {
		return Reported{}, err
	}
	beat := task.Heartbeat{At: tx.now, Token: token, Length: length, Progress: progress.Message != ""}
	next, err := tx.stepTaskWith(t, beat, progress)
	if err != nil {
		return tx.recordLate(t, token, "heartbeat", err)
	}
	return Reported{Applied: true, Task: next, Attempt: next.Current}, nil
}

// FinishAttempt takes the last report of a worker about its attempt. A repeated report returns the same answer, even
// if the task has changed since.
func (tx *Tx) FinishAttempt(taskID string, e task.Finish) (Reported, error) {
	t, err := tx.task(taskID)
	if err != nil {
		return Reported{}, err
	}
	e.At, e.Next = tx.now, tx.successor()
	a, known, err := tx.AttemptUnder(e.Token)
	if err != nil {
		return Reported{}, err
	}
	if known && a.TaskID == taskID && a.EndedBy(e) {
		return tx.finished(t, a)
	}
	next, err := tx.stepTask(t, e)
	if err != nil {
		return tx.recordLate(t, e.Token, "finish_attempt", err)
	}
	if next, err = tx.afterRun(next); err != nil {
		return Reported{}, err
	}
	over, _, err := tx.Attempt(t.Current.ID)
	if err != nil {
		return Reported{}, err
	}
	return tx.finished(next, over)
}

// afterRun reloads a task that belongs to a run, because the run may have blocked it.
func (tx *Tx) afterRun(t task.Task) (task.Task, error) {
	if t.Spec.RunID == "" {
		return t, nil
	}
	return tx.task(t.ID)
}

// finished returns the answer to the report that ended an attempt.
func (tx *Tx) finished(t task.Task, over task.Attempt) (Reported, error) {
	r := Reported{Applied: true, Task: t, Attempt: over}
	if over.ID == t.Current.ID {
		return r, nil
	}
	following, err := tx.Attempts(t.ID, over.Number, 1)
	if err != nil {
		return Reported{}, err
	}
	if len(following) == 1 && following[0].Cause == task.CauseRetry {
		r.Next = &following[0]
	}
	return r, nil
}

// ReportSession takes a host's report about a session. It applies only to the newest attempt bound to that session.
func (tx *Tx) ReportSession(e task.ReportSession, progress Progress) (Reported, error) {
	a, known, err := tx.AttemptOf(e.Session)
	if err != nil || !known {
		return Reported{Reason: ReasonUnknown}, err
	}
	t, err := tx.task(a.TaskID)
	if err != nil {
		return Reported{}, err
	}
	e.At, e.Next, e.Telling = tx.now, tx.successor(), progress.Message != ""
	progress.Heard = e.Kind
	next, err := tx.stepTaskWith(t, e, progress)
	if err != nil {
		return tx.recordLate(t, a.Token(), "report_session_event", err)
	}
	if next, err = tx.afterRun(next); err != nil {
		return Reported{}, err
	}
	r := Reported{Applied: true, Task: next, Attempt: next.Current}
	if a, _, err = tx.Attempt(a.ID); err == nil {
		r.Attempt = a
	}
	return r, err
}

// recordLate records a report about an attempt that the reporter no longer owns. It returns any other error
// unchanged.
func (tx *Tx) recordLate(t task.Task, token, call string, err error) (Reported, error) {
	if !task.IsStale(err) {
		return Reported{}, err
	}
	a, known, err := tx.AttemptUnder(token)
	if err != nil {
		return Reported{}, err
	}
	if known && a.TaskID == t.ID {
		return tx.countLate(t, a, call)
	}
	return Reported{Reason: ReasonStale, Task: t}, tx.record(core.AttemptStale, t.ID, StaleRecord{Call: call, Status: t.Status()})
}

// countLate counts and records a report about an attempt that the reporter no longer owns.
func (tx *Tx) countLate(t task.Task, a task.Attempt, call string) (Reported, error) {
	r := Reported{Reason: ReasonStale, Task: t, Attempt: a.Belated()}
	if a.ID == t.Current.ID {
		r.Task.Current = r.Attempt
	}
	if err := tx.PutAttempt(r.Attempt); err != nil {
		return r, err
	}
	return r, tx.record(core.AttemptStale, t.ID, StaleRecord{
		Call: call, Status: t.Status(), AttemptID: a.ID, Number: a.Number, Attempt: a.Status(),
	})
}

// A StaleRecord is the data of attempt.stale.
type StaleRecord struct {
	Call      string             `json:"call"`
	AttemptID string             `json:"attempt_id,omitempty"`
	Number    int                `json:"attempt_number,omitempty"`
	Attempt   task.AttemptStatus `json:"attempt_status,omitempty"`
	Status    task.Status        `json:"status"`
}

// RetryTask queues an ended task again.
func (tx *Tx) RetryTask(id string, model task.Model) (task.Task, error) {
	t, err := tx.task(id)
	if err != nil {
		return t, err
	}
	return tx.stepTask(t, task.Retry{At: tx.now, Model: model, Next: tx.successor()})
}

// CancelTask cancels a task. A running task is only asked to end.
func (tx *Tx) CancelTask(id, reason string) (task.Task, error) {
	t, err := tx.task(id)
	if err != nil {
		return t, err
	}
	next, err := tx.stepTask(t, task.Cancel{At: tx.now, Reason: reason})
	if err == nil && t.Spec.Role == task.RoleQuestion {
		err = tx.dropNotices(id, core.NoticeTaskFinished) // of a question that nothing waits for any more
	}
	return next, err
}

// ReplyToTask continues a task with a person's answer, or completes a question of a session; has is the session that has the
// answer already, or "". It returns the former status of the task.
func (tx *Tx) ReplyToTask(id string, e task.Reply, by, has string) (t task.Task, before task.Status, err error) {
	was, err := tx.task(id)
	if err != nil {
		return was, "", err
	}
	e.At, e.Next = tx.now, tx.successor()
	t, err = tx.stepTask(was, e)
	if err != nil {
		return t, was.Status(), err
	}
	if err = tx.AddReply(replyOf(t, was, by)); err == nil {
		t, err = completeQuestion(tx, t, was, has)
	}
	return t, was.Status(), err
}
