package engine

import (
	"fmt"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/ledger"
)

// A Result is a judged result of an agent, and where it belongs.
type Result struct {
	RunID     string
	Role      core.Role
	Generic   bool // the host said no more than "reviewer"
	Judgement verdict.Judgement
	Output    string // the text that was judged
	Prompt    string // what the agent was given; "" if the host does not say, then it is that of the task
	Compiled  string // what it was given if neither says so
	Tokens    int    // that the result is estimated to be
	TaskID    string // of the queue; "" if the host named none
	AttemptID string // likewise
	Token     string // the lease of the attempt that is to be finished with it; "" if none is
	// Plan is what the plan says now, or nil if it cannot be read.
	Plan *ledger.Reading
}

// A Taken is what became of a result.
type Taken struct {
	Standing
	// Retry says that the agent was given a retry prompt, and Again that its result was taken before.
	Retry, Again bool
	Report       Reported // of the attempt that was finished with it; Applied and Reason in any case
	// Decision is why the run goes on as it does; nil if the result moved nothing.
	Decision *core.Decision
}

// A Standing is where a run is, and what has to be done so that it goes on.
type Standing struct {
	Run    core.Run
	Ledger ledger.TaskLedger
	Next   core.Next
	// Unread are the last results of each role, as far as they could not be read.
	Unread [core.Roles]Unread
	// Readiness is that of the plan, once the run is done.
	Readiness ledger.Readiness
	memory    memory
	facts     []ledger.Fact // as they were before
}

// TakeResult moves a run as a result says, and finishes the attempt that gave it if there is a lease. The
// same result of an attempt moves the run once, however often it comes. An attempt that is not its task's any more,
// by its lease or by its id, moves nothing.
func (tx *Tx) TakeResult(r Result) (Taken, error) {
	before, err := tx.Standing(r.RunID, r.Plan)
	if err != nil {
		return Taken{}, err
	}
	if r.Generic { // others may have reported since this result was read
		r.Role = before.Run.Reviewer(r.Judgement.Result.Own)
	}
	t, a, err := tx.belongs(r, before.Run)
	if err != nil {
		return Taken{}, err
	}
	taken := Taken{Standing: before, Again: before.memory.knows(a.ID, r.Output)}
	if taken.Report, err = tx.reported(r, t, a, before.Run); err != nil || !taken.Report.Applied {
		return taken, err
	}
	taken.Again = taken.Again || before.memory.knows(taken.Report.Attempt.ID, r.Output)
	if taken.Again {
		return taken, nil
	}
	if r.Token != "" {
		t, a = taken.Report.Task, taken.Report.Attempt
	}
	given := firstOf(r.Prompt, t.Launch.Prompt, r.Compiled)
	taken.Retry = verdict.IsRetry(given)
	before.memory = before.memory.took(a.ID, r.Output).heard(r.Role, r.Judgement.Errors, verdict.Original(given))
	said := RunRecord{
		Verdict: r.Judgement.Verdict, Grammar: r.Judgement.Grammar, Retry: taken.Retry, TaskID: t.ID, AttemptID: a.ID,
	}
	outcome := outcomeOf(r.Role, r.Judgement)
	outcome.Origin = ledger.Origin{TaskID: t.ID, AttemptID: a.ID}
	taken.Standing, taken.Decision, err = tx.moveRun(before, r.Plan, r.event(before, tx.now), &outcome, said)
	if err != nil {
		return taken, err
	}
	return taken, tx.AddTallies(r.RunID, resultTallies(r, taken.Next.Action))
}

// event gives what the result is to the run.
func (r Result) event(before Standing, at core.Instant) core.TakeResult {
	e := core.TakeResult{
		At: at, Role: r.Role, Generic: r.Generic, Said: saying(r.Judgement.Verdict), Issues: r.Judgement.Result.IssueSet(),
	}
	if r.Plan != nil {
		if item, ok := r.Plan.Item(before.Run.ItemID); ok {
			e.Frontier = ledger.Frontier(&item, before.Ledger.PlanItems)
		}
	}
	return e
}

