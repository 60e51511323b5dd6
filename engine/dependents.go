package engine

import (
	"fmt"

	"waybill/core/task"
	"waybill/store"
)

// afterTask carries out the consequences that a task's change has for other tasks, sessions and waiting workers.
func (tx *Tx) afterTask(before, t task.Task) error {
	switch {
	case t.Status() == task.StatusQueued:
		tx.touched = append(tx.touched, Claimers)
	case before.Phase == nil || before.Status() == t.Status():
		return nil
	case t.Status() == task.StatusComplete:
		if err := tx.releaseDependents(t.ID); err != nil {
			return err
		}
	}
	if t.Status() == task.StatusCancelled {
		if err := tx.withdrawInstructions(t.Current); err != nil {
			return err
		}
	}
	if !t.Status().Ended() || before.Status().Ended() || t.Spec.Parent == "" {
		return nil // the second case: it ended before, and the notice was posted then
	}
	return tx.postAllFinished(t)
}

// releaseDependents marks a completed task as done in the tasks that depend on it.
func (tx *Tx) releaseDependents(id string) error {
	return tx.eachDependent(id, func(t task.Task) error {
		_, err := tx.stepTask(t, task.DependencyDone{At: tx.now})
		return err
	})
}

// eachDependent calls fn with each task that depends on the given one. It skips damaged tasks, so that one of them
// does not block the others; the store has recorded the damage.
func (tx *Tx) eachDependent(id string, fn func(task.Task) error) error {
	after := ""
	for {
		ids, err := tx.Dependents(id, after, store.DefaultLimit)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, dependent := range ids {
			after = dependent
			t, err := tx.task(dependent)
			if damaged(err) {
				continue
			}
			if err != nil {
				return err
			}
			if err := fn(t); err != nil {
				return err
			}
		}
	}
}

// withdrawInstructions cancels the outstanding instructions of an ended attempt's session, because the session reads
// no more.
func (tx *Tx) withdrawInstructions(a task.Attempt) error {
	if a.Session() == "" {
		return nil
	}
	_, err := tx.CancelSession(a.Session(), fmt.Sprintf("attempt %d of task %s is over", a.Number, a.TaskID))
	if damaged(err) {
		return nil // the store has recorded the damage; the task still ends
	}
	return err
}
