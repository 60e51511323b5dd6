package task

import (
	"fmt"

	"waybill/core"
)

// This file has the events from outside the attempts: of a person, of the run, and of the tasks that the task waits for.

func (t Task) again(e Retry) (Task, []core.Effect, error) {
	if t.Spec.Role == RoleQuestion {
		return t.refuse("retried: it is only a question; the session that asked can ask again")
	}
	switch t.Phase.(type) {
	case Errored, Cancelled, Blocked:
		t.Spent = Spent{}
		return t.queue(t.anew(e), e.At, core.TaskRetried)
	case Queued:
		return t.conflict(core.RetryPending, fmt.Sprintf("task %s is %s: its attempt %d is pending already",
			t.ID, t.Status(), t.Current.Number))
	case Running:
		return t.refuse("retried: an attempt is running; cancel it first")
	case Awaiting:
		return t.refuse("retried: it waits for an answer; reply to it, or cancel it first")
	case Complete:
		return t.refuse("retried: it is over; create a new task")
	}
	panic("task: task without a phase")
}

func (t Task) cancel(e Cancel) (Task, []core.Effect, error) {
	switch p := t.Phase.(type) {
	case Queued:
		why := Failure{Class: ClassUser, Message: e.Reason}
		return t.ended(AttemptCancelled, e.At, why, "", Cancelled(e))
	case Running:
		if p.CancelAt != 0 {
			return t, nil, nil
		}
		t.Phase = Running{CancelAt: e.At, CancelReason: e.Reason}
		return t.moved(e.At, core.Record{Type: core.TaskCancelRequested})
	case Awaiting, Blocked:
		return t.settle(e.At, Cancelled(e))
	case Cancelled:
		return t, nil, nil
	case Errored, Complete:
		return t.refuse("cancelled: it is over")
	}
	panic("task: task without a phase")
}

func (t Task) reply(e Reply) (Task, []core.Effect, error) {
	before := t
	if e.AttemptID != "" && e.AttemptID != t.Current.ID {
		return t.conflict(core.AlreadyResolved, fmt.Sprintf("task %s is %s, and its newest attempt is %s: what attempt %s asked is answered or over; "+
			"look at what the task says now", t.ID, t.Status(), t.Current.ID, e.AttemptID))
	}
	switch t.Phase.(type) {
	case Awaiting:
	case Errored, Cancelled, Blocked:
		t.Spent = Spent{}
		t = t.unasked()
	case Queued, Running:
		if t.Continues() {
			return t.conflict(core.AlreadyResolved, fmt.Sprintf("task %s was answered already and is %s", t.ID, t.Status()))
		}
		return t.refuse("replied to: it has not asked anything")
	case Complete:
		return t.refuse("replied to: it is over; create a new task")
	}
	choice, text, pointer, problem := t.Offer.choose(e.Option, e.Text)
	if problem != "" {
		return before, nil, &core.Refusal{
			Kind: core.BadAnswer, Noun: "task", Subject: t.ID, State: string(before.Status()), Pointer: pointer,
			Message: fmt.Sprintf("%s: task %s was not answered: %s", pointer, t.ID, problem),
		}
	}
	return answered(t, text, choice, e.At, e.Next, core.TaskReplied)
}

// answered queues the task again with the answer.
func answered(t Task, text string, choice Choice, at core.Instant, successor Successor, kind core.EventType) (Task, []core.Effect, error) {
	t.Reply, t.Choice = text, choice
	t.Replies++
	next := t.attempt(successor.AttemptID, CauseReply, t.Current.Link, at)
	next.Model = t.Current.Model
	return t.queue(next, at, kind)
}

// takeDefault answers a question by its default, if its time has come. If the clock was set back, a person has no more
// time from now than the offer says.
func takeDefault(t Task, e TakeDefault) (Task, []core.Effect, error) {
	p, awaiting := t.Phase.(Awaiting)
	if !awaiting || p.DefaultAt == 0 {
		return t, nil, nil
	}
	if latest := e.At + core.Instant(t.Offer.Terms().After); p.DefaultAt > latest {
		t.Phase = Awaiting{DefaultAt: latest}
		return t, nil, nil
	}
	if e.At < p.DefaultAt {
		return t, nil, nil
	}
	label := t.Offer.Terms().Default
	return answered(t, label, Choice{Option: label, ByTime: true}, e.At, e.Next, core.TaskDefaulted)
}

// unasked returns the ended task without a question that the next reply does not answer: a question that has its answer, or
// one from before the failed attempt. The output of an answered question is removed with it.
func (t Task) unasked() Task {
	if t.Continues() {
		t.Output, t.Question, t.Offer = "", "", Offer{}
	}
	if t.Current.Failed() {
		t.Question, t.Offer = "", Offer{}
	}
	return t
}

func (t Task) block(e Block) (Task, []core.Effect, error) {
	switch t.Phase.(type) {
	case Queued:
		why := Failure{Class: ClassUser, Message: e.Reason}
		return t.ended(AttemptCancelled, e.At, why, "", Blocked(e))
	case Awaiting, Errored:
		return t.settle(e.At, Blocked(e))
	case Blocked:
		return t, nil, nil
	case Running:
		return t.refuse("blocked: an attempt is running")
	case Complete, Cancelled:
		return t.refuse("blocked: it is over")
	}
	panic("task: task without a phase")
}

func (t Task) dependencyDone(e DependencyDone) (Task, []core.Effect, error) {
	if t.Waits == 0 {
		panic("task: task " + t.ID + " waits for nothing")
	}
	t.Waits--
	if t.Waits > 0 || t.Status() != StatusQueued {
		return t, []core.Effect{}, nil
	}
	return t.moved(e.At, core.Record{Type: core.TaskReleased})
}
