package engine

import (
	"fmt"
	"strings"

	"waybill/core"
	"waybill/store"
)

// A task that waits for one that is over and not complete goes on waiting, and so do those that wait for
// it: nothing of them is under way until a person sees to it.

const (
	// mostNamed bounds the tasks that are named when one is said to wait or to be waited for.
	mostNamed = 20
	// mostFollowed bounds the tasks whose dependents are looked at when an end is told of.
	mostFollowed = 1000
)

// heldNotice tells of the tasks that wait for one that is over.
type heldNotice struct {
	Count   int      `json:"count"`
	TaskIDs []string `json:"task_ids"` // of the first ones
}

// eachHeld calls fn with each task that is queued and depends on one that is not complete.
func (tx *Tx) eachHeld(id string, fn func(core.Task)) error {
	return tx.eachDependent(id, func(t core.Task) error {
		if t.Status() == core.StatusQueued && t.Waits > 0 {
			fn(t)
		}
		return nil
	})
}

// holdsBack gives the tasks that wait for one that is over, or nil if none does or it is complete.
func (tx *Tx) holdsBack(over core.Task) (*heldNotice, error) {
	if over.Status() == core.StatusComplete {
		return nil, nil
	}
	held := &heldNotice{}
	err := tx.eachHeld(over.ID, func(t core.Task) {
		if held.Count++; held.Count <= mostNamed {
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

// underWay counts the tasks of a session that are not over, without those that are held back, which it
// counts beside them.
func (tx *Tx) underWay(parent string) (going, held int, err error) {
	live, err := tx.CountTasks(store.TaskQuery{Parent: parent, Live: true})
	if err != nil {
		return 0, 0, err
	}
	held, err = tx.heldOf(parent)
	return live - held, held, err
}

// heldOf counts the tasks of a session that wait, directly or through others, for a task of that session
// that is over and not complete.
func (tx *Tx) heldOf(parent string) (held int, err error) {
	queued, err := tx.CountTasks(store.TaskQuery{Parent: parent, Status: core.StatusQueued})
	if err != nil || queued == 0 {
		return 0, err
	}
	follow, err := tx.failedOf(parent)
	if err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for i := 0; i < len(follow) && i < mostFollowed; i++ {
		err := tx.eachHeld(follow[i], func(t core.Task) {
			if seen[t.ID] {
				return
			}
			seen[t.ID] = true
			follow = append(follow, t.ID)
			if t.Launch.Parent == parent {
				held++
			}
		})
		if err != nil {
			return held, err
		}
	}
	return held, nil
}

// failedOf gives the tasks of a session that are over and not complete.
func (tx *Tx) failedOf(parent string) (ids []string, err error) {
	for _, status := range []core.TaskStatus{core.StatusError, core.StatusCancelled, core.StatusBlocked} {
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
