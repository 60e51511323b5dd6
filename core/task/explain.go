package task

import (
	"fmt"
	"strings"

	"waybill/core"
	"waybill/internal/safetext"
)

// Explain explains the state of the task and the possible next steps. history holds the events of the task in
// ascending order and may lack the oldest. needed holds the first tasks that this one waits for; an unreadable one
// has only its id.
func (t Task) Explain(history core.History, needed []Task) core.Explanation {
	return core.Explanation{
		Subject: t.ID,
		State:   string(t.Status()),
		Because: append(t.waiting(history, needed), core.Because(t, history, taskRules())...),
		Next:    append(towards(needed), t.next()...),
	}
}

// taskRules returns the rules that explain the laws of Task.Step, except waiting: first the status, then its causes, then other
// facts.
func taskRules() []core.ReasonRule[Task] {
	return []core.ReasonRule[Task]{
		{Name: "retry_waits_before_it_begins", Text: sayNotBefore, Events: []core.EventType{core.AttemptScheduled}, IDs: attemptIDs},
		{Name: "queued_until_a_worker_claims_it", Text: sayClaimable, Events: []core.EventType{core.TaskCreated, core.TaskReleased, core.TaskReplied, core.TaskDefaulted, core.TaskRetried, core.AttemptScheduled, core.AttemptReturned}, IDs: attemptIDs},
		{Name: "attempt_runs_under_a_lease", Text: sayLeased, Events: []core.EventType{core.AttemptStarted}, IDs: attemptIDs},
		{Name: "cancellation_waits_for_the_worker", Text: sayCancelAsked, Events: []core.EventType{core.TaskCancelRequested}},
		{Name: "completed_attempt_ends_it", Text: sayComplete, Events: []core.EventType{core.TaskSettled}, IDs: attemptIDs},
		{Name: "question_waits_for_a_person", Text: sayAwaiting, Events: []core.EventType{core.TaskSettled}, IDs: attemptIDs},
		{Name: "failure_that_no_retry_mends", Text: sayErrored, Events: []core.EventType{core.TaskSettled}, IDs: attemptIDs},
		{Name: "retries_are_exhausted", Text: sayExhausted, Events: []core.EventType{core.TaskSettled}},
		{Name: "withdrawn", Text: sayWithdrawn, Events: []core.EventType{core.TaskSettled}},
		{Name: "held_back_by_its_run", Text: sayHeldBack, Events: []core.EventType{core.TaskSettled}, IDs: runIDs},
		{Name: "what_the_attempt_said", Text: sayFailure, Events: []core.EventType{core.AttemptFinished}, IDs: attemptIDs},
		{Name: "next_attempt_takes_over", Text: sayTakesOver, Events: []core.EventType{core.AttemptScheduled}, IDs: attemptIDs},
		{Name: "failures_are_counted", Text: saySpent, Events: []core.EventType{core.AttemptFinished}},
		{Name: "models_are_tried_in_order", Text: sayChain},
		{Name: "answer_goes_with_each_attempt", Text: sayCarried, Events: []core.EventType{core.TaskReplied, core.TaskDefaulted}},
		{Name: "late_reports_change_nothing", Text: sayStale, Events: []core.EventType{core.AttemptStale}, IDs: attemptIDs},
	}
}

// attemptIDs returns the id of the current attempt for ReasonRule.IDs.
func attemptIDs(t Task) []string { return []string{t.Current.ID} }

// runIDs returns the id of the task's run for ReasonRule.IDs, or nil.
func runIDs(t Task) []string {
	if t.Spec.RunID == "" {
		return nil
	}
	return []string{t.Spec.RunID}
}

