package run

import (
	"fmt"

	"waybill/core"
	"waybill/core/proof"
)

// A NextAction names the next step of a run.
type NextAction string

// The next actions.
const (
	DispatchWorker     NextAction = "dispatch_worker"       // the item was not worked on since the plan was made
	DispatchReviewer   NextAction = "dispatch_reviewer"     // the work waits for a reviewer
	DispatchFixes      NextAction = "dispatch_worker_fixes" // a worker makes the changes that a reviewer asked for
	RetryWorker        NextAction = "retry_worker"          // another worker tries, or the same one if it can continue
	RetryWithPreamble  NextAction = "retry_with_preamble"   // the same role again, with the retry prompt
	SpawnFreshReviewer NextAction = "spawn_fresh_reviewer"  // another reviewer, with the usual prompt
	RunChecks          NextAction = "run_checks"            // required checks must run on the present files
	AdvanceToNextItem  NextAction = "advance_to_next_item"  // the item is approved, and others remain
	PlanCompleted      NextAction = "plan_completed"        // the item is approved, and none remains
	HaltAndEscalate    NextAction = "halt_and_escalate"     // a person has to decide
)

// A Next is the next step of a run, and the role that does it, if any.
type Next struct {
	Action NextAction
	Role   core.Role
	Checks proof.Names // of RunChecks: the checks to run
}

// Sentence returns the next step as a sentence for an agent.
func (n Next) Sentence() string {
	switch n.Action {
	case DispatchWorker:
		return "do the task"
	case DispatchReviewer:
		return fmt.Sprintf("review the work, as the %s", n.Role)
	case DispatchFixes:
		return "do what the reviewers ask for"
	case RetryWorker:
		return "try the task again, another way if need be"
	case RetryWithPreamble:
		return fmt.Sprintf("give the result of the %s once more, in a form that can be read", n.Role)
	case SpawnFreshReviewer:
		return fmt.Sprintf("review the work from the start, as the %s", n.Role)
	case RunChecks:
		return "wait; the required checks run first"
	case AdvanceToNextItem:
		return "go on with the next item of the plan; this one is approved"
	case PlanCompleted:
		return "nothing; the plan is completed"
	case HaltAndEscalate:
		return "stop, and let a person decide"
	}
	panic("run: unknown action " + string(n.Action))
}

// An Outlook is the state of the plan, as far as Next needs it.
type Outlook struct {
	Left     int  // items that are not done
	Ready    int  // items that can begin now
	UnderWay int  // items in progress
	Gone     bool // the item of the run is no longer in the plan
}

// Next returns the next step. It depends only on the run and the outlook.
func (r Run) Next(plan Outlook) Next {
	switch r.State {
	case Done:
		return Next{Action: plan.next()}
	case Blocked, Failed:
		return Next{Action: HaltAndEscalate}
	case Running:
		if plan.Gone {
			return Next{Action: HaltAndEscalate} // the plan lacks the item to work on
		}
	}
	if n, ok := r.nextOfWorker(); ok {
		return n
	}
	if !r.Proof.Holds() {
		return Next{Action: RunChecks, Checks: r.Proof.Due()}
	}
	for _, role := range reviewers {
		if !r.reviewedBy().Has(role) {
			continue
		}
		switch r.Standing[role-1] {
		case Awaited:
			return Next{Action: DispatchReviewer, Role: role}
		case Unusable:
			return Next{Action: RetryWithPreamble, Role: role}
		case Replaced:
			return Next{Action: SpawnFreshReviewer, Role: role}
		case Approved:
		case Submitted, Rejected, Stuck, Broken:
			panic(fmt.Sprintf("run: %s of run %s is %s and nobody has to do anything", role, r.ID, r.Standing[role-1]))
		}
	}
	panic("run: run " + r.ID + " is running, and every reviewer has approved")
}

// nextOfWorker returns the worker's next step, if it is a worker's turn. A rejection by an optional reviewer counts,
// too, and so does a red check.
func (r Run) nextOfWorker() (Next, bool) {
	switch r.Standing[core.Worker-1] {
	case Unusable:
		return Next{Action: RetryWithPreamble, Role: core.Worker}, true
	case Stuck, Broken:
		return Next{Action: RetryWorker, Role: core.Worker}, true
	case Awaited, Submitted:
	case Approved, Rejected, Replaced:
		panic(fmt.Sprintf("run: the worker of run %s is %s", r.ID, r.Standing[core.Worker-1]))
	}
	touched := false
	for _, role := range reviewers {
		if r.Standing[role-1] == Rejected {
			return Next{Action: DispatchFixes, Role: core.Worker}, true
		}
		touched = touched || r.Standing[role-1] != Awaited && r.Policy.Reviewers != NoReviewers
	}
	if r.Standing[core.Worker-1] == Awaited && !touched {
		return Next{Action: DispatchWorker, Role: core.Worker}, true
	}
	return Next{Action: DispatchFixes, Role: core.Worker}, r.Proof.State() == proof.Refuted
}

// next returns the step after the approval of an item. If no remaining item can begin and none is in progress, a
// person must decide.
func (o Outlook) next() NextAction {
	switch {
	case o.Left == 0:
		return PlanCompleted
	case o.Ready == 0 && o.UnderWay == 0:
		return HaltAndEscalate
	}
	return AdvanceToNextItem
}

// Reviewer returns the reviewer that "reviewer" means: the one that the result names, if the run has several;
// otherwise the next one that must approve.
func (r Run) Reviewer(named core.Role) core.Role {
	if named.Reviewer() && !r.alone() {
		return named
	}
	for _, role := range reviewers {
		if r.reviewedBy().Has(role) && r.Standing[role-1] != Approved {
			return role
		}
	}
	return core.SpecReviewer
}

// alone reports whether the run has a single reviewer, for a host that says only "reviewer".
func (r Run) alone() bool {
	return r.Naming == OneReviewer || r.Policy.Reviewers == 0 && r.Naming == NotNamed
}

// reviewedBy returns the set of the reviewers that must approve; it may also contain the worker.
func (r Run) reviewedBy() core.RoleSet {
	switch {
	case r.Policy.Reviewers != 0:
		return r.Policy.Reviewers
	case r.Naming == OneReviewer:
		return core.RolesOf(core.SpecReviewer)
	}
	return core.RolesOf(reviewers[:]...)
}
