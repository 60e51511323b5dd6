package engine

import (
	"fmt"

	"waybill/core"
	"waybill/store"
)

// follow does what a move of a task means for others.
func (tx *Tx) follow(before, t core.Task) error {
	switch {
	case t.Status() == core.StatusQueued:
		tx.touched = append(tx.touched, Claimers)
	case before.Phase == nil || before.Status() == t.Status():
		return nil
	case t.Status() == core.StatusComplete:
		if err := tx.release(t.ID); err != nil {
			return err
		}
	}
	if t.Status() == core.StatusCancelled {
		if err := tx.withdrawInstructions(t.Current); err != nil {
			return err
		}
	}
	if !t.Status().Ended() || before.Status().Ended() || t.Launch.Parent == "" {
		return nil // in the last case, it was told when it ended first
	}
	return tx.allFinished(t)
}

// release tells the tasks that wait for a completed one.
func (tx *Tx) release(id string) error {
	return tx.eachDependent(id, func(t core.Task) error {
		_, err := tx.stepTask(t, core.DependencyDone{At: tx.now})
		return err
	})
}

// eachDependent calls fn with each task that depends on the given one. One that is not what was written is
// passed by, so that it keeps no other from its end; the store has noted it.
func (tx *Tx) eachDependent(id string, fn func(core.Task) error) error {
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

// withdrawInstructions cancels what is still outstanding for the session of an attempt that will not
// read it any more.
func (tx *Tx) withdrawInstructions(a core.Attempt) error {
	if a.Session() == "" {
		return nil
	}
	_, err := tx.CancelSession(a.Session(), fmt.Sprintf("attempt %d of task %s is over", a.Number, a.TaskID))
	if damaged(err) {
		return nil // the store has noted the instruction; the task ends all the same
	}
	return err
}
