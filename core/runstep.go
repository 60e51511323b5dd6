package core

import "fmt"

// Step gives what the run becomes when the event happens to it, and what must follow: exactly one Decide, and
// a Post when the run is blocked by it, or is blocked for longer than before. A run that is over takes
// nothing more: that is a *Refusal. A worker that is lost when nobody waits for one changes nothing, and
// nothing follows.
//
// The laws that every sequence of events keeps:
//   - each counter moves by its own events only, and none ever changes the limit of another;
//   - invalid results, worker failures and rejections only grow; stalls and loops end when the work moves on;
//   - a run is done exactly if every reviewer that has to has approved;
//   - a run is blocked exactly if it has a Halt, and it halts at the number that its policy names, not
//     before and not after;
//   - a stall or a loop blocks it as long as it is flagged, and no longer, also if another one was there too;
//   - what lasts until a new plan is ended by nothing but a Replan with another frontier, or by approval.
func (r Run) Step(event RunEvent) (Run, []Effect, error) {
	if !r.Live() {
		return r.late(event)
	}
	if r.straggles(event) {
		return r, nil, nil
	}
	next, why := r.happen(event)
	effects := []Effect{why}
	escalates := next.Halt.lasting() && !r.Halt.lasting()
	if next.State == RunBlocked && (r.State != RunBlocked || escalates) {
		effects = append(effects, Post{next.Halt.notice()})
	}
	return next, effects, nil
}

// straggles reports whether a worker was lost for whom nobody waits: another one has submitted the work.
func (r Run) straggles(event RunEvent) bool {
	if _, lost := event.(LoseWorker); !lost {
		return false
	}
	_, waits := r.nextOfWorker()
	return !waits
}

func (r Run) happen(event RunEvent) (Run, Decide) {
	switch e := event.(type) {
	case TakeResult:
		return r.take(e)
	case LoseWorker:
		return r.lost(e)
	case Replan:
		return r.replan(e)
	}
	panic(fmt.Sprintf("core: unknown run event %T", event))
}

func (r Run) late(event RunEvent) (Run, []Effect, error) {
	what := "take a new plan"
	switch event.(type) {
	case LoseWorker:
		return r, nil, nil
	case TakeResult:
		what = "take a result"
	case Replan:
	}
	return r, nil, &Refusal{
		Kind: InvalidState, Noun: "run", Subject: r.ID, State: string(r.State),
		Message: fmt.Sprintf(`run %s is %s and cannot %s: it is over; init_run with resume "new" starts another one of %s`,
			r.ID, r.State, what, r.item()),
	}
}

func (r Run) take(e TakeResult) (Run, Decide) {
	switch {
	case e.Generic:
		r.Sole = r.alone()
		e.Role = r.Reviewer(e.Role)
	case e.Role.Reviewer():
		r.Named = r.Named || !r.Sole
	}
	switch {
	case e.Said == SaidInvalid:
		return r.invalidResult(e)
	case e.Role.Reviewer():
		return r.review(e)
	}
	switch e.Said {
	case SaidPass:
		return r.submitted(e.At)
	case SaidGaps:
		r = r.stalled()
		r.Standing[Worker-1] = Stuck
		return r.moved(e.At, RuleStalled, Worker, r.Counters.Stalled, r.Policy.StalledThreshold)
	case SaidError:
		r.Standing[Worker-1] = Broken
		return r.workerFailed(e.At)
	case SaidInvalid:
	}
	panic(fmt.Sprintf("core: a result cannot say %d", e.Said))
}

// submitted sends the work to every reviewer who rejected it. An approval stays: who gave it has seen what
// it was about, and whoever asked for the change looks again.
func (r Run) submitted(at Instant) (Run, Decide) {
	r.Standing[Worker-1] = Submitted
	for _, role := range reviewers {
		if r.Standing[role-1] == Rejected {
			r.Standing[role-1] = Awaited
		}
	}
	return r.progressed().moved(at, RuleSubmitted, Worker, 0, 0)
}

