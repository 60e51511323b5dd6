// Package taskview reads what a task shows: its dependencies, what it waits for, its attempts, and the prompt of an attempt.
// It changes nothing.
package taskview

import (
	"encoding/json"
	"errors"
	"slices"

	"waybill/core/task"
	"waybill/store"
)

// MaxHolds bounds the dependencies that WaitsFor returns.
const MaxHolds = 20

// Dependencies returns the ids of the tasks that a task depends on.
func Dependencies(t task.Task) []string {
	ids := []string{}
	if t.Spec.DependsOn == "" {
		return ids
	}
	if err := json.Unmarshal([]byte(t.Spec.DependsOn), &ids); err != nil {
		panic("taskview: dependencies of task " + t.ID + " were not written by CreateTask: " + err.Error())
	}
	return ids
}

// A Hold is an incomplete dependency of a task.
type Hold struct {
	TaskID string
	Status task.Status // "" if it cannot be read
}

// WaitsFor returns the first incomplete dependencies of a queued task.
func WaitsFor(tx store.TaskRecords, t task.Task) ([]Hold, error) {
	var holds []Hold
	left := t.Waits
	if t.Status() != task.StatusQueued || left == 0 {
		return nil, nil
	}
	for _, id := range Dependencies(t) {
		if left == 0 || len(holds) == MaxHolds {
			break
		}
		on, ok, err := tx.Task(id)
		switch {
		case damaged(err) || err == nil && !ok:
			holds = append(holds, Hold{TaskID: id})
		case err != nil:
			return nil, err
		case on.Status() != task.StatusComplete:
			holds = append(holds, Hold{id, on.Status()})
			left--
		}
	}
	return holds, nil
}

// Timeline returns the attempts of a task in order, and the same as text. If they exceed the lines, it returns the
// first and the last ones and one line with the number between. One line holds the newest attempt.
func Timeline(tx store.AttemptRecords, t task.Task, lines int) (attempts []task.Attempt, text string, err error) {
	last := t.Current.Number
	if last <= lines {
		attempts, err = tx.Attempts(t.ID, 0, last)
		return attempts, task.Timeline(attempts, 0, nil), err
	}
	if lines == 1 {
		attempts, err = tx.Attempts(t.ID, last-1, 1)
		return attempts, task.Timeline(attempts, 0, nil), err
	}
	first := min(task.TimelineHead, lines/3)
	rest := lines - first - 1
	head, err := tx.Attempts(t.ID, 0, first)
	if err != nil {
		return nil, "", err
	}
	tail, err := tx.Attempts(t.ID, last-rest, rest)
	return append(slices.Clip(head), tail...), task.Timeline(head, last-first-rest, tail), err
}

// damaged reports whether an error says that one stored record is damaged. The transaction can continue.
func damaged(err error) bool {
	fault, ok := errors.AsType[*store.Error](err)
	return ok && fault.Kind == store.Corrupt
}
