package core

import "fmt"

// Explain says why the run is as it is and what would move it on. The history holds the log's records
// about it in ascending order; it may lack the oldest ones, which the log does not keep for ever.
func (r Run) Explain(history []Occurrence) Explanation {
	return Explanation{
		Subject: r.ID,
		State:   string(r.State),
		Because: because(r, withDecisions(history), runRules),
		Next:    r.next(),
	}
}

// withDecisions adds to each event that came with a decision one occurrence for its rule, and one for its
// rule and role, so that a reason can name the event by which it came to hold.
func withDecisions(history []Occurrence) []Occurrence {
	var out []Occurrence
	for _, o := range history {
		out = append(out, o)
		if o.Rule != "" {
			out = append(out, Occurrence{Seq: o.Seq, At: o.At, Type: decided(o.Rule, 0)},
				Occurrence{Seq: o.Seq, At: o.At, Type: decided(o.Rule, o.Role)})
		}
	}
	return out
}

// decided is the type under which withDecisions has a decision; role is zero for that about any role.
func decided(rule Rule, role Role) EventType {
	if role == 0 {
		return EventType(rule)
	}
	return EventType(string(rule) + " " + role.String())
}

// runRules are the laws of Step as reasons: where the run is, how each role stands, what its facts rest
// on, and every counter that has begun to count beside the limit that its policy sets.
var runRules = []rule[Run]{
	{"one_run_leads_one_item_to_approval", sayRunning, []EventType{RunStarted}},
	{"run_without_approval_has_failed", sayFailedRun, []EventType{RunSuperseded}},
	{"every_reviewer_has_approved", sayDone, []EventType{decided(RuleApproval, 0)}},
	halting(HaltInvalid, RuleInvalid), halting(HaltFailures, RuleFailures), halting(HaltRejections, RuleRejections),
	halting(HaltGaveUp, RuleGaveUp), halting(HaltStalled, RuleStalled), halting(HaltReviewLoop, RuleReviewLoop),
	halting(HaltAlternation, RuleAlternation),
	standing(Worker), standing(SpecReviewer), standing(CodeQualityReviewer),
	counter("invalid_results_of_worker", blocks,
		func(r Run) (int, int) { return r.invalid(Worker) }, decided(RuleInvalid, Worker)),
	counter("invalid_results_of_spec_reviewer", blocks,
		func(r Run) (int, int) { return r.invalid(SpecReviewer) }, decided(RuleInvalid, SpecReviewer)),
	counter("invalid_results_of_code_quality_reviewer", blocks,
		func(r Run) (int, int) { return r.invalid(CodeQualityReviewer) }, decided(RuleInvalid, CodeQualityReviewer)),
	counter("worker_failures", blocks,
		func(r Run) (int, int) { return r.Counters.WorkerFailures, r.Policy.WorkerFailures + 1 }, decided(RuleFailures, 0)),
	counter("review_rejections", blocks,
		func(r Run) (int, int) { return r.Counters.ReviewRejections, r.Policy.ReviewRejections },
		decided(RuleRejections, 0), decided(RuleReviewLoop, 0), decided(RuleAlternation, 0)),
	counter("outcomes_without_progress", flags,
		func(r Run) (int, int) { return r.Counters.Stalled, r.Policy.StalledThreshold },
		decided(RuleStalled, 0), decided(RuleFailures, 0), decided(RuleGaveUp, 0)),
	foundBy(SpecReviewer, "identical_review_issues", sameAgain),
	foundBy(CodeQualityReviewer, "identical_review_issues", sameAgain),
	foundBy(SpecReviewer, "alternating_review_issues", cameBack),
	foundBy(CodeQualityReviewer, "alternating_review_issues", cameBack),
	{"new_plan_needs_another_frontier", sayPlanned, []EventType{RunReplanned}},
	{"facts_are_read_from_the_plan", sayReread, []EventType{RunLedger}},
}

// What happens when a counter reaches its limit.
const (
	blocks = "blocks the run until there is a new plan"
	flags  = "blocks the run until there is a new plan or the work moves on"
)

// halting is the rule of one halt.
func halting(why Halt, by Rule) rule[Run] {
	says := func(r Run, _ history) string {
		if r.Halt != why {
			return ""
		}
		return fmt.Sprintf("%s is blocked: %s; only what depends on it waits with it", r.item(), r.WhyBlocked())
	}
	return rule[Run]{name: "blocked_by_" + string(why), says: says, moved: []EventType{decided(by, 0)}}
}

// standing is the rule of how one role stands.
func standing(role Role) rule[Run] {
	says := func(r Run, _ history) string {
		switch r.Standing[role-1] {
		case Awaited:
			return ""
		case Submitted:
			return "the worker says that it is done"
		case Approved:
			return fmt.Sprintf("the %s has approved", role)
		case Rejected:
			return fmt.Sprintf("the %s wants something changed", role)
		case Unusable:
			return fmt.Sprintf("the result of the %s was invalid; it is asked once more, with the reason", role)
		case Replaced:
			return fmt.Sprintf("the results of the %s were invalid; another one is to take its place", role)
		case Stuck:
			return "the worker cannot go on without what it says is missing"
		case Broken:
			return "the worker failed; only another one can go on"
		}
		panic("core: " + r.Standing[role-1].String())
	}
	moved := []EventType{decided(RuleInvalid, role)}
	for _, by := range []Rule{
		RuleSubmitted, RuleStalled, RuleFailures, RuleApproval, RuleRejections, RuleReviewLoop, RuleAlternation, RuleGaveUp,
	} {
		moved = append(moved, decided(by, role))
	}
	return rule[Run]{name: "what_the_" + snake(role) + "_reported", says: says, moved: moved}
}

