package store

import (
	"fmt"

	"waybill/core"
)

// Coherent tells in which way a task is not what its newest attempt says, or nil if the two agree: a
// queued task has an attempt that is pending, a running one has one that is running, and every other
// one has an attempt that ended as the task did. No transaction ends otherwise, see Tx.PutTask, so that
// who reads one of them knows the other.
func Coherent(t core.Task) error {
	if t.Current.Number == 0 {
		return fmt.Errorf("task %s has no attempt", t.ID)
	}
	if status := t.Current.Status(); !fits(t.Status(), status) {
		return fmt.Errorf("task %s is %s, and its newest attempt %s is %s", t.ID, t.Status(), t.Current.ID, status)
	}
	return nil
}

func fits(task core.TaskStatus, attempt core.AttemptStatus) bool {
	switch attempt {
	case core.AttemptPending:
		return task == core.StatusQueued
	case core.AttemptRunning:
		return task == core.StatusRunning
	case core.AttemptCompleted:
		return task == core.StatusComplete
	case core.AttemptError, core.AttemptInterrupted, core.AttemptLost:
		return task == core.StatusError || task == core.StatusBlocked || task == core.StatusCancelled
	case core.AttemptAwaiting:
		return task == core.StatusAwaiting || task == core.StatusBlocked || task == core.StatusCancelled
	case core.AttemptCancelled:
		return task == core.StatusCancelled || task == core.StatusBlocked
	}
	return false
}
