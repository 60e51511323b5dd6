package task

import (
	"errors"
	"fmt"

	"waybill/core"
)

// This file has the parts that events share: how an attempt ends, what follows, and how an event is refused.

// failed ends the current attempt with a failure, and adds another attempt if a retry may help.
func (t Task) failed(status AttemptStatus, at core.Instant, why Failure, digest string, mode RetryMode, next Successor) (Task, []core.Effect, error) {
	if p := t.Phase.(Running); p.CancelAt != 0 {
		return t.ended(AttemptCancelled, at, why, digest, t.withdrawn(at, ""))
	}
	t.Spent.Failures++
	if status != AttemptLost { // a worker that dies says nothing against the model
		t.Spent.OnModel++
	}
	plan, reason := t.retry(why, mode, next)
	if reason == ReasonFailed && timedOut(why) {
		reason = ReasonTimeout
	}
	if reason != "" {
		return t.ended(status, at, why, digest, Errored{reason})
	}
	over := t.Current.end(status, at, why, digest)
	t.Current = t.attempt(next.AttemptID, CauseRetry, plan.link, at)
	t.Phase = Queued{}
	if plan.link != over.Link {
		t.Spent.OnModel = 0
	} else {
		t.Current.Model = over.Model // the model that it was bound to
		if status != AttemptLost && plan.delay > 0 {
			t.Phase = Queued{NotBefore: at + core.Instant(plan.delay)}
		}
	}
	return t.moved(at, Keep{over}, Keep{t.Current}, core.Record{Type: core.AttemptFinished}, core.Record{Type: core.AttemptScheduled}, core.Post{Kind: core.NoticeRetryScheduled})
}

// handedOn ends the current attempt with a failure, and adds an attempt on the model that the host named. Neither the class
// nor the budget stops a host that schedules by itself. A retry on the same model waits as usual.
func (t Task) handedOn(e Finish) (Task, []core.Effect, error) {
	over := t.Current.end(AttemptError, e.At, e.Failure, e.digest())
	t.Current = t.attempt(e.Next.AttemptID, CauseRetry, over.Link, e.At)
	t = t.on(e.NextModel)
	t.Phase = Queued{}
	if e.NextModel.Key() != over.Model.Key() {
		t.Spent.OnModel = 0
	} else if delay := e.Next.backoff(t.Spent.OnModel + 1); delay > 0 {
		t.Phase = Queued{NotBefore: e.At + core.Instant(delay)}
	}
	return t.moved(e.At, Keep{over}, Keep{t.Current}, core.Record{Type: core.AttemptFinished}, core.Record{Type: core.AttemptScheduled}, core.Post{Kind: core.NoticeRetryScheduled})
}

// ended ends the current attempt and moves the task into the phase.
func (t Task) ended(status AttemptStatus, at core.Instant, why Failure, digest string, phase Phase) (Task, []core.Effect, error) {
	t.Current = t.Current.end(status, at, why, digest)
	if status == AttemptCompleted || status == AttemptAwaiting {
		t.Reply, t.Choice = "", Choice{} // a completed or asking attempt used it; after any other end, the next attempt still needs it
	}
	next, effects, err := t.settle(at, phase)
	return next, append([]core.Effect{Keep{t.Current}, core.Record{Type: core.AttemptFinished}}, effects...), err
}

// withdrawn returns the phase of a cancelled task.
func (t Task) withdrawn(at core.Instant, reason string) Phase {
	if p, running := t.Phase.(Running); running && p.CancelAt != 0 {
		reason = p.CancelReason
	}
	return Cancelled{At: at, Reason: reason}
}

// said returns the task with output, question and offer of the report. A report that completes the task, or asks, replaces
// them. Other ends keep them if a reply waits for its effect, because the reply belongs to that question. Without a
// reply, an empty report keeps them.
func (t Task) said(e Finish) Task {
	answers := e.Status == AttemptCompleted || e.Status == AttemptAwaiting && t.Phase.(Running).CancelAt == 0
	if answers || !t.Continues() && e.Output+e.Question != "" {
		t.Output, t.Question, t.Offer = e.Output, e.Question, e.Offer
	}
	return t
}

// settle moves the task into a phase in which it waits for a person or is over.
func (t Task) settle(at core.Instant, phase Phase) (Task, []core.Effect, error) {
	t.Phase = phase
	kind := core.NoticeTaskFinished
	if phase.Status() == StatusAwaiting {
		kind = core.NoticeTaskAwaiting
	}
	return t.moved(at, core.Record{Type: core.TaskSettled}, core.Post{Kind: kind})
}

// anew returns the first attempt after a person's retry.
func (t Task) anew(e Retry) Attempt {
	if e.Model == (Model{}) {
		return t.attempt(e.Next.AttemptID, CauseRequest, 0, e.At)
	}
	next := t.attempt(e.Next.AttemptID, CauseRequest, t.Spec.Chain.index(e.Model), e.At)
	next.Model = e.Model
	return next
}

// queue puts a task back in the queue with a new attempt.
func (t Task) queue(next Attempt, at core.Instant, kind core.EventType) (Task, []core.Effect, error) {
	t.Current, t.Phase = next, Queued{}
	return t.moved(at, Keep{next}, core.Record{Type: kind})
}

func (t Task) moved(at core.Instant, effects ...core.Effect) (Task, []core.Effect, error) {
	t.UpdatedAt = max(t.UpdatedAt, at)
	return t, effects, nil
}

func (t Task) refuse(what string) (Task, []core.Effect, error) {
	return t.conflict(core.InvalidState, fmt.Sprintf("task %s is %s and cannot be %s", t.ID, t.Status(), what))
}

func (t Task) conflict(kind core.RefusalKind, message string) (Task, []core.Effect, error) {
	return t, nil, &core.Refusal{Kind: kind, Noun: "task", Subject: t.ID, State: string(t.Status()), Message: message}
}

func (t Task) stale(what string) error {
	return &core.Refusal{
		Kind: core.StaleAttempt, Noun: "task", Subject: t.ID, State: string(t.Status()),
		Message: fmt.Sprintf("task %s is %s: %s", t.ID, t.Status(), what),
	}
}

// IsStale reports whether an error refuses a report whose lease is no longer valid.
func IsStale(err error) bool {
	refusal, ok := errors.AsType[*core.Refusal](err)
	return ok && refusal.Kind == core.StaleAttempt
}
