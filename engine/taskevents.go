package engine

import (
	"fmt"
	"strings"

	"waybill/core/task"
	"waybill/internal/safetext"
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
	Option    string             `json:"option,omitempty"`        // that the answer takes
	ByTime    bool               `json:"by_time,omitempty"`       // whether time took it
	Message   string             `json:"message,omitempty"`       // of a progress report, on one line
	Percent   *int               `json:"percent,omitempty"`
}

func describeTask(t task.Task, a task.Attempt) TaskRecord {
	ev := TaskRecord{
		Status: t.Status(), Reason: safetext.OneLine(t.Reason(), maxQuoted), AttemptID: a.ID, Number: a.Number, Attempt: a.Status(),
		Worker: a.Worker(), Session: a.Session(), Class: a.Failure().Class, Error: safetext.OneLine(a.Failure().Message, maxQuoted),
		Parent: t.Spec.Parent, RunID: t.Spec.RunID, Option: t.Choice.Option, ByTime: t.Choice.ByTime,
	}
	if a.Model != (task.Model{}) {
		ev.Model = unquoted(a.Model.String())
	}
	return ev
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