// waiting returns the reason why a queued task waits for others; nothing for other tasks.
func (t Task) waiting(h core.History, needed []Task) []core.Reason {
	if t.Status() != StatusQueued || t.Waits == 0 {
		return nil
	}
	text := fmt.Sprintf("%s that it depends on must complete before a worker can claim it", core.Counted(t.Waits, "task"))
	var ids []string
	for _, n := range needed {
		ids = append(ids, n.ID)
	}
	ids = ids[:min(len(ids), core.MostNamed)]
	if len(ids) > 0 {
		text += ": " + core.Named(ids, t.Waits)
	}
	return []core.Reason{{Rule: "waits_for_its_dependencies", Text: text, EventSeq: h.Last(core.TaskCreated).Seq, IDs: ids}}
}

// towards returns the actions that help each needed task to complete.
func towards(needed []Task) []core.Action {
	actions := []core.Action{}
	for _, n := range needed[:min(len(needed), core.MostNamed)] {
		actions = append(actions, n.towardsCompletion()...)
	}
	return actions
}

func (t Task) towardsCompletion() (actions []core.Action) {
	if t.Phase != nil {
		for _, a := range t.next() {
			switch a.Name {
			case "claim_task", "finish_attempt", "reply", "retry_task":
				actions = append(actions, a)
			}
		}
	}
	if len(actions) == 0 {
		actions = []core.Action{core.Act(t.ID, "explain", "explains what that task waits for", "explain", t.ID)}
	}
	return actions
}

func sayNotBefore(t Task, _ core.History) string {
	p, _ := t.Phase.(Queued)
	if p.NotBefore == 0 {
		return ""
	}
	return fmt.Sprintf("attempt %d is queued and may begin at %s, so that the same model is not tried again at once",
		t.Current.Number, p.NotBefore.RFC3339())
}

func sayClaimable(t Task, _ core.History) string {
	p, queued := t.Phase.(Queued)
	if !queued || t.Waits > 0 || p.NotBefore != 0 {
		return ""
	}
	return fmt.Sprintf("attempt %d is queued since %s: the next worker that asks for it gets it",
		t.Current.Number, t.Current.CreatedAt.RFC3339())
}

func sayLeased(t Task, _ core.History) string {
	p, running := t.Current.Phase.(RunningAttempt)
	if !running {
		return ""
	}
	session := "and has no session yet"
	if p.Session != "" {
		session = fmt.Sprintf("in session %q", safetext.OneLine(p.Session, lineRunes))
	}
	return fmt.Sprintf("attempt %d runs since %s with worker %q %s; its lease ends at %s unless its worker reports before",
		t.Current.Number, p.StartedAt.RFC3339(), safetext.OneLine(p.Worker, lineRunes), session, p.Lease.ExpiresAt.RFC3339())
}

func sayCancelAsked(t Task, _ core.History) string {
	p, running := t.Phase.(Running)
	if !running || p.CancelAt == 0 {
		return ""
	}
	return fmt.Sprintf("its cancellation was requested at %s%s: it ends when the worker reports the end, or when its lease expires",
		p.CancelAt.RFC3339(), reasoned(p.CancelReason))
}

func sayComplete(t Task, _ core.History) string {
	if t.Status() != StatusComplete {
		return ""
	}
	return fmt.Sprintf("attempt %d completed it at %s", t.Current.Number, t.Current.EndedAt().RFC3339())
}

func sayAwaiting(t Task, _ core.History) string {
	if t.Status() != StatusAwaiting {
		return ""
	}
	text := fmt.Sprintf("attempt %d asked %q at %s, and no answer has come",
		t.Current.Number, safetext.OneLine(t.Question, errorRunes), t.Current.EndedAt().RFC3339())
	if n := len(t.Offer.Terms().Options); n > 0 {
		text += "; it offers " + core.Counted(n, "option")
	}
	if p := t.Phase.(Awaiting); p.DefaultAt != 0 {
		text += fmt.Sprintf(", and takes %s at %s unless a person answers before", safetext.Quote(t.Offer.Terms().Default, errorRunes), p.DefaultAt.RFC3339())
	}
	return text
}

