package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"waybill/core"
	"waybill/core/task"
	"waybill/engine/taskview"
	"waybill/internal/safetext"
	"waybill/store"
)

// taskNotice is the data of the notices about a task.
type taskNotice struct {
	TaskID     string      `json:"task_id"`
	Status     task.Status `json:"status"`
	Reason     string      `json:"reason,omitempty"`
	AttemptID  string      `json:"attempt_id"`
	Number     int         `json:"attempt_number"`
	Session    string      `json:"session_id,omitempty"`
	Model      string      `json:"model,omitempty"`
	Error      string      `json:"error,omitempty"`
	NextModel  string      `json:"next_model,omitempty"`
	Question   string      `json:"question,omitempty"`
	Options    []string    `json:"options,omitempty"`
	Timeline   string      `json:"timeline,omitempty"`
	HoldsBack  *heldNotice `json:"holds_back,omitempty"`
	InProgress *int        `json:"in_progress,omitempty"`
	DurationMS *int64      `json:"duration_ms,omitempty"`
	ClockSkew  bool        `json:"clock_skew,omitempty"`
}

// maxQuoted bounds the agent text that a notice repeats; the task holds all of it.
const maxQuoted = 1000

// postTask adds a notice about a task. about is the attempt that changed.
func (tx *Tx) postTask(t task.Task, about task.Attempt, kind core.NoticeKind) error {
	data := taskNotice{
		TaskID: t.ID, Status: t.Status(), Reason: safetext.OneLine(t.Reason(), maxQuoted), AttemptID: about.ID, Number: about.Number,
		Session: about.Session(), Error: safetext.OneLine(about.Failure().Message, maxQuoted),
	}
	if about.Model != (task.Model{}) {
		data.Model = unquoted(about.Model.String())
	}
	var text string
	var err error
	switch kind {
	case core.NoticeTaskFinished:
		text, err = tx.finishedText(t, &data)
	case core.NoticeTaskAwaiting:
		data.Question = safetext.OneLine(t.Question, maxQuoted)
		for _, o := range t.Offer.Terms().Options {
			data.Options = append(data.Options, safetext.OneLine(o.Label, maxQuoted))
		}
		text = fmt.Sprintf("%s asks: %s%s", title(t), safetext.Quote(t.Question, excerptRunes), taskview.Options(t.Offer))
	case core.NoticeRetryScheduled:
		data.NextModel = unquoted(t.Current.Model.String())
		text = fmt.Sprintf("%s: attempt %d in session %s on %s ended as %s (%s); attempt %d on %s is queued",
			title(t), about.Number, orUnknown(about.Session()), unquoted(about.Model.String()), about.Status(), safetext.Quote(about.Failure().Message, excerptRunes),
			t.Current.Number, unquoted(t.Current.Model.String()))
		if passed := t.Current.PassedBy(about); passed != "" {
			text += "; " + passed
		}
	case core.NoticeRetryReady:
		text = fmt.Sprintf("%s: attempt %d runs in session %s on %s", title(t), about.Number, about.Session(), unquoted(about.Model.String()))
	case core.NoticeInstructionFailed, core.NoticeAllFinished, core.NoticeRunBlocked,
		core.NoticeRunStalled, core.NoticePlanCompleted, core.NoticeHostReported:
		panic("engine: notice " + string(kind) + " is not about the move of a task")
	}
	if err != nil {
		return err
	}
	return tx.postData(kind, t.Spec.Parent, t.ID, text, data)
}

func (tx *Tx) postData(kind core.NoticeKind, session, subject, text string, data any) error {
	encoded, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode notice %s: %w", kind, err)
	}
	return tx.post(store.Notice{Kind: kind, Session: session, Subject: subject, Text: text, Data: string(encoded)})
}

// finishedText returns how a task ended, and the unfinished work of its session.
func (tx *Tx) finishedText(t task.Task, data *taskNotice) (string, error) {
	text := fmt.Sprintf("%s is over: %s", title(t), t.Status())
	switch message := data.Error; t.Phase.(type) {
	case task.Errored:
		text += fmt.Sprintf(" (%s)", t.Reason())
		if message != "" {
			text += ": " + safetext.Quote(message, excerptRunes)
		}
	case task.Cancelled, task.Blocked:
		if t.Reason() != "" {
			text += ": " + safetext.Quote(t.Reason(), excerptRunes)
		}
	case task.Complete, task.Queued, task.Running, task.Awaiting:
	}
	took := max(0, int64(tx.now-t.CreatedAt)/1000)
	data.DurationMS, data.ClockSkew = &took, tx.now < t.CreatedAt || t.Current.ClockSkew()
	held, err := tx.heldBy(t)
	if err != nil {
		return "", err
	}
	if data.HoldsBack = held; held != nil {
		text += "; " + held.String()
	}
	if t.Current.Number > 1 {
		_, timeline, err := taskview.Timeline(tx, t, task.TimelineLines)
		if err != nil {
			return "", err
		}
		data.Timeline = timeline
		text += "\n" + timeline
	}
	if t.Spec.Parent == "" {
		return text, nil
	}
	going, _, err := tx.countUnderWay(t.Spec.Parent)
	data.InProgress = &going
	return text, err
}

