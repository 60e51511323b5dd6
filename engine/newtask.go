package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"waybill/core"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/internal/safetext"
)

// CreateTask creates a task, which waits until its dependencies complete.
func (tx *Tx) CreateTask(spec task.Spec, dependsOn []string) (task.Task, error) {
	waits, err := tx.waits(dependsOn)
	if err != nil {
		return task.Task{}, err
	}
	if err := tx.admitTask(); err != nil {
		return task.Task{}, err
	}
	r, err := tx.runOf(spec)
	if err != nil {
		return task.Task{}, err
	}
	if len(dependsOn) > 0 {
		text, err := json.Marshal(dependsOn)
		if err != nil {
			return task.Task{}, fmt.Errorf("encode dependencies: %w", err)
		}
		spec.DependsOn = string(text)
	}
	newest, err := tx.Seq()
	if err != nil {
		return task.Task{}, err
	}
	o := tx.engine.o
	t, effects := task.Create(o.NewID("tsk_"), o.NewID("att_"), newest+1, spec, waits, tx.now)
	if err := tx.saveTask(task.Task{}, t, effects, Progress{}); err != nil {
		return t, err
	}
	for _, on := range dependsOn {
		if err := tx.AddDependency(t.ID, on); err != nil {
			return t, err
		}
	}
	if r.State != run.Blocked {
		return t, nil
	}
	if err := tx.blockTask(t, r); err != nil {
		return t, err
	}
	return tx.task(t.ID)
}

// runOf returns the run of a new task, or the zero Run if it belongs to none.
func (tx *Tx) runOf(spec task.Spec) (run.Run, error) {
	if spec.RunID == "" {
		return run.Run{}, nil
	}
	run, ok, err := tx.Run(spec.RunID)
	if err != nil || !ok {
		return run, orMissing(err, "run", spec.RunID)
	}
	return run, runTakesTasks(run)
}

// admitTask refuses a new task if too many are unfinished.
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
			Message: fmt.Sprintf("%d tasks are unfinished, and the limit is %d; "+
				"finish, answer or cancel some first", live, most),
		}
	}
	return nil
}

// waits counts the incomplete dependencies. A task can depend only on existing tasks and its dependencies never
// change, so no cycle is possible.
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
		if t.Status() != task.StatusComplete {
			waits++
		}
	}
	return waits, nil
}

func badDependency(i int, id, what string) error {
	return &core.Refusal{
		Kind: core.BadDependency, Noun: "task", Subject: id,
		Message: fmt.Sprintf("/depends_on/%d: %q %s; create its dependencies first", i, safetext.OneLine(id, excerptRunes), what),
		Pointer: fmt.Sprintf("/depends_on/%d", i),
	}
}

// AskPerson creates a question of a session that works on no task of the queue. The report has the question and its offer.
func AskPerson(tx *Tx, session, description string, report task.Finish) (task.Task, error) {
	t, err := tx.CreateTask(task.Spec{Prompt: report.Question, Description: description, Role: task.RoleQuestion, MaxAttempts: 1}, nil)
	if err != nil {
		return t, err
	}
	report.Status = task.AttemptAwaiting
	return heldBySession(tx, t, session, report)
}
