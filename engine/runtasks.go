package engine

import (
	"fmt"

	"waybill/core"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/ledger"
	"waybill/store"
)

// afterMove blocks, retries or cancels the tasks of a run after its state changed.
func (tx *Tx) afterMove(before run.Run, after Standing) error {
	r := after.Run
	switch {
	case r.State == run.Blocked && before.State != run.Blocked:
		return tx.eachTask(r.ID, task.StatusQueued, func(t task.Task) error { return tx.blockTask(t, r) })
	case r.State == run.Running && before.State == run.Blocked:
		return tx.eachTask(r.ID, task.StatusBlocked, func(t task.Task) error {
			_, err := tx.stepTask(t, task.Retry{At: tx.now, Next: tx.successor()})
			return err
		})
	case r.State == run.Done:
		if err := tx.withdraw(r, "is done", task.StatusQueued, task.StatusBlocked); err != nil {
			return err
		}
	}
	if after.Next.Action == run.PlanCompleted {
		return tx.postCompleted(after)
	}
	return nil
}

// blockTask blocks a queued task because its run is blocked. Running tasks continue.
func (tx *Tx) blockTask(t task.Task, run run.Run) error {
	_, err := tx.stepTask(t, task.Block{At: tx.now, Reason: fmt.Sprintf("run %s is blocked: %s", run.ID, run.Halt)})
	return err
}

// withdraw cancels the tasks of an ended run. Running tasks are asked to end.
func (tx *Tx) withdraw(run run.Run, why string, statuses ...task.Status) error {
	for _, status := range statuses {
		err := tx.eachTask(run.ID, status, func(t task.Task) error {
			_, err := tx.stepTask(t, task.Cancel{At: tx.now, Reason: fmt.Sprintf("run %s %s", run.ID, why)})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachTask calls fn with each task of a run that has a status.
func (tx *Tx) eachTask(runID string, status task.Status, fn func(task.Task) error) error {
	query := store.TaskQuery{RunID: runID, Status: status, Limit: store.DefaultLimit}
	for {
		tasks, err := tx.Tasks(query)
		if err != nil || len(tasks) == 0 {
			return err
		}
		for _, t := range tasks {
			query.After = t.Position
			if err := fn(t); err != nil {
				return err
			}
		}
	}
}

// runTakesTasks refuses a new task of an ended run.
func runTakesTasks(run run.Run) error {
	if run.Live() {
		return nil
	}
	return &core.Refusal{
		Kind: core.InvalidState, Noun: "run", Subject: run.ID, State: string(run.State),
		Message: fmt.Sprintf("run %s is %s and takes no more tasks; start a new run with init_run, or omit run_id", run.ID, run.State),
	}
}

// loseWorkers reports to a run that attempts of its workers ended without a result. Failures of a model or its
// provider do not count, because the queue retries them. A task without a role counts as a worker's.
func (tx *Tx) loseWorkers(t task.Task, ended []task.Attempt) error {
	if t.Spec.RunID == "" || t.Spec.Role != core.Worker.String() && t.Spec.Role != "" {
		return nil
	}
	for _, a := range ended {
		if a.ID == tx.judged || !crashed(a) {
			continue
		}
		before, err := tx.Standing(t.Spec.RunID, nil)
		if unreadable(err) {
			return nil // a call about the run reports it; the task still ends
		}
		if err != nil {
			return err
		}
		if before.memory.hasAttempt(a.ID) {
			continue // its result was already counted
		}
		outcome := ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeCrashed}
		data := RunRecord{TaskID: t.ID, AttemptID: a.ID}
		if _, _, err := tx.moveRun(before, nil, run.LoseWorker{At: tx.now, Requeued: t.Status() == task.StatusQueued}, &outcome, data); err != nil {
			return err
		}
	}
	return nil
}

// crashed reports whether an attempt ended without a result because its worker failed.
func crashed(a task.Attempt) bool {
	switch a.Status() {
	case task.AttemptLost:
		return true
	case task.AttemptError:
		return a.Failure().Class == task.ClassTerminal
	case task.AttemptPending, task.AttemptRunning, task.AttemptCompleted, task.AttemptCancelled,
		task.AttemptInterrupted, task.AttemptAwaiting:
	}
	return false
}