// allNotice is the data of tasks.all_finished.
type allNotice struct {
	ParentSession string              `json:"parent_session_id"`
	Counts        map[task.Status]int `json:"counts"`
	HeldBack      int                 `json:"held_back,omitempty"` // tasks that wait for an incomplete one
	LastTaskID    string              `json:"last_task_id"`
	Tasks         []endedTask         `json:"tasks"`
	LeftOut       int                 `json:"tasks_left_out,omitempty"` // ended tasks that are not in Tasks
}

// endedTask is one task in the data of tasks.all_finished.
type endedTask struct {
	TaskID      string      `json:"task_id"`
	Description string      `json:"description"`
	Status      task.Status `json:"status"`
	Reason      string      `json:"reason,omitempty"`
}

// postAllFinished adds a notice if the task was the last unfinished one of its session. Held-back tasks do not count.
func (tx *Tx) postAllFinished(t task.Task) error {
	going, held, err := tx.countUnderWay(t.Spec.Parent)
	if err != nil || going > 0 {
		return err
	}
	counts := map[task.Status]int{}
	total := 0
	for _, status := range endedStatuses {
		n, err := tx.CountTasks(store.TaskQuery{Parent: t.Spec.Parent, Status: status})
		if err != nil {
			return err
		}
		if n > 0 {
			counts[status] = n
		}
		total += n
	}
	text := fmt.Sprintf("all %d tasks of session %s are over: %d complete, %d not",
		total, t.Spec.Parent, counts[task.StatusComplete], total-counts[task.StatusComplete])
	if total == 1 {
		text = fmt.Sprintf("the one task of session %s is over: %s", t.Spec.Parent, t.Status())
	}
	if held > 0 {
		text += fmt.Sprintf("; %d more wait for a task that did not complete", held)
	}
	tasks, lines, err := tx.endedTasks(t.Spec.Parent, counts)
	if err != nil {
		return err
	}
	data := allNotice{
		ParentSession: t.Spec.Parent, Counts: counts, HeldBack: held, LastTaskID: t.ID, Tasks: tasks, LeftOut: total - len(tasks),
	}
	if data.LeftOut > 0 {
		lines += fmt.Sprintf("\n- %d more (list_tasks has all of them)", data.LeftOut)
	}
	return tx.postData(core.NoticeAllFinished, t.Spec.Parent, t.Spec.Parent, text+lines, data)
}

// endedTasks returns at most maxNamed ended tasks of a session, and a line for each. Incomplete tasks come first, and
// the newest of each status.
func (tx *Tx) endedTasks(parent string, counts map[task.Status]int) (list []endedTask, lines string, err error) {
	list = []endedTask{}
	for _, status := range endedStatuses {
		if counts[status] == 0 || len(list) == maxNamed {
			continue
		}
		query := store.TaskQuery{Parent: parent, Status: status, Newest: true, Limit: maxNamed - len(list)}
		tasks, err := tx.Tasks(query)
		if err != nil {
			return nil, "", err
		}
		for _, t := range tasks {
			list = append(list, endedTask{t.ID, safetext.OneLine(topic(t), excerptRunes), status, safetext.OneLine(t.Reason(), excerptRunes)})
			lines += fmt.Sprintf("\n- %s: %s", title(t), status)
			if t.Reason() != "" {
				lines += " (" + unquoted(t.Reason()) + ")"
			}
		}
	}
	return list, lines, nil
}

// endedStatuses are the statuses of ended tasks in the order of a notice.
var endedStatuses = []task.Status{task.StatusError, task.StatusBlocked, task.StatusCancelled, task.StatusComplete}

func orUnknown(session string) string {
	if session == "" {
		return "unknown"
	}
	return session
}

// unquoted returns a text that is safe inside a line, without quotation marks that could open or end a quotation there.
func unquoted(text string) string { return strings.Trim(safetext.Quote(text, excerptRunes), `"`) }