func snake(role Role) string {
	switch role {
	case Worker:
		return "worker"
	case SpecReviewer:
		return "spec_reviewer"
	case CodeQualityReviewer:
		return "code_quality_reviewer"
	}
	panic("core: " + role.String())
}

// counter is the rule of one counter; of gives the count, and the limit at which it takes effect. It may
// have been moved by an event that was decided by the rule of another one.
func counter(name, effect string, of func(Run) (count, limit int), moved ...EventType) rule[Run] {
	says := func(r Run, _ history) string {
		count, limit := of(r)
		if count == 0 {
			return ""
		}
		return fmt.Sprintf("%d of %d: number %d %s", count, limit, limit, effect)
	}
	return rule[Run]{name: name, says: says, moved: moved}
}

// foundBy is the rule of what the findings of the reviewers come to, as long as it is this reviewer of whom
// there is more to count.
func foundBy(role Role, name string, of func(Policy, Findings) (count, limit int)) rule[Run] {
	most := func(r Run) (count, limit int) {
		first, limit := of(r.Policy, r.findings(SpecReviewer))
		second, _ := of(r.Policy, r.findings(CodeQualityReviewer))
		if (role == SpecReviewer) != (first >= second) {
			return 0, limit
		}
		return max(first, second), limit
	}
	return counter(name, flags, most,
		decided(RuleRejections, role), decided(RuleReviewLoop, role), decided(RuleAlternation, role))
}

func sameAgain(p Policy, f Findings) (count, limit int) { return f.Same, p.ReviewLoopThreshold }

func cameBack(p Policy, f Findings) (count, limit int) { return f.Swaps, p.swapLimit() }

// invalid counts the invalid results of a role. A worker is blocked when its retries did not help, a
// reviewer only when fresh ones did not help either.
func (r Run) invalid(role Role) (count, limit int) {
	limit = r.Policy.InvalidRetries + 1
	if role != Worker {
		limit += r.Policy.ReviewerFreshRuns
	}
	return r.Counters.InvalidResults[role-1], limit
}

func sayRunning(r Run, _ history) string {
	if r.State != RunRunning {
		return ""
	}
	return fmt.Sprintf("started at %s for %s, plan version %d, and not approved yet", when(r.CreatedAt), r.item(), r.PlanVersion)
}

func sayDone(r Run, _ history) string {
	if r.State != RunDone {
		return ""
	}
	return fmt.Sprintf("%s was approved by every reviewer that has to", r.item())
}

func sayFailedRun(r Run, h history) string {
	if r.State != RunFailed {
		return ""
	}
	superseded := h.last(RunSuperseded)
	if superseded == (Occurrence{}) {
		return fmt.Sprintf("ended before %s was approved", r.item())
	}
	return fmt.Sprintf("ended at %s, before %s was approved: a newer run of it was asked for, and an item has one live run",
		when(superseded.At), r.item())
}

func (r Run) item() string { return fmt.Sprintf("item %q of %q", r.ItemID, r.Plan) }

func sayPlanned(r Run, _ history) string {
	if r.PlanVersion == 1 {
		return ""
	}
	return fmt.Sprintf("the plan is at version %d; only one that wants something else done next ends a block", r.PlanVersion)
}

func sayReread(r Run, h history) string {
	read := h.last(RunLedger)
	if read == (Occurrence{}) {
		return ""
	}
	return fmt.Sprintf("its facts are at revision %d, last read from %q at %s", r.Revision, r.Plan, when(read.At))
}

// next tells what can be done with the run: what its own state wants, and what a new run would do to it.
func (r Run) next() []Action {
	return append(r.nextStep(), r.nextRun())
}

func (r Run) nextStep() []Action {
	switch r.State {
	case RunRunning:
		n := r.Next(Outlook{})
		prompt := Action{Name: "compile_prompt", Text: fmt.Sprintf("%s: compiles the prompt for the %s, whose turn it is", n.Action, n.Role)}
		if n.Action == RetryWithPreamble {
			prompt = Action{Name: "resume_run", Text: fmt.Sprintf("%s: gives the retry prompt for the %s, whose turn it is", n.Action, n.Role)}
		}
		return []Action{
			prompt,
			{Name: "ingest_output", Text: fmt.Sprintf("judges what the %s gives back, and says what has to be done then", n.Role)},
		}
	case RunBlocked:
		actions := []Action{{Name: "replan", Text: "with steps other than before ends the block, and so does one after an edit of the item in the plan file; the counters stay where they are"}}
		if !r.Halt.lasting() {
			actions = append(actions, Action{Name: "ingest_output", Text: "with a result that brings the item further ends the block, too"})
		}
		return actions
	case RunDone:
		return []Action{{Name: "ready_items", Text: "says which items of the plan can be begun now"}}
	case RunFailed:
		return nil
	}
	panic("core: run " + string(r.State))
}

func (r Run) nextRun() Action {
	ended, effects := r.Supersede(r.UpdatedAt)
	if len(effects) > 0 {
		return Action{Name: "init_run", Text: fmt.Sprintf(`with resume "new" starts a new run of the item; this one becomes %s`, ended.State)}
	}
	return Action{Name: "init_run", Text: fmt.Sprintf("starts a new run of the item; this one stays %s", ended.State)}
}
