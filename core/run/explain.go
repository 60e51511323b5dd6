package run

import (
	"fmt"
	"strings"

	"waybill/core"
	"waybill/core/proof"
)

// Explain explains the state of the run and the possible next steps. history holds the events of the run in ascending
// order and may lack the oldest. newest is the id of the newest run of the item, or "" if unknown.
func (r Run) Explain(history core.History, newest string) core.Explanation {
	return core.Explanation{
		Subject: r.ID,
		State:   string(r.State),
		Because: append(r.superseded(history, newest), core.Because(r, withDecisions(history), runRules())...),
		Next:    r.next(newest),
	}
}

// itemIDs returns the id of the run's item for ReasonRule.IDs.
func itemIDs(r Run) []string { return []string{r.ItemID} }

// withDecisions adds occurrences for the rule of each decision, and for its rule and role. Reasons find their event
// by these types.
func withDecisions(history core.History) core.History {
	var out core.History
	for _, o := range history {
		out = append(out, o)
		if o.Rule != "" {
			out = append(out, core.Occurrence{Seq: o.Seq, At: o.At, Type: decided(Rule(o.Rule), 0)},
				core.Occurrence{Seq: o.Seq, At: o.At, Type: decided(Rule(o.Rule), o.Role)})
		}
	}
	return out
}

// decided returns the event type that withDecisions uses for a decision; role 0 means any role.
func decided(rule Rule, role core.Role) core.EventType {
	if role == 0 {
		return core.EventType(rule)
	}
	return core.EventType(string(rule) + " " + role.String())
}

// runRules returns the rules that explain the laws of Step: the state of the run, the standing of each role, the facts, and each counter
// above zero with its limit.
func runRules() []core.ReasonRule[Run] {
	return []core.ReasonRule[Run]{
		{Name: "one_run_leads_one_item_to_approval", Text: sayRunning, Events: []core.EventType{core.RunStarted}, IDs: itemIDs},
		{Name: "every_reviewer_has_approved", Text: sayDone, Events: ending(RuleApproval), IDs: itemIDs},
		{Name: "nobody_has_to_approve", Text: sayUnreviewed, Events: ending(RuleSubmitted), IDs: itemIDs},
		halting(HaltInvalid, RuleInvalid), halting(HaltFailures, RuleFailures), halting(HaltRejections, RuleRejections),
		halting(HaltGaveUp, RuleGaveUp), halting(HaltStalled, RuleStalled), halting(HaltReviewLoop, RuleReviewLoop),
		halting(HaltAlternation, RuleAlternation), halting(HaltChecks, RuleCheckFailed), halting(HaltUntrusted, RuleChecked),
		{
			Name: "required_checks", Text: sayProof, IDs: itemIDs,
			Events: []core.EventType{decided(RuleChecked, 0), decided(RuleCheckFailed, 0), decided(RuleSubmitted, 0), decided(RuleApproval, 0)},
		},
		standing(core.Worker), standing(core.SpecReviewer), standing(core.CodeQualityReviewer),
		counter("invalid_results_of_worker", blocksForGood,
			func(r Run) (int, int) { return r.invalid(core.Worker) }, decided(RuleInvalid, core.Worker)),
		counter("invalid_results_of_spec_reviewer", blocksForGood,
			func(r Run) (int, int) { return r.invalid(core.SpecReviewer) }, decided(RuleInvalid, core.SpecReviewer)),
		counter("invalid_results_of_code_quality_reviewer", blocksForGood,
			func(r Run) (int, int) { return r.invalid(core.CodeQualityReviewer) }, decided(RuleInvalid, core.CodeQualityReviewer)),
		counter("worker_failures", blocksForGood,
			func(r Run) (int, int) { return r.Counters.WorkerFailures, r.Policy.WorkerFailures + 1 }, decided(RuleFailures, 0)),
		counter("review_rejections", blocksForGood,
			func(r Run) (int, int) { return r.Counters.ReviewRejections, r.Policy.ReviewRejections },
			decided(RuleRejections, 0), decided(RuleReviewLoop, 0), decided(RuleAlternation, 0)),
		counter("check_failures", blocksForGood,
			func(r Run) (int, int) { return r.Counters.CheckFailures, r.Policy.CheckFailures }, decided(RuleCheckFailed, 0)),
		counter("outcomes_without_progress", blocksUntilProgress,
			func(r Run) (int, int) { return r.Counters.Stalled, r.Policy.StalledThreshold },
			decided(RuleStalled, 0), decided(RuleFailures, 0), decided(RuleGaveUp, 0)),
		foundBy(core.SpecReviewer, "identical_review_issues", sameInARow),
		foundBy(core.CodeQualityReviewer, "identical_review_issues", sameInARow),
		foundBy(core.SpecReviewer, "alternating_review_issues", returnsInARow),
		foundBy(core.CodeQualityReviewer, "alternating_review_issues", returnsInARow),
		{Name: "new_plan_needs_another_frontier", Text: sayPlanned, Events: []core.EventType{core.RunReplanned}},
		{Name: "person_unblocks", Text: sayUnblocked, Events: []core.EventType{core.RunUnblocked}},
		{Name: "facts_are_read_from_the_plan", Text: sayReread, Events: []core.EventType{core.RunLedger}},
	}
}

