package engine

import (
	"fmt"

	"waybill/core"
	"waybill/core/audit"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/core/verdict"
	"waybill/ledger"
	"waybill/plan"
)

// A Result is a judged result of an agent together with its run, task and attempt.
type Result struct {
	RunID     string
	Role      core.Role
	Generic   bool // the host said only "reviewer"
	Judgement verdict.Judgement
	Asked     verdict.Asked // the expectations of the judgement
	Output    string        // the judged text
	Digest    string        // of Output, see verdict.Digest
	Prompt    string        // the prompt that the agent had; "" means the prompt of the task
	Compiled  string        // the fallback if both are empty
	Tokens    int           // the estimated size of the result
	TaskID    string        // optional
	AttemptID string        // optional
	Token     string        // the lease of the attempt to finish, or ""
	Tree      string        // of the present files, or "" if unknown
	// Plan is the current plan, or nil if it cannot be read.
	Plan *plan.Reading
}

// A Taken is the effect of a result.
type Taken struct {
	Standing
	// Judgement is the judgement inside the transaction.
	Judgement verdict.Judgement
	// Retry reports that the agent had a retry prompt, and Again that its result was taken before.
	Retry, Again bool
	Report       Reported // of the finished attempt; Applied and Reason are always set
	// Decision is the rule that decided the next step of the run; nil if nothing changed.
	Decision *run.Decision
}

// A Standing is the state of a run and the next step that it needs.
type Standing struct {
	Run    run.Run
	Ledger ledger.TaskLedger
	Next   run.Next
	// Unread holds the last result of each role if it could not be read.
	Unread [core.Roles]Unread
	// Readiness and Progress are those of the plan; they are set once the run is done.
	Readiness plan.Readiness
	Progress  plan.PlanProgress
	memory    memory
	facts     []ledger.Fact // the stored facts before the change
}

// TakeResult applies a result to its run and finishes the attempt if there is a lease. A repeated result of an
// attempt changes nothing, and so does an attempt that no longer belongs to its task.
func (tx *Tx) TakeResult(r Result) (Taken, error) {
	before, err := tx.Standing(r.RunID, r.Plan)
	if err != nil {
		return Taken{}, err
	}
	if r.Generic { // another result may have been taken since
		r.Role = before.Run.Reviewer(r.Judgement.Result.Own)
	}
	t, a, err := tx.resultOwner(r, before.Run)
	if err != nil {
		return Taken{}, err
	}
	taken := Taken{Standing: before}
	if taken.Judgement, taken.Again, err = tx.judgeInTurn(r, a, before); err != nil {
		return taken, err
	}
	r.Judgement = taken.Judgement
	if taken.Report, err = tx.reported(r, t, a, before.Run); err != nil || !taken.Report.Applied {
		return taken, err
	}
	if taken.Again {
		return taken, nil
	}
	if r.Token != "" {
		t, a = taken.Report.Task, taken.Report.Attempt
	}
	given := firstOf(r.Prompt, t.Spec.Prompt, r.Compiled)
	taken.Retry = verdict.IsRetry(given)
	before.memory = before.memory.withResult(a.ID, r.Output).withProblems(r.Role, r.Judgement.Errors, verdict.Original(given))
	if r.Judgement.Verdict != verdict.Invalid {
		before.memory = before.memory.withAccepted(r.Role, r.Digest)
	}
	data := RunRecord{
		Verdict: r.Judgement.Verdict, Grammar: r.Judgement.Grammar, Retry: taken.Retry, TaskID: t.ID, AttemptID: a.ID,
	}
	if r.Judgement.Verdict == verdict.Pass {
		data.Said = audit.SaidIn(r.Judgement.Result)
	}
	outcome := outcomeOf(r.Role, r.Judgement)
	outcome.Origin = ledger.Origin{TaskID: t.ID, AttemptID: a.ID}
	taken.Standing, taken.Decision, err = tx.moveRun(before, r.Plan, r.event(before, tx.now), &outcome, data)
	if err != nil {
		return taken, err
	}
	return taken, tx.AddTallies(r.RunID, resultTallies(r, taken.Next.Action))
}

// event returns the event for the run.
func (r Result) event(before Standing, at core.Instant) run.TakeResult {
	return run.TakeResult{
		At: at, Role: r.Role, Generic: r.Generic, Said: saidOf(r.Judgement.Verdict), Issues: r.Judgement.Result.IssueSet(),
		Frontier: before.frontier(r.Plan), Tree: r.Tree,
	}
}

// frontier returns the digest of the next items of the plan, or "" if the plan cannot be read or lacks the item.
func (s Standing) frontier(plan *plan.Reading) string {
	if plan == nil {
		return ""
	}
	item, ok := plan.Item(s.Run.ItemID)
	if !ok {
		return ""
	}
	return ledger.Frontier(&item, s.Ledger.PlanItems)
}

