package core_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

// The tasks of these tests run on a chain of two models with two failures each, under leases of a
// thousand microseconds, and wait fifty of them before a retry on the same model.
const (
	leaseLength = 1000
	firstWait   = 50
)

var (
	opus   = core.Model{Provider: "anthropic", ID: "opus-4.1", Variant: "high"}
	gpt    = core.Model{Provider: "openai", ID: "gpt-5"}
	gemini = core.Model{Provider: "google", ID: "gemini-3"}
)

func chain(t require.TestingT, models ...core.Model) core.Chain {
	c, err := core.NewChain(models)
	require.NoError(t, err)
	return c
}

// launch is what the tasks of these tests start with.
func launch(t require.TestingT, maxAttempts int, models ...core.Model) core.Launch {
	return core.Launch{
		Prompt: "paint the boat", Description: "boat", RunID: "run_1", Role: "worker", Parent: "ses_parent",
		Chain: chain(t, models...), MaxAttempts: maxAttempts, DependsOn: `["tsk_0"]`, Labels: `{"colour":"blue"}`,
	}
}

func newTask(t require.TestingT, waits int) core.Task {
	task, _ := core.CreateTask("tsk_1", attemptID(1), 1, launch(t, 4, opus, gpt), waits, createdAt)
	return task
}

func attemptID(n int) string { return fmt.Sprintf("att_%02d", n) }
func tokenOf(n int) string   { return "tok_" + attemptID(n)[4:] }

// successor is the next attempt of a task.
func successor(task core.Task) core.Successor {
	return core.Successor{AttemptID: attemptID(task.Current.Number + 1), Base: firstWait}
}

// A taskMove makes the next event of a task from how it stands, or nil if there is no such event.
type taskMove func(task core.Task, at core.Instant) core.TaskEvent

func claims(task core.Task, at core.Instant) core.TaskEvent {
	return core.ClaimTask{At: at, Worker: "w1", Token: tokenOf(task.Current.Number), Length: leaseLength}
}

func takesBack(task core.Task, at core.Instant) core.TaskEvent {
	return core.ReturnTask{At: at, Token: task.Current.Token()}
}

func beats(task core.Task, at core.Instant) core.TaskEvent {
	return core.Heartbeat{At: at, Token: task.Current.Token()}
}

func sessionOf(task core.Task) string { return "ses_" + attemptID(task.Current.Number)[4:] }

func binds(task core.Task, at core.Instant) core.TaskEvent {
	return core.BindSession{At: at, AttemptID: task.Current.ID, Token: task.Current.Token(), Session: sessionOf(task)}
}

func report(task core.Task, at core.Instant, status core.AttemptStatus) core.FinishAttempt {
	return core.FinishAttempt{
		At: at, Token: task.Current.Token(), Status: status, Mode: core.RetryAuto, Next: successor(task),
	}
}

func completes(task core.Task, at core.Instant) core.TaskEvent {
	e := report(task, at, core.AttemptCompleted)
	e.Output = "done"
	return e
}

func asks(task core.Task, at core.Instant) core.TaskEvent {
	e := report(task, at, core.AttemptAwaiting)
	e.Output, e.Question = "half done", "which blue?"
	return e
}

func gives(status core.AttemptStatus) taskMove {
	return func(task core.Task, at core.Instant) core.TaskEvent { return report(task, at, status) }
}

func breaks(class core.Class, mode core.RetryMode) taskMove {
	return func(task core.Task, at core.Instant) core.TaskEvent {
		e := report(task, at, core.AttemptError)
		e.Failure, e.Mode = core.Failure{Class: class, Message: "it broke"}, mode
		return e
	}
}

var (
	failsTransient = breaks(core.ClassTransient, core.RetryAuto)
	failsProvider  = breaks(core.ClassProvider, core.RetryAuto)
	failsTerminal  = breaks(core.ClassTerminal, core.RetryAuto)
)

// loses lets the lease of a running attempt end before somebody who was always awake.
func loses(task core.Task, at core.Instant) core.TaskEvent {
	p, running := task.Current.Phase.(core.Running)
	if !running {
		return nil
	}
	return core.ExpireLease{At: max(at, p.Lease.ExpiresAt), Next: successor(task)}
}

