package store

import (
	"errors"
	"slices"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
)

// mostRead bounds the notices that Workload reads.
const mostRead = 2000

// Workload reads the records that may need attention. A failed task or instruction belongs to it while its notice is not
// consumed. Damaged records are left out; the Status names them. Where notices are damaged, or there are more than
// Workload reads, every failed task and instruction counts.
func Workload(tx Tx) (w core.Workload, err error) {
	tasks, err := tx.TaskCounts()
	if err != nil {
		return w, err
	}
	instructions, err := tx.InstructionCounts()
	if err != nil {
		return w, err
	}
	if err := liveRuns(tx, &w); err != nil {
		return w, err
	}
	w.Questions.Count = tasks[task.StatusAwaiting]
	if w.Questions.Count > 0 {
		asking, err := tx.Tasks(TaskQuery{Status: task.StatusAwaiting, Limit: core.MostNamed})
		if err != nil {
			return w, err
		}
		for _, t := range asking {
			w.Questions.IDs = append(w.Questions.IDs, t.ID)
		}
	}
	failed, unheard := tasks[task.StatusError]+tasks[task.StatusBlocked], instructions[instruction.StateFailed]
	if failed+unheard+instructions[instruction.StateArmed]+instructions[instruction.StateQueued]+instructions[instruction.StateSent] == 0 {
		return w, nil // a standing instruction is in another state when it has failed
	}
	whole, err := eachFailure(tx, failureVisitor{
		task:        func(t task.Task) error { w.FailedTasks.Add(t.ID); return nil },
		instruction: func(in instruction.Instruction) error { w.FailedInstructions.Add(in.ID); return nil },
		report:      func(Notice) {},
	})
	if err == nil && !whole {
		w.FailedTasks.Count, w.FailedInstructions.Count = failed, unheard
	}
	return w, err
}

func liveRuns(tx RunRecords, w *core.Workload) error {
	counts, err := tx.RunCounts()
	if err != nil {
		return err
	}
	if counts[run.Running] > 0 {
		runs, err := tx.Runs(RunQuery{State: run.Running})
		if err != nil {
			return err
		}
		for _, r := range runs {
			if !slices.Contains(w.Plans, r.Plan) {
				w.Plans = append(w.Plans, r.Plan)
			}
		}
	}
	if w.BlockedRuns.Count = counts[run.Blocked]; w.BlockedRuns.Count == 0 {
		return nil
	}
	runs, err := tx.Runs(RunQuery{State: run.Blocked, Limit: core.MostNamed})
	for _, r := range runs {
		w.BlockedRuns.IDs = append(w.BlockedRuns.IDs, r.ID)
	}
	return err
}

// A failureVisitor takes what open notices are about, if that still needs attention.
type failureVisitor struct {
	task        func(t task.Task) error
	instruction func(in instruction.Instruction) error
	report      func(n Notice) // an event that a host reported to a person
}

// eachFailure visits each failed task and instruction with an open notice once, and the reports. whole is false if not all
// notices were read.
func eachFailure(tx Tx, v failureVisitor) (whole bool, err error) {
	seen := map[string]bool{} // a task that failed twice has two notices
	var after int64
	for read := 0; ; {
		page, err := tx.Notices("", after, DefaultLimit)
		if isCorrupt(err) {
			return false, nil
		}
		if err != nil || len(page) == 0 {
			return true, err
		}
		if read += len(page); read > mostRead {
			return false, nil
		}
		for _, n := range page {
			after = n.Position
			switch {
			case n.Kind == core.NoticeHostReported:
				v.report(n)
				continue
			case seen[n.Subject], n.Kind != core.NoticeTaskFinished && n.Kind != core.NoticeInstructionFailed:
				continue
			}
			seen[n.Subject] = true
			if err := visitFailure(tx, n, v); err != nil && !isCorrupt(err) {
				return false, err
			}
		}
		if len(page) < DefaultLimit {
			return true, nil
		}
	}
}

// visitFailure visits what a notice is about, if that still needs attention.
func visitFailure(tx Tx, n Notice, v failureVisitor) error {
	if n.Kind == core.NoticeInstructionFailed {
		in, ok, err := tx.Instruction(n.Subject)
		if err != nil || !ok || !in.Unsettled() {
			return err
		}
		return v.instruction(in)
	}
	t, ok, err := tx.Task(n.Subject)
	if err != nil || !ok {
		return err
	}
	r, newest := run.Run{}, ""
	if id := t.Spec.RunID; id != "" {
		if r, _, err = tx.Run(id); err != nil {
			return err
		}
		latest, err := tx.Tasks(TaskQuery{RunID: id, Role: t.Spec.Role, Newest: true, Limit: 1})
		if err != nil {
			return err
		}
		for _, l := range latest {
			newest = l.ID
		}
	}
	if !t.Unsettled(r.State == run.Running, newest) {
		return nil
	}
	return v.task(t)
}

func isCorrupt(err error) bool {
	fault, ok := errors.AsType[*Error](err)
	return ok && fault.Kind == Corrupt
}
