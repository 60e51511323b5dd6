package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"waybill/core"
	"waybill/store"
)

// taskNotice is the data of the notices about a task.
type taskNotice struct {
	TaskID     string          `json:"task_id"`
	Status     core.TaskStatus `json:"status"`
	Reason     string          `json:"reason,omitempty"`
	AttemptID  string          `json:"attempt_id"`
	Number     int             `json:"attempt_number"`
	Session    string          `json:"session_id,omitempty"`
	Model      string          `json:"model,omitempty"`
	Error      string          `json:"error,omitempty"`
	NextModel  string          `json:"next_model,omitempty"`
	Question   string          `json:"question,omitempty"`
	Timeline   string          `json:"timeline,omitempty"`
	HoldsBack  *heldNotice     `json:"holds_back,omitempty"`
	InProgress *int            `json:"in_progress,omitempty"`
	DurationMS *int64          `json:"duration_ms,omitempty"`
	ClockSkew  bool            `json:"clock_skew,omitempty"`
}

// quoted bounds what the data of a notice repeats of what an agent wrote; the task has all of it.
const quoted = 1000

// postTask leaves a notice about a task. about is the attempt that the move was about.
func (tx *Tx) postTask(t core.Task, about core.Attempt, kind core.NoticeKind) error {
	data := taskNotice{
		TaskID: t.ID, Status: t.Status(), Reason: core.Line(t.Reason(), quoted), AttemptID: about.ID, Number: about.Number,
		Session: about.Session(), Error: core.Line(about.Failure().Message, quoted),
	}
	if about.Model != (core.Model{}) {
		data.Model = named(about.Model)
	}
	var text string
	var err error
	switch kind {
	case core.NoticeTaskFinished:
		text, err = tx.sayFinished(t, &data)
	case core.NoticeTaskAwaiting:
		data.Question = core.Line(t.Question, quoted)
		text = fmt.Sprintf("%s asks: %s", title(t), quote(t.Question))
	case core.NoticeRetryScheduled:
		data.NextModel = named(t.Current.Model)
		text = fmt.Sprintf("%s: attempt %d in session %s on %s ended as %s (%s); attempt %d on %s is queued",
			title(t), about.Number, orUnknown(about.Session()), named(about.Model), about.Status(), quote(about.Failure().Message),
			t.Current.Number, named(t.Current.Model))
	case core.NoticeRetryReady:
		text = fmt.Sprintf("%s: attempt %d runs in session %s on %s", title(t), about.Number, about.Session(), named(about.Model))
	case core.NoticeInstructionFailed, core.NoticeAllFinished,
		core.NoticeRunBlocked, core.NoticeRunStalled, core.NoticePlanCompleted:
		panic("engine: notice " + string(kind) + " is not about the move of a task")
	}
	if err != nil {
		return err
	}
	return tx.postData(kind, t.Launch.Parent, t.ID, text, data)
}

func (tx *Tx) postData(kind core.NoticeKind, session, subject, text string, data any) error {
	encoded, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode notice %s: %w", kind, err)
	}
	return tx.post(store.Notice{Kind: kind, Session: session, Subject: subject, Text: text, Data: string(encoded)})
}

// sayFinished says how a task ended, and what of its session is still going on.
func (tx *Tx) sayFinished(t core.Task, data *taskNotice) (string, error) {
	text := fmt.Sprintf("%s is over: %s", title(t), t.Status())
	switch said := data.Error; t.Phase.(type) {
	case core.TaskErrored:
		text += fmt.Sprintf(" (%s)", t.Reason())
		if said != "" {
			text += ": " + quote(said)
		}
	case core.TaskCancelled, core.TaskBlocked:
		if t.Reason() != "" {
			text += ": " + quote(t.Reason())
		}
	case core.TaskComplete, core.TaskQueued, core.TaskRunning, core.TaskAwaiting:
	}
	took := max(0, int64(tx.now-t.CreatedAt)/1000)
	data.DurationMS, data.ClockSkew = &took, tx.now < t.CreatedAt || t.Current.ClockSkew()
	held, err := tx.holdsBack(t)
	if err != nil {
		return "", err
	}
	if data.HoldsBack = held; held != nil {
		text += "; " + held.String()
	}
	if t.Current.Number > 1 {
		_, timeline, err := Timeline(tx, t, core.TimelineLines)
		if err != nil {
			return "", err
		}
		data.Timeline = timeline
		text += "\n" + timeline
	}
	if t.Launch.Parent == "" {
		return text, nil
	}
	going, _, err := tx.underWay(t.Launch.Parent)
	data.InProgress = &going
	return text, err
}

// allNotice is the data of tasks.all_finished.
type allNotice struct {
	ParentSession string                  `json:"parent_session_id"`
	Counts        map[core.TaskStatus]int `json:"counts"`
	HeldBack      int                     `json:"held_back,omitempty"` // they wait for one of those that are not complete
	LastTaskID    string                  `json:"last_task_id"`
}

// allFinished leaves a notice when the task was the last of its session that went on. What is held back
// does not go on.
func (tx *Tx) allFinished(t core.Task) error {
	going, held, err := tx.underWay(t.Launch.Parent)
	if err != nil || going > 0 {
		return err
	}
	counts := map[core.TaskStatus]int{}
	total := 0
	for _, status := range core.TaskStatuses() {
		if !status.Ended() {
			continue
		}
		n, err := tx.CountTasks(store.TaskQuery{Parent: t.Launch.Parent, Status: status})
		if err != nil {
			return err
		}
		if n > 0 {
			counts[status] = n
		}
		total += n
	}
	text := fmt.Sprintf("all %d tasks of session %s are over: %d complete, %d not",
		total, t.Launch.Parent, counts[core.StatusComplete], total-counts[core.StatusComplete])
	if total == 1 {
		text = fmt.Sprintf("the one task of session %s is over: %s", t.Launch.Parent, t.Status())
	}
	if held > 0 {
		text += fmt.Sprintf("; %d more are held back by what is not complete", held)
	}
	return tx.postData(core.NoticeAllFinished, t.Launch.Parent, t.Launch.Parent, text,
		allNotice{t.Launch.Parent, counts, held, t.ID})
}

// quote gives what somebody else wrote as a part of a line of ours: it can end neither the line nor the
// quotation, and it holds no markup.
func quote(text string) string {
	return `"` + unquoted(core.Line(text, excerptRunes)) + `"`
}

func unquoted(line string) string { return strings.ReplaceAll(line, `"`, "'") }

func orUnknown(session string) string {
	if session == "" {
		return "unknown"
	}
	return session
}

// named gives the name of a model fit to stand in a line.
func named(m core.Model) string { return unquoted(core.Line(m.String(), excerptRunes)) }
