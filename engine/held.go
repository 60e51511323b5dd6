package engine

import (
	"fmt"
	"strings"

	"waybill/core/task"
	"waybill/store"
)

// A task whose dependency ended without completing is held back: it waits until a person acts, and so do the tasks
// that depend on it.

const (
	// maxNamed bounds the tasks that a text or a notice names.
	maxNamed = 20
	// maxFollowed bounds the tasks whose dependents are counted for a notice.
	maxFollowed = 1000
)

// heldNotice lists the tasks that an ended task holds back.
type heldNotice struct {
	Count   int      `json:"count"`
	TaskIDs []string `json:"task_ids"` // of the first ones
}

// eachHeld calls fn with each queued task that depends on the given incomplete task.
func (tx *Tx) eachHeld(id string, fn func(task.Task)) error {
	return tx.eachDependent(id, func(t task.Task) error {
		if t.Status() == task.StatusQueued && t.Waits > 0 {
			fn(t)
		}
		return nil
	})
}

// heldBy returns the tasks that an ended task holds back, or nil if there are none.
func (tx *Tx) heldBy(over task.Task) (*heldNotice, error) {
	if over.Status() == task.StatusComplete {
		return nil, nil
	}
	held := &heldNotice{}
	err := tx.eachHeld(over.ID, func(t task.Task) {
		if held.Count++; held.Count <= maxNamed {
			held.TaskIDs = append(held.TaskIDs, t.ID)
		}
	})
	if held.Count == 0 {
		return nil, err
	}
	return held, err
}

func (h *heldNotice) String() string {
	verb, more := "tasks wait", ""
	if h.Count == 1 {
		verb = "task waits"
	}
	if h.Count > len(h.TaskIDs) {
		more = ", …"
	}
	return fmt.Sprintf("%d %s for it: %s%s", h.Count, verb, strings.Join(h.TaskIDs, ", "), more)
}

// countUnderWay counts the unfinished tasks of a session. Held-back tasks are counted separately.
func (tx *Tx) countUnderWay(parent string) (going, held int, err error) {
	live, err := tx.CountTasks(store.TaskQuery{Parent: parent, Live: true})
	if err != nil {
		return 0, 0, err
	}
	held, err = tx.countHeld(parent)
	return live - held, held, err
}

// countHeld counts the tasks of a session that a failed task of the same session holds back, directly or through
// others.
func (tx *Tx) countHeld(parent string) (held int, err error) {
	queued, err := tx.CountTasks(store.TaskQuery{Parent: parent, Status: task.StatusQueued})
	if err != nil || queued == 0 {
		return 0, err
	}
	follow, err := tx.failedOf(parent)
	if err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for i := 0; i < len(follow) && i < maxFollowed; i++ {
		err := tx.eachHeld(follow[i], func(t task.Task) {
			if seen[t.ID] {
				return
			}
			seen[t.ID] = true
			follow = append(follow, t.ID)
			if t.Spec.Parent == parent {
				held++
			}
		})
		if err != nil {
			return held, err
		}
	}
	return held, nil
}

// failedOf returns the tasks of a session that ended without completing.
func (tx *Tx) failedOf(parent string) (ids []string, err error) {
	for _, status := range []task.Status{task.StatusError, task.StatusCancelled, task.StatusBlocked} {
		page, err := tx.Tasks(store.TaskQuery{Parent: parent, Status: status})
		if err != nil {
			return nil, err
		}
		for _, t := range page {
			ids = append(ids, t.ID)
		}
	}
	return ids, nil
}
