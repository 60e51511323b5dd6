package engine

import (
	"errors"
	"math/rand/v2"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/internal/safetext"
)

func orMissing(err error, noun, id string) error {
	if err != nil {
		return err
	}
	return core.Missing(noun, id)
}

// found returns a record, or a refusal if it is missing.
func found[T any](noun, id string, get func(id string) (T, bool, error)) (T, error) {
	record, ok, err := get(id)
	if err == nil && !ok {
		err = core.Missing(noun, id)
	}
	return record, err
}

func (tx *Tx) task(id string) (task.Task, error) { return found("task", id, tx.Task) }

// stepTask steps a task, saves the result and returns it.
func (tx *Tx) stepTask(t task.Task, event task.Event) (task.Task, error) {
	return tx.stepTaskWith(t, event, Progress{})
}

// A Progress is a message of a worker or a host that comes with a heartbeat or a session report.
type Progress struct {
	Message string
	Percent *int
	Heard   task.SessionKind // the host's report about the session; "" from a worker
}

// stepTaskWith is stepTask for an event with a progress message.
func (tx *Tx) stepTaskWith(t task.Task, event task.Event, progress Progress) (task.Task, error) {
	next, effects, err := t.Step(event)
	if err != nil || next == t && len(effects) == 0 {
		return next, allowing(t, err)
	}
	return next, tx.saveTask(t, next, effects, progress)
}

// allowing adds the allowed actions of a task to a refusal.
func allowing(t task.Task, err error) error {
	refusal, refused := errors.AsType[*core.Refusal](err)
	if !refused || task.IsStale(err) {
		return err
	}
	refusal.Allowed = []string{}
	for _, action := range t.Explain(nil, nil).Next {
		refusal.Allowed = append(refusal.Allowed, action.Name)
	}
	return refusal
}

// successor returns the values that a next attempt needs.
func (tx *Tx) successor() task.Successor {
	o := tx.engine.o
	return task.Successor{
		AttemptID: o.NewID("att_"), Base: o.Backoff.Microseconds(),
		Jitter: rand.IntN(1000), // it spreads waits, and keeps no secret
	}
}

// saveTask stores a stepped task and performs its effects.
func (tx *Tx) saveTask(before, t task.Task, effects []core.Effect, progress Progress) error {
	if withoutAttempt(before) != withoutAttempt(t) {
		if err := tx.PutTask(t); err != nil {
			return err
		}
	}
	p, _ := t.Phase.(task.Awaiting)
	tx.timed = tx.timed || p.DefaultAt != 0
	about := t.Current // the attempt that events and notices are about
	var ended []task.Attempt
	for _, effect := range effects {
		var err error
		switch e := effect.(type) {
		case task.Keep:
			if e.Attempt.Finished() {
				about = e.Attempt
				ended = append(ended, e.Attempt)
			}
			if err = tx.keep(e.Attempt); err == nil && e.Attempt.Status() == task.AttemptLost {
				err = tx.withdrawInstructions(e.Attempt)
			}
		case core.Record:
			subject := t.Current
			if e.Type == core.AttemptFinished {
				subject = about
			}
			ev := describeTask(t, subject)
			ev.Message, ev.Percent, ev.Heard = safetext.OneLine(progress.Message, maxQuoted), progress.Percent, progress.Heard
			err = tx.record(e.Type, t.ID, ev)
		case core.Post:
			err = tx.postTask(t, about, e.Kind)
		case core.Withdraw:
			err = tx.dropNotices(t.ID, e.Kind)
		case instruction.Deliver, run.Decide: // no event of a task has these effects
		}
		if err != nil {
			return err
		}
	}
	if err := tx.afterTask(before, t); err != nil {
		return err
	}
	return tx.loseWorkers(t, ended)
}

// withoutAttempt returns the fields of a task that are stored in its own record.
func withoutAttempt(t task.Task) task.Task {
	t.Current = task.Attempt{}
	return t
}

// keep stores an attempt and records its end in the breaker of its model.
func (tx *Tx) keep(a task.Attempt) error {
	if err := tx.PutAttempt(a); err != nil {
		return err
	}
	key := a.Model.Key()
	if _, running := a.Phase.(task.RunningAttempt); running || key == "" {
		return nil
	}
	b, _, err := tx.Breaker(key)
	if err != nil {
		return err
	}
	b.Key = key
	next, effects := b.Note(a)
	if next == b {
		return nil
	}
	if err := tx.PutBreaker(next); err != nil {
		return err
	}
	tx.touched = append(tx.touched, Claimers) // a waiting claim may now succeed
	for _, effect := range effects {
		if e, ok := effect.(core.Record); ok {
			data := breakerEvent{Model: key, Failures: next.Failures, Until: next.Until}
			if err := tx.record(e.Type, a.TaskID, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// breakerEvent is the data of breaker.opened and breaker.closed.
type breakerEvent struct {
	Model    string       `json:"model"`
	Failures int          `json:"failures,omitempty"`
	Until    core.Instant `json:"until_us,omitempty"`
}