// reported finishes the attempt if there is a lease. Otherwise a named attempt must be the newest of its task and
// must not be lost or cancelled.
func (tx *Tx) reported(r Result, t task.Task, a task.Attempt, run run.Run) (Reported, error) {
	switch {
	case r.Token != "":
		return tx.finishWith(r, run)
	case a.ID == "":
		return Reported{Applied: true}, nil
	case a.ID == t.Current.ID && a.Status() != task.AttemptLost && a.Status() != task.AttemptCancelled:
		return Reported{Applied: true}, nil
	}
	return tx.countLate(t, a, "ingest_output")
}

// resultOwner returns the task and the attempt that a result names, and refuses those of another run.
func (tx *Tx) resultOwner(r Result, run run.Run) (t task.Task, a task.Attempt, err error) {
	taskID, pointer := r.TaskID, "/task_id"
	if taskID == run.ItemID {
		taskID = "" // a host without tasks names the item
	}
	if r.AttemptID != "" {
		var ok bool
		a, ok, err = tx.Attempt(r.AttemptID)
		switch {
		case err != nil || !ok:
			return t, a, orMissing(err, "attempt", r.AttemptID)
		case taskID == "":
			taskID, pointer = a.TaskID, "/attempt_id"
		case a.TaskID != taskID:
			return t, a, wrongOwner("/attempt_id", "attempt", r.AttemptID, "of task "+a.TaskID)
		}
	}
	if taskID == "" {
		return t, a, nil
	}
	t, err = tx.task(taskID)
	if err == nil && t.Spec.RunID != run.ID {
		err = wrongOwner(pointer, "task", taskID, "not of run "+run.ID)
	}
	if err != nil {
		return t, a, err
	}
	return t, a, checkRole(t, r.Role)
}

// checkRole refuses a reviewer's result for a worker's task, and the reverse. The run distinguishes the reviewers.
func checkRole(t task.Task, role core.Role) error {
	of, known := core.ParseRole(t.Spec.Role)
	if !known || of.Reviewer() == role.Reviewer() {
		return nil
	}
	return wrongOwner("/role", "task", t.ID, "one for the "+of.String())
}

func wrongOwner(pointer, noun, id, what string) error {
	return &core.Refusal{
		Kind: core.Foreign, Noun: noun, Subject: id, Pointer: pointer,
		Message: fmt.Sprintf("%s: %s %s is %s; name the one that this result is from, or omit it", pointer, noun, id, what),
	}
}

// moveRun steps a run, saves the run and its ledger, and updates its tasks. outcome is nil if only the counters of
// the ledger change.
func (tx *Tx) moveRun(before Standing, plan *plan.Reading, event run.Event, outcome *ledger.Outcome, data RunRecord) (Standing, *run.Decision, error) {
	r, effects, err := before.Run.Step(event)
	if err != nil || len(effects) == 0 {
		return before, nil, err
	}
	after := Standing{Run: r, Ledger: before.Ledger, Unread: before.memory.unread, memory: before.memory, facts: before.facts}
	if outcome != nil {
		after.Ledger = after.Ledger.After(*outcome)
	}
	after.Ledger = after.Ledger.Counted(counts(r))
	if r.State == run.Done { // outlook reads it from the store
		if err := tx.PutRun(r); err != nil {
			return after, nil, err
		}
	}
	if err := outlook(tx, &after, plan); err != nil {
		return after, nil, err
	}
	data.NextAction = after.Next.Action
	if after.Next.Role != 0 {
		data.NextRole = after.Next.Role.String()
	}
	if err := tx.saveRun(r, effects, data); err != nil {
		return after, nil, err
	}
	if err := tx.putTaskFacts(after); err != nil {
		return after, nil, err
	}
	return after, decisionOf(effects), tx.afterMove(before.Run, after)
}

// Rounds returns the rounds of the roles.
func (s Standing) Rounds() Rounds { return s.memory.accepted.Counts }

func decisionOf(effects []core.Effect) *run.Decision {
	for _, effect := range effects {
		if e, ok := effect.(run.Decide); ok {
			return &e.Decision
		}
	}
	return nil
}

// Standing returns the state of a run and its next step. With a *ledger.FactError, only the Ledger and the facts
// about results are missing.
func (tx *Tx) Standing(id string, plan *plan.Reading) (Standing, error) {
	run, facts, err := tx.loadRun(id)
	if err != nil {
		return Standing{}, err
	}
	s := Standing{Run: run, facts: facts}
	if err := outlook(tx, &s, plan); err != nil {
		return s, err
	}
	if s.memory, err = parseMemory(facts); err != nil {
		return s, err
	}
	s.Unread = s.memory.unread
	s.Ledger, err = ledger.ParseTaskFacts(run.ID, run.ItemID, facts)
	return s, err
}

// putTaskFacts stores the task ledger of a run among its other facts.
func (tx *Tx) putTaskFacts(s Standing) error {
	renewed, err := s.memory.mergeInto(ledger.RenewTask(s.facts, s.Ledger))
	if err != nil {
		return err
	}
	return tx.PutFacts(s.Run.ID, renewed)
}
