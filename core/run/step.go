package run

import (
	"fmt"

	"waybill/core"
	"waybill/core/proof"
)

// Step returns the run after the event, and the effects: one Decide, a Post if the event blocks the run or makes its
// block last, and a Withdraw of these notices if it ends the block. Events on an ended run, and Unblock on a run that is
// not blocked, return a *core.Refusal. A worker that is lost when none is awaited changes nothing and has no effects;
// neither does a receipt that the proof does not need.
//
// The laws that every sequence of events keeps:
//   - each counter moves by its own events only, and no counter changes the limit of another;
//   - invalid results, worker failures, rejections and check failures only grow until an Unblock, with which all counters start again at zero;
//     stalls and loops end when the work moves on;
//   - a run is done if and only if every required reviewer has approved and every required check is green on the tree of
//     the last approval, or was run after it;
//   - a run is blocked if and only if it has a Halt, and it halts exactly at the limit of its policy;
//   - a stall or a loop blocks the run exactly as long as its counter is at the limit, independently of others;
//   - a lasting halt is ended only by a Replan with another frontier, an Unblock, or approval.
func (r Run) Step(event Event) (Run, []core.Effect, error) {
	if !r.Live() {
		return r.late(event)
	}
	if _, unblocks := event.(Unblock); unblocks && r.State != Blocked {
		return r, nil, r.notBlocked()
	}
	if e, isReceipt := event.(TakeReceipt); isReceipt {
		if p, _, err := r.Proof.Step(proof.Take{Receipt: e.Receipt}); p == r.Proof || err != nil {
			return r, nil, err
		}
	}
	if r.straggles(event) {
		return r, nil, nil
	}
	next, why := r.happen(event)
	effects := []core.Effect{why}
	escalates := next.Halt.lasting() && !r.Halt.lasting()
	if next.State == Blocked && (r.State != Blocked || escalates) {
		effects = append(effects, core.Post{Kind: next.Halt.notice()})
	}
	return next, withdrawn(r, next, effects), nil
}

// withdrawn adds to the effects that the notices of a block are withdrawn when it ends.
func withdrawn(before, after Run, effects []core.Effect) []core.Effect {
	if before.State != Blocked || after.State == Blocked {
		return effects
	}
	return append(effects, core.Withdraw{Kind: core.NoticeRunBlocked}, core.Withdraw{Kind: core.NoticeRunStalled})
}

// straggles reports whether the event is the loss of a worker that is no longer awaited, because another one has
// submitted the work.
func (r Run) straggles(event Event) bool {
	if _, lost := event.(LoseWorker); !lost {
		return false
	}
	_, waits := r.nextOfWorker()
	return !waits
}

func (r Run) happen(event Event) (Run, Decide) {
	switch e := event.(type) {
	case TakeResult:
		return r.take(e)
	case TakeReceipt:
		return r.checked(e)
	case LoseWorker:
		return r.lost(e)
	case Replan:
		return r.replan(e)
	case Unblock:
		return r.unblock(e)
	}
	panic(fmt.Sprintf("run: unknown run event %T", event))
}

func (r Run) late(event Event) (Run, []core.Effect, error) {
	what := "take a new plan"
	switch event.(type) {
	case LoseWorker, TakeReceipt:
		return r, nil, nil
	case TakeResult:
		what = "take a result"
	case Unblock:
		what = "be unblocked"
	case Replan:
	}
	return r, nil, &core.Refusal{
		Kind: core.InvalidState, Noun: "run", Subject: r.ID, State: string(r.State),
		Message: fmt.Sprintf(`run %s is %s and cannot %s: it is over; init_run with resume "new" starts another one of %s`,
			r.ID, r.State, what, r.item()),
	}
}

func (r Run) notBlocked() error {
	return &core.Refusal{
		Kind: core.InvalidState, Noun: "run", Subject: r.ID, State: string(r.State),
		Message: fmt.Sprintf("run %s is %s and not blocked: there is nothing to unblock", r.ID, r.State),
	}
}