// ending returns the event types of the decisions that can end a run: the rule, a check, or a person.
func ending(by Rule) []core.EventType {
	return []core.EventType{decided(by, 0), decided(RuleChecked, 0), decided(RuleUnblocked, 0)}
}

// Effects of a counter at its limit, as text.
const (
	blocksForGood       = "blocks the run until there is a new plan or a person unblocks it"
	blocksUntilProgress = "blocks the run until there is a new plan, a person unblocks it, or the work moves on"
)

// halting returns the rule for one halt.
func halting(why Halt, by Rule) core.ReasonRule[Run] {
	says := func(r Run, _ core.History) string {
		if r.Halt != why {
			return ""
		}
		return fmt.Sprintf("%s is blocked: %s; only its dependents wait with it", r.item(), r.WhyBlocked())
	}
	return core.ReasonRule[Run]{Name: "blocked_by_" + string(why), Text: says, Events: []core.EventType{decided(by, 0)}, IDs: itemIDs}
}

// standing returns the rule for the standing of one role.
func standing(role core.Role) core.ReasonRule[Run] {
	says := func(r Run, _ core.History) string {
		switch r.Standing[role-1] {
		case Awaited:
			return ""
		case Submitted:
			return "the worker reported that it is done"
		case Approved:
			return fmt.Sprintf("the %s has approved", role)
		case Rejected:
			return fmt.Sprintf("the %s asked for changes", role)
		case Unusable:
			return fmt.Sprintf("the result of the %s was invalid; it is asked again, with the reason", role)
		case Replaced:
			return fmt.Sprintf("the results of the %s were invalid; another one must take its place", role)
		case Stuck:
			return "the worker cannot continue without the parts that it reported missing"
		case Broken:
			return "the worker failed; another one must continue"
		}
		panic("run: " + r.Standing[role-1].String())
	}
	moved := []core.EventType{decided(RuleInvalid, role)}
	for _, by := range []Rule{
		RuleSubmitted, RuleStalled, RuleFailures, RuleApproval, RuleRejections, RuleReviewLoop, RuleAlternation, RuleGaveUp,
	} {
		moved = append(moved, decided(by, role))
	}
	return core.ReasonRule[Run]{Name: "what_the_" + snake(role) + "_reported", Text: says, Events: moved}
}

func snake(role core.Role) string {
	switch role {
	case core.Worker:
		return "worker"
	case core.SpecReviewer:
		return "spec_reviewer"
	case core.CodeQualityReviewer:
		return "code_quality_reviewer"
	}
	panic("run: " + role.String())
}

// counter returns the rule for one counter. of returns the count and the limit at which it acts. moved lists other
// rules whose decisions also move the counter.
func counter(name, effect string, of func(Run) (count, limit int), moved ...core.EventType) core.ReasonRule[Run] {
	says := func(r Run, _ core.History) string {
		count, limit := of(r)
		if count == 0 {
			return ""
		}
		return fmt.Sprintf("%d of %d: number %d %s", count, limit, limit, effect)
	}
	return core.ReasonRule[Run]{Name: name, Text: says, Events: moved}
}

