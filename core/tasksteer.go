package core

import "fmt"

// What is asked of a task from outside its attempts: by a person, by its run, and by the tasks that it
// waits for.

func (t Task) again(e RetryTask) (Task, []Effect, error) {
	switch t.Phase.(type) {
	case TaskErrored, TaskCancelled, TaskBlocked:
		t.Spent = Spent{}
		return t.queue(t.anew(e), e.At, TaskRetried)
	case TaskQueued:
		return t.conflict(RetryPending, fmt.Sprintf("task %s is %s: its attempt %d is pending already",
			t.ID, t.Status(), t.Current.Number))
	case TaskRunning:
		return t.refuse("retried: an attempt is running; cancel it first")
	case TaskAwaiting:
		return t.refuse("retried: it waits for an answer; reply to it, or cancel it first")
	case TaskComplete:
		return t.refuse("retried: it is over; create a new task")
	}
	panic("core: task without a phase")
}

func (t Task) cancel(e CancelTask) (Task, []Effect, error) {
	switch p := t.Phase.(type) {
	case TaskQueued:
		why := Failure{Class: ClassUser, Message: e.Reason}
		return t.ended(AttemptCancelled, e.At, why, "", TaskCancelled(e))
	case TaskRunning:
		if p.CancelAt != 0 {
			return t, nil, nil
		}
		t.Phase = TaskRunning{CancelAt: e.At, CancelReason: e.Reason}
		return t.moved(e.At, Record{TaskCancelRequested})
	case TaskAwaiting, TaskBlocked:
		return t.settle(e.At, TaskCancelled(e))
	case TaskCancelled:
		return t, nil, nil
	case TaskErrored, TaskComplete:
		return t.refuse("cancelled: it is over")
	}
	panic("core: task without a phase")
}

func (t Task) reply(e ReplyToTask) (Task, []Effect, error) {
	if e.AttemptID != "" && e.AttemptID != t.Current.ID {
		return t.conflict(AlreadyResolved, fmt.Sprintf("task %s is %s, and its newest attempt is %s: what attempt %s asked is answered or over; "+
			"look at what the task says now", t.ID, t.Status(), t.Current.ID, e.AttemptID))
	}
	switch t.Phase.(type) {
	case TaskAwaiting:
	case TaskErrored, TaskCancelled, TaskBlocked:
		t.Spent = Spent{}
	case TaskQueued, TaskRunning:
		if t.Continues() {
			return t.conflict(AlreadyResolved, fmt.Sprintf("task %s was answered already and is %s", t.ID, t.Status()))
		}
		return t.refuse("replied to: it has not asked anything")
	case TaskComplete:
		return t.refuse("replied to: it is over; create a new task")
	}
	t.Reply = e.Text
	t.Replies++
	next := t.attempt(e.Next.AttemptID, CauseReply, t.Current.Link, e.At)
	next.Model = t.Current.Model
	return t.queue(next, e.At, TaskReplied)
}

func (t Task) block(e BlockTask) (Task, []Effect, error) {
	switch t.Phase.(type) {
	case TaskQueued:
		why := Failure{Class: ClassUser, Message: e.Reason}
		return t.ended(AttemptCancelled, e.At, why, "", TaskBlocked(e))
	case TaskAwaiting, TaskErrored:
		return t.settle(e.At, TaskBlocked(e))
	case TaskBlocked:
		return t, nil, nil
	case TaskRunning:
		return t.refuse("blocked: an attempt is running")
	case TaskComplete, TaskCancelled:
		return t.refuse("blocked: it is over")
	}
	panic("core: task without a phase")
}

func (t Task) dependencyDone(e DependencyDone) (Task, []Effect, error) {
	if t.Waits == 0 {
		panic("core: task " + t.ID + " waits for nothing")
	}
	t.Waits--
	if t.Waits > 0 || t.Status() != StatusQueued {
		return t, []Effect{}, nil
	}
	return t.moved(e.At, Record{TaskReleased})
}