func cancels(_ core.Task, at core.Instant) core.TaskEvent {
	return core.CancelTask{At: at, Reason: "no boat"}
}

func blocks(_ core.Task, at core.Instant) core.TaskEvent {
	return core.BlockTask{At: at, Reason: "the run is blocked"}
}

func replies(task core.Task, at core.Instant) core.TaskEvent {
	return core.ReplyToTask{At: at, Text: "navy blue", Next: successor(task)}
}

func retries(model core.Model) taskMove {
	return func(task core.Task, at core.Instant) core.TaskEvent {
		return core.RetryTask{At: at, Model: model, Next: successor(task)}
	}
}

func hears(kind core.SessionKind, class core.Class) taskMove {
	return func(task core.Task, at core.Instant) core.TaskEvent {
		e := core.HearSession{At: at, Session: sessionOf(task), Kind: kind, Next: successor(task)}
		if class != "" {
			e.Failure = core.Failure{Class: class, Message: "the session broke"}
		}
		return e
	}
}

// lived gives what the task becomes by moves that are all allowed, a hundred microseconds apart.
func lived(t testing.TB, task core.Task, moves ...taskMove) core.Task {
	t.Helper()
	for n, move := range moves {
		next, _, err := task.Step(move(task, createdAt+core.Instant(100*(n+1))))
		require.NoError(t, err)
		task = next
	}
	return task
}

// rejected asserts that the event is refused as that kind, with the facts, and that nothing changed.
func rejected(t testing.TB, task core.Task, event core.TaskEvent, kind core.RefusalKind) {
	t.Helper()
	next, effects, err := task.Step(event)
	var refusal *core.Refusal
	require.ErrorAs(t, err, &refusal)
	require.True(t, next == task, "a refusal changed the task")
	require.Empty(t, effects)
	require.Equal(t, kind.String(), refusal.Kind.String())
	require.Equal(t, "task", refusal.Noun)
	require.Equal(t, task.ID, refusal.Subject)
	require.Equal(t, string(task.Status()), refusal.State)
	require.Regexp(t, task.ID+"|"+task.Current.ID, refusal.Error())
	require.Equal(t, kind == core.StaleAttempt, core.IsStale(err))
}

// ignored asserts that the event is allowed and changes nothing.
func ignored(t testing.TB, task core.Task, event core.TaskEvent) {
	t.Helper()
	next, effects, err := task.Step(event)
	require.NoError(t, err)
	require.True(t, next == task)
	require.Empty(t, effects)
}

func kept(effects []core.Effect) []core.Attempt {
	var attempts []core.Attempt
	for _, effect := range effects {
		if k, ok := effect.(core.Keep); ok {
			attempts = append(attempts, k.Attempt)
		}
	}
	return attempts
}

func notices(effects []core.Effect) []core.NoticeKind {
	var kinds []core.NoticeKind
	for _, effect := range effects {
		if p, ok := effect.(core.Post); ok {
			kinds = append(kinds, p.Kind)
		}
	}
	return kinds
}

func logged(effects []core.Effect, kind core.EventType) bool {
	return slices.Contains(effects, core.Effect(core.Record{Type: kind}))
}

func TestOnlyARefusalOfAStaleReportIsStale(t *testing.T) {
	require.False(t, core.IsStale(nil))
	require.False(t, core.IsStale(errors.New("stale")))
	require.False(t, core.IsStale(core.Missing("task", "tsk_9")))
}

// TestTaskIsNeededByWhatMayStillWaitForIt: whatever may go on needs what it depends on, and a cancelled one, which may be
// told to, needs what is not complete.
func TestTaskIsNeededByWhatMayStillWaitForIt(t *testing.T) {
	for _, other := range core.TaskStatuses() {
		ended := other == core.StatusComplete || other == core.StatusCancelled
		require.Equal(t, ended, other.Forgettable(), other)
		require.Equal(t, !ended, core.StatusComplete.NeededBy(other), other)
		require.Equal(t, other != core.StatusComplete, core.StatusCancelled.NeededBy(other), other)
	}
}
