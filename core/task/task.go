// Package task decides how a task and its attempts continue after an event: claims, leases, reports, replies, retries
// over a chain of models, and the breaker that pauses a failing model. It starts no worker and keeps no time.
package task

import "waybill/core"

// A Task is one unit of agent work: its spec, its phase and its newest attempt. The state of the newest attempt is
// kept in Current alone. Two tasks compare with ==.
type Task struct {
	ID string
	// Position orders the tasks of a store by creation. It never changes, so a task that returns to the queue goes
	// ahead of the tasks that were created after it.
	Position  int64
	CreatedAt core.Instant
	UpdatedAt core.Instant
	Spec      Spec
	// Waits counts the tasks that must complete before this one may be claimed.
	Waits int
	Spent Spent
	// Output and Question come from the newest attempt that reported any. While there is a Reply, they are the texts
	// that the reply answers.
	Output   string
	Question string
	Offer    Offer // of the Question; if that is empty, of the Output
	// Reply is the answer to the question, or "", and Choice the option that it takes. Each attempt gets both until one of
	// them has an outcome.
	Reply   string
	Choice  Choice
	Replies int // number of replies
	Current Attempt
	Phase   Phase
}

// A Spec holds the facts of a task that never change. Every attempt gets all of it.
type Spec struct {
	Prompt      string
	Description string
	RunID       string
	Role        string
	Parent      string // the session that created it and gets its notices
	Chain       Chain
	MaxAttempts int    // attempts that may fail or be lost; at least 1
	DependsOn   string // a JSON array of task ids, or ""
	Labels      string // a JSON object, or ""
}

// RoleQuestion is the role of a task that is only a question of a session. No worker runs it: the session is its worker, and
// the answer completes it.
const RoleQuestion = "question"

// Spent counts the failures since the task was created, or since a person retried it after its end. A reply does not
// reset it.
type Spent struct {
	Failures int // attempts that failed or were lost
	OnModel  int // failures in a row on the present model
}

// A Phase holds the facts that exist in one state only. Queued, Running, Complete, Awaiting, Errored, Cancelled and
// Blocked are the only phases.
type Phase interface {
	Status() Status
	phase()
}

// Queued is the phase of a task whose newest attempt is pending.
type Queued struct {
	NotBefore core.Instant // when a retry may begin; zero for at once
}

// Running is the phase of a task whose newest attempt is running.
type Running struct {
	// CancelAt is the time at which the host asked for the end, or zero. The worker reports the end itself.
	CancelAt     core.Instant
	CancelReason string
}

// Complete is the final phase of a task whose newest attempt completed.
type Complete struct{}

// Awaiting is the phase of a task that waits for a person's answer.
type Awaiting struct {
	DefaultAt core.Instant // when the default of its offer is taken; zero for never
}

// Errored is the phase of a task that is not tried again until a person or host asks.
type Errored struct{ Reason ErrorReason }

// Cancelled is the phase of a task that was withdrawn.
type Cancelled struct {
	At     core.Instant
	Reason string
}

// Blocked is the phase of a task whose run is blocked.
type Blocked struct {
	At     core.Instant
	Reason string
}

// A Status names the phase of a task.
type Status string

// The statuses of a task.
const (
	StatusQueued    Status = "QUEUED"
	StatusRunning   Status = "RUNNING"
	StatusComplete  Status = "COMPLETE"
	StatusAwaiting  Status = "AWAITING_RESPONSE"
	StatusError     Status = "ERROR"
	StatusCancelled Status = "CANCELLED"
	StatusBlocked   Status = "BLOCKED"
)

// Statuses lists the statuses in the order of a task's life.
func Statuses() []Status {
	return []Status{
		StatusQueued, StatusRunning, StatusComplete, StatusAwaiting, StatusError, StatusCancelled, StatusBlocked,
	}
}

// Ended reports whether a task with the status does nothing more until it is retried.
func (s Status) Ended() bool {
	switch s {
	case StatusComplete, StatusError, StatusCancelled, StatusBlocked:
		return true
	case StatusQueued, StatusRunning, StatusAwaiting:
		return false
	}
	panic("task: unknown task status " + string(s))
}

// Forgettable reports whether pruning may remove a task with the status: it has ended, and its end needs no attention.
func (s Status) Forgettable() bool {
	switch s {
	case StatusComplete, StatusCancelled:
		return true
	case StatusQueued, StatusRunning, StatusAwaiting, StatusError, StatusBlocked:
		return false
	}
	panic("task: unknown task status " + string(s))
}