func (r Run) take(e TakeResult) (Run, Decide) {
	switch {
	case e.Generic:
		if r.alone() {
			r.Naming = OneReviewer
		}
		e.Role = r.Reviewer(e.Role)
	case e.Role.Reviewer() && r.Naming == NotNamed:
		r.Naming = OwnNames
	}
	switch {
	case e.Said == SaidInvalid:
		return r.invalidResult(e)
	case e.Role.Reviewer():
		return r.review(e)
	}
	switch e.Said {
	case SaidPass:
		return r.submitted(e)
	case SaidGaps:
		r.Counters.Stalled++
		r.Standing[core.Worker-1] = Stuck
		return r.moved(e.At, RuleStalled, core.Worker, r.Counters.Stalled, r.Policy.StalledThreshold)
	case SaidError:
		r.Standing[core.Worker-1] = Broken
		return r.workerFailed(e.At)
	case SaidInvalid:
	}
	panic(fmt.Sprintf("run: a result cannot say %d", e.Said))
}

// submitted sends the work to every reviewer that rejected it. Approvals stay. All required checks are due. Without
// reviewers and checks, the run is done.
func (r Run) submitted(e TakeResult) (Run, Decide) {
	r.Standing[core.Worker-1] = Submitted
	r = r.prove(proof.Submit{})
	r.Counters.Stalled = 0
	for _, role := range reviewers {
		if r.Standing[role-1] == Rejected {
			r.Standing[role-1] = Awaited
		}
	}
	return r.ended(e.Frontier).moved(e.At, RuleSubmitted, core.Worker, 0, 0)
}

// prove applies an event to the proof. Only receipts can be refused.
func (r Run) prove(event proof.Event) Run {
	r.Proof, _, _ = r.Proof.Step(event)
	return r
}

// checked takes in a receipt that the proof needs. A red check counts once for each submission.
func (r Run) checked(e TakeReceipt) (Run, Decide) {
	p, counts, _ := r.Proof.Step(proof.Take{Receipt: e.Receipt})
	r.Proof = p
	if len(counts) == 0 {
		wanted := len(p.Required.List())
		return r.ended(e.Frontier).movedBy(e.At, core.ProofChanged, Decision{RuleChecked, 0, wanted - len(p.Due().List()), wanted})
	}
	r.Counters.CheckFailures++
	count, limit := r.Counters.CheckFailures, r.Policy.CheckFailures
	if count >= limit {
		r = r.halted(HaltChecks)
	}
	return r.movedBy(e.At, core.ProofChanged, Decision{RuleCheckFailed, 0, count, limit})
}

// lost handles a worker that ended without a result. If its task continues, the run keeps waiting for it.
func (r Run) lost(e LoseWorker) (Run, Decide) {
	if !e.Requeued {
		r.Standing[core.Worker-1] = Broken
	}
	return r.workerFailed(e.At)
}

// workerFailed counts a worker that failed or ended without a result.
func (r Run) workerFailed(at core.Instant) (Run, Decide) {
	r.Counters.Stalled++
	r.Counters.WorkerFailures++
	count, limit := r.Counters.WorkerFailures, r.Policy.WorkerFailures+1
	switch {
	case count >= limit:
		r = r.halted(HaltFailures)
	case r.Stalling():
		return r.moved(at, RuleStalled, core.Worker, r.Counters.Stalled, r.Policy.StalledThreshold)
	}
	return r.moved(at, RuleFailures, core.Worker, count, limit)
}

func (r Run) invalidResult(e TakeResult) (Run, Decide) {
	r.Counters.InvalidResults[e.Role-1]++
	count, limit := r.invalid(e.Role)
	switch {
	case count >= limit:
		r.Standing[e.Role-1] = Awaited
		r = r.halted(HaltInvalid)
	case count > r.Policy.InvalidRetries:
		r.Standing[e.Role-1] = Replaced
	default:
		r.Standing[e.Role-1] = Unusable
	}
	return r.moved(e.At, RuleInvalid, e.Role, count, limit)
}

func (r Run) review(e TakeResult) (Run, Decide) {
	switch e.Said {
	case SaidPass:
		return r.approved(e)
	case SaidGaps:
		return r.rejected(e)
	case SaidError:
		r.Counters.Stalled++
		r.Findings[e.Role-core.SpecReviewer] = Findings{}
		r.Standing[e.Role-1] = Awaited
		return r.halted(HaltGaveUp).moved(e.At, RuleGaveUp, e.Role, 0, 0)
	case SaidInvalid:
	}
	panic(fmt.Sprintf("run: a review cannot say %d", e.Said))
}

