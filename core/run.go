package core

import "fmt"

// A Role says what an agent does in a run.
type Role uint8

// The roles.
const (
	Worker Role = iota + 1
	SpecReviewer
	CodeQualityReviewer
)

// Roles counts the roles; an array of that length is indexed by Role-1.
const Roles = 3

// String gives the role's name on the wire.
func (r Role) String() string {
	switch r {
	case Worker:
		return "worker"
	case SpecReviewer:
		return "spec-reviewer"
	case CodeQualityReviewer:
		return "code-quality-reviewer"
	}
	return fmt.Sprintf("role(%d)", uint8(r))
}

// ParseRole reads a role: its name, "implementer" for worker, or "reviewer" for spec-reviewer.
func ParseRole(name string) (Role, bool) {
	switch name {
	case "worker", "implementer":
		return Worker, true
	case "spec-reviewer", "reviewer":
		return SpecReviewer, true
	case "code-quality-reviewer":
		return CodeQualityReviewer, true
	}
	return 0, false
}

// A Policy holds the limits of a run. It is fixed when the run starts, so that a later change of
// the defaults does not move a run that is under way.
type Policy struct {
	InvalidRetries      int // stricter retries after an invalid result
	ReviewerFreshRuns   int // fresh reviewers after that
	WorkerFailures      int // fresh workers after a failed one
	ReviewRejections    int // rejections at which the run is blocked
	StalledThreshold    int // outcomes without progress at which a stall is flagged
	ReviewLoopThreshold int // identical review issues at which a loop is flagged
}

// DefaultPolicy is the policy of a run that names none.
func DefaultPolicy() Policy {
	return Policy{
		InvalidRetries: 1, ReviewerFreshRuns: 1, WorkerFailures: 1,
		ReviewRejections: 3, StalledThreshold: 2, ReviewLoopThreshold: 2,
	}
}

// Counters count what went wrong in a run, each independently of the others.
type Counters struct {
	InvalidResults   [Roles]int
	WorkerFailures   int
	ReviewRejections int
	Stalled          int
	ReviewLoop       int
}

// A RunState names where a run is.
type RunState string

// The states of a run.
const (
	RunRunning RunState = "running"
	RunBlocked RunState = "blocked"
	RunDone    RunState = "done"
	RunFailed  RunState = "failed"
)

// RunStates lists the states of a run.
func RunStates() []RunState { return []RunState{RunRunning, RunBlocked, RunDone, RunFailed} }

// A Run is the journey of one item of one plan. Two runs compare with ==.
type Run struct {
	ID          string
	Plan        string // path relative to the workspace
	ItemID      string
	State       RunState
	Policy      Policy
	Counters    Counters
	PlanVersion int   // from 1; each replan records a new one
	Revision    int64 // from 1; +1 whenever its facts change
	CreatedAt   Instant
	UpdatedAt   Instant
}

// Live reports whether the run can still come to an end by itself or with help.
func (r Run) Live() bool { return r.State == RunRunning || r.State == RunBlocked }

// StartRun gives a new run of an item and its effects.
func StartRun(id, plan, itemID string, policy Policy, at Instant) (Run, []Effect) {
	return Run{
		ID: id, Plan: plan, ItemID: itemID, State: RunRunning, Policy: policy,
		PlanVersion: 1, Revision: 1, CreatedAt: at, UpdatedAt: at,
	}, []Effect{Record{RunStarted}}
}

// Supersede ends a live run because a newer run of the same item was asked for. A run that has
// ended stays as it is.
func (r Run) Supersede(at Instant) (Run, []Effect) {
	if !r.Live() {
		return r, nil
	}
	r.State, r.UpdatedAt = RunFailed, at
	return r, []Effect{Record{RunSuperseded}}
}

// Reread notes that the run's progress facts were read anew from its plan.
func (r Run) Reread(at Instant) (Run, []Effect) {
	r.Revision++
	r.UpdatedAt = at
	return r, []Effect{Record{RunLedger}}
}
