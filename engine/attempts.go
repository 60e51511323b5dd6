package engine

import (
	"fmt"

	"waybill/core"
	"waybill/store"
)

// Claimers is the session under which changes wait that wait for a task. No host can name it.
const Claimers = "\x00claim"

// A Reported is what became of a worker's report.
type Reported struct {
	Applied bool
	// Reason is why it was not applied: stale_attempt or unknown_session.
	Reason  string
	Task    core.Task
	Attempt core.Attempt // the one that the report was about, if it is known
	// Next is the attempt that takes over from a failed one, or nil.
	Next *core.Attempt
}

// Why a report is not applied.
const (
	ReasonStale   = "stale_attempt"
	ReasonUnknown = "unknown_session"
)

// BindSession says in which session an attempt runs, and on which model.
func (tx *Tx) BindSession(taskID, attemptID, token, session string, model core.Model) (Reported, error) {
	t, err := tx.task(taskID)
	if err != nil {
		return Reported{}, err
	}
	if a, ok, err := tx.Attempt(attemptID); err != nil || !ok || a.TaskID != taskID {
		return Reported{}, orMissing(err, "attempt", attemptID)
	}
	e := core.BindSession{At: tx.now, AttemptID: attemptID, Token: token, Session: session, Model: model}
	next, effects, err := t.Step(e)
	if err != nil {
		return tx.belated(t, token, "bind_session", allowing(t, err))
	}
	if err := tx.sessionFree(session, t); err != nil {
		return Reported{}, err
	}
	bound := Reported{Applied: true, Task: next, Attempt: next.Current}
	if next == t {
		return bound, nil
	}
	if err := tx.rebreak(t.Current, next.Current); err != nil {
		return Reported{}, err
	}
	return bound, tx.saveTask(t, next, effects, Progress{})
}

// sessionFree refuses a session that the newest attempt of the task may not run in: one of another task, or
// of an attempt that is not over. One in which an earlier attempt of the task ran may go on with it.
func (tx *Tx) sessionFree(session string, t core.Task) error {
	bound, taken, err := tx.AttemptOf(session)
	if err != nil || !taken || bound.ID == t.Current.ID || bound.TaskID == t.ID && bound.Finished() {
		return err
	}
	what := fmt.Sprintf("attempt %s of task %s, which is %s; a session is of one task for good", bound.ID, bound.TaskID, bound.Status())
	if bound.TaskID == t.ID {
		what = fmt.Sprintf("attempt %s of this task, which is %s; a session runs one attempt at a time", bound.ID, bound.Status())
	}
	return &core.Refusal{
		Kind: core.SessionTaken, Noun: "task", Subject: t.ID, State: string(t.Status()),
		Message: fmt.Sprintf("session %q is that of %s", session, what),
	}
}

// rebreak tells the breakers that an attempt is bound to another model than it was claimed for.
func (tx *Tx) rebreak(was, is core.Attempt) error {
	if was.Model.Key() == is.Model.Key() {
		return nil
	}
	b, known, err := tx.Breaker(was.Model.Key())
	if err != nil {
		return err
	}
	if freed := b.Leave(was.ID); known && freed != b {
		tx.touched = append(tx.touched, Claimers) // it may let somebody through
		if err := tx.PutBreaker(freed); err != nil {
			return err
		}
	}
	return tx.admitted(is)
}

// Heartbeat says that the worker of a task is at it. A length of zero keeps that of the lease.
func (tx *Tx) Heartbeat(taskID, token string, length int64, said Progress) (Reported, error) {
	t, err := tx.task(taskID)
	if err != nil {
		return Reported{}, err
	}
	beat := core.Heartbeat{At: tx.now, Token: token, Length: length, Progress: said.Message != ""}
	next, err := tx.stepSaying(t, beat, said)
	if err != nil {
		return tx.belated(t, token, "heartbeat", err)
	}
	return Reported{Applied: true, Task: next, Attempt: next.Current}, nil
}

