package task

import "waybill/core"

// An Attempt is one execution of a task. An attempt that has ended never changes, except for its count of stale reports.
// Two attempts compare with ==.
type Attempt struct {
	ID     string
	TaskID string
	Number int // from 1, without gaps
	Cause  Cause
	// Link is the index of the attempt's model in the task's chain, or -1 if the model is not in it. A host that binds a
	// later model of the chain moves Link forward.
	Link      int
	Model     Model
	CreatedAt core.Instant
	// Stale counts the reports that came with a lease that was no longer valid.
	Stale int
	Phase AttemptPhase
}

// A Cause is the reason why an attempt was made.
type Cause string

// The causes.
const (
	CauseFirst   Cause = "first"   // the task was created
	CauseRetry   Cause = "retry"   // the attempt before it failed or was lost
	CauseReply   Cause = "reply"   // the question was answered
	CauseRequest Cause = "request" // a person or host asked for it
)

// An AttemptPhase holds the facts that exist in one state only. PendingAttempt, RunningAttempt and EndedAttempt are the only
// phases.
type AttemptPhase interface{ attemptPhase() }

// PendingAttempt is the phase of an attempt that no worker has claimed.
type PendingAttempt struct{}

// RunningAttempt is the phase of an attempt that a worker holds a lease on.
type RunningAttempt struct {
	Worker    string
	Session   string // "" until a session is bound
	StartedAt core.Instant
	Lease     Lease
}

// EndedAttempt is the phase of a finished attempt.
type EndedAttempt struct {
	Status    AttemptStatus // one of those that Final reports
	Worker    string        // "" if it never began
	Session   string
	StartedAt core.Instant // zero if it never began
	At        core.Instant // before StartedAt if the clock was set back
	Token     string       // of its last lease
	Failure   Failure
	// Digest identifies the report that ended the attempt, so that a repeated report is recognised; "" if no report did.
	Digest string
}

func (PendingAttempt) attemptPhase() {}
func (RunningAttempt) attemptPhase() {}
func (EndedAttempt) attemptPhase()   {}

// A Lease is the right to report about an attempt. Each report shows its token.
type Lease struct {
	Token string
	// Epoch grows with each claim of the task that a worker learned of. It is the number of the attempt.
	Epoch     int
	ExpiresAt core.Instant
	Length    int64 // in microseconds, from a sign of life
	// Spared says that the lease ran out unobserved and was extended once. A sign of life clears it.
	Spared bool
}

// extended returns the lease after a sign of life. A length of zero keeps the present length.
func (l Lease) extended(at core.Instant, length int64) Lease {
	if length > 0 {
		l.Length = length
	}
	l.ExpiresAt, l.Spared = at+core.Instant(l.Length), false
	return l
}

// runOut reports whether an expired lease is over for an observer that has watched without a gap since calm.
//
// A live worker sends a heartbeat well within half of its lease. An observer that missed a part of the last half (asleep,
// just started, or with a clock that jumped) cannot know whether there was a heartbeat, and spares the lease. It is spared
// only once, because observers that never watch for long would otherwise never end it.
func (l Lease) runOut(calm core.Instant) bool {
	return l.Spared || calm <= l.ExpiresAt-core.Instant(l.Length/2)
}

// spared returns the lease extended by its length, because no process has watched it.
func (l Lease) spared(at core.Instant) Lease {
	l = l.extended(at, 0)
	l.Spared = true
	return l
}

// rebased returns the lease for a clock that was set back: no lease lasts longer than its length.
func (l Lease) rebased(at core.Instant) Lease {
	if l.ExpiresAt > at+core.Instant(l.Length) {
		l.ExpiresAt = at + core.Instant(l.Length)
	}
	return l
}

// An AttemptStatus names the phase of an attempt.
type AttemptStatus string

