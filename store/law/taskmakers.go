package law

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
)

// chain is a chain of two models.
func chain() task.Chain {
	c, err := task.NewChain([]task.Model{
		{Provider: "Anthropic", ID: "opus-4.1", Variant: "high"}, {Provider: "openai", ID: "gpt-5"},
	})
	if err != nil {
		panic("law: " + err.Error())
	}
	return c
}

// newTask returns a queued task with its first attempt, which is pending.
func newTask(id string, position int64) task.Task {
	return task.Task{
		ID: id, Position: position, CreatedAt: start, UpdatedAt: start,
		Spec:    task.Spec{Prompt: "do " + id, Chain: chain(), MaxAttempts: 3},
		Current: attempt(id, 1), Phase: task.Queued{},
	}
}

// attempt returns a pending attempt of that number.
func attempt(taskID string, number int) task.Attempt {
	a := task.Attempt{
		ID: fmt.Sprint("att_", taskID, "_", number), TaskID: taskID, Number: number, Cause: task.CauseFirst,
		Model: task.Model{Provider: "Anthropic", ID: "opus-4.1", Variant: "high"}, CreatedAt: start, Phase: task.PendingAttempt{},
	}
	if number > 1 {
		a.Cause = task.CauseRetry
	}
	return a
}

// runs returns the attempt as it runs under a lease of its own.
func runs(a task.Attempt, expires core.Instant) task.Attempt {
	a.Phase = task.RunningAttempt{
		Worker: "w", StartedAt: start,
		Lease: task.Lease{Token: "token of " + a.ID, Epoch: a.Number, ExpiresAt: expires, Length: int64(day)},
	}
	return a
}

// over returns the attempt as it has ended.
func over(a task.Attempt, status task.AttemptStatus) task.Attempt {
	a.Phase = task.EndedAttempt{
		Status: status, Worker: "w", StartedAt: start, At: start + day, Token: "token of " + a.ID, Digest: "of a report",
	}
	return a
}

// begun returns the task as it runs.
func begun(t task.Task) task.Task {
	t.Phase, t.Current = task.Running{}, runs(t.Current, start+day)
	return t
}

func completed(t task.Task) task.Task {
	t.Phase, t.Current, t.Output = task.Complete{}, over(t.Current, task.AttemptCompleted), "done"
	return t
}

func awaiting(t task.Task) task.Task {
	t.Phase, t.Current, t.Question = task.Awaiting{DefaultAt: t.UpdatedAt + 30}, over(t.Current, task.AttemptAwaiting), "which one?"
	return t
}

// offer returns two options, the second of which is taken after a second.
func offer(t T, detail string) task.Offer {
	detail = strings.ToValidUTF8(detail[:min(len(detail), task.MaxDetailBytes)], "")
	o, err := task.NewOffer([]task.Option{{Label: "keep"}, {Label: "drop", Detail: detail}}, true, "drop", 1_000_000)
	require.NoError(t, err)
	return o
}

func errored(t task.Task) task.Task {
	t.Phase, t.Current = task.Errored{Reason: task.ReasonFailed}, over(t.Current, task.AttemptError)
	return t
}

// as returns the task with the attempt as its newest, in the phase that goes with it.
func as(t task.Task, a task.Attempt) task.Task {
	t.Current = a
	switch a.Status() {
	case task.AttemptPending:
		t.Phase = task.Queued{}
	case task.AttemptRunning:
		t.Phase = task.Running{}
	case task.AttemptCompleted:
		t.Phase = task.Complete{}
	case task.AttemptAwaiting:
		t.Phase = task.Awaiting{}
	case task.AttemptError, task.AttemptInterrupted, task.AttemptLost:
		t.Phase = task.Errored{Reason: task.ReasonFailed}
	case task.AttemptCancelled:
		t.Phase = task.Cancelled{At: start}
	}
	return t
}

func cancelled(t task.Task) task.Task {
	t.Phase, t.Current = task.Cancelled{At: start}, over(t.Current, task.AttemptCancelled)
	return t
}
