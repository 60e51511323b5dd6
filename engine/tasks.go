package engine

import (
	"errors"
	"math/rand/v2"

	"waybill/core"
)

func orMissing(err error, noun, id string) error {
	if err != nil {
		return err
	}
	return core.Missing(noun, id)
}

// task gets a task that must be there.
func (tx *Tx) task(id string) (core.Task, error) {
	t, ok, err := tx.Task(id)
	if err == nil && !ok {
		err = core.Missing("task", id)
	}
	return t, err
}

// stepTask steps a task, saves what it became, and gives that.
func (tx *Tx) stepTask(t core.Task, event core.TaskEvent) (core.Task, error) {
	return tx.stepSaying(t, event, Progress{})
}

// A Progress is what a worker or a host tells beside a sign of life.
type Progress struct {
	Message string
	Percent *int
	Heard   core.SessionKind // what a host saw of the session; "" from a worker
}

// stepSaying is stepTask for an event that comes with something to tell.
func (tx *Tx) stepSaying(t core.Task, event core.TaskEvent, said Progress) (core.Task, error) {
	next, effects, err := t.Step(event)
	if err != nil || next == t && len(effects) == 0 {
		return next, allowing(t, err)
	}
	return next, tx.saveTask(t, next, effects, said)
}

// allowing adds to a refusal what the state of the task allows instead.
func allowing(t core.Task, err error) error {
	refusal, refused := errors.AsType[*core.Refusal](err)
	if !refused || core.IsStale(err) {
		return err
	}
	refusal.Allowed = []string{}
	for _, action := range t.Explain(nil).Next {
		refusal.Allowed = append(refusal.Allowed, action.Name)
	}
	return refusal
}

// successor gives what a next attempt would need.
func (tx *Tx) successor() core.Successor {
	o := tx.engine.o
	return core.Successor{
		AttemptID: o.NewID("att_"), Base: o.Backoff.Microseconds(),
		Jitter: rand.IntN(1000), //nolint:gosec // it spreads waits, and keeps no secret
	}
}

// saveTask puts what a task became and performs the effects.
func (tx *Tx) saveTask(before, t core.Task, effects []core.Effect, said Progress) error {
	if withoutAttempt(before) != withoutAttempt(t) {
		if err := tx.PutTask(t); err != nil {
			return err
		}
	}
	about := t.Current // the attempt that a record is about
	var ended []core.Attempt
	for _, effect := range effects {
		var err error
		switch e := effect.(type) {
		case core.Keep:
			if e.Attempt.Finished() {
				about = e.Attempt
				ended = append(ended, e.Attempt)
			}
			if err = tx.keep(e.Attempt); err == nil && e.Attempt.Status() == core.AttemptLost {
				err = tx.withdrawInstructions(e.Attempt)
			}
		case core.Record:
			subject := t.Current
			if e.Type == core.AttemptFinished {
				subject = about
			}
			ev := describeTask(t, subject)
			ev.Message, ev.Percent, ev.Heard = core.Line(said.Message, quoted), said.Percent, said.Heard
			err = tx.record(e.Type, t.ID, ev)
		case core.Post:
			err = tx.postTask(t, about, e.Kind)
		case core.Deliver, core.Decide: // no event of a task has these effects
		}
		if err != nil {
			return err
		}
	}
	if err := tx.follow(before, t); err != nil {
		return err
	}
	return tx.loseWorkers(t, ended)
}

// withoutAttempt gives the part of a task that is stored with the task itself.
func withoutAttempt(t core.Task) core.Task {
	t.Current = core.Attempt{}
	return t
}

// keep puts an attempt, and tells the breaker of its model how it ended, or that it never began.
func (tx *Tx) keep(a core.Attempt) error {
	if err := tx.PutAttempt(a); err != nil {
		return err
	}
	key := a.Model.Key()
	if _, running := a.Phase.(core.Running); running || key == "" {
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
	tx.touched = append(tx.touched, Claimers) // it may let somebody through
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