// The statuses of an attempt.
const (
	AttemptPending     AttemptStatus = "pending"
	AttemptRunning     AttemptStatus = "running"
	AttemptCompleted   AttemptStatus = "completed"
	AttemptError       AttemptStatus = "error"
	AttemptCancelled   AttemptStatus = "cancelled"
	AttemptInterrupted AttemptStatus = "interrupted"
	AttemptLost        AttemptStatus = "lost" // its lease ran out
	AttemptAwaiting    AttemptStatus = "awaiting_response"
)

// Status returns the status of the attempt's phase.
func (a Attempt) Status() AttemptStatus {
	switch p := a.Phase.(type) {
	case PendingAttempt:
		return AttemptPending
	case RunningAttempt:
		return AttemptRunning
	case EndedAttempt:
		return p.Status
	}
	panic("task: attempt without a phase")
}

// Finished reports whether the attempt is over.
func (a Attempt) Finished() bool {
	_, over := a.Phase.(EndedAttempt)
	return over
}

// Failed reports whether the attempt ended with a failure. A withdrawn attempt did not fail.
func (a Attempt) Failed() bool {
	switch a.Status() {
	case AttemptError, AttemptLost, AttemptInterrupted:
		return true
	case AttemptPending, AttemptRunning, AttemptCompleted, AttemptCancelled, AttemptAwaiting:
		return false
	}
	panic("task: unknown attempt status " + string(a.Status()))
}

// Worker returns the worker that claimed the attempt, or "".
func (a Attempt) Worker() string {
	switch p := a.Phase.(type) {
	case PendingAttempt:
		return ""
	case RunningAttempt:
		return p.Worker
	case EndedAttempt:
		return p.Worker
	}
	panic("task: attempt without a phase")
}

// Session returns the session that the attempt runs in, or "".
func (a Attempt) Session() string {
	switch p := a.Phase.(type) {
	case PendingAttempt:
		return ""
	case RunningAttempt:
		return p.Session
	case EndedAttempt:
		return p.Session
	}
	panic("task: attempt without a phase")
}

// Token returns the token of the attempt's lease, or "" before its claim.
func (a Attempt) Token() string {
	switch p := a.Phase.(type) {
	case PendingAttempt:
		return ""
	case RunningAttempt:
		return p.Lease.Token
	case EndedAttempt:
		return p.Token
	}
	panic("task: attempt without a phase")
}

// StartedAt returns the time of the claim, or zero.
func (a Attempt) StartedAt() core.Instant {
	switch p := a.Phase.(type) {
	case PendingAttempt:
		return 0
	case RunningAttempt:
		return p.StartedAt
	case EndedAttempt:
		return p.StartedAt
	}
	panic("task: attempt without a phase")
}

// EndedAt returns the time of the end, or zero.
func (a Attempt) EndedAt() core.Instant {
	if p, over := a.Phase.(EndedAttempt); over {
		return p.At
	}
	return 0
}

// Failure returns the failure that ended the attempt, or the zero Failure.
func (a Attempt) Failure() Failure {
	if p, over := a.Phase.(EndedAttempt); over {
		return p.Failure
	}
	return Failure{}
}

// Belated returns the attempt with one more stale report.
func (a Attempt) Belated() Attempt {
	a.Stale++
	return a
}

// EndedBy reports whether exactly this report ended the attempt. A worker that repeats it, because the answer was lost, gets
// the same answer.
func (a Attempt) EndedBy(report Finish) bool {
	p, over := a.Phase.(EndedAttempt)
	return over && p.Digest != "" && p.Token == report.Token && p.Digest == report.digest()
}

// ClockSkew reports whether the attempt ended before it began, because a clock was set back.
func (a Attempt) ClockSkew() bool {
	p, over := a.Phase.(EndedAttempt)
	return over && p.At < p.StartedAt
}

// end ends the attempt.
func (a Attempt) end(status AttemptStatus, at core.Instant, failure Failure, digest string) Attempt {
	a.Phase = EndedAttempt{
		Status: status, Worker: a.Worker(), Session: a.Session(), StartedAt: a.StartedAt(),
		At: at, Token: a.Token(), Failure: failure, Digest: digest,
	}
	return a
}