// foundBy returns the rule for the findings of one reviewer. It has a text only for the reviewer with the higher
// count, at a tie for the spec reviewer.
func foundBy(role core.Role, name string, of func(Policy, Findings) (count, limit int)) core.ReasonRule[Run] {
	most := func(r Run) (count, limit int) {
		first, limit := of(r.Policy, r.findings(core.SpecReviewer))
		second, _ := of(r.Policy, r.findings(core.CodeQualityReviewer))
		if (role == core.SpecReviewer) != (first >= second) {
			return 0, limit
		}
		return max(first, second), limit
	}
	return counter(name, blocksUntilProgress, most,
		decided(RuleRejections, role), decided(RuleReviewLoop, role), decided(RuleAlternation, role))
}

// sameInARow returns the number of submissions in a row with the same issues, the first included, and its limit.
func sameInARow(p Policy, f Findings) (count, limit int) { return f.Same, p.ReviewLoopThreshold }

// returnsInARow returns how often in a row two sets of issues took turns, and its limit.
func returnsInARow(p Policy, f Findings) (count, limit int) { return f.Swaps, p.swapLimit() }

// invalid returns the count and the limit of the invalid results of a role. A reviewer's limit includes fresh
// reviewers.
func (r Run) invalid(role core.Role) (count, limit int) {
	limit = r.Policy.InvalidRetries + 1
	if role != core.Worker {
		limit += r.Policy.ReviewerFreshRuns
	}
	return r.Counters.InvalidResults[role-1], limit
}

func sayRunning(r Run, _ core.History) string {
	if r.State != Running {
		return ""
	}
	return fmt.Sprintf("started at %s for %s, plan version %d, and not approved yet", r.CreatedAt.RFC3339(), r.item(), r.PlanVersion)
}

func sayDone(r Run, _ core.History) string {
	if r.State != Done || r.Policy.Reviewers == NoReviewers {
		return ""
	}
	return fmt.Sprintf("%s was approved by every required reviewer", r.item())
}

// sayProof says how much the required checks prove.
func sayProof(r Run, _ core.History) string {
	p := r.Proof
	if p.Required == "" {
		return ""
	}
	text := fmt.Sprintf("the run requires %s to be green, and its proof is %s", named(p.Required), p.State())
	if p.State() == proof.NoneRequired {
		text = "what the worker says about commits and files is true, which proves no work: no other check is required"
	}
	if due := p.Due(); due != "" && r.Live() {
		text += fmt.Sprintf("; not green on the present files: %s", strings.Join(due.List(), ", "))
	}
	return text
}

func sayUnreviewed(r Run, _ core.History) string {
	if r.State != Done || r.Policy.Reviewers != NoReviewers {
		return ""
	}
	if r.Proof.State() == proof.Proven {
		return fmt.Sprintf("%s is proven by its required checks, and no approval is required", r.item())
	}
	return fmt.Sprintf("a worker says that %s is done, and no approval is required", r.item())
}

// superseded returns why a failed run has ended; nothing for other runs.
func (r Run) superseded(h core.History, newest string) []core.Reason {
	if r.State != Failed {
		return nil
	}
	ended := h.Last(core.RunSuperseded)
	reason := core.Reason{Rule: "run_without_approval_has_failed", EventSeq: ended.Seq, IDs: itemIDs(r)}
	reason.Text = fmt.Sprintf("ended before %s was approved", r.item())
	if ended != (core.Occurrence{}) {
		reason.Text = fmt.Sprintf("ended at %s, before %s was approved: a newer run of it was started, and an item has one live run",
			ended.At.RFC3339(), r.item())
	}
	if newest != "" && newest != r.ID {
		reason.Text += "; its newest run is " + newest
		reason.IDs = append(reason.IDs, newest)
	}
	return []core.Reason{reason}
}

