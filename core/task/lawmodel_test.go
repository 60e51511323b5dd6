package task_test

import (
	"slices"

	"waybill/core"
	"waybill/core/task"
)

// A taskModel computes the expected state of a task from the effects alone, for comparison with the value.
type taskModel struct {
	task     task.Task
	attempts []task.Attempt // as they were saved last, by number
	failures int            // attempts that failed or were lost since a person intervened
	onModel  int            // of those, failures in a row on the present link of the chain
	report   *task.Finish
	ended    int // the number of the attempt that the report ended
}

// newTaskModel returns the model of a task that was just created.
func newTaskModel(task task.Task, effects []core.Effect) taskModel {
	return taskModel{task: task, attempts: kept(effects)}
}

// A taskStep is one step with its effects.
type taskStep struct {
	event   task.Event
	before  task.Task
	after   task.Task
	effects []core.Effect
	err     error
}

type taskLaw struct {
	name   string
	broken func(w *taskModel, s taskStep) bool
}

// advance puts one event to the task and returns the law that is broken, or "".
func (w *taskModel) advance(event task.Event) string {
	s := taskStep{event: event, before: w.task}
	s.after, s.effects, s.err = w.task.Step(event)
	for _, law := range taskLaws {
		if law.broken(w, s) {
			return law.name
		}
	}
	w.take(s)
	for _, law := range taskAccounts {
		if law.broken(w, s) {
			return law.name
		}
	}
	return ""
}

// take brings the account up to date.
func (w *taskModel) take(s taskStep) {
	w.attempts = slices.Clone(w.attempts)
	for _, a := range kept(s.effects) {
		if a.Number > len(w.attempts) {
			w.attempts = append(w.attempts, a)
		} else {
			w.attempts[a.Number-1] = a
		}
	}
	w.count(s)
	if e, isReport := s.event.(task.Finish); isReport && s.err == nil && s.after != s.before {
		w.report, w.ended = &e, s.before.Current.Number
	}
	w.task = s.after
}

func (w *taskModel) count(s taskStep) {
	if s.before.Status().Ended() && s.after.Status() == task.StatusQueued {
		w.failures, w.onModel = 0, 0
	}
	if _, isBind := s.event.(task.Bind); isBind && s.after.Current.Link != s.before.Current.Link {
		w.onModel = 0
	}
	if handedOn(s) {
		if over, _ := failure(s); s.after.Current.Model.Key() != over.Model.Key() {
			w.onModel = 0
		}
		return
	}
	if over, failed := failure(s); failed {
		w.failures++
		if over.Status() == task.AttemptError {
			w.onModel++
		}
		if s.after.Current.Link != over.Link {
			w.onModel = 0
		}
	}
}

// failure returns the attempt that failed or was lost in the step, as it was saved.
func failure(s taskStep) (task.Attempt, bool) {
	a, ended := endedIn(s)
	if !ended || a.Status() != task.AttemptError && a.Status() != task.AttemptLost {
		return task.Attempt{}, false
	}
	return a, true
}

// endedIn returns the attempt that ended in the step, as it was saved.
func endedIn(s taskStep) (task.Attempt, bool) {
	for _, a := range kept(s.effects) {
		if a.ID == s.before.Current.ID && a.Finished() && !s.before.Current.Finished() {
			return a, true
		}
	}
	return task.Attempt{}, false
}

// handedOn reports whether the step gave the task the model that its host named after a failure.
func handedOn(s taskStep) bool {
	e, isReport := s.event.(task.Finish)
	_, failed := failure(s)
	_, another := added(s)
	return isReport && failed && another && e.NextModel != task.Model{}
}

// added returns the attempt that the step added.
func added(s taskStep) (task.Attempt, bool) {
	return s.after.Current, s.after.Current.ID != s.before.Current.ID
}

func isRecord(e core.Effect) bool {
	_, ok := e.(core.Record)
	return ok
}

// signOfLife returns when the step heard of the worker and how long its lease then lasts; 0 means that it did not.
func signOfLife(s taskStep) (at core.Instant, length int64) {
	was, _ := s.before.Current.Phase.(task.RunningAttempt)
	if s.err != nil {
		return 0, 0
	}
	switch e := s.event.(type) {
	case task.Claim:
		return e.At, e.Length
	case task.Heartbeat:
		if e.Length == 0 {
			e.Length = was.Lease.Length
		}
		return e.At, e.Length
	case task.ReportSession:
		return e.At, was.Lease.Length
	case task.Bind:
		if s.after != s.before {
			return e.At, was.Lease.Length
		}
	case task.Return, task.Expire, task.Finish, task.Retry, task.Cancel,
		task.Reply, task.Block, task.DependencyDone:
	}
	return 0, 0
}

// shownToken returns the token in a report.
func shownToken(event task.Event) (string, bool) {
	switch e := event.(type) {
	case task.Finish:
		return e.Token, true
	case task.Heartbeat:
		return e.Token, true
	case task.Bind:
		return e.Token, true
	case task.Claim, task.Return, task.Expire, task.ReportSession, task.Retry,
		task.Cancel, task.Reply, task.Block, task.DependencyDone:
	}
	return "", false
}

// repeats reports whether the event is, but for its time, the report that ended the newest attempt.
func (w *taskModel) repeats(event task.Event) bool {
	e, isReport := event.(task.Finish)
	if !isReport || w.report == nil || w.ended != w.task.Current.Number || !w.task.Current.Finished() {
		return false
	}
	e.At, e.Next = w.report.At, w.report.Next
	return e == *w.report
}

// failedAt is when an attempt failed by a report or by what was heard of its session.
func failedAt(event task.Event) core.Instant {
	if e, heard := event.(task.ReportSession); heard {
		return e.At
	}
	e, _ := event.(task.Finish)
	return e.At
}

// expiryOf returns a look at the lease of a task that runs, and the lease as it was.
func expiryOf(s taskStep) (e task.Expire, was task.Lease, ok bool) {
	e, expiry := s.event.(task.Expire)
	p, running := s.before.Current.Phase.(task.RunningAttempt)
	return e, p.Lease, expiry && running
}
