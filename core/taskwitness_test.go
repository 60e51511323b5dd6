package core_test

import (
	"slices"

	"waybill/core"
)

// A taskStepper is Step, or a copy of it that somebody broke.
type taskStepper func(core.Task, core.TaskEvent) (core.Task, []core.Effect, error)

// A taskWitness watches one task and keeps its own account of it. It believes the effects, not the
// value, so that the two can be held against each other.
type taskWitness struct {
	task     core.Task
	attempts []core.Attempt // as they were saved last, by number
	failures int            // attempts that failed or were lost since a person intervened
	onModel  int            // of those, failures in a row on the present link of the chain
	report   *core.FinishAttempt
	ended    int // the number of the attempt that the report ended
}

// watch gives the witness of a task that was just created.
func watch(task core.Task, effects []core.Effect) taskWitness {
	return taskWitness{task: task, attempts: kept(effects)}
}

// A taskSight is one step as the witness saw it.
type taskSight struct {
	event   core.TaskEvent
	before  core.Task
	after   core.Task
	effects []core.Effect
	err     error
}

type taskLaw struct {
	name   string
	broken func(w *taskWitness, s taskSight) bool
}

// advance puts one event to the task and gives the law that is broken, or "".
func (w *taskWitness) advance(step taskStepper, event core.TaskEvent) string {
	s := taskSight{event: event, before: w.task}
	s.after, s.effects, s.err = step(w.task, event)
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
func (w *taskWitness) take(s taskSight) {
	w.attempts = slices.Clone(w.attempts)
	for _, a := range kept(s.effects) {
		if a.Number > len(w.attempts) {
			w.attempts = append(w.attempts, a)
		} else {
			w.attempts[a.Number-1] = a
		}
	}
	w.count(s)
	if e, isReport := s.event.(core.FinishAttempt); isReport && s.err == nil && s.after != s.before {
		w.report, w.ended = &e, s.before.Current.Number
	}
	w.task = s.after
}

func (w *taskWitness) count(s taskSight) {
	if s.before.Status().Ended() && s.after.Status() == core.StatusQueued {
		w.failures, w.onModel = 0, 0
	}
	if _, isBind := s.event.(core.BindSession); isBind && s.after.Current.Link != s.before.Current.Link {
		w.onModel = 0
	}
	if over, failed := failure(s); failed {
		w.failures++
		if over.Status() == core.AttemptError {
			w.onModel++
		}
		if s.after.Current.Link != over.Link {
			w.onModel = 0
		}
	}
}

// failure gives the attempt that failed or was lost in the step, as it was saved.
func failure(s taskSight) (core.Attempt, bool) {
	for _, a := range kept(s.effects) {
		if a.ID == s.before.Current.ID && (a.Status() == core.AttemptError || a.Status() == core.AttemptLost) {
			return a, true
		}
	}
	return core.Attempt{}, false
}

// added gives the attempt that the step added.
func added(s taskSight) (core.Attempt, bool) {
	return s.after.Current, s.after.Current.ID != s.before.Current.ID
}

func isRecord(e core.Effect) bool {
	_, ok := e.(core.Record)
	return ok
}

// signOfLife gives when the step heard of the worker and how long its lease then lasts; 0 means that it did not.
func signOfLife(s taskSight) (at core.Instant, length int64) {
	was, _ := s.before.Current.Phase.(core.Running)
	if s.err != nil {
		return 0, 0
	}
	switch e := s.event.(type) {
	case core.ClaimTask:
		return e.At, e.Length
	case core.Heartbeat:
		if e.Length == 0 {
			e.Length = was.Lease.Length
		}
		return e.At, e.Length
	case core.HearSession:
		return e.At, was.Lease.Length
	case core.BindSession:
		if s.after != s.before {
			return e.At, was.Lease.Length
		}
	case core.ReturnTask, core.ExpireLease, core.FinishAttempt, core.RetryTask, core.CancelTask,
		core.ReplyToTask, core.BlockTask, core.DependencyDone:
	}
	return 0, 0
}

// shownToken gives the token that somebody shows with a report.
func shownToken(event core.TaskEvent) (string, bool) {
	switch e := event.(type) {
	case core.FinishAttempt:
		return e.Token, true
	case core.Heartbeat:
		return e.Token, true
	case core.BindSession:
		return e.Token, true
	case core.ClaimTask, core.ReturnTask, core.ExpireLease, core.HearSession, core.RetryTask,
		core.CancelTask, core.ReplyToTask, core.BlockTask, core.DependencyDone:
	}
	return "", false
}

// repeats reports whether the event is, but for its time, the report that ended the newest attempt.
func (w *taskWitness) repeats(event core.TaskEvent) bool {
	e, isReport := event.(core.FinishAttempt)
	if !isReport || w.report == nil || w.ended != w.task.Current.Number || !w.task.Current.Finished() {
		return false
	}
	e.At, e.Next = w.report.At, w.report.Next
	return e == *w.report
}

// failedAt is when an attempt failed by a report or by what was heard of its session.
func failedAt(event core.TaskEvent) core.Instant {
	if e, heard := event.(core.HearSession); heard {
		return e.At
	}
	e, _ := event.(core.FinishAttempt)
	return e.At
}

// expiryOf gives a look at the lease of a task that runs, and the lease as it was.
func expiryOf(s taskSight) (e core.ExpireLease, was core.Lease, ok bool) {
	e, expiry := s.event.(core.ExpireLease)
	p, running := s.before.Current.Phase.(core.Running)
	return e, p.Lease, expiry && running
}
