package sqlstore

import (
	"waybill/core"
	"waybill/core/task"
)

var (
	attemptNames = []string{
		"task", "number", "id", "cause", "link", "provider", "model", "variant", "model_key", "created_at", "stale",
		"status", "worker", "session", "token", "started_at", "epoch", "expires_at", "length", "spared", "ended_at",
		"class", "name", "http", "message", "digest",
	}
	attemptColumns = text{Of: func() string { return qualified("attempts", attemptNames) + ", tasks.id" }}
	selectAttempts = text{Of: func() string { return "SELECT " + attemptColumns.Get() + " FROM " + attemptTable }}
	insertAttempt  = text{Of: func() string { return inserting("attempts", attemptNames) }}
)

const attemptTable = "attempts LEFT JOIN tasks ON tasks.position = attempts.task AND tasks.workspace = attempts.workspace"

// attemptRow returns the values of attemptNames. position is that of the attempt's task.
func attemptRow(position int64, a task.Attempt) []any {
	values := []any{
		position, int64(a.Number), a.ID, string(a.Cause), int64(a.Link), a.Model.Provider, a.Model.ID, a.Model.Variant,
		a.Model.Key(), int64(a.CreatedAt), int64(a.Stale), string(a.Status()), a.Worker(), orNull(a.Session()),
		orNull(a.Token()), nil, nil, nil, nil, nil, nil, "", "", int64(0), "", "",
	}
	switch p := a.Phase.(type) {
	case task.PendingAttempt:
	case task.RunningAttempt:
		values[15], values[16] = int64(p.StartedAt), int64(p.Lease.Epoch)
		values[17], values[18], values[19] = int64(p.Lease.ExpiresAt), p.Lease.Length, flag(p.Lease.Spared)
	case task.EndedAttempt:
		if p.Token != "" || p.StartedAt != 0 {
			values[15] = int64(p.StartedAt)
		}
		values[20], values[21], values[22] = int64(p.At), string(p.Failure.Class), p.Failure.Name
		values[23], values[24], values[25] = int64(p.Failure.HTTP), p.Failure.Message, p.Digest
	}
	return values
}

// takeAttempt takes the columns of attemptNames and checks them against their sum.
func takeAttempt(r *Row, buf *encoder, taskID string) (position int64, a task.Attempt, err error) {
	a.ID, _ = r.values[r.next+2].(string)
	if !r.sound(kindAttempt, len(attemptNames), buf) {
		return 0, a, Damaged("attempt " + a.ID)
	}
	position, a.TaskID, a.Number = r.Integer(), taskID, int(r.Integer())
	a.ID, a.Cause, a.Link = r.Text(), task.Cause(r.Text()), int(r.Integer())
	a.Model = task.Model{Provider: r.Text(), ID: r.Text(), Variant: r.Text()}
	key := r.Text()
	a.CreatedAt, a.Stale = core.Instant(r.Integer()), int(r.Integer())
	a.Phase = takeAttemptPhase(r)
	r.take() // the sum
	if r.err != nil || a.Phase == nil || key != a.Model.Key() {
		return position, a, Damaged("attempt " + a.ID)
	}
	return position, a, nil
}

// takeAttemptPhase returns the phase, or nil if there is no such status.
func takeAttemptPhase(r *Row) task.AttemptPhase {
	over := task.EndedAttempt{
		Status: task.AttemptStatus(r.Text()), Worker: r.Text(), Session: r.maybeText(), Token: r.maybeText(),
		StartedAt: core.Instant(r.maybeInteger()),
	}
	lease := task.Lease{
		Token: over.Token, Epoch: int(r.maybeInteger()),
		ExpiresAt: core.Instant(r.maybeInteger()), Length: r.maybeInteger(), Spared: r.maybeInteger() != 0,
	}
	over.At = core.Instant(r.maybeInteger())
	over.Failure = task.Failure{Class: task.Class(r.Text()), Name: r.Text(), HTTP: int(r.Integer()), Message: r.Text()}
	over.Digest = r.Text()
	switch over.Status {
	case task.AttemptPending:
		return task.PendingAttempt{}
	case task.AttemptRunning:
		return task.RunningAttempt{Worker: over.Worker, Session: over.Session, StartedAt: over.StartedAt, Lease: lease}
	case task.AttemptCompleted, task.AttemptError, task.AttemptCancelled, task.AttemptInterrupted, task.AttemptLost,
		task.AttemptAwaiting:
		return over
	}
	return nil
}

// takeOwnedAttempt takes attemptColumns. An attempt whose task is missing is damaged.
func takeOwnedAttempt(r *Row, buf *encoder) (position int64, a task.Attempt, err error) {
	id, owned := r.values[len(attemptNames)+1].(string)
	position, a, err = takeAttempt(r, buf, id)
	if err == nil && !owned {
		err = Damaged("attempt " + a.ID)
	}
	return position, a, err
}
