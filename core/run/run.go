// Package run decides how the run of one item continues after a result, a lost worker, a new plan or a decision of a
// person. Its counters are independent of each other. It reads no result text; core/verdict does.
package run

import (
	"fmt"

	"waybill/core"
	"waybill/core/proof"
)

// reviewers lists the reviewers in the order of their turns.
var reviewers = [...]core.Role{core.SpecReviewer, core.CodeQualityReviewer}

// A ResultForm is the form of results that the prompts of a run ask for. Results are read in every form.
type ResultForm uint8

// The forms.
const (
	ResultHeaders ResultForm = iota // v2 headers
	ResultJSON                      // a JSON object between two markers
)

// ResultForms is the number of forms.
const ResultForms = 2

// String returns the form's name on the wire.
func (f ResultForm) String() string {
	switch f {
	case ResultHeaders:
		return "headers"
	case ResultJSON:
		return "json"
	}
	return fmt.Sprintf("form(%d)", uint8(f))
}

// ParseResultForm returns the form of a name.
func ParseResultForm(name string) (ResultForm, bool) {
	for f := range ResultForm(ResultForms) {
		if f.String() == name {
			return f, true
		}
	}
	return 0, false
}

// A Policy holds the limits of a run. It never changes after the start, so that new defaults do not affect a live
// run.
type Policy struct {
	InvalidRetries      int // stricter retries after an invalid result
	ReviewerFreshRuns   int // fresh reviewers after that
	WorkerFailures      int // fresh workers after a failed one
	ReviewRejections    int // rejections at which the run is blocked
	StalledThreshold    int // outcomes without progress at which a stall is flagged
	ReviewLoopThreshold int // reviews of one reviewer in a row that find the same at which a loop is flagged
	// Reviewers must approve. The empty set means both, or the one reviewer of a host that has only one; see
	// TakeResult. NoReviewers means none.
	Reviewers core.RoleSet
	// ResultForm is the form that prompts ask for. RequireKey makes a result without its key invalid.
	ResultForm ResultForm
	RequireKey bool
	// RequireChecks must be green before the run is done. CheckFailures is the number of submissions with a red check at
	// which the run is blocked.
	RequireChecks proof.Names
	CheckFailures int
}

// NoReviewers is the set of reviewers of a run without approval. It contains the worker, so that it differs from the
// empty set.
const NoReviewers core.RoleSet = 1 << (core.Worker - 1)

// Counters count the failures of a run. They are independent of each other.
type Counters struct {
	InvalidResults   [core.Roles]int
	WorkerFailures   int
	ReviewRejections int
	Stalled          int
	ReviewLoop       int // the larger Same of Run.Findings
	CheckFailures    int // submissions with a red check
}

// A State names the state of a run.
type State string

// The states of a run.
const (
	Running State = "running"
	Blocked State = "blocked"
	Done    State = "done"
	Failed  State = "failed"
)

// States lists the states of a run.
func States() []State { return []State{Running, Blocked, Done, Failed} }

// A Standing is the state of one role in a run.
type Standing uint8

// The standings.
const (
	Awaited   Standing = iota // its turn is now or later
	Submitted                 // the worker reported done
	Approved                  // the reviewer approved
	Rejected                  // the reviewer asked for changes
	Unusable                  // its result was invalid, and the same agent is asked again
	Replaced                  // its results were invalid, and another reviewer follows
	Stuck                     // the worker cannot continue
	Broken                    // the worker failed, and another one follows
)

// standings has the text of each standing.
var standings = [...]string{
	"awaited", "submitted", "approved", "rejected", "unusable", "replaced", "stuck", "broken",
}

// String returns the standing as text.
func (s Standing) String() string {
	if int(s) < len(standings) {
		return standings[s]
	}
	return fmt.Sprintf("standing(%d)", uint8(s))
}

// A Naming is how the host names its reviewers. The first review decides.
type Naming uint8

// The namings.
const (
	NotNamed    Naming = iota // there was no review, or the policy names the reviewers
	OneReviewer               // the host says only "reviewer": it has one, recorded as SpecReviewer
	OwnNames                  // the host names the reviewer
)

// A Run is the work on one item of one plan, from its start to approval. Two runs compare with ==.
type Run struct {
	ID       string
	Plan     string // path relative to the workspace
	ItemID   string
	State    State
	Halt     Halt // why State is blocked; "" in every other state
	Policy   Policy
	Counters Counters
	Standing [core.Roles]Standing
	Naming   Naming
	// Findings of the spec reviewer and of the code quality reviewer.
	Findings [len(reviewers)]Findings
	// Proof is what the receipts of the required checks say. Its Required are Policy.RequireChecks.
	Proof       proof.Proof
	PlanVersion int // from 1; each replan records a new one
	// Frontier is a digest of the plan's next items. A run that is done keeps the one of its end.
	Frontier  string
	Revision  int64 // from 1; +1 whenever its facts change
	CreatedAt core.Instant
	UpdatedAt core.Instant
}

// Live reports whether the run has not ended.
func (r Run) Live() bool { return r.State == Running || r.State == Blocked }

// Start returns a new run of an item and its effects.
func Start(id, plan, itemID, frontier string, policy Policy, at core.Instant) (Run, []core.Effect) {
	return Run{
		ID: id, Plan: plan, ItemID: itemID, State: Running, Policy: policy,
		Proof: proof.Proof{Required: policy.RequireChecks}, PlanVersion: 1, Frontier: frontier, Revision: 1, CreatedAt: at, UpdatedAt: at,
	}, []core.Effect{core.Record{Type: core.RunStarted}}
}

// Supersede ends a live run because a newer run of the same item was started. Ended runs stay as they are.
func (r Run) Supersede(at core.Instant) (Run, []core.Effect) {
	if !r.Live() {
		return r, nil
	}
	next := r
	next.State, next.Halt, next.UpdatedAt = Failed, "", at
	return next, withdrawn(r, next, []core.Effect{core.Record{Type: core.RunSuperseded}})
}

// Reread records that the progress facts were read again from the plan.
func (r Run) Reread(at core.Instant) (Run, []core.Effect) {
	r.Revision++
	r.UpdatedAt = at
	return r, []core.Effect{core.Record{Type: core.RunLedger}}
}
