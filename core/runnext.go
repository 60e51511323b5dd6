package core

import "fmt"

// A NextAction says what has to be done so that a run goes on.
type NextAction string

// The next actions.
const (
	DispatchWorker     NextAction = "dispatch_worker"       // nobody has worked on the item yet, or it was planned anew
	DispatchReviewer   NextAction = "dispatch_reviewer"     // the work waits for a reviewer
	DispatchFixes      NextAction = "dispatch_worker_fixes" // a worker is to do what a reviewer asked for
	RetryWorker        NextAction = "retry_worker"          // another worker is to try, or the same when it can go on
	RetryWithPreamble  NextAction = "retry_with_preamble"   // the same role again, with the retry prompt
	SpawnFreshReviewer NextAction = "spawn_fresh_reviewer"  // another reviewer, with the usual prompt
	AdvanceToNextItem  NextAction = "advance_to_next_item"  // the item is approved, and others are left
	PlanCompleted      NextAction = "plan_completed"        // the item is approved, and it was the last one
	HaltAndEscalate    NextAction = "halt_and_escalate"     // a person has to decide
)

// NextActions lists the next actions.
func NextActions() []NextAction {
	return []NextAction{
		DispatchWorker, DispatchReviewer, DispatchFixes, RetryWorker, RetryWithPreamble,
		SpawnFreshReviewer, AdvanceToNextItem, PlanCompleted, HaltAndEscalate,
	}
}

// A Next is what has to be done so that a run goes on, and the role that has to do it, or no role.
type Next struct {
	Action NextAction
	Role   Role
}

// An Outlook is how the plan of a run stands.
type Outlook struct {
	Left     int  // items that still have to be done
	Ready    int  // items that could be begun now
	UnderWay int  // items that somebody is at
	Gone     bool // the plan has no item any more that is the run's
}

// Next says what has to be done next. It follows from how the run stands, whoever reported last.
func (r Run) Next(plan Outlook) Next {
	switch r.State {
	case RunDone:
		return Next{Action: plan.next()}
	case RunBlocked, RunFailed:
		return Next{Action: HaltAndEscalate}
	case RunRunning:
		if plan.Gone {
			return Next{Action: HaltAndEscalate} // nobody can say what is to be worked on or reviewed
		}
	}
	if n, ok := r.nextOfWorker(); ok {
		return n
	}
	for _, role := range reviewers {
		if !r.reviewedBy().Has(role) {
			continue
		}
		switch r.Standing[role-1] {
		case Awaited:
			return Next{DispatchReviewer, role}
		case Unusable:
			return Next{RetryWithPreamble, role}
		case Replaced:
			return Next{SpawnFreshReviewer, role}
		case Approved:
		case Submitted, Rejected, Stuck, Broken:
			panic(fmt.Sprintf("core: %s of run %s is %s and nobody has to do anything", role, r.ID, r.Standing[role-1]))
		}
	}
	panic("core: run " + r.ID + " is running, and every reviewer has approved")
}

// nextOfWorker says what a worker has to do, if the next turn is a worker's. A reviewer that does not have
// to approve, and wants changes all the same, is heard.
func (r Run) nextOfWorker() (Next, bool) {
	switch r.Standing[Worker-1] {
	case Unusable:
		return Next{RetryWithPreamble, Worker}, true
	case Stuck, Broken:
		return Next{RetryWorker, Worker}, true
	case Awaited, Submitted:
	case Approved, Rejected, Replaced:
		panic(fmt.Sprintf("core: the worker of run %s is %s", r.ID, r.Standing[Worker-1]))
	}
	touched := false
	for _, role := range reviewers {
		if r.Standing[role-1] == Rejected {
			return Next{DispatchFixes, Worker}, true
		}
		touched = touched || r.Standing[role-1] != Awaited
	}
	return Next{DispatchWorker, Worker}, r.Standing[Worker-1] == Awaited && !touched
}

// next says how the plan goes on when an item of it is approved. If what is left can be begun by nobody and
// nobody is at it, it is all held back by something that a person has to decide.
func (o Outlook) next() NextAction {
	switch {
	case o.Left == 0:
		return PlanCompleted
	case o.Ready == 0 && o.UnderWay == 0:
		return HaltAndEscalate
	}
	return AdvanceToNextItem
}

// Reviewer gives the reviewer that is meant by a host that says no more than "reviewer": in a run that has
// more than one, the one that the result names, if it names one; else the next one who has to approve.
func (r Run) Reviewer(named Role) Role {
	if named.Reviewer() && !r.alone() {
		return named
	}
	for _, role := range reviewers {
		if r.reviewedBy().Has(role) && r.Standing[role-1] != Approved {
			return role
		}
	}
	return SpecReviewer
}

// alone reports whether a host that says no more than "reviewer" now has one reviewer for this run.
func (r Run) alone() bool { return r.Sole || r.Policy.Reviewers == 0 && !r.Named }

// reviewedBy gives the reviewers that have to approve.
func (r Run) reviewedBy() RoleSet {
	switch {
	case r.Policy.Reviewers != 0:
		return r.Policy.Reviewers
	case r.Sole:
		return RolesOf(SpecReviewer)
	}
	return RolesOf(reviewers[:]...)
}
