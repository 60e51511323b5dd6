package core

import "fmt"

// Step gives what the task becomes when the event happens to it, and what must follow. An event that
// changes nothing gives the same task and no effects. An event that the state does not allow gives a
// *Refusal and the same task; one that comes from somebody whose attempt it is not any more, a *Refusal
// of kind StaleAttempt.
//
// The laws that every sequence of events keeps:
//   - a task has one newest attempt, and every other one is finished;
//   - a finished attempt never changes, and attempts are numbered 1, 2, 3, …;
//   - the newest attempt is pending while the task is queued, running while it is running, and
//     finished otherwise;
//   - only the holder of the lease ends an attempt that runs, or the end of the lease, or the end of
//     its session;
//   - at most MaxAttempts attempts fail or are lost before a person is needed;
//   - a failure gives one attempt more or an end, never both;
//   - COMPLETE is final; out of ERROR, CANCELLED and BLOCKED, only RetryTask and ReplyToTask lead back
//     into the queue;
//   - a reply stays with the task, under what it was given to, until an attempt that carries it has an
//     outcome;
//   - every end and every question leaves a notice.
func (t Task) Step(event TaskEvent) (Task, []Effect, error) {
	switch e := event.(type) {
	case ClaimTask:
		return t.claim(e)
	case ReturnTask:
		return t.giveBack(e)
	case BindSession:
		return t.bind(e)
	case Heartbeat:
		return t.heartbeat(e)
	case ExpireLease:
		return t.expire(e)
	case FinishAttempt:
		return t.finish(e)
	case HearSession:
		return t.hear(e)
	case RetryTask:
		return t.again(e)
	case CancelTask:
		return t.cancel(e)
	case ReplyToTask:
		return t.reply(e)
	case BlockTask:
		return t.block(e)
	case DependencyDone:
		return t.dependencyDone(e)
	}
	panic(fmt.Sprintf("core: unknown task event %T", event))
}

func (t Task) claim(e ClaimTask) (Task, []Effect, error) {
	if !t.Claimable(e.At) {
		return t.refuse("claimed: " + t.whyNotClaimable())
	}
	t.Current.Phase = Running{
		Worker: e.Worker, StartedAt: e.At,
		Lease: Lease{Token: e.Token, Epoch: t.Current.Number}.extended(e.At, e.Length),
	}
	t.Phase = TaskRunning{}
	return t.moved(e.At, Keep{t.Current}, Record{AttemptStarted})
}

// giveBack changes something only while nothing has been heard of the attempt: whoever reported about it
// has learned of its claim.
func (t Task) giveBack(e ReturnTask) (Task, []Effect, error) {
	p, err := t.held(e.Token)
	if err != nil || p.Session != "" || p.Lease != p.Lease.extended(p.StartedAt, 0) {
		return t, nil, nil
	}
	if t.Phase.(TaskRunning).CancelAt != 0 {
		return t.ended(AttemptCancelled, e.At, Failure{}, "", t.withdrawn(e.At, ""))
	}
	t.Current.Phase, t.Phase = Pending{}, TaskQueued{}
	return t.moved(e.At, Keep{t.Current}, Record{AttemptReturned})
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

func (t Task) bind(e BindSession) (Task, []Effect, error) {
	p, err := t.held(e.Token)
	switch {
	case err != nil:
		return t, nil, err
	case e.AttemptID != t.Current.ID:
		return t.conflict(AttemptFinalized, fmt.Sprintf("attempt %s is not the newest one of task %s, which is %s: it is over",
			e.AttemptID, t.ID, t.Current.ID))
	case p.Session == e.Session && (e.Model == Model{} || e.Model == t.Current.Model):
		return t, nil, nil
	case p.Session != "" && p.Session != e.Session:
		return t.conflict(SessionTaken, fmt.Sprintf("attempt %s runs in session %q already; an attempt has one session",
			t.Current.ID, p.Session))
	}
	first := p.Session == ""
	p.Session = e.Session
	p.Lease = p.Lease.extended(e.At, 0)
	t.Current.Phase = p
	t = t.on(e.Model)
	effects := []Effect{Keep{t.Current}, Record{AttemptBound}}
	if first && t.Current.Cause == CauseRetry {
		effects = append(effects, Post{NoticeRetryReady})
	}
	return t.moved(e.At, effects...)
}

// on gives the task with the model that its newest attempt was bound to. One that stands further on in the
// chain moves the attempt there, so that what follows goes on behind it and never back to what has failed.
func (t Task) on(model Model) Task {
	if model == (Model{}) {
		return t
	}
	t.Current.Model = model
	if link := t.Launch.Chain.index(model); link > t.Current.Link {
		t.Current.Link = link
		t.Spent.OnModel = 0
	}
	return t
}

func (t Task) heartbeat(e Heartbeat) (Task, []Effect, error) {
	p, err := t.held(e.Token)
	if err != nil {
		return t, nil, err
	}
	if e.Progress {
		return t.alive(p, e.At, e.Length, Record{AttemptProgress})
	}
	return t.alive(p, e.At, e.Length)
}

// alive takes a sign of life, and records what there is to tell beside it. It does not move UpdatedAt:
// a worker that is merely at it changes nothing that a person would look for.
func (t Task) alive(p Running, at Instant, length int64, told ...Effect) (Task, []Effect, error) {
	lease := p.Lease.extended(at, length)
	if lease == p.Lease {
		return t, told, nil
	}
	p.Lease = lease
	t.Current.Phase = p
	return t, append([]Effect{Keep{t.Current}}, told...), nil
}

func (t Task) expire(e ExpireLease) (Task, []Effect, error) {
	p, running := t.Current.Phase.(Running)
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
		return t, []Effect{Keep{t.Current}}, nil
	}
	if !due {
		return t, nil, nil
	}
	message := fmt.Sprintf("nothing was heard of worker %q for %s, the length of its lease", p.Worker, span(p.Lease.Length))
	lost := Failure{Class: ClassTransient, Name: "LeaseExpired", Message: message}
	return t.failed(AttemptLost, e.At, lost, "", RetrySame, e.Next)
}

