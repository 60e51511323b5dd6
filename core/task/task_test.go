package task_test

import (
	"fmt"
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

// noQuota is the message of a provider whose account has used up its quota.
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

// launch returns the spec of the tasks of these tests.
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

// offer returns three options, of which the second is the default, taken after that many microseconds.
func offer(t require.TestingT, closed bool, after int64) task.Offer {
	o, err := task.NewOffer([]task.Option{{Label: "navy", Detail: "dark"}, {Label: "sky"}, {Label: "no blue"}}, closed, "sky", after)
	require.NoError(t, err)
	return o
}

// asksFor asks with options.
func asksFor(o task.Offer) taskMove { return as(asks, func(e *task.Finish) { e.Offer = o }) }

// chooses answers with an option.
func chooses(label string) taskMove {
	return as(replies, func(e *task.Reply) { e.Text, e.Option = "", label })
}

// passes lets time pass: until so long after the default is due.
func passes(past core.Instant) taskMove {
	return func(t task.Task, at core.Instant) task.Event {
		if p, awaiting := t.Phase.(task.Awaiting); awaiting && p.DefaultAt != 0 {
			at = p.DefaultAt + past
		}
		return task.TakeDefault{At: at, Next: successor(t)}
	}
}

func gives(status task.AttemptStatus) taskMove {
	return func(task task.Task, at core.Instant) task.Event { return report(task, at, status) }
}

// breaksWith reports a failure with its class from the table, as the api does.
func breaksWith(why task.Failure) taskMove {
	return func(t task.Task, at core.Instant) task.Event {
		e := report(t, at, task.AttemptError)
		e.Failure = task.Classify(why)
		return e
	}
}

// reporting changes the output and the question of a report.
func reporting(move taskMove, output, question string) taskMove {
	return as(move, func(e *task.Finish) { e.Output, e.Question = output, question })
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

// lived returns the task after moves that are all allowed, a hundred microseconds apart.
func lived(t testing.TB, task task.Task, moves ...taskMove) task.Task {
	t.Helper()
	for n, move := range moves {
		next, _, err := task.Step(move(task, coretest.CreatedAt+core.Instant(100*(n+1))))
		require.NoError(t, err)
		task = next
	}
	return task
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

func TestNewTaskWaitsForItsFirstClaim(t *testing.T) {
	tsk, effects := task.Create("tsk_1", "att_1", 7, launch(t, 4, opus, gpt), 0, coretest.CreatedAt)
	first := task.Attempt{
		ID: "att_1", TaskID: "tsk_1", Number: 1, Cause: task.CauseFirst, Model: opus, CreatedAt: coretest.CreatedAt,
		Phase: task.PendingAttempt{},
	}
	require.Equal(t, []core.Effect{task.Keep{Attempt: first}, core.Record{Type: core.TaskCreated}}, effects)
	require.Equal(t, task.Task{
		ID: "tsk_1", Position: 7, CreatedAt: coretest.CreatedAt, UpdatedAt: coretest.CreatedAt, Spec: launch(t, 4, opus, gpt),
		Current: first, Phase: task.Queued{},
	}, tsk)
}

func TestAttemptTellsWhatIsKnownInEachPhase(t *testing.T) {
	type known struct {
		worker, session, token string
		started, ended         core.Instant
		finished, skewed       bool
	}
	of := func(a task.Attempt) known {
		return known{a.Worker(), a.Session(), a.Token(), a.StartedAt(), a.EndedAt(), a.Finished(), a.ClockSkew()}
	}
	at := func(at core.Instant) taskMove { return as(completes, func(e *task.Finish) { e.At = at }) }
	tsk := newTask(t, 0)
	running := lived(t, tsk, claims, binds)
	require.Equal(t, known{}, of(tsk.Current))
	require.Equal(t, known{"w1", "ses_01", "tok_01", 200, 0, false, false}, of(running.Current))
	require.Equal(t, known{"w1", "ses_01", "tok_01", 200, 900, true, false}, of(lived(t, running, at(900)).Current))
	require.Equal(t, known{"w1", "ses_01", "tok_01", 200, 200, true, false}, of(lived(t, running, at(200)).Current))
	require.Equal(t, known{"w1", "ses_01", "tok_01", 200, 3, true, true}, of(lived(t, running, at(3)).Current), "the clock was set back")
	require.Equal(t, known{ended: 200, finished: true}, of(lived(t, tsk, cancels).Current), "it never began")
}

// Pruning keeps a task that a dependent may still wait for. A cancelled dependent can be retried, so it needs the tasks that
// are not complete.
func TestTaskIsNeededByDependentsThatMayContinue(t *testing.T) {
	for _, other := range task.Statuses() {
		ended := other == task.StatusComplete || other == task.StatusCancelled
		require.Equal(t, ended, other.Forgettable(), other)
		require.Equal(t, !ended, task.StatusComplete.NeededBy(other), other)
		require.Equal(t, other != task.StatusComplete, task.StatusCancelled.NeededBy(other), other)
	}
}

// A broken invariant is a bug of the program and must not pass for an answer.
func TestUnknownEventsAndStatusesPanic(t *testing.T) {
	require.Panics(t, func() { _, _, _ = newTask(t, 0).Step(nil) })
	require.Panics(t, func() { _, _, _ = newTask(t, 0).Step(task.DependencyDone{At: 900}) }, "it waits for nothing")
	running := lived(t, newTask(t, 0), claims)
	require.Panics(t, func() { _, _, _ = running.Step(report(running, 900, task.AttemptLost)) })
	require.False(t, task.IsStale(core.Missing("task", "tsk_9")))
}
