package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"waybill/core"
	"waybill/store"
)

// A TaskRecord is the data of the events of tasks and attempts: where the task is, and the attempt that
// the event is about. Attempt.stale has a StaleRecord.
type TaskRecord struct {
	Status    core.TaskStatus    `json:"status"`
	Reason    string             `json:"reason,omitempty"`
	AttemptID string             `json:"attempt_id"`
	Number    int                `json:"attempt_number"`
	Attempt   core.AttemptStatus `json:"attempt_status"`
	Worker    string             `json:"worker,omitempty"`
	Session   string             `json:"session_id,omitempty"`
	Model     string             `json:"model,omitempty"`
	Class     core.Class         `json:"error_class,omitempty"`
	Parent    string             `json:"parent_session_id,omitempty"`
	RunID     string             `json:"run_id,omitempty"`
	Heard     core.SessionKind   `json:"session_event,omitempty"` // what the host told about the session
	Message   string             `json:"message,omitempty"`       // of a progress, fit to stand in a line
	Percent   *int               `json:"percent,omitempty"`
}

func describeTask(t core.Task, a core.Attempt) TaskRecord {
	ev := TaskRecord{
		Status: t.Status(), Reason: core.Line(t.Reason(), quoted), AttemptID: a.ID, Number: a.Number, Attempt: a.Status(),
		Worker: a.Worker(), Session: a.Session(), Class: a.Failure().Class,
		Parent: t.Launch.Parent, RunID: t.Launch.RunID,
	}
	if a.Model != (core.Model{}) {
		ev.Model = named(a.Model)
	}
	return ev
}

// Dependencies gives the ids of the tasks that a task depends on.
func Dependencies(t core.Task) []string {
	ids := []string{}
	if t.Launch.DependsOn == "" {
		return ids
	}
	if err := json.Unmarshal([]byte(t.Launch.DependsOn), &ids); err != nil {
		panic("engine: dependencies of task " + t.ID + " were not written by CreateTask: " + err.Error())
	}
	return ids
}

// A Hold is a dependency that holds a task back.
type Hold struct {
	TaskID string
	Status core.TaskStatus // "" if it cannot be read
}

// WaitsFor gives what holds a queued task back: the first of its dependencies that are not complete.
func WaitsFor(tx store.Tx, t core.Task) ([]Hold, error) {
	var holds []Hold
	left := t.Waits
	if t.Status() != core.StatusQueued || left == 0 {
		return nil, nil
	}
	for _, id := range Dependencies(t) {
		if left == 0 || len(holds) == mostNamed {
			break
		}
		on, ok, err := tx.Task(id)
		switch {
		case damaged(err) || err == nil && !ok:
			holds = append(holds, Hold{TaskID: id})
		case err != nil:
			return nil, err
		case on.Status() != core.StatusComplete:
			holds = append(holds, Hold{id, on.Status()})
			left--
		}
	}
	return holds, nil
}

// Timeline gives the attempts of a task in order, and the same as text. Of more attempts than lines it
// gives the first few and the last ones, and one line says how many lie between. With one line, that is the
// newest attempt's.
func Timeline(tx store.Tx, t core.Task, lines int) (attempts []core.Attempt, text string, err error) {
	last := t.Current.Number
	if last <= lines {
		attempts, err = tx.Attempts(t.ID, 0, last)
		return attempts, core.Timeline(attempts, 0, nil), err
	}
	if lines == 1 {
		attempts, err = tx.Attempts(t.ID, last-1, 1)
		return attempts, core.Timeline(attempts, 0, nil), err
	}
	first := min(core.TimelineHead, lines/3)
	rest := lines - first - 1
	head, err := tx.Attempts(t.ID, 0, first)
	if err != nil {
		return nil, "", err
	}
	tail, err := tx.Attempts(t.ID, last-rest, rest)
	return append(slices.Clip(head), tail...), core.Timeline(head, last-first-rest, tail), err
}

// title names a task for a person.
func title(t core.Task) string {
	about := t.Launch.Description
	if about == "" {
		about, _, _ = strings.Cut(strings.TrimSpace(t.Launch.Prompt), "\n")
	}
	return fmt.Sprintf("task %s %s", t.ID, quote(about))
}