func (t Task) finish(e FinishAttempt) (Task, []Effect, error) {
	if t.Current.EndedBy(e) {
		return t, nil, nil
	}
	p, err := t.held(e.Token)
	if err != nil {
		return t, nil, err
	}
	cancelled := t.Phase.(TaskRunning).CancelAt != 0
	t = t.said(e)
	switch e.Status {
	case AttemptCompleted:
		return t.ended(AttemptCompleted, e.At, Failure{}, e.digest(), TaskComplete{})
	case AttemptError:
		return t.failed(AttemptError, e.At, e.Failure, e.digest(), e.Mode, e.Next)
	case AttemptCancelled:
		return t.ended(AttemptCancelled, e.At, e.Failure, e.digest(), t.withdrawn(e.At, "the worker reported it cancelled"))
	case AttemptInterrupted:
		if cancelled {
			return t.ended(AttemptCancelled, e.At, e.Failure, e.digest(), t.withdrawn(e.At, ""))
		}
		return t.ended(AttemptInterrupted, e.At, e.Failure, e.digest(), TaskErrored{ReasonInterrupted})
	case AttemptAwaiting:
		if cancelled {
			return t.ended(AttemptCancelled, e.At, Failure{}, e.digest(), t.withdrawn(e.At, ""))
		}
		return t.ended(AttemptAwaiting, e.At, Failure{}, e.digest(), TaskAwaiting{})
	case AttemptPending, AttemptRunning, AttemptLost:
	}
	panic(fmt.Sprintf("core: attempt %s of worker %s finished as %s", t.Current.ID, p.Worker, e.Status))
}

func (t Task) hear(e HearSession) (Task, []Effect, error) {
	p, running := t.Current.Phase.(Running)
	if !running || p.Session == "" || p.Session != e.Session {
		return t, nil, t.stale(fmt.Sprintf("session %q is not the one that works on it", e.Session))
	}
	switch e.Kind {
	case SessionError:
		if e.Failure.Class != ClassTransient {
			return t.failed(AttemptError, e.At, e.Failure, "", RetryAuto, e.Next)
		}
		return t.alive(p, e.At, 0, Record{AttemptReported})
	case SessionDeleted:
		gone := Failure{Class: ClassUser, Name: "SessionDeleted", Message: "its session was deleted"}
		return t.ended(AttemptCancelled, e.At, gone, "", t.withdrawn(e.At, "its session was deleted"))
	case SessionProgress:
		if !e.Telling {
			return t.alive(p, e.At, 0)
		}
		return t.alive(p, e.At, 0, Record{AttemptReported})
	case SessionStarted, SessionIdle: // idle is not done: only the worker knows
		return t.alive(p, e.At, 0, Record{AttemptReported})
	}
	panic("core: unknown session event " + string(e.Kind))
}

// held gives the running attempt's phase to whoever shows its token.
func (t Task) held(token string) (Running, error) {
	p, running := t.Current.Phase.(Running)
	if !running || p.Lease.Token != token {
		return p, t.stale("the lease is not the one that its newest attempt is under")
	}
	return p, nil
}
