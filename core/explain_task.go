package core

import (
	"fmt"
	"strings"
)

// Explain says why the task is as it is and what would move it on. The history holds the log's records
// about it in ascending order; it may lack the oldest ones, which the log does not keep for ever.
func (t Task) Explain(history []Occurrence) Explanation {
	return Explanation{
		Subject: t.ID,
		State:   string(t.Status()),
		Because: because(t, history, taskRules),
		Next:    t.next(),
	}
}

// taskRules are the laws of Task.Step as reasons: the one for the status first, then what led there,
// and what goes on beside it.
var taskRules = []rule[Task]{
	{"waits_for_its_dependencies", sayWaits, []EventType{TaskCreated}},
	{"retry_waits_before_it_begins", sayNotBefore, []EventType{AttemptScheduled}},
	{"queued_until_a_worker_claims_it", sayClaimable, []EventType{TaskCreated, TaskReleased, TaskReplied, TaskRetried, AttemptScheduled, AttemptReturned}},
	{"attempt_runs_under_a_lease", sayLeased, []EventType{AttemptStarted}},
	{"cancellation_waits_for_the_worker", sayCancelAsked, []EventType{TaskCancelRequested}},
	{"completed_attempt_ends_it", sayComplete, []EventType{TaskSettled}},
	{"question_waits_for_a_person", sayAwaiting, []EventType{TaskSettled}},
	{"failure_that_no_retry_mends", sayErrored, []EventType{TaskSettled}},
	{"retries_are_exhausted", sayExhausted, []EventType{TaskSettled}},
	{"withdrawn", sayWithdrawn, []EventType{TaskSettled}},
	{"held_back_by_its_run", sayHeldBack, []EventType{TaskSettled}},
	{"what_the_attempt_said", sayFailure, []EventType{AttemptFinished}},
	{"next_attempt_takes_over", sayTakesOver, []EventType{AttemptScheduled}},
	{"failures_are_counted", saySpent, []EventType{AttemptFinished}},
	{"models_are_tried_in_order", sayChain, nil},
	{"answer_goes_with_each_attempt", sayCarried, []EventType{TaskReplied}},
	{"late_reports_change_nothing", sayStale, []EventType{AttemptStale}},
}

func sayWaits(t Task, _ history) string {
	if t.Status() != StatusQueued || t.Waits == 0 {
		return ""
	}
	return fmt.Sprintf("%s that it depends on must complete before a worker may have it", counted(t.Waits, "task"))
}

func sayNotBefore(t Task, _ history) string {
	p, _ := t.Phase.(TaskQueued)
	if p.NotBefore == 0 {
		return ""
	}
	return fmt.Sprintf("attempt %d is queued and may begin at %s, so that the same model is not tried again at once",
		t.Current.Number, when(p.NotBefore))
}

func sayClaimable(t Task, _ history) string {
	p, queued := t.Phase.(TaskQueued)
	if !queued || t.Waits > 0 || p.NotBefore != 0 {
		return ""
	}
	return fmt.Sprintf("attempt %d is queued since %s: the next worker that asks for it gets it",
		t.Current.Number, when(t.Current.CreatedAt))
}

func sayLeased(t Task, _ history) string {
	p, running := t.Current.Phase.(Running)
	if !running {
		return ""
	}
	session := "and has no session yet"
	if p.Session != "" {
		session = fmt.Sprintf("in session %q", Line(p.Session, lineRunes))
	}
	return fmt.Sprintf("attempt %d runs since %s with worker %q %s; its lease ends at %s unless something is heard of it",
		t.Current.Number, when(p.StartedAt), Line(p.Worker, lineRunes), session, when(p.Lease.ExpiresAt))
}

func sayCancelAsked(t Task, _ history) string {
	p, running := t.Phase.(TaskRunning)
	if !running || p.CancelAt == 0 {
		return ""
	}
	return fmt.Sprintf("its end was asked for at %s%s: the worker reports it, or its lease runs out",
		when(p.CancelAt), reasoned(p.CancelReason))
}

