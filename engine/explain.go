package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"waybill/core"
	"waybill/store"
)

// Explain says why the thing with that id is as it is.
func Explain(tx store.Tx, id string) (core.Explanation, error) {
	history, err := occurrences(tx, id)
	if err != nil {
		return core.Explanation{}, err
	}
	if in, ok, err := tx.Instruction(id); err != nil || ok {
		return explained(in, history, err)
	}
	if run, ok, err := tx.Run(id); err != nil || ok {
		return explained(run, history, err)
	}
	if t, ok, err := tx.Task(id); err != nil || ok {
		return explained(t, history, err)
	}
	if a, ok, err := tx.Attempt(id); err != nil || ok {
		return orExplain(tx, a.TaskID, err)
	}
	if n, ok, err := tx.Notice(id); err != nil || ok {
		return explainSubject(tx, n)
	}
	return core.Explanation{}, core.Missing("instruction, task, attempt, run or notice", id)
}

// explained explains a thing that could be read; one that is not what was written has no rules.
func explained[T interface {
	Explain(history []core.Occurrence) core.Explanation
}](thing T, history []core.Occurrence, err error) (core.Explanation, error) {
	if err != nil {
		return core.Explanation{}, err
	}
	return thing.Explain(history), nil
}

func orExplain(tx store.Tx, id string, err error) (core.Explanation, error) {
	if err != nil {
		return core.Explanation{}, err
	}
	return Explain(tx, id)
}

func occurrences(tx store.Tx, id string) ([]core.Occurrence, error) {
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

// occurrence gives what an explanation needs of an event.
func occurrence(ev store.Event) core.Occurrence {
	o := core.Occurrence{Seq: ev.Seq, At: ev.At, Type: ev.Type}
	if ev.Type != core.RunOutcome && ev.Type != core.RunReplanned {
		return o
	}
	var said RunRecord
	if json.Unmarshal([]byte(ev.Data), &said) == nil { // else the event says nothing of a decision
		o.Rule = said.Rule
		o.Role, _ = core.ParseRole(said.Role)
	}
	return o
}

// explainSubject explains what a notice is about. A notice may outlive that, because it stays until it is consumed.
func explainSubject(tx store.Tx, n store.Notice) (core.Explanation, error) {
	explanation, err := Explain(tx, n.Subject)
	if gone, ok := errors.AsType[*core.Refusal](err); ok && gone.Kind == core.NotFound {
		gone.Message = fmt.Sprintf("what the notice %s is about, %s, is not kept any more: the notice has what is known of it", n.ID, n.Subject)
	}
	return explanation, err
}
