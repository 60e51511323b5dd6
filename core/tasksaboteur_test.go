package core_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

// A taskSaboteur is a copy of Step with one defect, and the law that must catch it.
type taskSaboteur struct {
	name string
	law  string
	step taskStepper
}

// spoiling gives Step with its outcome spoiled.
func spoiling(spoil func(s *taskSight)) taskStepper {
	return func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		s := taskSight{event: event, before: task}
		s.after, s.effects, s.err = task.Step(event)
		spoil(&s)
		return s.after, s.effects, s.err
	}
}

// misreading gives Step as somebody takes it who reads one kind of event wrongly.
func misreading[E core.TaskEvent](wrong func(task core.Task, e E) core.TaskEvent) taskStepper {
	return func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		if e, ok := event.(E); ok {
			event = wrong(task, e)
		}
		return task.Step(event)
	}
}

func without(effects []core.Effect, unwanted func(core.Effect) bool) []core.Effect {
	return slices.DeleteFunc(slices.Clone(effects), unwanted)
}

func posted(kind core.NoticeKind) func(core.Effect) bool {
	return func(e core.Effect) bool { return e == core.Effect(core.Post{Kind: kind}) }
}

// resave puts the newest attempt, as it is now, in place of the one that the effects save.
func resave(s *taskSight) {
	for i, effect := range s.effects {
		if k, ok := effect.(core.Keep); ok && k.Attempt.Number == s.after.Current.Number {
			s.effects[i] = core.Keep{Attempt: s.after.Current}
		}
	}
}

