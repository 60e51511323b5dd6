package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"waybill/core"
	"waybill/store"
)

// CreateTask accepts a new task that waits for others to complete.
func (tx *Tx) CreateTask(launch core.Launch, dependsOn []string) (core.Task, error) {
	waits, err := tx.waits(dependsOn)
	if err != nil {
		return core.Task{}, err
	}
	if err := tx.admitTask(); err != nil {
		return core.Task{}, err
	}
	if launch.RunID != "" {
		if _, ok, err := tx.Run(launch.RunID); err != nil || !ok {
			return core.Task{}, orMissing(err, "run", launch.RunID)
		}
	}
	if len(dependsOn) > 0 {
		text, err := json.Marshal(dependsOn)
		if err != nil {
			return core.Task{}, fmt.Errorf("encode dependencies: %w", err)
		}
		launch.DependsOn = string(text)
	}
	newest, err := tx.Seq()
	if err != nil {
		return core.Task{}, err
	}
	o := tx.engine.o
	t, effects := core.CreateTask(o.NewID("tsk_"), o.NewID("att_"), newest+1, launch, waits, tx.now)
	if err := tx.saveTask(core.Task{}, t, effects, Progress{}); err != nil {
		return t, err
	}
	for _, on := range dependsOn {
		if err := tx.AddDependency(t.ID, on); err != nil {
			return t, err
		}
	}
	return t, nil
}

// admitTask refuses when too many tasks are under way.
func (tx *Tx) admitTask() error {
	most := tx.engine.o.MaxPending
	if most == 0 {
		return nil
	}
	counts, err := tx.TaskCounts()
	if err != nil {
		return err
	}
	live := 0
	for status, n := range counts {
		if !status.Ended() {
			live += n
		}
	}
	if live >= most {
		return &core.Refusal{
			Kind: core.QueueFull, Noun: "task",
			Message: fmt.Sprintf("%d tasks are under way already, and no more than %d may be; "+
				"finish, answer or cancel some first", live, most),
		}
	}
	return nil
}

// waits counts the tasks of the list that have not completed. Since a task can depend only on tasks
// that exist, and is never changed, no circle can arise.
func (tx *Tx) waits(dependsOn []string) (int, error) {
	waits := 0
	for i, id := range dependsOn {
		if slices.Contains(dependsOn[:i], id) {
			return 0, badDependency(i, id, "is named twice")
		}
		t, ok, err := tx.Task(id)
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, badDependency(i, id, "is not the id of a task")
		}
		if t.Status() != core.StatusComplete {
			waits++
		}
	}
	return waits, nil
}

func badDependency(i int, id, what string) error {
	return &core.Refusal{
		Kind: core.BadDependency, Noun: "task", Subject: id,
		Message: fmt.Sprintf("/depends_on/%d: %q %s; create the tasks that others depend on first", i, core.Line(id, excerptRunes), what),
		Pointer: fmt.Sprintf("/depends_on/%d", i),
	}
}

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
	for _, effect := range effects {
		var err error
		switch e := effect.(type) {
		case core.Keep:
			if e.Attempt.Finished() {
				about = e.Attempt
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
		case core.Deliver: // no event of a task has this effect
		}
		if err != nil {
			return err
		}
	}
	return tx.follow(before, t)
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

// follow does what a move of a task means for others.
func (tx *Tx) follow(before, t core.Task) error {
	switch {
	case t.Status() == core.StatusQueued:
		tx.touched = append(tx.touched, Claimers)
	case before.Phase == nil || before.Status() == t.Status():
		return nil
	case t.Status() == core.StatusComplete:
		if err := tx.release(t.ID); err != nil {
			return err
		}
	}
	if t.Status() == core.StatusCancelled {
		if err := tx.withdrawInstructions(t.Current); err != nil {
			return err
		}
	}
	if !t.Status().Ended() || before.Status().Ended() || t.Launch.Parent == "" {
		return nil // in the last case, it was told when it ended first
	}
	return tx.allFinished(t)
}

// release tells the tasks that wait for a completed one.
func (tx *Tx) release(id string) error {
	after := ""
	for {
		ids, err := tx.Dependents(id, after, store.DefaultLimit)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, dependent := range ids {
			after = dependent
			t, err := tx.task(dependent)
			if err != nil {
				return err
			}
			if _, err := tx.stepTask(t, core.DependencyDone{At: tx.now}); err != nil {
				return err
			}
		}
	}
}

// withdrawInstructions cancels what is still outstanding for the session of an attempt that will not
// read it any more.
func (tx *Tx) withdrawInstructions(a core.Attempt) error {
	if a.Session() == "" {
		return nil
	}
	_, err := tx.CancelSession(a.Session(), fmt.Sprintf("attempt %d of task %s is over", a.Number, a.TaskID))
	return err
}
