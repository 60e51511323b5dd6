package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"waybill/core/task"
	"waybill/internal/safetext"
	"waybill/store"
)

// A TaskRecord is the data of task and attempt events: the state of the task and of one attempt. attempt.stale has a
// StaleRecord instead.
type TaskRecord struct {
	Status    task.Status        `json:"status"`
	Reason    string             `json:"reason,omitempty"`
	AttemptID string             `json:"attempt_id"`
	Number    int                `json:"attempt_number"`
	Attempt   task.AttemptStatus `json:"attempt_status"`
	Worker    string             `json:"worker,omitempty"`
	Session   string             `json:"session_id,omitempty"`
	Model     string             `json:"model,omitempty"`
	Class     task.Class         `json:"error_class,omitempty"`
	Error     string             `json:"error,omitempty"` // of a failure, on one line
	Parent    string             `json:"parent_session_id,omitempty"`
	RunID     string             `json:"run_id,omitempty"`
	Heard     task.SessionKind   `json:"session_event,omitempty"` // the host's report about the session
	Message   string             `json:"message,omitempty"`       // of a progress report, on one line
	Percent   *int               `json:"percent,omitempty"`
}

func describeTask(t task.Task, a task.Attempt) TaskRecord {
	ev := TaskRecord{
		Status: t.Status(), Reason: safetext.OneLine(t.Reason(), maxQuoted), AttemptID: a.ID, Number: a.Number, Attempt: a.Status(),
		Worker: a.Worker(), Session: a.Session(), Class: a.Failure().Class, Error: safetext.OneLine(a.Failure().Message, maxQuoted),
		Parent: t.Spec.Parent, RunID: t.Spec.RunID,
	}
	if a.Model != (task.Model{}) {
		ev.Model = unquoted(a.Model.String())
	}
	return ev
}

// Dependencies returns the ids of the tasks that a task depends on.
func Dependencies(t task.Task) []string {
	ids := []string{}
	if t.Spec.DependsOn == "" {
		return ids
	}
	if err := json.Unmarshal([]byte(t.Spec.DependsOn), &ids); err != nil {
		panic("engine: dependencies of task " + t.ID + " were not written by CreateTask: " + err.Error())
	}
	return ids
}

// A Hold is an incomplete dependency of a task.
type Hold struct {
	TaskID string
	Status task.Status // "" if it cannot be read
}

// WaitsFor returns the first incomplete dependencies of a queued task.
func WaitsFor(tx store.Tx, t task.Task) ([]Hold, error) {
	var holds []Hold
	left := t.Waits
	if t.Status() != task.StatusQueued || left == 0 {
		return nil, nil
	}
	for _, id := range Dependencies(t) {
		if left == 0 || len(holds) == maxNamed {
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
func Timeline(tx store.Tx, t task.Task, lines int) (attempts []task.Attempt, text string, err error) {
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

// title returns the id and the topic of a task for a person.
func title(t task.Task) string {
	return fmt.Sprintf("task %s %s", t.ID, safetext.Quote(topic(t), excerptRunes))
}

// topic returns the description of a task, or the first line of its prompt.
func topic(t task.Task) string {
	if t.Spec.Description != "" {
		return t.Spec.Description
	}
	first, _, _ := strings.Cut(strings.TrimSpace(t.Spec.Prompt), "\n")
	return first
}