func (r Run) approved(e TakeResult) (Run, Decide) {
	r.Standing[e.Role-1] = Approved
	r.Findings[e.Role-core.SpecReviewer] = Findings{}
	r.Counters.Stalled = 0
	given, wanted := r.approvals()
	if e.Tree != "" || given == wanted {
		r = r.prove(proof.Look{Tree: e.Tree})
	}
	return r.ended(e.Frontier).moved(e.At, RuleApproval, e.Role, given, wanted)
}

// approvals returns how many of the required reviewers have approved, and how many are required.
func (r Run) approvals() (given, wanted int) {
	for _, role := range reviewers {
		if !r.reviewedBy().Has(role) {
			continue
		}
		wanted++
		if r.Standing[role-1] == Approved {
			given++
		}
	}
	return given, wanted
}

// ended returns the run as done if all reviewers have approved and the checks hold. Without reviewers, there must be
// work.
func (r Run) ended(frontier string) Run {
	given, wanted := r.approvals()
	if given < wanted || wanted == 0 && r.Standing[core.Worker-1] != Submitted || !r.Proof.Holds() {
		return r
	}
	r.State, r.Halt = Done, ""
	if frontier != "" {
		r.Frontier = frontier
	}
	return r
}

// rejected counts a rejection, and how often its reviewer found the same before. A second rejection of the same
// submission does not count again.
func (r Run) rejected(e TakeResult) (Run, Decide) {
	if e.Issues == "" {
		panic("run: a rejection without the digest of its issues")
	}
	found := r.findings(e.Role).found
	if r.Standing[e.Role-1] == Rejected {
		found = r.findings(e.Role).corrected
	}
	now, policy := found(e.Issues), r.Policy
	r.Findings[e.Role-core.SpecReviewer] = now
	r.Standing[e.Role-1] = Rejected
	r.Counters.ReviewRejections++
	count, limit := r.Counters.ReviewRejections, policy.ReviewRejections
	switch {
	case count >= limit:
		r = r.halted(HaltRejections)
	case policy.looping(now):
		return r.moved(e.At, RuleReviewLoop, e.Role, now.Same, policy.ReviewLoopThreshold)
	case policy.alternating(now):
		return r.moved(e.At, RuleAlternation, e.Role, now.Swaps, policy.swapLimit())
	}
	return r.moved(e.At, RuleRejections, e.Role, count, limit)
}

// replan ends every halt if the frontier has changed: work, checks and reviews begin again, and rejections stay. The counters
// that only grow keep their values, so that a role at its limit gets one more chance.
func (r Run) replan(e Replan) (Run, Decide) {
	r.PlanVersion++
	rule := RuleSamePlan
	if r.Frontier != e.Frontier {
		rule = RuleReplanned
		r.Halt, r.Findings = "", [len(reviewers)]Findings{}
		r.Counters.Stalled = 0
		r = r.prove(proof.Submit{})
		for i, standing := range r.Standing {
			if standing != Rejected {
				r.Standing[i] = Awaited
			}
		}
	}
	r.Frontier = e.Frontier
	return r.movedBy(e.At, core.RunReplanned, Decision{Rule: rule})
}

// unblock ends every halt and resets all counters. The standing of each role stays, so that the run continues where it
// stopped. Changes of protected files are accepted, and checks that failed are due again.
func (r Run) unblock(e Unblock) (Run, Decide) {
	r.Halt, r.Counters, r.Findings = "", Counters{}, [len(reviewers)]Findings{}
	r = r.prove(proof.Accept{}).ended("")
	return r.movedBy(e.At, core.RunUnblocked, Decision{Rule: RuleUnblocked})
}

func (r Run) moved(at core.Instant, rule Rule, role core.Role, count, limit int) (Run, Decide) {
	return r.movedBy(at, core.RunOutcome, Decision{rule, role, count, limit})
}

// movedBy sets the fields that follow from the others.
func (r Run) movedBy(at core.Instant, kind core.EventType, why Decision) (Run, Decide) {
	r.Counters.ReviewLoop = max(r.Findings[0].Same, r.Findings[1].Same)
	if r.State != Done {
		if !r.Halt.lasting() {
			r.Halt = r.flagged()
		}
		r.State = Running
		if r.Halt != "" {
			r.State = Blocked
		}
	}
	r.UpdatedAt = at
	r.Revision++
	return r, Decide{kind, why}
}
