package task

import (
	"fmt"

	"waybill/core"
)

// Step returns the task after the event, and the effects. An event that changes nothing returns the same task and no effects.
// An event that the state does not allow returns the same task and a *core.Refusal. Its kind is StaleAttempt for a report
// whose lease is no longer valid.
//
// The laws that every sequence of events keeps:
//   - a task has one newest attempt, and every other one is finished;
//   - a finished attempt never changes, and attempts are numbered 1, 2, 3, …;
//   - the newest attempt is pending while the task is queued, running while it is running, and
//     finished otherwise;
//   - a running attempt is ended by the holder of its lease, by the end of the lease, or by the end of its session;
//   - at most MaxAttempts attempts fail or are lost before a person is needed; failures after which the host names the next
//     model do not count;
//   - a failure leads to one more attempt or to an end, never to both;
//   - COMPLETE is final; out of ERROR, CANCELLED and BLOCKED, only Retry and Reply lead back
//     into the queue, and out of AWAITING_RESPONSE only Reply and the time of a default;
//   - an answer suits the offer of its question, and a default that time took is never a person's;
//   - a reply stays with the task, beside the question that it answers, until an attempt that carries it has an outcome;
//   - every end and every question leaves a notice;
//   - the notice of a question is withdrawn when the task no longer waits for its answer.
func (t Task) Step(event Event) (Task, []core.Effect, error) {
	next, effects, err := t.step(event)
	if t.Status() == StatusAwaiting && next.Status() != StatusAwaiting {
		effects = append(effects, core.Withdraw{Kind: core.NoticeTaskAwaiting})
	}
	return next, effects, err
}

func (t Task) step(event Event) (Task, []core.Effect, error) {
	switch e := event.(type) {
	case Claim:
		return t.claim(e)
	case Return:
		return t.giveBack(e)
	case Bind:
		return t.bind(e)
	case Heartbeat:
		return t.heartbeat(e)
	case Expire:
		return t.expire(e)
	case Finish:
		return t.finish(e)
	case ReportSession:
		return t.hear(e)
	case Retry:
		return t.again(e)
	case Cancel:
		return t.cancel(e)
	case Reply:
		return t.reply(e)
	case TakeDefault:
		return takeDefault(t, e)
	case Block:
		return t.block(e)
	case DependencyDone:
		return t.dependencyDone(e)
	}
	panic(fmt.Sprintf("task: unknown task event %T", event))
}

func (t Task) claim(e Claim) (Task, []core.Effect, error) {
	if !t.Claimable(e.At) {
		return t.refuse("claimed: " + t.whyNotClaimable())
	}
	t.Current.Phase = RunningAttempt{
		Worker: e.Worker, StartedAt: e.At,
		Lease: Lease{Token: e.Token, Epoch: t.Current.Number}.extended(e.At, e.Length),
	}
	t.Phase = Running{}
	return t.moved(e.At, Keep{t.Current}, core.Record{Type: core.AttemptStarted})
}

// giveBack changes the task only while no report about the attempt has come: a worker that reported knows of its claim.
func (t Task) giveBack(e Return) (Task, []core.Effect, error) {
	p, err := t.held(e.Token)
	if err != nil || p.Session != "" || p.Lease != p.Lease.extended(p.StartedAt, 0) {
		return t, nil, nil
	}
	if t.Phase.(Running).CancelAt != 0 {
		return t.ended(AttemptCancelled, e.At, Failure{}, "", t.withdrawn(e.At, ""))
	}
	t.Current.Phase, t.Phase = PendingAttempt{}, Queued{}
	return t.moved(e.At, Keep{t.Current}, core.Record{Type: core.AttemptReturned})
}

func (t Task) whyNotClaimable() string {
	switch {
	case t.Status() != StatusQueued:
		return "only a queued task can be"
	case t.Waits > 0:
		return fmt.Sprintf("%d of the tasks that it depends on are not complete", t.Waits)
	}
	return "its retry has to wait a little longer"
}

func (t Task) bind(e Bind) (Task, []core.Effect, error) {
	p, err := t.held(e.Token)
	switch {
	case err != nil:
		return t, nil, err
	case e.AttemptID != t.Current.ID:
		return t.conflict(core.AttemptFinalized, fmt.Sprintf("attempt %s is not the newest one of task %s, which is %s: it is over",
			e.AttemptID, t.ID, t.Current.ID))
	case p.Session == e.Session && (e.Model == Model{} || e.Model == t.Current.Model):
		return t, nil, nil
	case p.Session != "" && p.Session != e.Session:
		return t.conflict(core.SessionTaken, fmt.Sprintf("attempt %s runs in session %q already; an attempt has one session",
			t.Current.ID, p.Session))
	}
	first := p.Session == ""
	p.Session = e.Session
	p.Lease = p.Lease.extended(e.At, 0)
	t.Current.Phase = p
	t = t.on(e.Model)
	effects := []core.Effect{Keep{t.Current}, core.Record{Type: core.AttemptBound}}
	if first && t.Current.Cause == CauseRetry {
		effects = append(effects, core.Post{Kind: core.NoticeRetryReady})
	}
	return t.moved(e.At, effects...)
}

// on returns the task with the model that its newest attempt was bound to. A later model of the chain moves the attempt
// forward, so that retries never go back to a model that has failed.
func (t Task) on(model Model) Task {
	if model == (Model{}) {
		return t
	}
	t.Current.Model = model
	if link := t.Spec.Chain.index(model); link > t.Current.Link {
		t.Current.Link = link
		t.Spent.OnModel = 0
	}
	return t
}

