package core

// An Attempt is one execution of a task. Once it has ended, nothing of it changes but the count of
// those who came too late. Two attempts compare with ==.
type Attempt struct {
	ID     string
	TaskID string
	Number int // from 1, without gaps
	Cause  Cause
	// Link is the place in the task's chain that the attempt was made for, or -1 if it was made for a
	// model that is not in it. A host that binds a model further on in the chain moves it there.
	Link      int
	Model     Model
	CreatedAt Instant
	// Stale counts the reports that came for the attempt when it was not theirs to make any more.
	Stale int
	Phase AttemptPhase
}

// A Cause says why an attempt was made.
type Cause string

// The causes.
const (
	CauseFirst   Cause = "first"   // the task was created
	CauseRetry   Cause = "retry"   // the attempt before it failed or was lost
	CauseReply   Cause = "reply"   // a person answered
	CauseRequest Cause = "request" // somebody asked for it
)

// Causes lists the causes.
func Causes() []Cause { return []Cause{CauseFirst, CauseRetry, CauseReply, CauseRequest} }

// An AttemptPhase holds what is true of an attempt in one state and in no other.
// Pending, Running and Ended are the only phases.
type AttemptPhase interface{ attemptPhase() }

// Pending is the phase of an attempt that nobody has begun.
type Pending struct{}

// Running is the phase of an attempt that a worker has under its lease.
type Running struct {
	Worker    string
	Session   string // "" until a session is bound
	StartedAt Instant
	Lease     Lease
}

// Ended is the phase of an attempt that is over, in whatever way.
type Ended struct {
	Status    AttemptStatus // one of those that Final reports
	Worker    string        // "" if it never began
	Session   string
	StartedAt Instant // zero if it never began
	At        Instant // before StartedAt if the clock was set back meanwhile
	Token     string  // of the lease that it ended under
	Failure   Failure
	// Digest is of the report that ended it, so that the same report again is known; "" if none did.
	Digest string
}

func (Pending) attemptPhase() {}
func (Running) attemptPhase() {}
func (Ended) attemptPhase()   {}

// A Lease is the right to report about an attempt. Whoever reports shows its token.
type Lease struct {
	Token string
	// Epoch grows with each claim of the task that a worker learned of. It is the number of the attempt.
	Epoch     int
	ExpiresAt Instant
	Length    int64 // in microseconds: what a sign of life extends it to
	// Spared says that the lease had run out, and was given its whole length once more by somebody who
	// had not watched it well enough to end it. A sign of life clears it.
	Spared bool
}

// extended gives the lease as it is after a sign of life. A length of zero keeps the present one.
func (l Lease) extended(at Instant, length int64) Lease {
	if length > 0 {
		l.Length = length
	}
	l.ExpiresAt, l.Spared = at+Instant(l.Length), false
	return l
}

// runOut reports whether a lease whose end has come is over in the eyes of an observer who has watched
// without a gap since calm. A worker that lives speaks up well within half of its lease. Somebody who
// was not there in all of the last half, because he slept, was not started yet or his clock jumped,
// cannot tell it from one that had nobody to speak to, and spares the lease, but only once: were it not
// for that, those who never watch for long would never end it.
func (l Lease) runOut(calm Instant) bool {
	return l.Spared || calm <= l.ExpiresAt-Instant(l.Length/2)
}

// spared is the lease with its whole length once more, for want of somebody who has watched it.
func (l Lease) spared(at Instant) Lease {
	l = l.extended(at, 0)
	l.Spared = true
	return l
}

// rebased is the lease as a clock that was set back has to see it: none lasts longer than its length.
func (l Lease) rebased(at Instant) Lease {
	if l.ExpiresAt > at+Instant(l.Length) {
		l.ExpiresAt = at + Instant(l.Length)
	}
	return l
}

// An AttemptStatus names how an attempt stands.
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

// AttemptStatuses lists the statuses in the order of an attempt's life.
func AttemptStatuses() []AttemptStatus {
	return []AttemptStatus{
		AttemptPending, AttemptRunning, AttemptCompleted, AttemptError, AttemptCancelled,
		AttemptInterrupted, AttemptLost, AttemptAwaiting,
	}
}

// Status is the status of the attempt's phase.
func (a Attempt) Status() AttemptStatus {
	switch p := a.Phase.(type) {
	case Pending:
		return AttemptPending
	case Running:
		return AttemptRunning
	case Ended:
		return p.Status
	}
	panic("core: attempt without a phase")
}

// Finished reports whether the attempt is over.
func (a Attempt) Finished() bool {
	_, over := a.Phase.(Ended)
	return over
}

// Worker is who claimed the attempt, or "".
func (a Attempt) Worker() string {
	switch p := a.Phase.(type) {
	case Pending:
		return ""
	case Running:
		return p.Worker
	case Ended:
		return p.Worker
	}
	panic("core: attempt without a phase")
}

// Session is the session that the attempt runs in, or "".
func (a Attempt) Session() string {
	switch p := a.Phase.(type) {
	case Pending:
		return ""
	case Running:
		return p.Session
	case Ended:
		return p.Session
	}
	panic("core: attempt without a phase")
}

// Token is the token of the lease that the attempt is or was under, or "".
func (a Attempt) Token() string {
	switch p := a.Phase.(type) {
	case Pending:
		return ""
	case Running:
		return p.Lease.Token
	case Ended:
		return p.Token
	}
	panic("core: attempt without a phase")
}

// StartedAt is when the attempt was claimed, or zero.
func (a Attempt) StartedAt() Instant {
	switch p := a.Phase.(type) {
	case Pending:
		return 0
	case Running:
		return p.StartedAt
	case Ended:
		return p.StartedAt
	}
	panic("core: attempt without a phase")
}

// EndedAt is when the attempt ended, or zero.
func (a Attempt) EndedAt() Instant {
	if p, over := a.Phase.(Ended); over {
		return p.At
	}
	return 0
}

// Failure is what went wrong in the attempt, or the zero Failure.
func (a Attempt) Failure() Failure {
	if p, over := a.Phase.(Ended); over {
		return p.Failure
	}
	return Failure{}
}

// Belated counts one more report that came too late.
func (a Attempt) Belated() Attempt {
	a.Stale++
	return a
}

// EndedBy reports whether the attempt was ended by exactly this report. Whoever sends it again, since
// the answer was lost, is given the same answer.
func (a Attempt) EndedBy(report FinishAttempt) bool {
	p, over := a.Phase.(Ended)
	return over && p.Digest != "" && p.Token == report.Token && p.Digest == report.digest()
}

// ClockSkew reports whether the attempt ended before it began, by a clock that was set back meanwhile.
func (a Attempt) ClockSkew() bool {
	p, over := a.Phase.(Ended)
	return over && p.At < p.StartedAt
}

// end ends the attempt.
func (a Attempt) end(status AttemptStatus, at Instant, failure Failure, digest string) Attempt {
	a.Phase = Ended{
		Status: status, Worker: a.Worker(), Session: a.Session(), StartedAt: a.StartedAt(),
		At: at, Token: a.Token(), Failure: failure, Digest: digest,
	}
	return a
}