func (r Run) item() string { return fmt.Sprintf("item %q of %q", r.ItemID, r.Plan) }

func sayPlanned(r Run, _ core.History) string {
	if r.PlanVersion == 1 {
		return ""
	}
	return fmt.Sprintf("the plan is at version %d; only one with other next items ends a block", r.PlanVersion)
}

func sayUnblocked(_ Run, h core.History) string {
	unblocked := h.Last(core.RunUnblocked)
	if unblocked == (core.Occurrence{}) {
		return ""
	}
	return fmt.Sprintf("a person unblocked it at %s, and its counters started again at zero", unblocked.At.RFC3339())
}

func sayReread(r Run, h core.History) string {
	read := h.Last(core.RunLedger)
	if read == (core.Occurrence{}) {
		return ""
	}
	return fmt.Sprintf("its facts are at revision %d, last read from %q at %s", r.Revision, r.Plan, read.At.RFC3339())
}

// next returns the possible steps for the run, and for a new run of the same item.
func (r Run) next(newest string) []core.Action {
	actions := r.Moves()
	if r.State == Failed && newest != "" && newest != r.ID {
		actions = append(actions, core.Act(newest, "explain", "explains the next step of the newest run of the item", "explain", newest))
	}
	return append(actions, r.nextRun())
}

// Moves returns the steps that continue this run, without a new run of its item.
func (r Run) Moves() []core.Action {
	switch r.State {
	case Running:
		n := r.Next(Outlook{})
		if n.Action == RunChecks {
			text := fmt.Sprintf("records how %s ended; waybill check does so for checks that you trust, and waybill work for its own", named(n.Checks))
			return []core.Action{core.Act(r.ID, "report_check", text, "check", "run", r.ID)}
		}
		method, text := "compile_prompt", "%s: compiles the prompt for the %s, whose turn it is"
		if n.Action == RetryWithPreamble {
			method, text = "resume_run", "%s: returns the retry prompt for the %s, whose turn it is"
		}
		return []core.Action{
			core.Act(r.ID, method, fmt.Sprintf(text, n.Action, n.Role), core.WorkOn(r.Plan)...),
			core.Act(r.ID, "ingest_output", fmt.Sprintf("judges the result of the %s, and returns the next action", n.Role)),
		}
	case Blocked:
		var actions []core.Action
		if r.Halt == HaltUntrusted && r.Proof.Untrusted != "" && r.Proof.Untrusted != proof.Facts {
			actions = append(actions, core.Act(r.ID, "trust_checks", "shows a person at a terminal what has changed, and asks whether to trust it", "check", "trust"))
		}
		unblocks := "ends the block after its cause was solved; the counters start again at zero"
		if r.Halt == HaltUntrusted && r.Proof.Protected != "" && r.Proof.Protected != proof.Facts {
			unblocks = "ends the block, and accepts the protected files as they are; the counters start again at zero"
		}
		actions = append(
			actions,
			core.Act(r.ID, "unblock_run", unblocks, "run", "unblock", r.ID),
			core.Act(r.ID, "replan", fmt.Sprintf("for item %q of %s ends the block if the steps, or the item in the plan file, have changed; the counters keep their values",
				r.ItemID, r.Plan)),
		)
		if !r.Halt.lasting() {
			actions = append(actions, core.Act(r.ID, "ingest_output", "also ends the block, with a result that makes progress"))
		}
		return actions
	case Done:
		return []core.Action{core.Act(r.ID, "ready_items", "lists the items of the plan that can begin now", "plan", r.Plan)}
	case Failed:
		return nil
	}
	panic("run: run " + string(r.State))
}

func (r Run) nextRun() core.Action {
	ended, effects := r.Supersede(r.UpdatedAt)
	if len(effects) > 0 {
		return core.Act(r.ID, "init_run", fmt.Sprintf(`with resume "new" starts a new run of item %q of %s; this one becomes %s`, r.ItemID, r.Plan, ended.State))
	}
	return core.Act(r.ID, "init_run", fmt.Sprintf("starts a new run of item %q of %s; this one stays %s", r.ItemID, r.Plan, ended.State))
}
