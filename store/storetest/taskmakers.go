package storetest

import (
	"fmt"

	"waybill/core"
)

// chain is a chain of two models.
func chain() core.Chain {
	c, err := core.NewChain([]core.Model{
		{Provider: "Anthropic", ID: "opus-4.1", Variant: "high"}, {Provider: "openai", ID: "gpt-5"},
	})
	if err != nil {
		panic("storetest: " + err.Error())
	}
	return c
}

// task gives a queued task with its first attempt, which is pending.
func task(id string, position int64) core.Task {
	return core.Task{
		ID: id, Position: position, CreatedAt: start, UpdatedAt: start,
		Launch:  core.Launch{Prompt: "do " + id, Chain: chain(), MaxAttempts: 3},
		Current: attempt(id, 1), Phase: core.TaskQueued{},
	}
}

// attempt gives a pending attempt of that number.
func attempt(taskID string, number int) core.Attempt {
	a := core.Attempt{
		ID: fmt.Sprint("att_", taskID, "_", number), TaskID: taskID, Number: number, Cause: core.CauseFirst,
		Model: core.Model{Provider: "Anthropic", ID: "opus-4.1", Variant: "high"}, CreatedAt: start, Phase: core.Pending{},
	}
	if number > 1 {
		a.Cause = core.CauseRetry
	}
	return a
}

// runs gives the attempt as it runs under a lease of its own.
func runs(a core.Attempt, expires core.Instant) core.Attempt {
	a.Phase = core.Running{
		Worker: "w", StartedAt: start,
		Lease: core.Lease{Token: "token of " + a.ID, Epoch: a.Number, ExpiresAt: expires, Length: int64(day)},
	}
	return a
}

// over gives the attempt as it has ended.
func over(a core.Attempt, status core.AttemptStatus) core.Attempt {
	a.Phase = core.Ended{
		Status: status, Worker: "w", StartedAt: start, At: start + day, Token: "token of " + a.ID, Digest: "of a report",
	}
	return a
}

// begun gives the task as it runs.
func begun(t core.Task) core.Task {
	t.Phase, t.Current = core.TaskRunning{}, runs(t.Current, start+day)
	return t
}

func completed(t core.Task) core.Task {
	t.Phase, t.Current, t.Output = core.TaskComplete{}, over(t.Current, core.AttemptCompleted), "done"
	return t
}

func awaiting(t core.Task) core.Task {
	t.Phase, t.Current, t.Question = core.TaskAwaiting{}, over(t.Current, core.AttemptAwaiting), "which one?"
	return t
}

func errored(t core.Task) core.Task {
	t.Phase, t.Current = core.TaskErrored{Reason: core.ReasonFailed}, over(t.Current, core.AttemptError)
	return t
}

// as gives the task with the attempt as its newest, in the phase that goes with it.
func as(t core.Task, a core.Attempt) core.Task {
	t.Current = a
	switch a.Status() {
	case core.AttemptPending:
		t.Phase = core.TaskQueued{}
	case core.AttemptRunning:
		t.Phase = core.TaskRunning{}
	case core.AttemptCompleted:
		t.Phase = core.TaskComplete{}
	case core.AttemptAwaiting:
		t.Phase = core.TaskAwaiting{}
	case core.AttemptError, core.AttemptInterrupted, core.AttemptLost:
		t.Phase = core.TaskErrored{Reason: core.ReasonFailed}
	case core.AttemptCancelled:
		t.Phase = core.TaskCancelled{At: start}
	}
	return t
}

func cancelled(t core.Task) core.Task {
	t.Phase, t.Current = core.TaskCancelled{At: start}, over(t.Current, core.AttemptCancelled)
	return t
}
