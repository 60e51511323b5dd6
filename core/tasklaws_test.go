package core_test

import (
	"errors"
	"slices"

	"waybill/core"
)

// taskLaws hold for a step as seen from the account before it.
var taskLaws = []taskLaw{
	{"a refusal changes nothing", func(_ *taskWitness, s taskSight) bool {
		var refusal *core.Refusal
		return s.err != nil && (s.after != s.before || len(s.effects) > 0 || !errors.As(s.err, &refusal))
	}},
	{"what changes nothing has no effect but what is told", func(_ *taskWitness, s taskSight) bool {
		told := slices.DeleteFunc(slices.Clone(s.effects), func(e core.Effect) bool {
			return e == core.Effect(core.Record{Type: core.AttemptProgress}) || e == core.Effect(core.Record{Type: core.AttemptReported})
		})
		return s.after == s.before && len(told) > 0
	}},
	{"what is saved is what changed", func(_ *taskWitness, s taskSight) bool {
		_, another := added(s)
		var want []string
		if s.after.Current != s.before.Current && (!another || !s.before.Current.Finished()) {
			want = append(want, s.before.Current.ID)
		}
		if another {
			want = append(want, s.after.Current.ID)
		}
		var got []string
		for _, a := range kept(s.effects) {
			got = append(got, a.ID)
		}
		return !slices.Equal(want, got)
	}},
	{"what was launched never changes", func(_ *taskWitness, s taskSight) bool {
		b, a := s.before, s.after
		return a.ID != b.ID || a.Position != b.Position || a.CreatedAt != b.CreatedAt || a.Launch != b.Launch ||
			a.Current.TaskID != b.ID
	}},
	{"a finished attempt never changes", func(w *taskWitness, s taskSight) bool {
		for _, a := range append(kept(s.effects), s.after.Current) {
			if a.Number <= len(w.attempts) && w.attempts[a.Number-1].Finished() && a != w.attempts[a.Number-1] {
				return true
			}
		}
		return false
	}},
	{"attempts are numbered without gaps", func(w *taskWitness, s taskSight) bool {
		next, another := added(s)
		return another && next.Number != len(w.attempts)+1
	}},
	{"only a holder, an end of a lease or of a session ends what runs", func(_ *taskWitness, s taskSight) bool {
		was, running := s.before.Current.Phase.(core.Running)
		if !running || s.after.Status() == core.StatusRunning {
			return false
		}
		switch e := s.event.(type) {
		case core.FinishAttempt:
			return e.Token != was.Lease.Token
		case core.ReturnTask:
			return e.Token != was.Lease.Token
		case core.HearSession:
			recovers := e.Kind == core.SessionError && e.Failure.Class == core.ClassTransient
			return e.Session != was.Session || was.Session == "" || recovers ||
				e.Kind != core.SessionError && e.Kind != core.SessionDeleted
		case core.ExpireLease:
			return false
		case core.ClaimTask, core.BindSession, core.Heartbeat, core.RetryTask, core.CancelTask,
			core.ReplyToTask, core.BlockTask, core.DependencyDone:
			return true
		}
		panic("unknown event")
	}},
	{"a lease ends when it has run out for somebody who watched, or for the second time", func(_ *taskWitness, s taskSight) bool {
		e, was, expiry := expiryOf(s)
		over := e.At >= was.ExpiresAt && (was.Spared || e.Calm <= was.ExpiresAt-core.Instant(was.Length/2))
		return expiry && (s.after.Status() != core.StatusRunning) != over
	}},
	{"a lease that has run out goes on only when it is spared, and for its length", func(_ *taskWitness, s taskSight) bool {
		e, was, expiry := expiryOf(s)
		is, runs := s.after.Current.Phase.(core.Running)
		if !expiry || !runs || e.At < was.ExpiresAt {
			return false
		}
		was.ExpiresAt, was.Spared = e.At+core.Instant(was.Length), true
		return is.Lease != was
	}},
	{"an observer shortens a lease that runs only to its length", func(_ *taskWitness, s taskSight) bool {
		e, was, expiry := expiryOf(s)
		is, runs := s.after.Current.Phase.(core.Running)
		if !expiry || !runs || e.At >= was.ExpiresAt {
			return false
		}
		was.ExpiresAt = min(was.ExpiresAt, e.At+core.Instant(was.Length))
		return is.Lease != was
	}},
	{"a lease of which something was heard may be spared again", func(_ *taskWitness, s taskSight) bool {
		_, length := signOfLife(s)
		is, running := s.after.Current.Phase.(core.Running)
		return length > 0 && running && is.Lease.Spared
	}},
	{"a sign of life gives the lease its length", func(_ *taskWitness, s taskSight) bool {
		at, length := signOfLife(s)
		is, running := s.after.Current.Phase.(core.Running)
		return length > 0 && running && is.Lease.ExpiresAt != at+core.Instant(length)
	}},
	{"a lease is of the attempt's number", func(_ *taskWitness, s taskSight) bool {
		is, running := s.after.Current.Phase.(core.Running)
		return running && is.Lease.Epoch != s.after.Current.Number
	}},
	{"a wrong token changes nothing", func(w *taskWitness, s taskSight) bool {
		token, shown := shownToken(s.event)
		was, running := s.before.Current.Phase.(core.Running)
		if !shown || running && was.Lease.Token == token {
			return false
		}
		return s.after != s.before || len(s.effects) > 0 || !core.IsStale(s.err) && !w.repeats(s.event)
	}},
	{"the same report again is the same answer", func(w *taskWitness, s taskSight) bool {
		return w.repeats(s.event) && (s.err != nil || s.after != s.before || len(s.effects) > 0)
	}},
	{"a claim is taken back only while nothing was heard of it", func(_ *taskWitness, s taskSight) bool {
		e, isReturn := s.event.(core.ReturnTask)
		was, running := s.before.Current.Phase.(core.Running)
		unheard := running && was.Lease.Token == e.Token && was.Session == "" && !was.Lease.Spared &&
			was.Lease.ExpiresAt == was.StartedAt+core.Instant(was.Lease.Length)
		return isReturn && (s.after != s.before) != unheard
	}},
	{"only what is due is claimed", func(_ *taskWitness, s taskSight) bool {
		e, isClaim := s.event.(core.ClaimTask)
		p, queued := s.before.Phase.(core.TaskQueued)
		waits := p.NotBefore > e.At && p.NotBefore <= e.At+60_000_000
		return isClaim && (s.err == nil) != (queued && s.before.Waits == 0 && !waits)
	}},
	{"a failure gives one attempt more or an end", func(_ *taskWitness, s taskSight) bool {
		_, failed := failure(s)
		next, another := added(s)
		if !failed {
			return another && next.Cause == core.CauseRetry || slices.Contains(notices(s.effects), core.NoticeRetryScheduled)
		}
		again := another && next.Cause == core.CauseRetry && s.after.Status() == core.StatusQueued &&
			slices.Equal(notices(s.effects), []core.NoticeKind{core.NoticeRetryScheduled})
		over := !another && s.after.Status() == core.StatusError
		return again == over
	}},
	{"the chain is walked forwards, link by link", func(_ *taskWitness, s taskSight) bool {
		next, another := added(s)
		step := next.Link - s.before.Current.Link
		return another && next.Cause == core.CauseRetry && step != 0 && step != 1
	}},
	{"a model has its share and no more", func(w *taskWitness, s taskSight) bool {
		over, failed := failure(s)
		next, another := added(s)
		if !failed || !another || over.Status() == core.AttemptLost {
			return failed && another && next.Link != over.Link
		}
		if e, isReport := s.event.(core.FinishAttempt); isReport && e.Mode == core.RetrySame {
			return next.Link != over.Link
		}
		models := max(1, w.task.Launch.Chain.Len())
		last := over.Link+1 >= w.task.Launch.Chain.Len()
		share := over.Failure().Class == core.ClassTransient && (last || w.onModel+1 < max(1, w.task.Launch.MaxAttempts/models))
		return (next.Link == over.Link) != share
	}},
	{"a retry on the same model keeps the model", func(_ *taskWitness, s taskSight) bool {
		next, another := added(s)
		return another && next.Cause == core.CauseRetry && next.Link == s.before.Current.Link &&
			next.Model != s.before.Current.Model
	}},
	{"what is never to be tried again is not", func(_ *taskWitness, s taskSight) bool {
		over, failed := failure(s)
		_, another := added(s)
		e, isReport := s.event.(core.FinishAttempt)
		hopeless := over.Failure().Class == core.ClassTerminal || over.Failure().Class == core.ClassUser
		return failed && another && (hopeless || isReport && e.Mode == core.RetryNever)
	}},
	{"nothing is tried again after a cancellation was asked for", func(_ *taskWitness, s taskSight) bool {
		p, running := s.before.Phase.(core.TaskRunning)
		return running && p.CancelAt != 0 && s.after.Status() != core.StatusRunning &&
			s.after.Status() != core.StatusCancelled && s.after.Status() != core.StatusComplete
	}},
	{"COMPLETE is final", func(_ *taskWitness, s taskSight) bool {
		after := s.after
		after.Waits = s.before.Waits
		return s.before.Status() == core.StatusComplete && after != s.before
	}},
	{"only a person sets an ended task going again", func(_ *taskWitness, s taskSight) bool {
		switch s.event.(type) {
		case core.RetryTask, core.ReplyToTask:
			return false
		case core.ClaimTask, core.ReturnTask, core.BindSession, core.Heartbeat, core.ExpireLease,
			core.FinishAttempt, core.HearSession, core.CancelTask, core.BlockTask, core.DependencyDone:
			return s.before.Status().Ended() && !s.after.Status().Ended()
		}
		panic("unknown event")
	}},
	{"a reply stays until it has had its effect", func(_ *taskWitness, s taskSight) bool {
		e, isReply := s.event.(core.ReplyToTask)
		answered := s.after.Current.Status() == core.AttemptCompleted || s.after.Current.Status() == core.AttemptAwaiting
		settled := answered && !s.before.Current.Finished()
		want := s.before.Reply
		switch {
		case isReply && s.err == nil:
			want = e.Text
		case settled:
			want = ""
		}
		return s.after.Reply != want
	}},
	{"what was said stands as it was said", func(_ *taskWitness, s taskSight) bool {
		e, isReport := s.event.(core.FinishAttempt)
		status := s.after.Current.Status()
		output, question := s.before.Output, s.before.Question
		switch {
		case !isReport || s.before.Current.Finished() || s.after == s.before:
		case status == core.AttemptCompleted || status == core.AttemptAwaiting, !s.before.Continues() && e.Output+e.Question != "":
			output, question = e.Output, e.Question
		}
		return s.after.Output != output || s.after.Question != question
	}},
	{"the first answer wins", func(_ *taskWitness, s taskSight) bool {
		_, isReply := s.event.(core.ReplyToTask)
		refusal, _ := errors.AsType[*core.Refusal](s.err)
		live := s.before.Status() == core.StatusQueued || s.before.Status() == core.StatusRunning
		return isReply && live && s.before.Continues() && (refusal == nil || refusal.Kind != core.AlreadyResolved)
	}},
	{"each end and each question leaves its one notice", func(_ *taskWitness, s taskSight) bool {
		var want []core.NoticeKind
		if status := s.after.Status(); status != s.before.Status() && status.Ended() {
			want = append(want, core.NoticeTaskFinished)
		} else if status != s.before.Status() && status == core.StatusAwaiting {
			want = append(want, core.NoticeTaskAwaiting)
		}
		got := slices.DeleteFunc(notices(s.effects), func(kind core.NoticeKind) bool {
			return kind == core.NoticeRetryScheduled || kind == core.NoticeRetryReady
		})
		return !slices.Equal(want, got)
	}},
	{"the session of a retry is told once", func(_ *taskWitness, s taskSight) bool {
		first := s.before.Current.Session() == "" && s.after.Current.Session() != "" && s.before.Current.Cause == core.CauseRetry
		return slices.Contains(notices(s.effects), core.NoticeRetryReady) != first
	}},
	{"a change of status is on the log", func(_ *taskWitness, s taskSight) bool {
		return s.after.Status() != s.before.Status() && !slices.ContainsFunc(s.effects, isRecord)
	}},
	{"time does not run backwards", func(_ *taskWitness, s taskSight) bool {
		return s.after.UpdatedAt < s.before.UpdatedAt
	}},
	{"a mere sign of life is no change of the task", func(_ *taskWitness, s taskSight) bool {
		_, length := signOfLife(s)
		_, isClaim := s.event.(core.ClaimTask)
		_, isBind := s.event.(core.BindSession)
		_, expiry := s.event.(core.ExpireLease)
		merely := length > 0 && !isClaim && !isBind || expiry
		return merely && s.after.Status() == core.StatusRunning && s.after.UpdatedAt != s.before.UpdatedAt
	}},
	{"a retry on the same model waits a minute at most, and no other one waits", func(_ *taskWitness, s taskSight) bool {
		p, queued := s.after.Phase.(core.TaskQueued)
		over, failed := failure(s)
		if !queued || !failed {
			return queued && s.after.Phase != s.before.Phase && p.NotBefore != 0
		}
		if over.Status() == core.AttemptLost || s.after.Current.Link != over.Link {
			return p.NotBefore != 0
		}
		at := failedAt(s.event) // not the end of the attempt, which a clock that was set back does not move
		return p.NotBefore <= at || p.NotBefore > at+60_000_000
	}},
}

