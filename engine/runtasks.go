package engine

import (
	"fmt"

	"waybill/core"
	"waybill/ledger"
	"waybill/store"
)

// What the tasks of the queue and the run that they are of mean for each other.

// afterMove does what the move of a run means for others.
func (tx *Tx) afterMove(before core.Run, after Standing) error {
	run := after.Run
	switch {
	case run.State == core.RunBlocked && before.State != core.RunBlocked:
		return tx.eachTask(run.ID, core.StatusQueued, func(t core.Task) error { return tx.holdBack(t, run) })
	case run.State == core.RunRunning && before.State == core.RunBlocked:
		return tx.eachTask(run.ID, core.StatusBlocked, func(t core.Task) error {
			_, err := tx.stepTask(t, core.RetryTask{At: tx.now, Next: tx.successor()})
			return err
		})
	case run.State == core.RunDone:
		if err := tx.withdraw(run, "is done", core.StatusQueued, core.StatusBlocked); err != nil {
			return err
		}
	}
	if after.Next.Action == core.PlanCompleted {
		return tx.postCompleted(after)
	}
	return nil
}

// holdBack blocks a task that nobody has begun, because its run is blocked. What runs goes on: its result
// will be heard.
func (tx *Tx) holdBack(t core.Task, run core.Run) error {
	_, err := tx.stepTask(t, core.BlockTask{At: tx.now, Reason: fmt.Sprintf("run %s is blocked: %s", run.ID, run.Halt)})
	return err
}

// withdraw cancels the tasks of a run that is over. One that is running is asked to end.
func (tx *Tx) withdraw(run core.Run, why string, statuses ...core.TaskStatus) error {
	for _, status := range statuses {
		err := tx.eachTask(run.ID, status, func(t core.Task) error {
			_, err := tx.stepTask(t, core.CancelTask{At: tx.now, Reason: fmt.Sprintf("run %s %s", run.ID, why)})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachTask calls fn with each task of a run that has a status.
func (tx *Tx) eachTask(runID string, status core.TaskStatus, fn func(core.Task) error) error {
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

// runTakesTasks refuses a new task of a run that is over.
func runTakesTasks(run core.Run) error {
	if run.Live() {
		return nil
	}
	return &core.Refusal{
		Kind: core.InvalidState, Noun: "run", Subject: run.ID, State: string(run.State),
		Message: fmt.Sprintf("run %s is %s and takes no more tasks: it is over; init_run starts another one, or leave run_id out", run.ID, run.State),
	}
}

// loseWorkers tells the runs of a task that attempts of their workers ended without a result. That a model
// or its provider is in trouble is the queue's to cope with, and no failure of the worker. A task of a run
// without a role is taken for a worker's.
func (tx *Tx) loseWorkers(t core.Task, ended []core.Attempt) error {
	if t.Launch.RunID == "" || t.Launch.Role != core.Worker.String() && t.Launch.Role != "" {
		return nil
	}
	for _, a := range ended {
		if a.ID == tx.judged || !crashed(a) {
			continue
		}
		before, err := tx.Standing(t.Launch.RunID, nil)
		if unreadable(err) {
			return nil // whoever asks about the run is told; the task ends all the same
		}
		if err != nil {
			return err
		}
		if before.memory.has(a.ID) {
			continue // what it was to do has been done, or was counted as a failure already
		}
		outcome := ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeCrashed}
		said := RunRecord{TaskID: t.ID, AttemptID: a.ID}
		if _, _, err := tx.moveRun(before, nil, core.LoseWorker{At: tx.now, Requeued: t.Status() == core.StatusQueued}, &outcome, said); err != nil {
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