// lost is a worker that ended without a result. If its task goes on by itself, the run waits for it as before.
func (r Run) lost(e LoseWorker) (Run, Decide) {
	if !e.Requeued {
		r.Standing[Worker-1] = Broken
	}
	return r.workerFailed(e.At)
}

// workerFailed counts a worker that could not, or that ended without a result.
func (r Run) workerFailed(at Instant) (Run, Decide) {
	r = r.stalled()
	r.Counters.WorkerFailures++
	count, limit := r.Counters.WorkerFailures, r.Policy.WorkerFailures+1
	switch {
	case count >= limit:
		r = r.halted(HaltFailures)
	case r.Stalling():
		return r.moved(at, RuleStalled, Worker, r.Counters.Stalled, r.Policy.StalledThreshold)
	}
	return r.moved(at, RuleFailures, Worker, count, limit)
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
		r = r.stalled()
		r.Findings[e.Role-SpecReviewer] = Findings{}
		r.Standing[e.Role-1] = Awaited
		return r.halted(HaltGaveUp).moved(e.At, RuleGaveUp, e.Role, 0, 0)
	case SaidInvalid:
	}
	panic(fmt.Sprintf("core: a review cannot say %d", e.Said))
}

func (r Run) approved(e TakeResult) (Run, Decide) {
	r.Standing[e.Role-1] = Approved
	r.Findings[e.Role-SpecReviewer] = Findings{}
	given, wanted := 0, 0
	for _, role := range reviewers {
		if !r.reviewedBy().Has(role) {
			continue
		}
		wanted++
		if r.Standing[role-1] == Approved {
			given++
		}
	}
	if given == wanted {
		r.State, r.Halt = RunDone, ""
		if e.Frontier != "" {
			r.Frontier = e.Frontier
		}
	}
	return r.progressed().moved(e.At, RuleApproval, e.Role, given, wanted)
}

// rejected counts a rejection, and how often its reviewer found the same before. A reviewer that wants
// changes already has seen no new work since.
func (r Run) rejected(e TakeResult) (Run, Decide) {
	if e.Issues == "" {
		panic("core: a rejection without the digest of its issues")
	}
	found := r.findings(e.Role).found
	if r.Standing[e.Role-1] == Rejected {
		found = r.findings(e.Role).corrected
	}
	now, policy := found(e.Issues), r.Policy
	r.Findings[e.Role-SpecReviewer] = now
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

func (r Run) stalled() Run {
	r.Counters.Stalled++
	return r
}

func (r Run) progressed() Run {
	r.Counters.Stalled = 0
	return r
}

// replan ends every halt if the plan wants something else done next: the work begins anew then, and so do the
// reviews, but what a reviewer has asked for is not forgotten. The counters that only grow stay
// where they are: whoever is blocked by one gets another chance, and no more.
func (r Run) replan(e Replan) (Run, Decide) {
	r.PlanVersion++
	rule := RuleSamePlan
	if r.Frontier != e.Frontier {
		rule = RuleReplanned
		r.Halt, r.Findings = "", [len(reviewers)]Findings{}
		r.Counters.Stalled = 0
		for i, standing := range r.Standing {
			if standing != Rejected {
				r.Standing[i] = Awaited
			}
		}
	}
	r.Frontier = e.Frontier
	return r.movedBy(e.At, RunReplanned, Decision{Rule: rule})
}

func (r Run) moved(at Instant, rule Rule, role Role, count, limit int) (Run, Decide) {
	return r.movedBy(at, RunOutcome, Decision{rule, role, count, limit})
}

// movedBy sets what follows from the rest.
func (r Run) movedBy(at Instant, kind EventType, why Decision) (Run, Decide) {
	r.Counters.ReviewLoop = max(r.Findings[0].Same, r.Findings[1].Same)
	if r.State != RunDone {
		if !r.Halt.lasting() {
			r.Halt = r.flagged()
		}
		r.State = RunRunning
		if r.Halt != "" {
			r.State = RunBlocked
		}
	}
	r.UpdatedAt = at
	r.Revision++
	return r, Decide{kind, why}
}