// taskAccounts hold for the account after a step.
var taskAccounts = []taskLaw{
	{"at most one attempt is unfinished", func(w *taskWitness, _ taskSight) bool {
		n := 0
		for _, a := range w.attempts {
			if !a.Finished() {
				n++
			}
		}
		return n > 1
	}},
	{"the task has its newest attempt as it was saved", func(w *taskWitness, _ taskSight) bool {
		return w.attempts[len(w.attempts)-1] != w.task.Current
	}},
	{"the newest attempt stands as the task does", func(w *taskWitness, _ taskSight) bool {
		switch w.task.Status() {
		case core.StatusQueued:
			return w.task.Current.Status() != core.AttemptPending
		case core.StatusRunning:
			return w.task.Current.Status() != core.AttemptRunning
		case core.StatusComplete:
			return w.task.Current.Status() != core.AttemptCompleted
		case core.StatusAwaiting:
			return w.task.Current.Status() != core.AttemptAwaiting
		case core.StatusError, core.StatusCancelled, core.StatusBlocked:
			return !w.task.Current.Finished() || w.task.Current.Status() == core.AttemptCompleted
		}
		panic("unknown status")
	}},
	{"what was spent is what failed", func(w *taskWitness, _ taskSight) bool {
		return w.task.Spent != core.Spent{Failures: w.failures, OnModel: w.onModel}
	}},
	{"a task fails max_attempts times at most before a person is needed", func(w *taskWitness, s taskSight) bool {
		limit := w.task.Launch.MaxAttempts
		_, failed := failure(s)
		return w.failures > limit || failed && w.failures == limit && w.task.Status() != core.StatusError
	}},
}
