package core

import "fmt"

// Explain says why the run is as it is and what would move it on. The history holds the log's records
// about it in ascending order; it may lack the oldest ones, which the log does not keep for ever.
func (r Run) Explain(history []Occurrence) Explanation {
	return Explanation{
		Subject: r.ID,
		State:   string(r.State),
		Because: because(r, history, runRules),
		Next:    r.next(),
	}
}

// runRules are the laws of a run as reasons: where it is, what its facts rest on, and every counter
// that has begun to count beside the limit that its policy sets.
var runRules = []rule[Run]{
	{"one_run_leads_one_item_to_approval", sayRunning, []EventType{RunStarted}},
	{"blocked_run_waits_for_help", sayBlocked, nil},
	{"approval_ends_it", sayDone, nil},
	{"run_without_approval_has_failed", sayFailedRun, []EventType{RunSuperseded}},
	{"facts_are_read_from_the_plan", sayReread, []EventType{RunLedger}},
	counter(func(r Run) (int, int) { return r.invalid(Worker) }, "invalid_results_of_worker", blocks),
	counter(func(r Run) (int, int) { return r.invalid(SpecReviewer) }, "invalid_results_of_spec_reviewer", blocks),
	counter(func(r Run) (int, int) { return r.invalid(CodeQualityReviewer) }, "invalid_results_of_code_quality_reviewer", blocks),
	counter(func(r Run) (int, int) { return r.Counters.WorkerFailures, r.Policy.WorkerFailures + 1 }, "worker_failures", blocks),
	counter(func(r Run) (int, int) { return r.Counters.ReviewRejections, r.Policy.ReviewRejections }, "review_rejections", blocks),
	counter(func(r Run) (int, int) { return r.Counters.Stalled, r.Policy.StalledThreshold }, "outcomes_without_progress", flags),
	counter(func(r Run) (int, int) { return r.Counters.ReviewLoop, r.Policy.ReviewLoopThreshold }, "identical_review_issues", flags),
}

// What happens when a counter reaches its limit.
const (
	blocks = "blocks the run"
	flags  = "flags the run for a new plan"
)

// counter is the rule of one counter; of gives the count, and the limit at which it takes effect.
func counter(of func(Run) (count, limit int), name, effect string) rule[Run] {
	return rule[Run]{name: name, says: func(r Run, _ history) string {
		count, limit := of(r)
		if count == 0 {
			return ""
		}
		return fmt.Sprintf("%d of %d: number %d %s", count, limit, limit, effect)
	}}
}

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

func sayBlocked(r Run, _ history) string {
	if r.State != RunBlocked {
		return ""
	}
	return fmt.Sprintf("%s cannot go on without help, and only what depends on it waits with it", r.item())
}

func sayDone(r Run, _ history) string {
	if r.State != RunDone {
		return ""
	}
	return fmt.Sprintf("%s was approved", r.item())
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

func sayReread(r Run, h history) string {
	read := h.last(RunLedger)
	if read == (Occurrence{}) {
		return ""
	}
	return fmt.Sprintf("its facts are at revision %d, last read from %q at %s", r.Revision, r.Plan, when(read.At))
}

// next tells what can be done with the run; what a new run does to it, Supersede decides.
func (r Run) next() []Action {
	actions := []Action{}
	if r.State == RunRunning {
		actions = append(actions, Action{
			Name: "compile_prompt", Text: "compiles the prompt for the next role to work on the item",
		})
	}
	ended, effects := r.Supersede(r.UpdatedAt)
	if len(effects) > 0 {
		return append(actions, Action{
			Name: "init_run", Text: fmt.Sprintf(`with resume "new" starts a new run of the item; this one becomes %s`, ended.State),
		})
	}
	return append(actions, Action{
		Name: "init_run", Text: fmt.Sprintf("starts a new run of the item; this one stays %s", ended.State),
	})
}