// reported finishes the attempt if there is a lease. Without one, an attempt that is named must still be the
// one that works on its task, or have been the last.
func (tx *Tx) reported(r Result, t core.Task, a core.Attempt, run core.Run) (Reported, error) {
	switch {
	case r.Token != "":
		return tx.finishWith(r, run)
	case a.ID == "":
		return Reported{Applied: true}, nil
	case a.ID == t.Current.ID && a.Status() != core.AttemptLost && a.Status() != core.AttemptCancelled:
		return Reported{Applied: true}, nil
	}
	return tx.late(t, a, "ingest_output")
}

// belongs gives the task and the attempt that a result names, if it names them, and refuses what is not the
// run's.
func (tx *Tx) belongs(r Result, run core.Run) (t core.Task, a core.Attempt, err error) {
	taskID, pointer := r.TaskID, "/task_id"
	if taskID == run.ItemID {
		taskID = "" // a host that knows no queue names the item
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
			return t, a, foreign("/attempt_id", "attempt", r.AttemptID, "of task "+a.TaskID)
		}
	}
	if taskID == "" {
		return t, a, nil
	}
	t, err = tx.task(taskID)
	if err == nil && t.Launch.RunID != run.ID {
		err = foreign(pointer, "task", taskID, "not of run "+run.ID)
	}
	if err != nil {
		return t, a, err
	}
	return t, a, suits(t, r.Role)
}

// suits refuses a result of a reviewer for the task of a worker, and the other way round: the work is not done
// because it was reviewed. Which reviewer it was is the run's to know.
func suits(t core.Task, role core.Role) error {
	of, known := core.ParseRole(t.Launch.Role)
	if !known || of.Reviewer() == role.Reviewer() {
		return nil
	}
	return foreign("/role", "task", t.ID, "one for the "+of.String())
}

func foreign(pointer, noun, id, what string) error {
	return &core.Refusal{
		Kind: core.Foreign, Noun: noun, Subject: id, Pointer: pointer,
		Message: fmt.Sprintf("%s: %s %s is %s; name what gave this result, or leave it out", pointer, noun, id, what),
	}
}

// moveRun steps a run, saves what it became and what its ledger says then, and does what follows. outcome
// is nil if the ledger learns nothing but the counters.
func (tx *Tx) moveRun(before Standing, plan *ledger.Reading, event core.RunEvent, outcome *ledger.Outcome, said RunRecord) (Standing, *core.Decision, error) {
	run, effects, err := before.Run.Step(event)
	if err != nil || len(effects) == 0 {
		return before, nil, err
	}
	after := Standing{Run: run, Ledger: before.Ledger, Unread: before.memory.unread, memory: before.memory, facts: before.facts}
	if outcome != nil {
		after.Ledger = after.Ledger.After(*outcome)
	}
	after.Ledger = after.Ledger.Counted(counts(run))
	if run.State == core.RunDone { // which the outlook has to see
		if err := tx.PutRun(run); err != nil {
			return after, nil, err
		}
	}
	if err := outlook(tx, &after, plan); err != nil {
		return after, nil, err
	}
	said.NextAction = after.Next.Action
	if after.Next.Role != 0 {
		said.NextRole = after.Next.Role.String()
	}
	if err := tx.saveRun(run, effects, said); err != nil {
		return after, nil, err
	}
	if err := tx.putTaskFacts(after); err != nil {
		return after, nil, err
	}
	return after, decisionOf(effects), tx.afterMove(before.Run, after)
}

func decisionOf(effects []core.Effect) *core.Decision {
	for _, effect := range effects {
		if e, ok := effect.(core.Decide); ok {
			return &e.Decision
		}
	}
	return nil
}

// Standing gives where a run is, and what has to be done next. With a *ledger.FactError, everything but the
// Ledger is there.
func (tx *Tx) Standing(id string, plan *ledger.Reading) (Standing, error) {
	run, facts, err := tx.loadRun(id)
	if err != nil {
		return Standing{}, err
	}
	s := Standing{Run: run, memory: recalled(facts), facts: facts}
	s.Unread = s.memory.unread
	if err := outlook(tx, &s, plan); err != nil {
		return s, err
	}
	s.Ledger, err = ledger.ParseTaskFacts(run.ID, run.ItemID, facts)
	return s, err
}

// putTaskFacts stores what the task ledger of a run says now, beside what else is known of the run.
func (tx *Tx) putTaskFacts(s Standing) error {
	renewed, err := s.memory.among(ledger.RenewTask(s.facts, s.Ledger))
	if err != nil {
		return err
	}
	return tx.PutFacts(s.Run.ID, stored(renewed))
}