var taskSaboteurs = []taskSaboteur{
	{"changes what it refuses", "a refusal changes nothing", spoiling(func(s *taskSight) {
		if s.err != nil {
			s.after.UpdatedAt++
		}
	})},
	{"tells of a cancellation twice", "what changes nothing has no effect but what is told", spoiling(func(s *taskSight) {
		if _, ok := s.event.(core.CancelTask); ok && s.err == nil {
			s.effects = []core.Effect{core.Record{Type: core.TaskSettled}}
		}
	})},
	{"forgets to save the attempt that failed", "what is saved is what changed", spoiling(func(s *taskSight) {
		if len(kept(s.effects)) == 2 {
			s.effects = s.effects[1:]
		}
	})},
	{"loses the labels in a retry", "what was launched never changes", spoiling(func(s *taskSight) {
		if _, failed := failure(*s); failed {
			s.after.Launch.Labels = ""
		}
	})},
	{"ends a finished attempt again", "a finished attempt never changes", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		over, ended := task.Current.Phase.(core.Ended)
		if e, isReport := event.(core.FinishAttempt); isReport && ended && e.Token == over.Token {
			over.At = e.At
			task.Current.Phase = over
			return task, []core.Effect{core.Keep{Attempt: task.Current}}, nil
		}
		return task.Step(event)
	}},
	{"skips a number", "attempts are numbered without gaps", spoiling(func(s *taskSight) {
		if next, another := added(*s); another {
			next.Number++
			s.after.Current = next
			s.effects = append(without(s.effects, func(e core.Effect) bool {
				k, ok := e.(core.Keep)
				return ok && k.Attempt.ID == next.ID
			}), core.Keep{Attempt: next})
		}
	})},
	{"ends what only went idle", "only a holder, an end of a lease or of a session ends what runs", misreading(func(_ core.Task, e core.HearSession) core.TaskEvent {
		if e.Kind == core.SessionIdle {
			e.Kind = core.SessionDeleted
		}
		return e
	})},
	{"ends leases in its sleep", "a lease ends when it has run out for somebody who watched, or for the second time", misreading(func(_ core.Task, e core.ExpireLease) core.TaskEvent {
		e.Calm = 0
		return e
	})},
	{"spares for ever", "a lease that has run out goes on only when it is spared, and for its length", spoiling(func(s *taskSight) {
		if p, running := s.after.Current.Phase.(core.Running); running {
			p.Lease.Spared = false
			s.after.Current.Phase = p
			resave(s)
		}
	})},
	{"does not forget that it spared", "a lease of which something was heard may be spared again", spoiling(func(s *taskSight) {
		was, _ := s.before.Current.Phase.(core.Running)
		if p, running := s.after.Current.Phase.(core.Running); running && was.Lease.Spared {
			p.Lease.Spared = true
			s.after.Current.Phase = p
			resave(s)
		}
	})},
	{"does not see that the clock was set back", "an observer shortens a lease that runs only to its length", misreading(func(task core.Task, e core.ExpireLease) core.TaskEvent {
		if p, running := task.Current.Phase.(core.Running); running && p.Lease.ExpiresAt > e.At+core.Instant(p.Lease.Length) {
			e.At = p.Lease.ExpiresAt - core.Instant(p.Lease.Length)
		}
		return e
	})},
	{"does not hear a session", "a sign of life gives the lease its length", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		if e, heard := event.(core.HearSession); heard && e.Kind == core.SessionProgress && e.Session == task.Current.Session() {
			return task, nil, nil
		}
		return task.Step(event)
	}},
	{"gives each lease the first epoch", "a lease is of the attempt's number", spoiling(func(s *taskSight) {
		if p, running := s.after.Current.Phase.(core.Running); running {
			p.Lease.Epoch = 1
			s.after.Current.Phase = p
			resave(s)
		}
	})},
	{"lets a late worker report", "a wrong token changes nothing", misreading(func(task core.Task, e core.FinishAttempt) core.TaskEvent {
		e.Token = task.Current.Token()
		return e
	})},
	{"takes a repeated report for a late one", "the same report again is the same answer", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		if e, isReport := event.(core.FinishAttempt); isReport && task.Current.EndedBy(e) {
			e.Output += " "
			event = e
		}
		return task.Step(event)
	}},
	{"takes back what is under way", "a claim is taken back only while nothing was heard of it", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		e, isReturn := event.(core.ReturnTask)
		if p, running := task.Current.Phase.(core.Running); isReturn && running && p.Lease.Token == e.Token {
			task.Current.Phase, task.Phase = core.Pending{}, core.TaskQueued{}
			return task, []core.Effect{core.Keep{Attempt: task.Current}, core.Record{Type: core.AttemptReturned}}, nil
		}
		return task.Step(event)
	}},
	{"hands out what still waits", "only what is due is claimed", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		if _, isClaim := event.(core.ClaimTask); isClaim {
			task.Waits = 0
		}
		return task.Step(event)
	}},
	{"gives up when the first one fails", "a failure gives one attempt more or an end", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		next, effects, err := task.Step(event)
		if over, failed := failure(taskSight{event, task, next, effects, err}); failed && next.Status() == core.StatusQueued {
			next.Current, next.Phase = over, core.TaskCancelled{}
			return next, []core.Effect{core.Keep{Attempt: over}, core.Record{Type: core.TaskSettled}, core.Post{Kind: core.NoticeTaskFinished}}, nil
		}
		return next, effects, err
	}},
	{"begins the chain anew", "the chain is walked forwards, link by link", spoiling(func(s *taskSight) {
		if next, another := added(*s); another && next.Cause == core.CauseRetry && s.before.Current.Link == 1 {
			s.after.Current.Link = 0
			resave(s)
		}
	})},
	{"never leaves a model", "a model has its share and no more", spoiling(func(s *taskSight) {
		if next, another := added(*s); another && next.Cause == core.CauseRetry {
			s.after.Current.Link, s.after.Current.Model = s.before.Current.Link, s.before.Current.Model
			resave(s)
		}
	})},
	{"forgets the model that was bound", "a retry on the same model keeps the model", spoiling(func(s *taskSight) {
		models := s.before.Launch.Chain.Models()
		if next, another := added(*s); another && next.Cause == core.CauseRetry && next.Link >= 0 && next.Link < len(models) {
			s.after.Current.Model = models[next.Link]
			resave(s)
		}
	})},
	{"takes every failure for a passing one", "what is never to be tried again is not", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		e, isReport := event.(core.FinishAttempt)
		if !isReport || e.Failure.Class != core.ClassTerminal {
			return task.Step(event)
		}
		e.Failure.Class = core.ClassTransient
		next, effects, err := task.Step(e)
		for i, effect := range effects {
			if k, ok := effect.(core.Keep); ok && k.Attempt.ID == task.Current.ID {
				over := k.Attempt.Phase.(core.Ended)
				over.Failure.Class = core.ClassTerminal
				k.Attempt.Phase = over
				effects[i] = k
			}
		}
		return next, effects, err
	}},
	{"forgets that the end was asked for", "nothing is tried again after a cancellation was asked for", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		if _, isReport := event.(core.FinishAttempt); isReport && task.Status() == core.StatusRunning {
			task.Phase = core.TaskRunning{}
		}
		return task.Step(event)
	}},
	{"cancels what is complete", "COMPLETE is final", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		if e, isCancel := event.(core.CancelTask); isCancel && task.Status() == core.StatusComplete {
			task.Phase = core.TaskCancelled(e)
			return task, []core.Effect{core.Record{Type: core.TaskSettled}, core.Post{Kind: core.NoticeTaskFinished}}, nil
		}
		return task.Step(event)
	}},
	{"revives the cancelled when it is blocked", "only a person sets an ended task going again", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		if _, isBlock := event.(core.BlockTask); isBlock && task.Status() == core.StatusCancelled {
			return task.Step(core.RetryTask{At: matrixNow, Next: successor(task)})
		}
		return task.Step(event)
	}},
	{"clears the reply when the attempt begins", "a reply stays until it has had its effect", spoiling(func(s *taskSight) {
		if _, isClaim := s.event.(core.ClaimTask); isClaim && s.err == nil {
			s.after.Reply = ""
		}
	})},
	{"puts an answer under a log", "what was said stands as it was said", spoiling(func(s *taskSight) {
		if e, isReport := s.event.(core.FinishAttempt); isReport && s.after != s.before && e.Output != "" {
			s.after.Output, s.after.Question = e.Output, e.Question
		}
	})},
	{"gives the second answer a common refusal", "the first answer wins", spoiling(func(s *taskSight) {
		if refusal, ok := errors.AsType[*core.Refusal](s.err); ok && refusal.Kind == core.AlreadyResolved {
			other := *refusal
			other.Kind = core.InvalidState
			s.err = &other
		}
	})},
	{"ends without a word", "each end and each question leaves its one notice", spoiling(func(s *taskSight) {
		if s.after.Status() == core.StatusError {
			s.effects = without(s.effects, posted(core.NoticeTaskFinished))
		}
	})},
	{"keeps the session of a retry to itself", "the session of a retry is told once", spoiling(func(s *taskSight) {
		s.effects = without(s.effects, posted(core.NoticeRetryReady))
	})},
	{"settles off the record", "a change of status is on the log", spoiling(func(s *taskSight) {
		if s.after.Status() != s.before.Status() {
			s.effects = without(s.effects, isRecord)
		}
	})},
	{"follows every clock", "time does not run backwards", spoiling(func(s *taskSight) {
		if e, isCancel := s.event.(core.CancelTask); isCancel && s.after != s.before {
			s.after.UpdatedAt = e.At
		}
	})},
	{"takes a sign of life for news", "a mere sign of life is no change of the task", spoiling(func(s *taskSight) {
		if e, isBeat := s.event.(core.Heartbeat); isBeat && s.err == nil {
			s.after.UpdatedAt = max(s.after.UpdatedAt, e.At)
		}
	})},
	{"retries at machine speed", "a retry on the same model waits a minute at most, and no other one waits", misreading(func(_ core.Task, e core.FinishAttempt) core.TaskEvent {
		e.Next.Base = 0
		return e
	})},
	{"retries what is pending", "at most one attempt is unfinished", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		e, isRetry := event.(core.RetryTask)
		if !isRetry || task.Status() != core.StatusQueued {
			return task.Step(event)
		}
		effects := []core.Effect{core.Keep{Attempt: task.Current}}
		task.Current.ID, task.Current.Cause = e.Next.AttemptID, core.CauseRequest
		task.Current.Number++
		return task, append(effects, core.Keep{Attempt: task.Current}, core.Record{Type: core.TaskRetried}), nil
	}},
	{"saves an attempt that it does not show", "the task has its newest attempt as it was saved", spoiling(func(s *taskSight) {
		if _, isBind := s.event.(core.BindSession); isBind && s.after != s.before {
			for i, effect := range s.effects {
				if k, ok := effect.(core.Keep); ok {
					k.Attempt.Model = core.Model{}
					s.effects[i] = k
				}
			}
		}
	})},
	{"stops the task and not the attempt", "the newest attempt stands as the task does", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		if e, isBlock := event.(core.BlockTask); isBlock && task.Status() == core.StatusQueued {
			task.Phase = core.TaskBlocked(e)
			return task, []core.Effect{core.Record{Type: core.TaskSettled}, core.Post{Kind: core.NoticeTaskFinished}}, nil
		}
		return task.Step(event)
	}},
	{"does not count what was lost", "what was spent is what failed", spoiling(func(s *taskSight) {
		if _, expiry := s.event.(core.ExpireLease); expiry {
			s.after.Spent = s.before.Spent
		}
	})},
	{"has one attempt too many", "a task fails max_attempts times at most before a person is needed", func(task core.Task, event core.TaskEvent) (core.Task, []core.Effect, error) {
		lenient := task
		lenient.Launch.MaxAttempts++
		next, effects, err := lenient.Step(event)
		next.Launch = task.Launch
		return next, effects, err
	}},
}

func TestEveryTaskSaboteurIsCaughtByItsLaw(t *testing.T) {
	starts := taskStarts(t)
	for _, s := range taskSaboteurs {
		t.Run(s.name, func(t *testing.T) {
			var broken []string
			for _, start := range starts {
				for _, b := range taskHunt(s.step, start, 1) {
					broken = append(broken, b.law)
				}
			}
			require.Contains(t, broken, s.law)
		})
	}
}

func TestEveryTaskLawHasItsSaboteur(t *testing.T) {
	var proved, all []string
	for _, s := range taskSaboteurs {
		proved = append(proved, s.law)
	}
	for _, law := range append(slices.Clone(taskLaws), taskAccounts...) {
		all = append(all, law.name)
	}
	require.ElementsMatch(t, all, proved)
}
