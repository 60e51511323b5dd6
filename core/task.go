package core

// A Task is one unit of agent work: what is asked, how it stands, and its newest attempt. Everything
// that says how the newest attempt stands is read from it and kept nowhere else. Two tasks compare
// with ==.
type Task struct {
	ID string
	// Position orders the tasks of a store: a later one was created later. It never changes, so what
	// comes back into the queue goes ahead of what was created after it.
	Position  int64
	CreatedAt Instant
	UpdatedAt Instant
	Launch    Launch
	// Waits counts the tasks that must complete before this one may be claimed.
	Waits int
	Spent Spent
	// Output and Question are what the last attempt said that completed, asked, or said something as it
	// ended otherwise. While there is a Reply, they are what it was given to.
	Output   string
	Question string
	// Reply is the answer that the attempts carry until one of them has an outcome, or "".
	Reply   string
	Replies int // how often the task was replied to
	Current Attempt
	Phase   TaskPhase
}

// Launch is what a task is started with. It never changes, and every attempt gets all of it.
type Launch struct {
	Prompt      string
	Description string
	RunID       string
	Role        string
	Parent      string // the session that started it and is told of its end
	Chain       Chain
	MaxAttempts int    // attempts that may fail or be lost; at least 1
	DependsOn   string // a JSON array of task ids, or ""
	Labels      string // a JSON object, or ""
}

// Spent counts what the attempts of a task have used up since it was created, or since a person set it
// going again after it had ended. Whoever answers a question does not give a new budget with it.
type Spent struct {
	Failures int // attempts that failed or were lost
	OnModel  int // those of them on the present model, one after the other
}

// A TaskPhase holds what is true of a task in one state and in no other. TaskQueued, TaskRunning,
// TaskComplete, TaskAwaiting, TaskErrored, TaskCancelled and TaskBlocked are the only phases.
type TaskPhase interface {
	Status() TaskStatus
	taskPhase()
}

// TaskQueued is the phase of a task whose newest attempt is pending.
type TaskQueued struct {
	NotBefore Instant // when a retry may begin; zero for at once
}

// TaskRunning is the phase of a task whose newest attempt is running.
type TaskRunning struct {
	// CancelAt is when the host asked for its end, or zero. The end itself is for the worker to report.
	CancelAt     Instant
	CancelReason string
}

// TaskComplete is the phase of a task whose newest attempt completed. It is the end.
type TaskComplete struct{}

// TaskAwaiting is the phase of a task that waits for a person's answer.
type TaskAwaiting struct{}

// TaskErrored is the phase of a task that nothing will be tried for until somebody asks.
type TaskErrored struct{ Reason ErrorReason }

// TaskCancelled is the phase of a task that was withdrawn.
type TaskCancelled struct {
	At     Instant
	Reason string
}

// TaskBlocked is the phase of a task that its run holds back.
type TaskBlocked struct {
	At     Instant
	Reason string
}

// A TaskStatus names the phase of a task.
type TaskStatus string

// The statuses of a task.
const (
	StatusQueued    TaskStatus = "QUEUED"
	StatusRunning   TaskStatus = "RUNNING"
	StatusComplete  TaskStatus = "COMPLETE"
	StatusAwaiting  TaskStatus = "AWAITING_RESPONSE"
	StatusError     TaskStatus = "ERROR"
	StatusCancelled TaskStatus = "CANCELLED"
	StatusBlocked   TaskStatus = "BLOCKED"
)

// TaskStatuses lists the statuses in the order of a task's life.
func TaskStatuses() []TaskStatus {
	return []TaskStatus{
		StatusQueued, StatusRunning, StatusComplete, StatusAwaiting, StatusError, StatusCancelled, StatusBlocked,
	}
}

// Ended reports whether nothing goes on in a task of that status until somebody sets it going.
func (s TaskStatus) Ended() bool {
	switch s {
	case StatusComplete, StatusError, StatusCancelled, StatusBlocked:
		return true
	case StatusQueued, StatusRunning, StatusAwaiting:
		return false
	}
	panic("core: unknown task status " + string(s))
}

// Forgettable reports whether a task with the status may be forgotten one day: it has come to its end, and that is not one
// which somebody may still have to look after.
func (s TaskStatus) Forgettable() bool {
	switch s {
	case StatusComplete, StatusCancelled:
		return true
	case StatusQueued, StatusRunning, StatusAwaiting, StatusError, StatusBlocked:
		return false
	}
	panic("core: unknown task status " + string(s))
}