func sayErrored(t Task, _ core.History) string {
	p, over := t.Phase.(Errored)
	if !over {
		return ""
	}
	switch p.Reason {
	case ReasonFailed:
		return fmt.Sprintf("attempt %d failed at %s, and no retry can help or was asked for",
			t.Current.Number, t.Current.EndedAt().RFC3339())
	case ReasonTimeout:
		return fmt.Sprintf("attempt %d ended at %s because its worker gave up waiting", t.Current.Number, t.Current.EndedAt().RFC3339())
	case ReasonInterrupted:
		return fmt.Sprintf("attempt %d was stopped at %s without a request",
			t.Current.Number, t.Current.EndedAt().RFC3339())
	case ReasonExhausted:
		return ""
	}
	panic("task: unknown reason " + string(p.Reason))
}

// sayExhausted distinguishes a used-up number of attempts and a used-up chain of models.
func sayExhausted(t Task, _ core.History) string {
	if p, over := t.Phase.(Errored); !over || p.Reason != ReasonExhausted {
		return ""
	}
	if t.Spent.Failures >= t.Spec.MaxAttempts {
		return fmt.Sprintf("%d of %d attempts failed or were lost", t.Spent.Failures, t.Spec.MaxAttempts)
	}
	if t.Current.Failure().ofAccount() {
		return fmt.Sprintf("the provider of %s refused the account, and the chain has no model of another provider", t.Current.Model.line())
	}
	return fmt.Sprintf("%s failed, and the chain has no other model", t.Current.Model.line())
}

func sayWithdrawn(t Task, _ core.History) string {
	p, over := t.Phase.(Cancelled)
	if !over {
		return ""
	}
	return fmt.Sprintf("cancelled at %s%s", p.At.RFC3339(), reasoned(p.Reason))
}

func sayHeldBack(t Task, _ core.History) string {
	p, over := t.Phase.(Blocked)
	if !over {
		return ""
	}
	return fmt.Sprintf("blocked at %s%s", p.At.RFC3339(), reasoned(p.Reason))
}

// reasoned returns the reason of a cancellation as the end of a sentence.
func reasoned(reason string) string {
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(", because %q", safetext.OneLine(reason, errorRunes))
}

func sayFailure(t Task, _ core.History) string {
	why := t.Current.Failure()
	if why == (Failure{}) || t.Current.Status() == AttemptCancelled && why.Class == ClassUser {
		return "" // the status already has this reason
	}
	text := fmt.Sprintf("attempt %d ended as %s", t.Current.Number, t.Current.Status())
	if why.Class != "" {
		text += fmt.Sprintf(", with a failure of class %s", why.Class)
	}
	return text + reasoned(why.Message)
}

func sayTakesOver(t Task, _ core.History) string {
	if t.Current.Cause != CauseRetry || t.Current.Finished() {
		return ""
	}
	return fmt.Sprintf("attempt %d follows attempt %d, which failed or was lost", t.Current.Number, t.Current.Number-1)
}

func saySpent(t Task, _ core.History) string {
	if t.Spent.Failures == 0 || t.Status().Ended() {
		return ""
	}
	text := fmt.Sprintf("%d of %d failures: number %d ends it", t.Spent.Failures, t.Spec.MaxAttempts, t.Spec.MaxAttempts)
	if t.Spent.OnModel > 0 && t.hasNext() {
		text += fmt.Sprintf("; %d of %d on %s: number %d moves it to the next model",
			t.Spent.OnModel, t.share(), t.Current.Model.line(), t.share())
	}
	return text
}

