package task_test

import (
	"errors"
	"slices"
	"strings"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
)

// taskLaws hold for a step as seen from the account before it.
var taskLaws = []taskLaw{
	{"a refusal changes nothing and has the facts", func(_ *taskModel, s taskStep) bool {
		refusal, refused := errors.AsType[*core.Refusal](s.err)
		return s.err != nil && (!refused || s.after != s.before || len(s.effects) > 0 || refusal.Noun != "task" ||
			refusal.Subject != s.before.ID || refusal.State != string(s.before.Status()) ||
			!strings.Contains(refusal.Message, s.before.ID) && !strings.Contains(refusal.Message, s.before.Current.ID))
	}},
	{"without a change there are only records of a report", func(_ *taskModel, s taskStep) bool {
		told := slices.DeleteFunc(slices.Clone(s.effects), func(e core.Effect) bool {
			return e == core.Effect(core.Record{Type: core.AttemptProgress}) || e == core.Effect(core.Record{Type: core.AttemptReported})
		})
		return s.after == s.before && len(told) > 0
	}},
	{"exactly the changed attempts are saved", func(_ *taskModel, s taskStep) bool {
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
	{"the facts of the start never change", func(_ *taskModel, s taskStep) bool {
		b, a := s.before, s.after
		return a.ID != b.ID || a.Position != b.Position || a.CreatedAt != b.CreatedAt || a.Spec != b.Spec ||
			a.Current.TaskID != b.ID
	}},
	{"a finished attempt never changes", func(w *taskModel, s taskStep) bool {
		for _, a := range append(kept(s.effects), s.after.Current) {
			if a.Number <= len(w.attempts) && w.attempts[a.Number-1].Finished() && a != w.attempts[a.Number-1] {
				return true
			}
		}
		return false
	}},
	{"attempts are numbered without gaps", func(w *taskModel, s taskStep) bool {
		next, another := added(s)
		return another && next.Number != len(w.attempts)+1
	}},
	{"only the holder, the end of its lease or of its session ends a running attempt", func(_ *taskModel, s taskStep) bool {
		was, running := s.before.Current.Phase.(task.RunningAttempt)
		if !running || s.after.Status() == task.StatusRunning {
			return false
		}
		switch e := s.event.(type) {
		case task.Finish:
			return e.Token != was.Lease.Token
		case task.Return:
			return e.Token != was.Lease.Token
		case task.ReportSession:
			recovers := e.Kind == task.SessionError && e.Failure.Class == task.ClassTransient
			return e.Session != was.Session || was.Session == "" || recovers ||
				e.Kind != task.SessionError && e.Kind != task.SessionDeleted
		case task.Expire:
			return false
		case task.Claim, task.Bind, task.Heartbeat, task.Retry, task.Cancel,
			task.Reply, task.TakeDefault, task.Block, task.DependencyDone:
			return true
		}
		panic("unknown event")
	}},
	{"an observer ends a lease that has run out, spares it once, or shortens it to its length", func(_ *taskModel, s taskStep) bool {
		e, was, expiry := expiryOf(s)
		is, runs := s.after.Current.Phase.(task.RunningAttempt)
		if !expiry {
			return false
		}
		watched := e.Calm <= was.ExpiresAt-core.Instant(was.Length/2)
		switch whole := e.At + core.Instant(was.Length); {
		case e.At < was.ExpiresAt:
			was.ExpiresAt = min(was.ExpiresAt, whole)
		case was.Spared || watched:
			return runs
		default:
			was.ExpiresAt, was.Spared = whole, true
		}
		return !runs || is.Lease != was
	}},
	{"a lease may be spared again after a sign of life", func(_ *taskModel, s taskStep) bool {
		_, length := signOfLife(s)
		is, running := s.after.Current.Phase.(task.RunningAttempt)
		return length > 0 && running && is.Lease.Spared
	}},
	{"a sign of life extends the lease by its length", func(_ *taskModel, s taskStep) bool {
		at, length := signOfLife(s)
		is, running := s.after.Current.Phase.(task.RunningAttempt)
		return length > 0 && running && is.Lease.ExpiresAt != at+core.Instant(length)
	}},
	{"a lease is of the attempt's number", func(_ *taskModel, s taskStep) bool {
		is, running := s.after.Current.Phase.(task.RunningAttempt)
		return running && is.Lease.Epoch != s.after.Current.Number
	}},
	{"a wrong token changes nothing", func(w *taskModel, s taskStep) bool {
		token, shown := shownToken(s.event)
		was, running := s.before.Current.Phase.(task.RunningAttempt)
		if !shown || running && was.Lease.Token == token {
			return false
		}
		return s.after != s.before || len(s.effects) > 0 || !task.IsStale(s.err) && !w.repeats(s.event)
	}},
	{"the same report again is the same answer", func(w *taskModel, s taskStep) bool {
		return w.repeats(s.event) && (s.err != nil || s.after != s.before || len(s.effects) > 0)
	}},
	{"an attempt knows the report that ended it, and no other", func(_ *taskModel, s taskStep) bool {
		e, isReport := s.event.(task.Finish)
		over, ended := endedIn(s)
		return ended && (over.EndedBy(e) != isReport || over.Stale != 0 || over.Belated().Stale != 1 ||
			!isReport && over.EndedBy(task.Finish{Token: over.Token()}) || s.after.Current.ID != over.ID && s.after.Current.EndedBy(e))
	}},
	{"an ended attempt keeps its worker, session, start and token", func(_ *taskModel, s taskStep) bool {
		was, running := s.before.Current.Phase.(task.RunningAttempt)
		over, ended := endedIn(s)
		if !ended || !running {
			return false
		}
		is := over.Phase.(task.EndedAttempt)
		return is.Worker != was.Worker || is.Session != was.Session || is.StartedAt != was.StartedAt || is.Token != was.Lease.Token
	}},
	{"a continuation keeps the model", func(_ *taskModel, s taskStep) bool {
		next, another := added(s)
		return another && next.Cause == task.CauseReply && (next.Model != s.before.Current.Model || next.Link != s.before.Current.Link)
	}},
	{"a bound model moves the attempt forward in the chain, and never back", func(_ *taskModel, s taskStep) bool {
		e, isBind := s.event.(task.Bind)
		if !isBind || s.err != nil || e.Model == (task.Model{}) {
			return false
		}
		link := slices.IndexFunc(s.before.Spec.Chain.Models(), func(m task.Model) bool { return m.Key() == e.Model.Key() })
		return s.after.Current.Model != e.Model || s.after.Current.Link != max(link, s.before.Current.Link)
	}},
	{"a claim is taken back only while nothing was heard of it", func(_ *taskModel, s taskStep) bool {
		e, isReturn := s.event.(task.Return)
		was, running := s.before.Current.Phase.(task.RunningAttempt)
		unheard := running && was.Lease.Token == e.Token && was.Session == "" && !was.Lease.Spared &&
			was.Lease.ExpiresAt == was.StartedAt+core.Instant(was.Lease.Length)
		return isReturn && (s.after != s.before) != unheard
	}},
	{"only a due task is claimed", func(_ *taskModel, s taskStep) bool {
		e, isClaim := s.event.(task.Claim)
		p, queued := s.before.Phase.(task.Queued)
		waits := p.NotBefore > e.At && p.NotBefore <= e.At+60_000_000
		return isClaim && (s.err == nil) != (queued && s.before.Waits == 0 && !waits)
	}},
	{"a failure leads to one more attempt or to an end", func(_ *taskModel, s taskStep) bool {
		_, failed := failure(s)
		next, another := added(s)
		if !failed {
			return another && next.Cause == task.CauseRetry || slices.Contains(coretest.Notices(s.effects), core.NoticeRetryScheduled)
		}
		again := another && next.Cause == task.CauseRetry && s.after.Status() == task.StatusQueued &&
			slices.Equal(coretest.Notices(s.effects), []core.NoticeKind{core.NoticeRetryScheduled})
		over := !another && s.after.Status() == task.StatusError
		return again == over
	}},
	{"the model that the host names is tried next", func(_ *taskModel, s taskStep) bool {
		e, isReport := s.event.(task.Finish)
		p, running := s.before.Phase.(task.Running)
		heeded := isReport && running && p.CancelAt == 0 && s.err == nil && e.Status == task.AttemptError && e.NextModel != task.Model{}
		if !heeded {
			return handedOn(s)
		}
		next, another := added(s)
		waits := s.after.Phase != task.Phase(task.Queued{})
		return !another || next.Model != e.NextModel || next.Link < s.before.Current.Link || s.after.Status() != task.StatusQueued ||
			waits != (e.NextModel.Key() == s.before.Current.Model.Key())
	}},
	{"the chain is walked forwards, past models without quota only", func(_ *taskModel, s taskStep) bool {
		next, another := added(s)
		if !another || handedOn(s) || next.Cause != task.CauseRetry || next.Link == s.before.Current.Link {
			return false
		}
		over, _ := failure(s)
		want := s.before.Current.Link + 1
		models := s.before.Spec.Chain.Models()
		for over.Failure().Message == noQuota && want < len(models) && strings.EqualFold(models[want].Provider, over.Model.Provider) {
			want++
		}
		return next.Link != want
	}},
	{"a model has its share and no more", func(w *taskModel, s taskStep) bool {
		over, failed := failure(s)
		next, another := added(s)
		if handedOn(s) {
			return false
		}
		if !failed || !another || over.Status() == task.AttemptLost {
			return failed && another && next.Link != over.Link
		}
		if e, isReport := s.event.(task.Finish); isReport && e.Mode == task.RetrySame {
			return next.Link != over.Link
		}
		models := max(1, w.task.Spec.Chain.Len())
		last := over.Link+1 >= w.task.Spec.Chain.Len()
		share := over.Failure().Class == task.ClassTransient && (last || w.onModel+1 < max(1, w.task.Spec.MaxAttempts/models))
		return (next.Link == over.Link) != share
	}},
	{"a retry on the same model keeps the model", func(_ *taskModel, s taskStep) bool {
		next, another := added(s)
		return another && !handedOn(s) && next.Cause == task.CauseRetry && next.Link == s.before.Current.Link &&
			next.Model != s.before.Current.Model
	}},
	{"a failure that allows no retry gets none", func(_ *taskModel, s taskStep) bool {
		over, failed := failure(s)
		_, another := added(s)
		e, isReport := s.event.(task.Finish)
		hopeless := over.Failure().Class == task.ClassTerminal || over.Failure().Class == task.ClassUser
		return failed && another && !handedOn(s) && (hopeless || isReport && e.Mode == task.RetryNever)
	}},
	{"nothing is tried again after a cancellation was asked for", func(_ *taskModel, s taskStep) bool {
		p, running := s.before.Phase.(task.Running)
		return running && p.CancelAt != 0 && s.after.Status() != task.StatusRunning &&
			s.after.Status() != task.StatusCancelled && s.after.Status() != task.StatusComplete
	}},
	{"COMPLETE is final", func(_ *taskModel, s taskStep) bool {
		after := s.after
		after.Waits = s.before.Waits
		return s.before.Status() == task.StatusComplete && after != s.before
	}},
	{"only a person sets an ended task going again", func(_ *taskModel, s taskStep) bool {
		switch s.event.(type) {
		case task.Retry, task.Reply:
			return false
		case task.Claim, task.Return, task.Bind, task.Heartbeat, task.Expire, task.TakeDefault,
			task.Finish, task.ReportSession, task.Cancel, task.Block, task.DependencyDone:
			return s.before.Status().Ended() && !s.after.Status().Ended()
		}
		panic("unknown event")
	}},
	{"a reply stays until it has had its effect", func(_ *taskModel, s taskStep) bool {
		e, isReply := s.event.(task.Reply)
		answered := s.after.Current.Status() == task.AttemptCompleted || s.after.Current.Status() == task.AttemptAwaiting
		settled := answered && !s.before.Current.Finished()
		_, byTime := s.event.(task.TakeDefault)
		want := s.before.Reply
		switch {
		case isReply && s.err == nil:
			want = e.Text
			if strings.EqualFold(strings.TrimSpace(want), s.after.Choice.Option) || strings.TrimSpace(want) == "" {
				want = s.after.Choice.Option
			}
		case byTime && s.after.Status() != s.before.Status():
			want = s.before.Offer.Terms().Default
		case settled:
			want = ""
		}
		return s.after.Reply != want
	}},
	{"an answer takes an option of its question, and only one of them if the question is closed", func(_ *taskModel, s taskStep) bool {
		choice := s.after.Choice
		if !s.after.Continues() {
			return choice != (task.Choice{})
		}
		offered := slices.ContainsFunc(s.after.Offer.Terms().Options, func(o task.Option) bool { return o.Label == choice.Option })
		return choice.Option != "" && !offered || s.after.Offer.Terms().Closed && s.after.Reply != choice.Option
	}},
	{"only time takes a default for a person, and only when it is due", func(_ *taskModel, s taskStep) bool {
		e, byTime := s.event.(task.TakeDefault)
		p, _ := s.before.Phase.(task.Awaiting)
		taken := s.after.Choice.ByTime && s.after.Choice != s.before.Choice
		logged := slices.Contains(s.effects, core.Effect(core.Record{Type: core.TaskDefaulted}))
		return taken != logged || taken && (!byTime || p.DefaultAt == 0 || e.At < p.DefaultAt || s.after.Choice.Option != s.before.Offer.Terms().Default) ||
			byTime && !taken && p.DefaultAt != 0 && e.At >= p.DefaultAt
	}},
	{"a default is due no later than its offer says", func(_ *taskModel, s taskStep) bool {
		p, awaiting := s.after.Phase.(task.Awaiting)
		if !awaiting || s.after == s.before {
			return false
		}
		at := s.after.Current.EndedAt()
		if e, byTime := s.event.(task.TakeDefault); byTime {
			at = e.At
		}
		if s.after.Offer.Terms().After == 0 {
			return p.DefaultAt != 0
		}
		return p.DefaultAt != at+core.Instant(s.after.Offer.Terms().After)
	}},
	{"output and question are those of the last report that counts", func(_ *taskModel, s taskStep) bool {
		e, isReport := s.event.(task.Finish)
		_, isReply := s.event.(task.Reply)
		status := s.after.Current.Status()
		output, question, offer := s.before.Output, s.before.Question, s.before.Offer
		switch {
		case isReply && s.err == nil && s.before.Continues():
			output, question, offer = "", "", task.Offer{}
		case isReply && s.err == nil && s.before.Current.Failed():
			question, offer = "", task.Offer{}
		case !isReport || s.before.Current.Finished() || s.after == s.before:
		case status == task.AttemptCompleted || status == task.AttemptAwaiting, !s.before.Continues() && e.Output+e.Question != "":
			output, question, offer = e.Output, e.Question, e.Offer
		}
		return s.after.Output != output || s.after.Question != question || s.after.Offer != offer
	}},
	{"the first answer wins", func(_ *taskModel, s taskStep) bool {
		_, isReply := s.event.(task.Reply)
		refusal, _ := errors.AsType[*core.Refusal](s.err)
		live := s.before.Status() == task.StatusQueued || s.before.Status() == task.StatusRunning
		return isReply && live && s.before.Continues() && (refusal == nil || refusal.Kind != core.AlreadyResolved)
	}},
	{"each end and each question leaves its one notice", func(_ *taskModel, s taskStep) bool {
		var want []core.NoticeKind
		if status := s.after.Status(); status != s.before.Status() && status.Ended() {
			want = append(want, core.NoticeTaskFinished)
		} else if status != s.before.Status() && status == task.StatusAwaiting {
			want = append(want, core.NoticeTaskAwaiting)
		}
		got := slices.DeleteFunc(coretest.Notices(s.effects), func(kind core.NoticeKind) bool {
			return kind == core.NoticeRetryScheduled || kind == core.NoticeRetryReady
		})
		return !slices.Equal(want, got)
	}},
	{"the notice of a question goes with the question, and no other notice does", func(_ *taskModel, s taskStep) bool {
		answered := s.before.Status() == task.StatusAwaiting && s.after.Status() != task.StatusAwaiting
		gone := slices.Contains(s.effects, core.Effect(core.Withdraw{Kind: core.NoticeTaskAwaiting}))
		return gone != answered
	}},
	{"the session of a retry leaves one notice", func(_ *taskModel, s taskStep) bool {
		first := s.before.Current.Session() == "" && s.after.Current.Session() != "" && s.before.Current.Cause == task.CauseRetry
		return slices.Contains(coretest.Notices(s.effects), core.NoticeRetryReady) != first
	}},
	{"a change of status is on the log", func(_ *taskModel, s taskStep) bool {
		return s.after.Status() != s.before.Status() && !slices.ContainsFunc(s.effects, isRecord)
	}},
	{"time does not run backwards", func(_ *taskModel, s taskStep) bool {
		return s.after.UpdatedAt < s.before.UpdatedAt
	}},
	{"a sign of life does not move the time of the change", func(_ *taskModel, s taskStep) bool {
		_, length := signOfLife(s)
		_, isClaim := s.event.(task.Claim)
		_, isBind := s.event.(task.Bind)
		_, expiry := s.event.(task.Expire)
		merely := length > 0 && !isClaim && !isBind || expiry
		return merely && s.after.Status() == task.StatusRunning && s.after.UpdatedAt != s.before.UpdatedAt
	}},
	{"a retry on the same model waits a minute at most, and no other one waits", func(_ *taskModel, s taskStep) bool {
		p, queued := s.after.Phase.(task.Queued)
		over, failed := failure(s)
		if handedOn(s) && s.after.Current.Model.Key() != over.Model.Key() {
			return p.NotBefore != 0
		}
		if !queued || !failed {
			return queued && s.after.Phase != s.before.Phase && p.NotBefore != 0
		}
		if !handedOn(s) && (over.Status() == task.AttemptLost || s.after.Current.Link != over.Link) {
			return p.NotBefore != 0
		}
		at := failedAt(s.event) // not the end of the attempt, which a clock that was set back does not move
		return p.NotBefore <= at || p.NotBefore > at+60_000_000
	}},
}

// taskAccounts hold for the account after a step.
var taskAccounts = []taskLaw{
	{"at most one attempt is unfinished", func(w *taskModel, _ taskStep) bool {
		n := 0
		for _, a := range w.attempts {
			if !a.Finished() {
				n++
			}
		}
		return n > 1
	}},
	{"the task has its newest attempt as it was saved", func(w *taskModel, _ taskStep) bool {
		return w.attempts[len(w.attempts)-1] != w.task.Current
	}},
	{"the newest attempt stands as the task does", func(w *taskModel, _ taskStep) bool {
		switch w.task.Status() {
		case task.StatusQueued:
			return w.task.Current.Status() != task.AttemptPending
		case task.StatusRunning:
			return w.task.Current.Status() != task.AttemptRunning
		case task.StatusComplete:
			return w.task.Current.Status() != task.AttemptCompleted
		case task.StatusAwaiting:
			return w.task.Current.Status() != task.AttemptAwaiting
		case task.StatusError, task.StatusCancelled, task.StatusBlocked:
			return !w.task.Current.Finished() || w.task.Current.Status() == task.AttemptCompleted
		}
		panic("unknown status")
	}},
	{"the spent budget is the failures", func(w *taskModel, _ taskStep) bool {
		return w.task.Spent != task.Spent{Failures: w.failures, OnModel: w.onModel}
	}},
	{"a task fails max_attempts times at most before a person is needed", func(w *taskModel, s taskStep) bool {
		limit := w.task.Spec.MaxAttempts
		_, failed := failure(s)
		return w.failures > limit || failed && !handedOn(s) && w.failures == limit && w.task.Status() != task.StatusError
	}},
}
