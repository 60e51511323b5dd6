package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

// A taskSituation is a row of the matrix: a task in some phase, made by events alone.
type taskSituation struct {
	name    string
	task    core.Task
	witness taskWitness
}

func taskSituations(t testing.TB) []taskSituation {
	var rows []taskSituation
	row := func(name string, start core.Task, moves ...taskMove) {
		w := watch(start, []core.Effect{core.Keep{Attempt: start.Current}})
		at := createdAt
		for _, move := range moves {
			at += 100
			require.Empty(t, w.advance(core.Task.Step, move(w.task, at)), name)
		}
		rows = append(rows, taskSituation{name, w.task, w})
	}
	fresh := newTask(t, 0)
	lean, _ := core.CreateTask("tsk_1", attemptID(1), 1, launch(t, 2), 0, createdAt)
	late := func(move taskMove) taskMove { // claims as soon as a retry may begin
		return func(task core.Task, at core.Instant) core.TaskEvent { return move(task, at+100) }
	}
	slow := func(task core.Task, at core.Instant) core.TaskEvent { // a failure whose retry waits long
		e := breaks(core.ClassTransient, core.RetryAuto)(task, at).(core.FinishAttempt)
		e.Next.Base = 5000
		return e
	}

	row("queued", fresh)
	row("queued, waits for one task", newTask(t, 1))
	row("queued, waits for two tasks", newTask(t, 2))
	row("queued, a retry that has to wait", fresh, claims, slow)
	row("queued, a retry on the next model", fresh, claims, binds, failsProvider)
	row("queued, its worker was lost", fresh, claims, loses)
	row("queued, answered", fresh, claims, asks, replies)
	row("queued, set going again", fresh, claims, failsTerminal, retries(core.Model{}))
	row("running", fresh, claims)
	row("running, in a session", fresh, claims, binds)
	row("running, cancellation asked for", fresh, claims, binds, cancels)
	row("running, answered", fresh, claims, asks, replies, claims, binds)
	row("running, second failure on its model", fresh, claims, failsTransient, late(claims), binds)
	row("running, last model", fresh, claims, failsProvider, claims, binds)
	row("running, last attempt", fresh, claims, failsTransient, late(claims), failsTransient, claims,
		failsTransient, late(claims), binds)
	row("running, no chain", lean, claims, binds)
	row("running, no chain, last attempt", lean, claims, failsTransient, late(claims), binds)
	row("running, model outside the chain", fresh, claims, failsTerminal, retries(gemini), claims, binds)
	row("running, bound to another model", fresh, claims, as(binds, func(e *core.BindSession) { e.Model = gemini }))
	row("running, a retry without a session", fresh, claims, loses, late(claims))
	row("running, spared once", fresh, claims, expires(1500, 1400))
	row("complete", fresh, claims, completes)
	row("awaiting an answer", fresh, claims, asks)
	row("error, failed", fresh, claims, failsTerminal)
	row("error, interrupted, answered before", fresh, claims, asks, replies, claims, gives(core.AttemptInterrupted))
	row("error, retries exhausted", lean, claims, failsProvider)
	row("cancelled before its first claim", fresh, cancels)
	row("cancelled while it ran", fresh, claims, cancels, gives(core.AttemptCancelled))
	row("cancelled while it waited for an answer", fresh, claims, asks, cancels)
	row("blocked before its first claim", fresh, blocks)
	row("blocked while it waited for an answer", fresh, claims, asks, blocks)
	return rows
}

// A taskHappening is a column of the matrix.
type taskHappening struct {
	name  string
	event taskMove
}

// A taskTable is a part of the matrix: some of its columns.
type taskTable struct {
	title   string
	columns []taskHappening
}

// matrixNow is when the events of the matrix happen.
const matrixNow core.Instant = 1000

const foreign = "tok_foreign"

// as changes the event of a move.
func as[E core.TaskEvent](move taskMove, change func(*E)) taskMove {
	return func(task core.Task, at core.Instant) core.TaskEvent {
		e := move(task, at).(E)
		change(&e)
		return e
	}
}

// oldToken is that of the attempt before the newest one, or of nobody.
func oldToken(task core.Task) string { return tokenOf(task.Current.Number - 1) }