func sayChain(t Task, _ core.History) string {
	models := t.Spec.Chain.Models()
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

func sayCarried(t Task, _ core.History) string {
	if !t.Continues() {
		return ""
	}
	if t.Choice.ByTime {
		return fmt.Sprintf("no person answered in time: the default %s goes with each attempt until one of them completes or asks again",
			safetext.Quote(t.Choice.Option, errorRunes))
	}
	return "a person's answer goes with each attempt until one of them completes or asks again"
}

func sayStale(t Task, _ core.History) string {
	if t.Current.Stale == 0 {
		return ""
	}
	return fmt.Sprintf("%s about attempt %d came after its end; the log has it, and nothing changed",
		core.Counted(t.Current.Stale, "report"), t.Current.Number)
}

// taskCalls are the methods that send an event to a task, and their effects where allowed.
var taskCalls = []struct {
	name  string
	event func(Task) Event
	text  func(before, after Task) string
	// command returns the equal command; nil if there is none.
	command func(id string) []string
}{
	{"claim_task", claimWhenDue, func(_, after Task) string {
		return fmt.Sprintf("assigns attempt %d to a worker", after.Current.Number)
	}, func(string) []string { return []string{"work", "--", "COMMAND"} }},
	{"bind_session", bindAny, func(_, after Task) string {
		return fmt.Sprintf("names the session of attempt %d", after.Current.Number)
	}, nil},
	{"heartbeat", func(t Task) Event { return Heartbeat{At: t.leaseEnd(), Token: t.Current.Token()} }, func(_, after Task) string {
		return fmt.Sprintf("extends the lease by %s", span(after.Current.Phase.(RunningAttempt).Lease.Length))
	}, nil},
	{"finish_attempt", func(t Task) Event {
		return Finish{At: t.leaseEnd(), Token: t.Current.Token(), Status: AttemptCompleted}
	}, func(before, _ Task) string {
		return fmt.Sprintf("ends attempt %d: completes the task, asks a person, or reports a failure", before.Current.Number)
	}, nil},
	{"reply", replyAny, func(_, after Task) string {
		return fmt.Sprintf("continues it with the answer, as attempt %d", after.Current.Number)
	}, func(id string) []string { return []string{"task", "reply", id, "-m", "…"} }},
	{"retry_task", func(t Task) Event { return Retry{At: t.UpdatedAt} }, func(_, after Task) string {
		return fmt.Sprintf("queues it again as attempt %d and a new budget", after.Current.Number)
	}, func(id string) []string { return []string{"task", "retry", id} }},
	{"cancel_task", func(t Task) Event { return Cancel{At: t.UpdatedAt} }, func(_, after Task) string {
		if after.Status() == StatusRunning {
			return "asks the worker to end it"
		}
		return "withdraws it"
	}, func(id string) []string { return []string{"task", "cancel", id} }},
}

func claimWhenDue(t Task) Event {
	p, _ := t.Phase.(Queued)
	return Claim{At: p.NotBefore}
}

// bindAny returns a Bind only for an attempt without a session, because another session would be refused.
func bindAny(t Task) Event {
	session := t.Current.Session()
	if session == "" {
		session = "any"
	}
	return Bind{At: t.leaseEnd(), AttemptID: t.Current.ID, Token: t.Current.Token(), Session: session}
}

// replyAny returns an answer that suits the question.
func replyAny(t Task) Event {
	e := Reply{At: t.UpdatedAt, Text: "yes"}
	if options := t.Offer.Terms().Options; len(options) > 0 {
		e.Text = options[0].Label
	}
	return e
}

// leaseEnd returns the end of the running attempt's lease, or zero.
func (t Task) leaseEnd() core.Instant {
	p, _ := t.Current.Phase.(RunningAttempt)
	return p.Lease.ExpiresAt
}

// next tries each possible event on the task and describes the result, so that it never promises what Step would
// refuse.
func (t Task) next() []core.Action {
	actions := []core.Action{}
	for _, call := range taskCalls {
		if after, _, err := t.Step(call.event(t)); err == nil && after != t {
			var command []string
			if call.command != nil {
				command = call.command(t.ID)
			}
			actions = append(actions, core.Act(t.ID, call.name, call.text(t, after), command...))
		}
	}
	if t.Status() == StatusComplete {
		actions = append(actions, core.Act(t.ID, "create_task", "queues further work as a new task; this one stays COMPLETE"))
	}
	return actions
}
