package core

import (
	"errors"
	"fmt"
)

// What the events of a task share: how an attempt ends and what follows, and how an event is refused.

// failed ends the current attempt with a failure, and gives the task another one if that may help.
func (t Task) failed(status AttemptStatus, at Instant, why Failure, digest string, mode RetryMode, next Successor) (Task, []Effect, error) {
	if p := t.Phase.(TaskRunning); p.CancelAt != 0 {
		return t.ended(AttemptCancelled, at, why, digest, t.withdrawn(at, ""))
	}
	t.Spent.Failures++
	if status != AttemptLost { // a worker that dies says nothing against the model
		t.Spent.OnModel++
	}
	plan, reason := t.retry(why.Class, mode, next)
	if reason == ReasonFailed && timedOut(why) {
		reason = ReasonTimeout
	}
	if reason != "" {
		return t.ended(status, at, why, digest, TaskErrored{reason})
	}
	over := t.Current.end(status, at, why, digest)
	t.Current = t.attempt(next.AttemptID, CauseRetry, plan.link, at)
	t.Phase = TaskQueued{}
	if plan.link != over.Link {
		t.Spent.OnModel = 0
	} else {
		t.Current.Model = over.Model // as it was bound
		if status != AttemptLost && plan.delay > 0 {
			t.Phase = TaskQueued{NotBefore: at + Instant(plan.delay)}
		}
	}
	return t.moved(at, Keep{over}, Keep{t.Current}, Record{AttemptFinished}, Record{AttemptScheduled}, Post{NoticeRetryScheduled})
}

// ended ends the current attempt, and the task with it for now.
func (t Task) ended(status AttemptStatus, at Instant, why Failure, digest string, phase TaskPhase) (Task, []Effect, error) {
	t.Current = t.Current.end(status, at, why, digest)
	if status == AttemptCompleted || status == AttemptAwaiting {
		t.Reply = "" // it has had its effect; after any other end, the next attempt still needs it
	}
	next, effects, err := t.settle(at, phase)
	return next, append([]Effect{Keep{t.Current}, Record{AttemptFinished}}, effects...), err
}

// withdrawn is the phase of a task whose cancellation has come about.
func (t Task) withdrawn(at Instant, reason string) TaskPhase {
	if p, running := t.Phase.(TaskRunning); running && p.CancelAt != 0 {
		reason = p.CancelReason
	}
	return TaskCancelled{At: at, Reason: reason}
}

// said keeps what the report says for the next prompt and for whoever looks. What completes the task, or
// asks, is all that was said. While a reply waits to have its effect, no other end touches the dialogue:
// the answer would stand under what it was never given to. Without one, who says nothing leaves what is there.
func (t Task) said(e FinishAttempt) Task {
	answers := e.Status == AttemptCompleted || e.Status == AttemptAwaiting && t.Phase.(TaskRunning).CancelAt == 0
	if answers || !t.Continues() && e.Output+e.Question != "" {
		t.Output, t.Question = e.Output, e.Question
	}
	return t
}

// settle gives the task a phase in which it waits for a person or is over.
func (t Task) settle(at Instant, phase TaskPhase) (Task, []Effect, error) {
	t.Phase = phase
	kind := NoticeTaskFinished
	if phase.Status() == StatusAwaiting {
		kind = NoticeTaskAwaiting
	}
	return t.moved(at, Record{TaskSettled}, Post{kind})
}

// anew gives the attempt of a task that somebody set going again.
func (t Task) anew(e RetryTask) Attempt {
	if e.Model == (Model{}) {
		return t.attempt(e.Next.AttemptID, CauseRequest, 0, e.At)
	}
	next := t.attempt(e.Next.AttemptID, CauseRequest, t.Launch.Chain.index(e.Model), e.At)
	next.Model = e.Model
	return next
}

// queue puts a task back in the queue with a new attempt.
func (t Task) queue(next Attempt, at Instant, kind EventType) (Task, []Effect, error) {
	t.Current, t.Phase = next, TaskQueued{}
	return t.moved(at, Keep{next}, Record{kind})
}

func (t Task) moved(at Instant, effects ...Effect) (Task, []Effect, error) {
	t.UpdatedAt = max(t.UpdatedAt, at)
	return t, effects, nil
}

func (t Task) refuse(what string) (Task, []Effect, error) {
	return t.conflict(InvalidState, fmt.Sprintf("task %s is %s and cannot be %s", t.ID, t.Status(), what))
}

func (t Task) conflict(kind RefusalKind, message string) (Task, []Effect, error) {
	return t, nil, &Refusal{Kind: kind, Noun: "task", Subject: t.ID, State: string(t.Status()), Message: message}
}

func (t Task) stale(what string) error {
	return &Refusal{
		Kind: StaleAttempt, Noun: "task", Subject: t.ID, State: string(t.Status()),
		Message: fmt.Sprintf("task %s is %s: %s", t.ID, t.Status(), what),
	}
}

// IsStale reports whether an error says that somebody reported about an attempt that is not his any more.
func IsStale(err error) bool {
	refusal, ok := errors.AsType[*Refusal](err)
	return ok && refusal.Kind == StaleAttempt
}