func sayComplete(t Task, _ history) string {
	if t.Status() != StatusComplete {
		return ""
	}
	return fmt.Sprintf("attempt %d completed it at %s", t.Current.Number, when(t.Current.EndedAt()))
}

func sayAwaiting(t Task, _ history) string {
	if t.Status() != StatusAwaiting {
		return ""
	}
	return fmt.Sprintf("attempt %d asked %q at %s, and nobody has answered",
		t.Current.Number, Line(t.Question, errorRunes), when(t.Current.EndedAt()))
}

func sayErrored(t Task, _ history) string {
	p, over := t.Phase.(TaskErrored)
	if !over {
		return ""
	}
	switch p.Reason {
	case ReasonFailed:
		return fmt.Sprintf("attempt %d failed at %s in a way that no retry mends, or none was wanted",
			t.Current.Number, when(t.Current.EndedAt()))
	case ReasonTimeout:
		return fmt.Sprintf("attempt %d ended at %s because its worker gave up waiting", t.Current.Number, when(t.Current.EndedAt()))
	case ReasonInterrupted:
		return fmt.Sprintf("attempt %d was stopped at %s, and nobody had asked for its end",
			t.Current.Number, when(t.Current.EndedAt()))
	case ReasonExhausted:
		return ""
	}
	panic("core: unknown reason " + string(p.Reason))
}

// sayExhausted tells the two ways in which a budget ends: its count, and the models to spend it on.
func sayExhausted(t Task, _ history) string {
	if p, over := t.Phase.(TaskErrored); !over || p.Reason != ReasonExhausted {
		return ""
	}
	if t.Spent.Failures >= t.Launch.MaxAttempts {
		return fmt.Sprintf("%d of %d: as many attempts failed or were lost as may", t.Spent.Failures, t.Launch.MaxAttempts)
	}
	return fmt.Sprintf("%s failed, and no other model is left to try", t.Current.Model.line())
}

func sayWithdrawn(t Task, _ history) string {
	p, over := t.Phase.(TaskCancelled)
	if !over {
		return ""
	}
	return fmt.Sprintf("cancelled at %s%s", when(p.At), reasoned(p.Reason))
}

func sayHeldBack(t Task, _ history) string {
	p, over := t.Phase.(TaskBlocked)
	if !over {
		return ""
	}
	return fmt.Sprintf("blocked at %s%s", when(p.At), reasoned(p.Reason))
}

// reasoned is what somebody gave as a reason, fit to follow a sentence.
func reasoned(reason string) string {
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(", because %q", Line(reason, errorRunes))
}

func sayFailure(t Task, _ history) string {
	why := t.Current.Failure()
	if why == (Failure{}) || t.Current.Status() == AttemptCancelled && why.Class == ClassUser {
		return "" // what somebody asked for is the reason of the status already
	}
	text := fmt.Sprintf("attempt %d ended as %s", t.Current.Number, t.Current.Status())
	if why.Class != "" {
		text += fmt.Sprintf(", with a failure of class %s", why.Class)
	}
	return text + reasoned(why.Message)
}

func sayTakesOver(t Task, _ history) string {
	if t.Current.Cause != CauseRetry || t.Current.Finished() {
		return ""
	}
	return fmt.Sprintf("attempt %d takes over from attempt %d, which failed or was lost", t.Current.Number, t.Current.Number-1)
}

func saySpent(t Task, _ history) string {
	if t.Spent.Failures == 0 || t.Status().Ended() {
		return ""
	}
	text := fmt.Sprintf("%d of %d failures: number %d ends it", t.Spent.Failures, t.Launch.MaxAttempts, t.Launch.MaxAttempts)
	if t.Spent.OnModel > 0 && t.hasNext() {
		text += fmt.Sprintf("; %d of %d on %s: number %d moves it to the next model",
			t.Spent.OnModel, t.share(), t.Current.Model.line(), t.share())
	}
	return text
}

