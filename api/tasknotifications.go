package api

import (
	"encoding/json"
	"slices"
	"strings"

	"waybill/api/question"
	"waybill/core"
	"waybill/core/task"
	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

// task sends the notifications of a task event and of its attempt. They use only the event, so that they show the
// state at that time.
func (f *feed) task(tx store.TaskRecords, ev store.Event) error {
	var data engine.TaskRecord
	if err := json.Unmarshal([]byte(ev.Data), &data); err != nil {
		return err
	}
	if strings.HasPrefix(string(ev.Type), "attempt.") {
		f.attempt(ev, data)
		moves := []core.EventType{core.AttemptStarted, core.AttemptReturned, core.AttemptScheduled}
		if !slices.Contains(moves, ev.Type) {
			return nil // the task is unchanged or has its own event
		}
	}
	note := schema.TaskNote{
		Seq: ev.Seq, SubjectID: ev.Subject, Event: string(ev.Type), TaskID: ev.Subject, Status: string(data.Status),
		Reason: data.Reason, AttemptID: data.AttemptID, AttemptNumber: data.Number, SessionID: data.Session,
		ParentSessionID: data.Parent, RunID: data.RunID,
	}
	if ev.Type != core.TaskSettled || data.Status != task.StatusAwaiting {
		f.send("task/updated", &note)
		return nil
	}
	t, ok, err := tx.Task(ev.Subject)
	if err != nil || !ok {
		return err
	}
	offered := question.Offered(t)
	if t.Current.ID == data.AttemptID && len(t.Question)+question.Bytes(offered) <= noteBytes {
		note.Question, note.Offered = t.Question, offered
	}
	f.send("task/awaiting_response", &note)
	return nil
}

func (f *feed) attempt(ev store.Event, data engine.TaskRecord) {
	f.send("attempt/updated", &schema.AttemptNote{
		Seq: ev.Seq, SubjectID: data.AttemptID, Event: string(ev.Type), AttemptID: data.AttemptID, TaskID: ev.Subject,
		AttemptNumber: data.Number, Status: string(data.Attempt), Worker: data.Worker, SessionID: data.Session,
		Model: data.Model, ErrorClass: string(data.Class), Message: data.Message,
	})
}

// stale announces a report with an outdated lease, if its attempt is known.
func (f *feed) stale(ev store.Event) error {
	var data engine.StaleRecord
	if err := json.Unmarshal([]byte(ev.Data), &data); err != nil || data.AttemptID == "" {
		return err
	}
	f.send("attempt/updated", &schema.AttemptNote{
		Seq: ev.Seq, SubjectID: data.AttemptID, Event: string(ev.Type), AttemptID: data.AttemptID, TaskID: ev.Subject,
		AttemptNumber: data.Number, Status: string(data.Attempt), Call: data.Call,
	})
	return nil
}
