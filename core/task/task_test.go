package task_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
)

// The tasks of these tests run on a chain of two models with two failures each, under leases of a
// thousand microseconds, and wait fifty of them before a retry on the same model.
const (
	leaseLength = 1000
	firstWait   = 50
)

// noQuota is what a provider says whose account has used up its quota.
const noQuota = "your quota is exceeded"

var (
	opus   = task.Model{Provider: "anthropic", ID: "opus-4.1", Variant: "high"}
	sonnet = task.Model{Provider: "Anthropic", ID: "sonnet-4.5"}
	gpt    = task.Model{Provider: "openai", ID: "gpt-5"}
	haiku  = task.Model{Provider: "anthropic", ID: "haiku"}
	gemini = task.Model{Provider: "google", ID: "gemini-3"}
)

func chain(t require.TestingT, models ...task.Model) task.Chain {
	c, err := task.NewChain(models)
	require.NoError(t, err)
	return c
}

// launch is what the tasks of these tests start with.
func launch(t require.TestingT, maxAttempts int, models ...task.Model) task.Spec {
	return task.Spec{
		Prompt: "paint the boat", Description: "boat", RunID: "run_1", Role: "worker", Parent: "ses_parent",
		Chain: chain(t, models...), MaxAttempts: maxAttempts, DependsOn: `["tsk_0"]`, Labels: `{"colour":"blue"}`,
	}
}

func newTask(t require.TestingT, waits int) task.Task {
	task, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, gpt), waits, coretest.CreatedAt)
	return task
}

func attemptID(n int) string { return fmt.Sprintf("att_%02d", n) }
func tokenOf(n int) string   { return "tok_" + attemptID(n)[4:] }

// successor is the next attempt of a task.
func successor(t task.Task) task.Successor {
	return task.Successor{AttemptID: attemptID(t.Current.Number + 1), Base: firstWait}
}

// A taskMove makes the next event of a task from how it stands, or nil if there is no such event.
type taskMove func(task task.Task, at core.Instant) task.Event

func claims(t task.Task, at core.Instant) task.Event {
	return task.Claim{At: at, Worker: "w1", Token: tokenOf(t.Current.Number), Length: leaseLength}
}

func takesBack(t task.Task, at core.Instant) task.Event {
	return task.Return{At: at, Token: t.Current.Token()}
}

func beats(t task.Task, at core.Instant) task.Event {
	return task.Heartbeat{At: at, Token: t.Current.Token()}
}

func sessionOf(task task.Task) string { return "ses_" + attemptID(task.Current.Number)[4:] }

func binds(t task.Task, at core.Instant) task.Event {
	return task.Bind{At: at, AttemptID: t.Current.ID, Token: t.Current.Token(), Session: sessionOf(t)}
}

func report(t task.Task, at core.Instant, status task.AttemptStatus) task.Finish {
	return task.Finish{
		At: at, Token: t.Current.Token(), Status: status, Mode: task.RetryAuto, Next: successor(t),
	}
}

func completes(t task.Task, at core.Instant) task.Event {
	e := report(t, at, task.AttemptCompleted)
	e.Output = "done"
	return e
}

func asks(t task.Task, at core.Instant) task.Event {
	e := report(t, at, task.AttemptAwaiting)
	e.Output, e.Question = "half done", "which blue?"
	return e
}

func gives(status task.AttemptStatus) taskMove {
	return func(task task.Task, at core.Instant) task.Event { return report(task, at, status) }
}

// breaksWith reports a failure as the api does, with the class that the table tells.
func breaksWith(why task.Failure) taskMove {
	return func(t task.Task, at core.Instant) task.Event {
		e := report(t, at, task.AttemptError)
		e.Failure = task.Classify(why)
		return e
	}
}

func breaks(class task.Class, mode task.RetryMode) taskMove {
	return func(t task.Task, at core.Instant) task.Event {
		e := report(t, at, task.AttemptError)
		e.Failure, e.Mode = task.Failure{Class: class, Message: "it broke"}, mode
		return e
	}
}

var (
	failsTransient = breaks(task.ClassTransient, task.RetryAuto)
	failsProvider  = breaks(task.ClassProvider, task.RetryAuto)
	failsTerminal  = breaks(task.ClassTerminal, task.RetryAuto)
)

