package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"waybill/core"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/engine/taskview"
	"waybill/store"
)

// Explain returns why an instruction, task, attempt, run or notice is in its state.
func Explain(tx store.Tx, id string) (core.Explanation, error) {
	history, err := occurrences(tx, id)
	if err != nil {
		return core.Explanation{}, err
	}
	if in, ok, err := tx.Instruction(id); err != nil || ok {
		if err != nil {
			return core.Explanation{}, err
		}
		return in.Explain(history), nil
	}
	if run, ok, err := tx.Run(id); err != nil || ok {
		return explainRun(tx, run, history, err)
	}
	if t, ok, err := tx.Task(id); err != nil || ok {
		return explainTask(tx, t, history, err)
	}
	if a, ok, err := tx.Attempt(id); err != nil {
		return core.Explanation{}, err
	} else if ok {
		return Explain(tx, a.TaskID)
	}
	if n, ok, err := tx.Notice(id); err != nil || ok {
		return explainSubject(tx, n)
	}
	return core.Explanation{}, core.Missing("instruction, task, attempt, run or notice", id)
}

// explainRun explains a run and names the newest run of its item.
func explainRun(tx store.RunRecords, run run.Run, history []core.Occurrence, err error) (core.Explanation, error) {
	if err != nil {
		return core.Explanation{}, err
	}
	newest, _, err := tx.LatestRun(run.Plan, run.ItemID)
	if err != nil && !damaged(err) {
		return core.Explanation{}, err
	}
	return run.Explain(history, newest.ID), nil
}

// explainTask explains a task, together with the tasks that it waits for.
func explainTask(tx store.TaskRecords, t task.Task, history []core.Occurrence, err error) (core.Explanation, error) {
	if err != nil {
		return core.Explanation{}, err
	}
	holds, err := taskview.WaitsFor(tx, t)
	if err != nil {
		return core.Explanation{}, err
	}
	needed := make([]task.Task, len(holds))
	for i, hold := range holds {
		needed[i] = task.Task{ID: hold.TaskID}
		if hold.Status == "" {
			continue // it cannot be read
		}
		if needed[i], _, err = tx.Task(hold.TaskID); err != nil {
			return core.Explanation{}, err
		}
	}
	return t.Explain(history, needed), nil
}

func occurrences(tx store.EventLog, id string) ([]core.Occurrence, error) {
	var history []core.Occurrence
	var after int64
	for {
		page, err := tx.EventsOf(id, after, store.DefaultLimit)
		if err != nil || len(page) == 0 {
			return history, err
		}
		for _, ev := range page {
			after = ev.Seq
			history = append(history, occurrence(ev))
		}
	}
}

// occurrence returns the part of an event that an explanation uses.
func occurrence(ev store.Event) core.Occurrence {
	o := core.Occurrence{Seq: ev.Seq, At: ev.At, Type: ev.Type}
	if ev.Type != core.RunOutcome && ev.Type != core.ProofChanged && ev.Type != core.RunReplanned && ev.Type != core.RunUnblocked {
		return o
	}
	var data RunRecord
	if json.Unmarshal([]byte(ev.Data), &data) == nil { // otherwise the event holds no decision
		o.Rule = string(data.Rule)
		o.Role, _ = core.ParseRole(data.Role)
	}
	return o
}

// explainSubject explains the subject of a notice. The subject may be gone, because a notice is kept until it is
// consumed.
func explainSubject(tx store.Tx, n store.Notice) (core.Explanation, error) {
	explanation, err := Explain(tx, n.Subject)
	if gone, ok := errors.AsType[*core.Refusal](err); ok && gone.Kind == core.NotFound {
		gone.Message = fmt.Sprintf("%s, the subject of notice %s, was removed; the notice holds what is known about it", n.Subject, n.ID)
	}
	return explanation, err
}
