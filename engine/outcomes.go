package engine

import (
	"fmt"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/ledger"
	"waybill/store"
)

// A Result is a judged result of an agent, and where it belongs.
type Result struct {
	RunID     string
	Role      core.Role
	Generic   bool // the host said no more than "reviewer"
	Judgement verdict.Judgement
	Output    string // the text that was judged
	Prompt    string // what the agent was given; "" if the host does not say, then it is that of the task
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
	// Retry says that the agent was given a retry prompt.
	Retry  bool
	Report Reported // of the attempt that was finished with it; Applied and Reason in any case
	// Decision is why the run goes on as it does; nil if the result moved nothing.
	Decision *core.Decision
}

// A Standing is where a run is, and what has to be done so that it goes on.
type Standing struct {
	Run    core.Run
	Ledger ledger.TaskLedger
	Next   core.Next
	// Problems are what was wrong with the last result of each role; none if it could be read.
	Problems [core.Roles][]verdict.Problem
	facts    []ledger.Fact // as they were before
	// Readiness is that of the plan, once the run is done.
	Readiness ledger.Readiness
}

// TakeResult moves a run as a result says, and finishes the attempt that gave it if there is a lease. The
// same result of the same attempt twice moves the run once. A lease that is not the attempt's any more
// moves nothing.
func (tx *Tx) TakeResult(r Result) (Taken, error) {
	before, err := tx.standing(r.RunID, r.Plan)
	if err != nil {
		return Taken{}, err
	}
	if r.Generic { // others may have reported since this result was read
		r.Role = before.Run.Reviewer()
	}
	t, err := tx.belongs(r, before.Run)
	if err != nil {
		return Taken{}, err
	}
	taken := Taken{Standing: before, Report: Reported{Applied: true}}
	if r.Token != "" {
		var moves bool
		if taken.Report, moves, err = tx.finishWith(r, before.Run); err != nil || !moves {
			return taken, err
		}
	}
	if t.ID == "" {
		t = taken.Report.Task
	}
	taken.Retry = verdict.IsRetry(firstOf(r.Prompt, t.Launch.Prompt))
	event := core.TakeResult{
		At: tx.now, Role: r.Role, Generic: r.Generic, Said: saying(r.Judgement.Verdict), Issues: r.Judgement.Result.IssueSet(),
	}
	said := RunRecord{
		Verdict: r.Judgement.Verdict, Grammar: r.Judgement.Grammar, Retry: taken.Retry,
		TaskID: t.ID, AttemptID: firstOf(taken.Report.Attempt.ID, r.AttemptID),
	}
	outcome := outcomeOf(r.Role, r.Judgement)
	before.Problems[r.Role-1] = r.Judgement.Errors
	taken.Standing, taken.Decision, err = tx.moveRun(before, r.Plan, event, &outcome, said)
	if err != nil {
		return taken, err
	}
	return taken, tx.AddTallies(r.RunID, resultTallies(r, taken.Next.Action))
}

// belongs gives the task that a result names, if it names one, and refuses a task or an attempt which is not
// the run's.
func (tx *Tx) belongs(r Result, run core.Run) (core.Task, error) {
	taskID, pointer := r.TaskID, "/task_id"
	if taskID == run.ItemID {
		taskID = "" // a host that knows no queue names the item
	}
	if r.AttemptID != "" {
		a, ok, err := tx.Attempt(r.AttemptID)
		switch {
		case err != nil || !ok:
			return core.Task{}, orMissing(err, "attempt", r.AttemptID)
		case taskID == "":
			taskID, pointer = a.TaskID, "/attempt_id"
		case a.TaskID != taskID:
			return core.Task{}, foreign("/attempt_id", "attempt", r.AttemptID, "of task "+a.TaskID)
		}
	}
	if taskID == "" {
		return core.Task{}, nil
	}
	t, err := tx.task(taskID)
	if err == nil && t.Launch.RunID != run.ID {
		err = foreign(pointer, "task", taskID, "not of run "+run.ID)
	}
	if err != nil {
		return t, err
	}
	return t, suits(t, r.Role)
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
	after := Standing{Run: run, Ledger: before.Ledger, Problems: before.Problems, facts: before.facts}
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

// afterMove does what the move of a run means for others.
func (tx *Tx) afterMove(before core.Run, after Standing) error {
	if after.Run.State == core.RunBlocked && before.State != core.RunBlocked {
		return tx.holdBack(after.Run)
	}
	if after.Next.Action == core.PlanCompleted {
		return tx.postCompleted(after)
	}
	return nil
}

// holdBack blocks the tasks of a run that nobody has begun. What runs goes on: its result will be heard.
func (tx *Tx) holdBack(run core.Run) error {
	query := store.TaskQuery{RunID: run.ID, Status: core.StatusQueued, Limit: store.DefaultLimit}
	for {
		tasks, err := tx.Tasks(query)
		if err != nil || len(tasks) == 0 {
			return err
		}
		for _, t := range tasks {
			query.After = t.Position
			if _, err := tx.stepTask(t, core.BlockTask{At: tx.now, Reason: "run " + run.ID + " is blocked: " + string(run.Halt)}); err != nil {
				return err
			}
		}
	}
}

// standing gives where a run is.
func (tx *Tx) standing(id string, plan *ledger.Reading) (Standing, error) {
	run, facts, err := tx.loadRun(id)
	if err != nil {
		return Standing{}, err
	}
	s := Standing{Run: run, Problems: problemsIn(facts), facts: facts}
	if s.Ledger, err = ledger.ParseTaskFacts(run.ID, run.ItemID, facts); err != nil {
		return s, err
	}
	return s, outlook(tx, &s, plan)
}

// putTaskFacts stores what the task ledger of a run says now, beside what else is known of the run.
func (tx *Tx) putTaskFacts(s Standing) error {
	renewed, err := withProblems(ledger.RenewTask(s.facts, s.Ledger), s.Problems)
	if err != nil {
		return err
	}
	return tx.PutFacts(s.Run.ID, stored(renewed))
}

// loseWorkers tells the runs of a task that attempts of their workers ended without a result. That a model
// or its provider is in trouble is the queue's to cope with, and no failure of the worker.
func (tx *Tx) loseWorkers(t core.Task, ended []core.Attempt) error {
	if t.Launch.RunID == "" || t.Launch.Role != core.Worker.String() {
		return nil
	}
	for _, a := range ended {
		if a.ID == tx.judged || !crashed(a) {
			continue
		}
		before, err := tx.standing(t.Launch.RunID, nil)
		if unreadable(err) {
			return nil // whoever asks about the run is told; the task ends all the same
		}
		if err != nil {
			return err
		}
		outcome := ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeCrashed}
		said := RunRecord{TaskID: t.ID, AttemptID: a.ID}
		if _, _, err := tx.moveRun(before, nil, core.LoseWorker{At: tx.now}, &outcome, said); err != nil {
			return err
		}
	}
	return nil
}

// crashed reports whether an attempt ended without a result because its worker failed.
func crashed(a core.Attempt) bool {
	switch a.Status() {
	case core.AttemptLost:
		return true
	case core.AttemptError:
		return a.Failure().Class == core.ClassTerminal
	case core.AttemptPending, core.AttemptRunning, core.AttemptCompleted, core.AttemptCancelled,
		core.AttemptInterrupted, core.AttemptAwaiting:
	}
	return false
}
