package core

import "fmt"

// Step gives what the run becomes when the event happens to it, and what must follow: always exactly one
// Decide, and a Post when the run is blocked by it, or is blocked for longer than before. A run that is over takes nothing more: that is a
// *Refusal, except for a worker that is lost, which changes nothing then.
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
	next, why := r.happen(event)
	effects := []Effect{why}
	escalates := next.Halt.lasting() && !r.Halt.lasting()
	if next.State == RunBlocked && (r.State != RunBlocked || escalates) {
		effects = append(effects, Post{next.Halt.notice()})
	}
	return next, effects, nil
}

func (r Run) happen(event RunEvent) (Run, Decide) {
	switch e := event.(type) {
	case TakeResult:
		return r.take(e)
	case LoseWorker:
		return r.workerFailed(e.At)
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
		e.Role = r.Reviewer()
		r.Sole = r.Sole || r.Policy.Reviewers == 0 && !r.Named
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

// workerFailed is a worker that could not, or that ended without a result.
func (r Run) workerFailed(at Instant) (Run, Decide) {
	r = r.stalled()
	r.Counters.WorkerFailures++
	r.Standing[Worker-1] = Broken
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
		r.Counters.ReviewLoop, r.Issues = 0, [remembered]string{}
		r.Standing[e.Role-1] = Awaited
		return r.halted(HaltGaveUp).moved(e.At, RuleGaveUp, e.Role, 0, 0)
	case SaidInvalid:
	}
	panic(fmt.Sprintf("core: a review cannot say %d", e.Said))
}

func (r Run) approved(e TakeResult) (Run, Decide) {
	r.Standing[e.Role-1] = Approved
	r.Counters.ReviewLoop, r.Issues = 0, [remembered]string{}
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
	}
	return r.progressed().moved(e.At, RuleApproval, e.Role, given, wanted)
}

// rejected counts a rejection, and how often the same was found before.
func (r Run) rejected(e TakeResult) (Run, Decide) {
	if e.Issues == "" {
		panic("core: a rejection without the digest of its issues")
	}
	r.Standing[e.Role-1] = Rejected
	r.Counters.ReviewRejections++
	if r.Issues[0] == e.Issues {
		r.Counters.ReviewLoop++
	} else {
		r.Counters.ReviewLoop = 1
	}
	copy(r.Issues[1:], r.Issues[:])
	r.Issues[0] = e.Issues
	count, limit := r.Counters.ReviewRejections, r.Policy.ReviewRejections
	switch {
	case count >= limit:
		r = r.halted(HaltRejections)
	case r.Looping():
		return r.moved(e.At, RuleReviewLoop, e.Role, r.Counters.ReviewLoop, r.Policy.ReviewLoopThreshold)
	case r.Alternating():
		return r.moved(e.At, RuleAlternation, e.Role, remembered, remembered)
	}
	return r.moved(e.At, RuleRejections, e.Role, count, limit)
}

// Stalling reports whether outcome after outcome brought the item no further.
func (r Run) Stalling() bool { return r.Counters.Stalled >= r.Policy.StalledThreshold }

// Looping reports whether review after review found the same.
func (r Run) Looping() bool { return r.Counters.ReviewLoop >= r.Policy.ReviewLoopThreshold }

// Alternating reports whether two sets of findings take turns: what mends the one brings back the other.
func (r Run) Alternating() bool {
	a, b := r.Issues[0], r.Issues[1]
	return r.Issues[3] != "" && a != b && r.Issues[2] == a && r.Issues[3] == b
}

func (r Run) stalled() Run {
	r.Counters.Stalled++
	return r
}

func (r Run) progressed() Run {
	r.Counters.Stalled = 0
	return r
}

// halted blocks the run until there is a new plan. What came first stays.
func (r Run) halted(why Halt) Run {
	if !r.Halt.lasting() {
		r.Halt = why
	}
	return r
}

// flagged gives the halt that holds as long as the facts flag it, and no longer.
func (r Run) flagged() Halt {
	switch {
	case r.Stalling():
		return HaltStalled
	case r.Looping():
		return HaltReviewLoop
	case r.Alternating():
		return HaltAlternation
	}
	return ""
}

// replan ends every halt if the plan wants something else done next: the work begins anew then, and so do the
// reviews, but what a reviewer has asked for is not forgotten. The counters that only grow stay
// where they are: whoever is blocked by one gets another chance, and no more.
func (r Run) replan(e Replan) (Run, Decide) {
	r.PlanVersion++
	rule := RuleSamePlan
	if r.Frontier != e.Frontier {
		rule = RuleReplanned
		r.Halt, r.Issues = "", [remembered]string{}
		r.Counters.Stalled, r.Counters.ReviewLoop = 0, 0
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

func (h Halt) notice() NoticeKind {
	if h.lasting() {
		return NoticeRunBlocked
	}
	return NoticeRunStalled
}

// Reviewer gives the reviewer that is meant by a host that says no more than "reviewer": the next one who
// has to approve.
func (r Run) Reviewer() Role {
	for _, role := range reviewers {
		if r.reviewedBy().Has(role) && r.Standing[role-1] != Approved {
			return role
		}
	}
	return SpecReviewer
}

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
