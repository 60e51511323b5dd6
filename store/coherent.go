package store

import (
	"fmt"

	"waybill/core/task"
)

// Coherent returns an error if a task and its newest attempt disagree. A queued task has a pending attempt and a
// running task a running one. Every other task has an attempt with an end that core allows for the task's status. Every
// transaction keeps this rule, see Tx.PutTask, so that a reader of one knows the other.
func Coherent(t task.Task) error {
	if t.Current.Number == 0 {
		return fmt.Errorf("task %s has no attempt", t.ID)
	}
	if status := t.Current.Status(); !fits(t.Status(), status) {
		return fmt.Errorf("task %s is %s, and its newest attempt %s is %s", t.ID, t.Status(), t.Current.ID, status)
	}
	return nil
}

func fits(t task.Status, attempt task.AttemptStatus) bool {
	switch attempt {
	case task.AttemptPending:
		return t == task.StatusQueued
	case task.AttemptRunning:
		return t == task.StatusRunning
	case task.AttemptCompleted:
		return t == task.StatusComplete
	case task.AttemptError, task.AttemptInterrupted, task.AttemptLost:
		return t == task.StatusError || t == task.StatusBlocked || t == task.StatusCancelled
	case task.AttemptAwaiting:
		return t == task.StatusAwaiting || t == task.StatusBlocked || t == task.StatusCancelled
	case task.AttemptCancelled:
		return t == task.StatusCancelled || t == task.StatusBlocked
	}
	return false
}