func taskTables() []taskTable {
	return []taskTable{
		{"Claims, and what waits", []taskHappening{
			{"claim", claims},
			{"claim, much later", as(claims, func(e *core.ClaimTask) { e.At = 90_000 })},
			{"claim, clock set back", as(claims, func(e *core.ClaimTask) { e.At = -100_000_000 })},
			{"take back", takesBack},
			{"take back, wrong token", as(takesBack, func(e *core.ReturnTask) { e.Token = foreign })},
			{"a dependency is done", func(task core.Task, at core.Instant) core.TaskEvent {
				if task.Waits == 0 {
					return nil
				}
				return core.DependencyDone{At: at}
			}},
		}},
		{"Sessions that are bound", []taskHappening{
			{"bind, its session", binds},
			{"bind, another session", as(binds, func(e *core.BindSession) { e.Session = "ses_other" })},
			{"bind, with a model", as(binds, func(e *core.BindSession) { e.Model = gemini })},
			{"bind, another attempt", as(binds, func(e *core.BindSession) { e.AttemptID = "att_00" })},
			{"bind, wrong token", as(binds, func(e *core.BindSession) { e.Token = foreign })},
			{"bind, old token", func(task core.Task, at core.Instant) core.TaskEvent {
				return as(binds, func(e *core.BindSession) { e.Token = oldToken(task) })(task, at)
			}},
		}},
		{"Signs of life", []taskHappening{
			{"heartbeat", beats},
			{"heartbeat, with progress", as(beats, func(e *core.Heartbeat) { e.Progress = true })},
			{"heartbeat, new length", as(beats, func(e *core.Heartbeat) { e.Length = 7000 })},
			{"heartbeat, clock set back", as(beats, func(e *core.Heartbeat) { e.At = 50 })},
			{"heartbeat, wrong token", as(beats, func(e *core.Heartbeat) { e.Token = foreign })},
			{"heartbeat, old token", func(task core.Task, at core.Instant) core.TaskEvent {
				return core.Heartbeat{At: at, Token: oldToken(task)}
			}},
		}},
		{"Leases that end", []taskHappening{
			{"expire, lease runs", expires(matrixNow, 0)},
			{"expire, lease ended", expires(9000, 0)},
			{"expire, observer woke a moment ago", expires(9000, 8500)},
			{"expire, observer came in its last half", watched(leaseLength/2 - 1)},
			{"expire, observer awake for half of it", watched(leaseLength / 2)},
			{"expire, clock set back", expires(50, 0)},
		}},
		{"Reports of an end", []taskHappening{
			{"finish, completed", completes},
			{"finish, awaiting_response", asks},
			{"finish, cancelled", gives(core.AttemptCancelled)},
			{"finish, interrupted", gives(core.AttemptInterrupted)},
			{"finish, wrong token", as(completes, func(e *core.FinishAttempt) { e.Token = foreign })},
			{"finish, old token", func(task core.Task, at core.Instant) core.TaskEvent {
				return as(completes, func(e *core.FinishAttempt) { e.Token = oldToken(task) })(task, at)
			}},
		}},
		{"Reports of a failure", []taskHappening{
			{"error, transient", failsTransient},
			{"error, provider", failsProvider},
			{"error, terminal", failsTerminal},
			{"error, user", breaks(core.ClassUser, core.RetryAuto)},
			{"error, terminal, a timeout", as(failsTerminal, func(e *core.FinishAttempt) { e.Failure.Name = "TimeoutError" })},
			{"error, transient, retry never", breaks(core.ClassTransient, core.RetryNever)},
			{"error, transient, same model", breaks(core.ClassTransient, core.RetrySame)},
			{"error, provider, same model", breaks(core.ClassProvider, core.RetrySame)},
		}},
		{"What a host says about a session", []taskHappening{
			{"session started", hears(core.SessionStarted, "")},
			{"session progress, silent", hears(core.SessionProgress, "")},
			{"session progress, telling", as(hears(core.SessionProgress, ""), func(e *core.HearSession) { e.Telling = true })},
			{"session idle", hears(core.SessionIdle, "")},
			{"session error, transient", hears(core.SessionError, core.ClassTransient)},
			{"session error, provider", hears(core.SessionError, core.ClassProvider)},
			{"session error, terminal", hears(core.SessionError, core.ClassTerminal)},
			{"session deleted", hears(core.SessionDeleted, "")},
			{"session error, another session", as(hears(core.SessionError, core.ClassTerminal), func(e *core.HearSession) { e.Session = "ses_other" })},
			{"session error, no session", as(hears(core.SessionError, core.ClassTerminal), func(e *core.HearSession) { e.Session = "" })},
		}},
		{"What people and runs ask for", []taskHappening{
			{"retry", retries(core.Model{})},
			{"retry, last of the chain", retries(core.Model{Provider: "OpenAI", ID: "GPT.5"})},
			{"retry, model outside", retries(gemini)},
			{"cancel", cancels},
			{"reply", replies},
			{"block", blocks},
		}},
	}
}

func expires(at, calm core.Instant) taskMove {
	return func(task core.Task, _ core.Instant) core.TaskEvent {
		return core.ExpireLease{At: at, Calm: calm, Next: successor(task)}
	}
}

// watched is the end of a lease in the eyes of somebody who has watched that much of it.
func watched(span core.Instant) taskMove {
	return func(task core.Task, _ core.Instant) core.TaskEvent {
		p, running := task.Current.Phase.(core.Running)
		if !running {
			return expires(9000, 8500)(task, 0)
		}
		return expires(p.Lease.ExpiresAt, p.Lease.ExpiresAt-span)(task, 0)
	}
}