// FinishAttempt takes a worker's last report about its attempt. The same report once more is given the
// same answer, whatever has become of the task since.
func (tx *Tx) FinishAttempt(taskID string, e core.FinishAttempt) (Reported, error) {
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
		return tx.belated(t, e.Token, "finish_attempt", err)
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

// afterRun gives what a task is when its run has heard of what happened, and may have held it back.
func (tx *Tx) afterRun(t core.Task) (core.Task, error) {
	if t.Launch.RunID == "" {
		return t, nil
	}
	return tx.task(t.ID)
}

// finished gives the answer about an attempt that a report has ended.
func (tx *Tx) finished(t core.Task, over core.Attempt) (Reported, error) {
	r := Reported{Applied: true, Task: t, Attempt: over}
	following, err := tx.Attempts(t.ID, over.Number, 1)
	if err != nil {
		return Reported{}, err
	}
	if len(following) == 1 && following[0].Cause == core.CauseRetry {
		r.Next = &following[0]
	}
	return r, nil
}

// HearSession takes what the host saw of a session: to which attempt it belongs, and whether that one
// is still the newest, is found out before anything else.
func (tx *Tx) HearSession(e core.HearSession, said Progress) (Reported, error) {
	a, known, err := tx.AttemptOf(e.Session)
	if err != nil || !known {
		return Reported{Reason: ReasonUnknown}, err
	}
	t, err := tx.task(a.TaskID)
	if err != nil {
		return Reported{}, err
	}
	e.At, e.Next, e.Telling = tx.now, tx.successor(), said.Message != ""
	said.Heard = e.Kind
	next, err := tx.stepSaying(t, e, said)
	if err != nil {
		return tx.belated(t, a.Token(), "report_session_event", err)
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

// belated records a report about an attempt that is not the reporter's any more. Any other error is
// given back.
func (tx *Tx) belated(t core.Task, token, call string, err error) (Reported, error) {
	if !core.IsStale(err) {
		return Reported{}, err
	}
	a, known, err := tx.AttemptUnder(token)
	if err != nil {
		return Reported{}, err
	}
	if known && a.TaskID == t.ID {
		return tx.late(t, a, call)
	}
	return Reported{Reason: ReasonStale, Task: t}, tx.record(core.AttemptStale, t.ID, StaleRecord{Call: call, Status: t.Status()})
}

// late counts and records a report about an attempt that is not the reporter's any more.
func (tx *Tx) late(t core.Task, a core.Attempt, call string) (Reported, error) {
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
	Attempt   core.AttemptStatus `json:"attempt_status,omitempty"`
	Status    core.TaskStatus    `json:"status"`
}

// RetryTask sets an ended task going again.
func (tx *Tx) RetryTask(id string, model core.Model) (core.Task, error) {
	t, err := tx.task(id)
	if err != nil {
		return t, err
	}
	return tx.stepTask(t, core.RetryTask{At: tx.now, Model: model, Next: tx.successor()})
}

// CancelTask withdraws a task. One that is running is only asked to end.
func (tx *Tx) CancelTask(id, reason string) (core.Task, error) {
	t, err := tx.task(id)
	if err != nil {
		return t, err
	}
	return tx.stepTask(t, core.CancelTask{At: tx.now, Reason: reason})
}

// ReplyToTask continues a task with a person's answer. It gives the status that the task had.
func (tx *Tx) ReplyToTask(id string, e core.ReplyToTask, by string) (t core.Task, before core.TaskStatus, err error) {
	was, err := tx.task(id)
	if err != nil {
		return was, "", err
	}
	e.At, e.Next = tx.now, tx.successor()
	t, err = tx.stepTask(was, e)
	if err != nil {
		return t, was.Status(), err
	}
	return t, was.Status(), tx.AddReply(store.Reply{
		TaskID: id, Number: t.Replies, AttemptID: was.Current.ID, Question: was.Question, Text: e.Text, By: by, At: tx.now,
	})
}