// loses ends the lease of a running attempt, seen by an observer without gaps.
func loses(t task.Task, at core.Instant) task.Event {
	p, running := t.Current.Phase.(task.RunningAttempt)
	if !running {
		return nil
	}
	return task.Expire{At: max(at, p.Lease.ExpiresAt), Next: successor(t)}
}

func cancels(_ task.Task, at core.Instant) task.Event {
	return task.Cancel{At: at, Reason: "no boat"}
}

func blocks(_ task.Task, at core.Instant) task.Event {
	return task.Block{At: at, Reason: "the run is blocked"}
}

func replies(t task.Task, at core.Instant) task.Event {
	return task.Reply{At: at, Text: "navy blue", Next: successor(t)}
}

func retries(model task.Model) taskMove {
	return func(t task.Task, at core.Instant) task.Event {
		return task.Retry{At: at, Model: model, Next: successor(t)}
	}
}

func hears(kind task.SessionKind, class task.Class) taskMove {
	return func(t task.Task, at core.Instant) task.Event {
		e := task.ReportSession{At: at, Session: sessionOf(t), Kind: kind, Next: successor(t)}
		if class != "" {
			e.Failure = task.Failure{Class: class, Message: "the session broke"}
		}
		return e
	}
}

// lived returns what the task becomes by moves that are all allowed, a hundred microseconds apart.
func lived(t testing.TB, task task.Task, moves ...taskMove) task.Task {
	t.Helper()
	for n, move := range moves {
		next, _, err := task.Step(move(task, coretest.CreatedAt+core.Instant(100*(n+1))))
		require.NoError(t, err)
		task = next
	}
	return task
}

// rejected asserts that the event is refused as that kind, with the facts, and that nothing changed.
func rejected(t testing.TB, tsk task.Task, event task.Event, kind core.RefusalKind) {
	t.Helper()
	next, effects, err := tsk.Step(event)
	var refusal *core.Refusal
	require.ErrorAs(t, err, &refusal)
	require.True(t, next == tsk, "a refusal changed the task")
	require.Empty(t, effects)
	require.Equal(t, kind.String(), refusal.Kind.String())
	require.Equal(t, "task", refusal.Noun)
	require.Equal(t, tsk.ID, refusal.Subject)
	require.Equal(t, string(tsk.Status()), refusal.State)
	require.Regexp(t, tsk.ID+"|"+tsk.Current.ID, refusal.Error())
	require.Equal(t, kind == core.StaleAttempt, task.IsStale(err))
}

// ignored asserts that the event is allowed and changes nothing.
func ignored(t testing.TB, task task.Task, event task.Event) {
	t.Helper()
	next, effects, err := task.Step(event)
	require.NoError(t, err)
	require.True(t, next == task)
	require.Empty(t, effects)
}

func kept(effects []core.Effect) []task.Attempt {
	var attempts []task.Attempt
	for _, effect := range effects {
		if k, ok := effect.(task.Keep); ok {
			attempts = append(attempts, k.Attempt)
		}
	}
	return attempts
}

func logged(effects []core.Effect, kind core.EventType) bool {
	return slices.Contains(effects, core.Effect(core.Record{Type: kind}))
}

func TestOnlyARefusalOfAStaleReportIsStale(t *testing.T) {
	require.False(t, task.IsStale(nil))
	require.False(t, task.IsStale(errors.New("stale")))
	require.False(t, task.IsStale(core.Missing("task", "tsk_9")))
}

// TestTaskIsNeededByWhatMayStillWaitForIt: whatever may go on needs what it depends on, and a cancelled one, which may be
// told to, needs what is not complete.
func TestTaskIsNeededByWhatMayStillWaitForIt(t *testing.T) {
	for _, other := range task.Statuses() {
		ended := other == task.StatusComplete || other == task.StatusCancelled
		require.Equal(t, ended, other.Forgettable(), other)
		require.Equal(t, !ended, task.StatusComplete.NeededBy(other), other)
		require.Equal(t, other != task.StatusComplete, task.StatusCancelled.NeededBy(other), other)
	}
}