// NeededBy reports whether pruning must keep a task with the status because a dependent has the other status. A
// dependent that may still continue needs all of its dependencies. A cancelled dependent can be retried, so it needs
// those that are not complete.
func (s Status) NeededBy(other Status) bool {
	return !other.Forgettable() || s != StatusComplete && other != StatusComplete
}

// An ErrorReason is the reason why a task is in ERROR.
type ErrorReason string

// The reasons.
const (
	ReasonFailed      ErrorReason = "failed"            // the class of the failure allows no retry
	ReasonTimeout     ErrorReason = "timeout"           // the worker gave up waiting
	ReasonExhausted   ErrorReason = "retries_exhausted" // the last allowed attempt failed or was lost
	ReasonInterrupted ErrorReason = "interrupted"       // the worker was stopped
)

// Status returns StatusQueued.
func (Queued) Status() Status { return StatusQueued }

// Status returns StatusRunning.
func (Running) Status() Status { return StatusRunning }

// Status returns StatusComplete.
func (Complete) Status() Status { return StatusComplete }

// Status returns StatusAwaiting.
func (Awaiting) Status() Status { return StatusAwaiting }

// Status returns StatusError.
func (Errored) Status() Status { return StatusError }

// Status returns StatusCancelled.
func (Cancelled) Status() Status { return StatusCancelled }

// Status returns StatusBlocked.
func (Blocked) Status() Status { return StatusBlocked }

func (Queued) phase()    {}
func (Running) phase()   {}
func (Complete) phase()  {}
func (Awaiting) phase()  {}
func (Errored) phase()   {}
func (Cancelled) phase() {}
func (Blocked) phase()   {}

// Status returns the status of the task's phase.
func (t Task) Status() Status { return t.Phase.Status() }

// Reason returns why the task is in its phase, or "" if the phase has no reason.
func (t Task) Reason() string {
	switch p := t.Phase.(type) {
	case Errored:
		return string(p.Reason)
	case Cancelled:
		return p.Reason
	case Blocked:
		return p.Reason
	case Queued, Running, Complete, Awaiting:
		return ""
	}
	panic("task: task without a phase")
}

// Continues reports whether the attempts of the task carry an answer.
func (t Task) Continues() bool { return t.Reply != "" }

// MaxBackoff is the longest wait before a retry, in microseconds. A longer wait means that a clock was set back.
const MaxBackoff = 60_000_000

// Claimable reports whether a worker may claim the task at that moment.
func (t Task) Claimable(at core.Instant) bool {
	p, queued := t.Phase.(Queued)
	return queued && t.Waits == 0 && (p.NotBefore <= at || p.NotBefore > at+MaxBackoff)
}

// Create returns a new task with its first attempt and its effects. waits is the number of its dependencies that are
// not complete.
func Create(id, attemptID string, position int64, spec Spec, waits int, at core.Instant) (Task, []core.Effect) {
	t := Task{
		ID: id, Position: position, CreatedAt: at, UpdatedAt: at, Spec: spec, Waits: waits,
		Phase: Queued{},
	}
	t.Current = t.attempt(attemptID, CauseFirst, 0, at)
	return t, []core.Effect{Keep{t.Current}, core.Record{Type: core.TaskCreated}}
}

// attempt returns the next attempt of the task, on the given link of its chain.
func (t Task) attempt(id string, cause Cause, link int, at core.Instant) Attempt {
	a := Attempt{
		ID: id, TaskID: t.ID, Number: t.Current.Number + 1, Cause: cause, Link: link, CreatedAt: at,
		Phase: PendingAttempt{},
	}
	if models := t.Spec.Chain.Models(); link >= 0 && link < len(models) {
		a.Model = models[link]
	}
	return a
}

// Unsettled reports whether a failed task still needs attention: it is in ERROR or BLOCKED, its notice was not
// consumed, and its run still waits for it. runs says that its run is running; a blocked or ended run needs no notice
// of its tasks. newest is the newest task of the same role in the run.
func (t Task) Unsettled(runs bool, newest string) bool {
	if s := t.Status(); s != StatusError && s != StatusBlocked {
		return false
	}
	return t.Spec.RunID == "" || runs && newest == t.ID
}
