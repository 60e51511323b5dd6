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

// A RoleSet is a set of roles.
type RoleSet uint8

// RolesOf gives the set of the given roles.
func RolesOf(roles ...Role) RoleSet {
	var s RoleSet
	for _, r := range roles {
		s |= 1 << (r - 1)
	}
	return s
}

// Has reports whether the role is in the set.
func (s RoleSet) Has(r Role) bool { return s&RolesOf(r) != 0 }

// Reviewer reports whether the role judges the work of another.
func (r Role) Reviewer() bool { return r == SpecReviewer || r == CodeQualityReviewer }

// reviewers lists the reviewers in the order of their turns.
var reviewers = [...]Role{SpecReviewer, CodeQualityReviewer}

// A Policy holds the limits of a run. It is fixed when the run starts, so that a later change of
// the defaults does not move a run that is under way.
type Policy struct {
	InvalidRetries      int // stricter retries after an invalid result
	ReviewerFreshRuns   int // fresh reviewers after that
	WorkerFailures      int // fresh workers after a failed one
	ReviewRejections    int // rejections at which the run is blocked
	StalledThreshold    int // outcomes without progress at which a stall is flagged
	ReviewLoopThreshold int // reviews of one reviewer in a row that find the same at which a loop is flagged
	// Reviewers have to approve. None stands for both, or for the one reviewer of a host that knows
	// one only; see TakeResult.
	Reviewers RoleSet
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
	ReviewLoop       int // the larger Same of Run.Findings, from which it follows
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

// A Standing says how a role stands in a run.
type Standing uint8

// The standings.
const (
	Awaited   Standing = iota // its turn is to come, or has come again
	Submitted                 // the worker says that it is done
	Approved                  // the reviewer has nothing to say against the work
	Rejected                  // the reviewer wants something changed
	Unusable                  // its result was invalid, and it is asked once more, with the reason
	Replaced                  // its results were invalid, and another reviewer takes its place
	Stuck                     // the worker cannot go on
	Broken                    // the worker failed, and another one takes its place
)

// standings names the standings, for a person.
var standings = [...]string{
	"awaited", "submitted", "approved", "rejected", "unusable", "replaced", "stuck", "broken",
}

// String gives the standing's name.
func (s Standing) String() string {
	if int(s) < len(standings) {
		return standings[s]
	}
	return fmt.Sprintf("standing(%d)", uint8(s))
}

// A Run is the journey of one item of one plan. Two runs compare with ==.
type Run struct {
	ID       string
	Plan     string // path relative to the workspace
	ItemID   string
	State    RunState
	Halt     Halt // why State is blocked; "" in every other state
	Policy   Policy
	Counters Counters
	Standing [Roles]Standing
	// Sole says that its host knows one reviewer only, who is a SpecReviewer here.
	Sole bool
	// Named says that a reviewer has reported under its own name before any other review came.
	Named bool
	// Findings are those of the spec reviewer and of the code quality reviewer. What one of them finds or
	// approves says nothing about what the other one finds again.
	Findings    [len(reviewers)]Findings
	PlanVersion int // from 1; each replan records a new one
	// Frontier is a digest of what the plan wants done next, or wanted when the run was done. A run from
	// before there were any has none, "", from which every plan differs: whoever has the plan at hand sets
	// it before the first event.
	Frontier  string
	Revision  int64 // from 1; +1 whenever its facts change
	CreatedAt Instant
	UpdatedAt Instant
}

// Live reports whether the run can still come to an end by itself or with help.
func (r Run) Live() bool { return r.State == RunRunning || r.State == RunBlocked }

// StartRun gives a new run of an item and its effects.
func StartRun(id, plan, itemID, frontier string, policy Policy, at Instant) (Run, []Effect) {
	return Run{
		ID: id, Plan: plan, ItemID: itemID, State: RunRunning, Policy: policy,
		PlanVersion: 1, Frontier: frontier, Revision: 1, CreatedAt: at, UpdatedAt: at,
	}, []Effect{Record{RunStarted}}
}

// Supersede ends a live run because a newer run of the same item was asked for. A run that has
// ended stays as it is.
func (r Run) Supersede(at Instant) (Run, []Effect) {
	if !r.Live() {
		return r, nil
	}
	r.State, r.Halt, r.UpdatedAt = RunFailed, "", at
	return r, []Effect{Record{RunSuperseded}}
}

// Reread notes that the run's progress facts were read anew from its plan.
func (r Run) Reread(at Instant) (Run, []Effect) {
	r.Revision++
	r.UpdatedAt = at
	return r, []Effect{Record{RunLedger}}
}