func (t Task) heartbeat(e Heartbeat) (Task, []core.Effect, error) {
	p, err := t.held(e.Token)
	if err != nil {
		return t, nil, err
	}
	if e.Progress {
		return t.alive(p, e.At, e.Length, core.Record{Type: core.AttemptProgress})
	}
	return t.alive(p, e.At, e.Length)
}

// alive extends the lease and adds the effects that the sign of life carries. It does not move UpdatedAt, because a
// heartbeat changes nothing that a person would look for.
func (t Task) alive(p RunningAttempt, at core.Instant, length int64, told ...core.Effect) (Task, []core.Effect, error) {
	lease := p.Lease.extended(at, length)
	if lease == p.Lease {
		return t, told, nil
	}
	p.Lease = lease
	t.Current.Phase = p
	return t, append([]core.Effect{Keep{t.Current}}, told...), nil
}

func (t Task) expire(e Expire) (Task, []core.Effect, error) {
	p, running := t.Current.Phase.(RunningAttempt)
	if !running {
		return t, nil, nil
	}
	lease := p.Lease.rebased(e.At)
	due := e.At >= lease.ExpiresAt
	if due && !lease.runOut(e.Calm) {
		lease = lease.spared(e.At)
	}
	if lease != p.Lease {
		p.Lease = lease
		t.Current.Phase = p
		return t, []core.Effect{Keep{t.Current}}, nil
	}
	if !due {
		return t, nil, nil
	}
	message := fmt.Sprintf("nothing was heard of worker %q for %s, the length of its lease", p.Worker, span(p.Lease.Length))
	lost := Failure{Class: ClassTransient, Name: "LeaseExpired", Message: message}
	return t.failed(AttemptLost, e.At, lost, "", RetrySame, e.Next)
}

func (t Task) finish(e Finish) (Task, []core.Effect, error) {
	if t.Current.EndedBy(e) {
		return t, nil, nil
	}
	p, err := t.held(e.Token)
	if err != nil {
		return t, nil, err
	}
	cancelled := t.Phase.(Running).CancelAt != 0
	t = t.said(e)
	switch e.Status {
	case AttemptCompleted:
		return t.ended(AttemptCompleted, e.At, Failure{}, e.digest(), Complete{})
	case AttemptError:
		if e.NextModel != (Model{}) && !cancelled {
			return t.handedOn(e)
		}
		return t.failed(AttemptError, e.At, e.Failure, e.digest(), e.Mode, e.Next)
	case AttemptCancelled:
		return t.ended(AttemptCancelled, e.At, e.Failure, e.digest(), t.withdrawn(e.At, "the worker reported it cancelled"))
	case AttemptInterrupted:
		if cancelled {
			return t.ended(AttemptCancelled, e.At, e.Failure, e.digest(), t.withdrawn(e.At, ""))
		}
		return t.ended(AttemptInterrupted, e.At, e.Failure, e.digest(), Errored{ReasonInterrupted})
	case AttemptAwaiting:
		if cancelled {
			return t.ended(AttemptCancelled, e.At, Failure{}, e.digest(), t.withdrawn(e.At, ""))
		}
		waits := Awaiting{}
		if after := e.Offer.Terms().After; after != 0 {
			waits.DefaultAt = e.At + core.Instant(after)
		}
		return t.ended(AttemptAwaiting, e.At, Failure{}, e.digest(), waits)
	case AttemptPending, AttemptRunning, AttemptLost:
	}
	panic(fmt.Sprintf("task: attempt %s of worker %s finished as %s", t.Current.ID, p.Worker, e.Status))
}

func (t Task) hear(e ReportSession) (Task, []core.Effect, error) {
	p, running := t.Current.Phase.(RunningAttempt)
	if !running || p.Session == "" || p.Session != e.Session {
		return t, nil, t.stale(fmt.Sprintf("session %q is not the one that works on it", e.Session))
	}
	switch e.Kind {
	case SessionError:
		if e.Failure.Class != ClassTransient {
			return t.failed(AttemptError, e.At, e.Failure, "", RetryAuto, e.Next)
		}
		return t.alive(p, e.At, 0, core.Record{Type: core.AttemptReported})
	case SessionDeleted:
		gone := Failure{Class: ClassUser, Name: "SessionDeleted", Message: "its session was deleted"}
		return t.ended(AttemptCancelled, e.At, gone, "", t.withdrawn(e.At, "its session was deleted"))
	case SessionProgress:
		if !e.Telling {
			return t.alive(p, e.At, 0)
		}
		return t.alive(p, e.At, 0, core.Record{Type: core.AttemptReported})
	case SessionStarted, SessionIdle: // idle is not done: only the worker knows
		return t.alive(p, e.At, 0, core.Record{Type: core.AttemptReported})
	}
	panic("task: unknown session event " + string(e.Kind))
}

// held returns the running attempt's phase if the token is that of its lease.
func (t Task) held(token string) (RunningAttempt, error) {
	p, running := t.Current.Phase.(RunningAttempt)
	if !running || p.Lease.Token != token {
		return p, t.stale("the lease is not the one that its newest attempt is under")
	}
	return p, nil
}

// Keep saves an attempt of the task that stepped.
type Keep struct{ Attempt Attempt }

// Effect marks Keep as an effect.
func (Keep) Effect() {}