// NeededBy reports whether a task with the status must not be forgotten because of one that depends on it and has the other
// status: one that may still go on needs all of its dependencies, and a cancelled one, which may be told to go on, those
// that are not complete.
func (s TaskStatus) NeededBy(other TaskStatus) bool {
	return !other.Forgettable() || s != StatusComplete && other != StatusComplete
}

// An ErrorReason says why a task is in ERROR.
type ErrorReason string

// The reasons.
const (
	ReasonFailed      ErrorReason = "failed"            // the failure was one that no retry mends
	ReasonTimeout     ErrorReason = "timeout"           // the worker gave up waiting
	ReasonExhausted   ErrorReason = "retries_exhausted" // the last attempt that was allowed failed or was lost
	ReasonInterrupted ErrorReason = "interrupted"       // the worker was stopped
)

// ErrorReasons lists the reasons.
func ErrorReasons() []ErrorReason {
	return []ErrorReason{ReasonFailed, ReasonTimeout, ReasonExhausted, ReasonInterrupted}
}

// Status gives StatusQueued.
func (TaskQueued) Status() TaskStatus { return StatusQueued }

// Status gives StatusRunning.
func (TaskRunning) Status() TaskStatus { return StatusRunning }

// Status gives StatusComplete.
func (TaskComplete) Status() TaskStatus { return StatusComplete }

// Status gives StatusAwaiting.
func (TaskAwaiting) Status() TaskStatus { return StatusAwaiting }

// Status gives StatusError.
func (TaskErrored) Status() TaskStatus { return StatusError }

// Status gives StatusCancelled.
func (TaskCancelled) Status() TaskStatus { return StatusCancelled }

// Status gives StatusBlocked.
func (TaskBlocked) Status() TaskStatus { return StatusBlocked }

func (TaskQueued) taskPhase()    {}
func (TaskRunning) taskPhase()   {}
func (TaskComplete) taskPhase()  {}
func (TaskAwaiting) taskPhase()  {}
func (TaskErrored) taskPhase()   {}
func (TaskCancelled) taskPhase() {}
func (TaskBlocked) taskPhase()   {}

// Status is the status of the task's phase.
func (t Task) Status() TaskStatus { return t.Phase.Status() }

// Reason says why the task is where it is, as far as its phase knows, or "".
func (t Task) Reason() string {
	switch p := t.Phase.(type) {
	case TaskErrored:
		return string(p.Reason)
	case TaskCancelled:
		return p.Reason
	case TaskBlocked:
		return p.Reason
	case TaskQueued, TaskRunning, TaskComplete, TaskAwaiting:
		return ""
	}
	panic("core: task without a phase")
}

// Continues reports whether the attempts of the task carry a person's answer.
func (t Task) Continues() bool { return t.Reply != "" }

// MaxBackoff bounds the wait before a retry, in microseconds. Whoever is to wait longer than that
// waits because a clock was set back.
const MaxBackoff = 60_000_000

// Claimable reports whether a worker may have the task at that moment.
func (t Task) Claimable(at Instant) bool {
	p, queued := t.Phase.(TaskQueued)
	return queued && t.Waits == 0 && (p.NotBefore <= at || p.NotBefore > at+MaxBackoff)
}

// CreateTask gives a new task with its first attempt and its effects. waits counts the tasks that it
// depends on and that are not complete.
func CreateTask(id, attemptID string, position int64, launch Launch, waits int, at Instant) (Task, []Effect) {
	t := Task{
		ID: id, Position: position, CreatedAt: at, UpdatedAt: at, Launch: launch, Waits: waits,
		Phase: TaskQueued{},
	}
	t.Current = t.attempt(attemptID, CauseFirst, 0, at)
	return t, []Effect{Keep{t.Current}, Record{TaskCreated}}
}

// attempt gives the next attempt of the task, on the given link of its chain.
func (t Task) attempt(id string, cause Cause, link int, at Instant) Attempt {
	a := Attempt{
		ID: id, TaskID: t.ID, Number: t.Current.Number + 1, Cause: cause, Link: link, CreatedAt: at,
		Phase: Pending{},
	}
	if models := t.Launch.Chain.Models(); link >= 0 && link < len(models) {
		a.Model = models[link]
	}
	return a
}
