package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"waybill/core"
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
	run, err := tx.runOf(launch)
	if err != nil {
		return core.Task{}, err
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
	if run.State != core.RunBlocked {
		return t, nil
	}
	if err := tx.holdBack(t, run); err != nil {
		return t, err
	}
	return tx.task(t.ID)
}

// runOf gives the run that a new task is to be of; the zero Run if it is of none.
func (tx *Tx) runOf(launch core.Launch) (core.Run, error) {
	if launch.RunID == "" {
		return core.Run{}, nil
	}
	run, ok, err := tx.Run(launch.RunID)
	if err != nil || !ok {
		return run, orMissing(err, "run", launch.RunID)
	}
	return run, runTakesTasks(run)
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