func sayChain(t Task, _ history) string {
	models := t.Launch.Chain.Models()
	if len(models) < 2 || t.Status().Ended() {
		return ""
	}
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.line()
	}
	text := strings.Join(names, ", then ")
	if t.Current.Link < 0 {
		return fmt.Sprintf("%s was asked for; after it %s", t.Current.Model.line(), text)
	}
	return fmt.Sprintf("model %d of %d: %s", t.Current.Link+1, len(models), text)
}

func sayCarried(t Task, _ history) string {
	if !t.Continues() {
		return ""
	}
	return "a person's answer goes with each attempt until one of them completes or asks again"
}

func sayStale(t Task, _ history) string {
	if t.Current.Stale == 0 {
		return ""
	}
	return fmt.Sprintf("%s about attempt %d came when it was over: kept on the log, and nothing changed",
		counted(t.Current.Stale, "report"), t.Current.Number)
}

// taskCalls are the methods that put an event to a task, and what each does to one that allows it.
var taskCalls = []struct {
	name  string
	event func(Task) TaskEvent
	text  func(before, after Task) string
}{
	{"claim_task", claimWhenDue, func(_, after Task) string {
		return fmt.Sprintf("gives attempt %d to a worker", after.Current.Number)
	}},
	{"bind_session", bindAny, func(_, after Task) string {
		return fmt.Sprintf("says in which session attempt %d runs", after.Current.Number)
	}},
	{"heartbeat", func(t Task) TaskEvent { return Heartbeat{At: t.leaseEnd(), Token: t.Current.Token()} }, func(_, after Task) string {
		return fmt.Sprintf("gives the lease another %s", span(after.Current.Phase.(Running).Lease.Length))
	}},
	{"finish_attempt", func(t Task) TaskEvent {
		return FinishAttempt{At: t.leaseEnd(), Token: t.Current.Token(), Status: AttemptCompleted}
	}, func(before, _ Task) string {
		return fmt.Sprintf("ends attempt %d: completes the task, asks a person, or reports a failure", before.Current.Number)
	}},
	{"reply", func(t Task) TaskEvent { return ReplyToTask{At: t.UpdatedAt, Text: "yes"} }, func(_, after Task) string {
		return fmt.Sprintf("continues it with the answer, as attempt %d", after.Current.Number)
	}},
	{"retry_task", func(t Task) TaskEvent { return RetryTask{At: t.UpdatedAt} }, func(_, after Task) string {
		return fmt.Sprintf("sets it going again with attempt %d and a new budget", after.Current.Number)
	}},
	{"cancel_task", func(t Task) TaskEvent { return CancelTask{At: t.UpdatedAt} }, func(_, after Task) string {
		if after.Status() == StatusRunning {
			return "asks the worker to end it"
		}
		return "withdraws it"
	}},
}

func claimWhenDue(t Task) TaskEvent {
	p, _ := t.Phase.(TaskQueued)
	return ClaimTask{At: p.NotBefore}
}

// bindAny binds a session only where none is: another one would be refused.
func bindAny(t Task) TaskEvent {
	session := t.Current.Session()
	if session == "" {
		session = "any"
	}
	return BindSession{At: t.leaseEnd(), AttemptID: t.Current.ID, Token: t.Current.Token(), Session: session}
}

// leaseEnd is when the lease of the attempt that runs ends, or zero.
func (t Task) leaseEnd() Instant {
	p, _ := t.Current.Phase.(Running)
	return p.Lease.ExpiresAt
}

// next puts each possible event to the task and tells what comes of it, so that it can never promise
// what Step would refuse.
func (t Task) next() []Action {
	actions := []Action{}
	for _, call := range taskCalls {
		if after, _, err := t.Step(call.event(t)); err == nil && after != t {
			actions = append(actions, Action{Name: call.name, Text: call.text(t, after)})
		}
	}
	if t.Status() == StatusComplete {
		actions = append(actions, Action{Name: "create_task", Text: "asks for more with a new task; this one stays COMPLETE"})
	}
	return actions
}
