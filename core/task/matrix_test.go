package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
)

// A taskSituation is a row of the matrix: a task in some phase, made by events alone.
type taskSituation struct {
	name  string
	task  task.Task
	model taskModel
}

func taskSituations(t testing.TB) []taskSituation {
	var rows []taskSituation
	row := func(name string, start task.Task, moves ...taskMove) {
		w := newTaskModel(start, []core.Effect{task.Keep{Attempt: start.Current}})
		at := coretest.CreatedAt
		for _, move := range moves {
			at += 100
			require.Empty(t, w.advance(move(w.task, at)), name)
		}
		rows = append(rows, taskSituation{name, w.task, w})
	}
	fresh := newTask(t, 0)
	lean, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 2), 0, coretest.CreatedAt)
	shared, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, sonnet, gpt), 0, coretest.CreatedAt)
	late := func(move taskMove) taskMove { // claims as soon as a retry may begin
		return func(task task.Task, at core.Instant) task.Event { return move(task, at+100) }
	}
	slow := func(tsk task.Task, at core.Instant) task.Event { // a failure whose retry waits long
		e := breaks(task.ClassTransient, task.RetryAuto)(tsk, at).(task.Finish)
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
	row("queued, an option chosen", fresh, claims, asksFor(offer(t, false, 0)), chooses("navy"))
	row("queued, its default taken", fresh, claims, asksFor(offer(t, false, 2_000_000)), passes(0))
	row("queued, set going again", fresh, claims, failsTerminal, retries(task.Model{}))
	row("running", fresh, claims)
	row("running, in a session", fresh, claims, binds)
	row("running, cancellation asked for", fresh, claims, binds, cancels)
	row("running, answered", fresh, claims, asks, replies, claims, binds)
	row("running, second failure on its model", fresh, claims, failsTransient, late(claims), binds)
	row("running, last model", fresh, claims, failsProvider, claims, binds)
	row("running, next model of its provider", shared, claims, binds)
	row("running, last attempt", fresh, claims, failsTransient, late(claims), failsTransient, claims,
		failsTransient, late(claims), binds)
	row("running, no chain", lean, claims, binds)
	row("running, no chain, last attempt", lean, claims, failsTransient, late(claims), binds)
	row("running, model outside the chain", fresh, claims, failsTerminal, retries(gemini), claims, binds)
	row("running, bound to another model", fresh, claims, as(binds, func(e *task.Bind) { e.Model = gemini }))
	row("running, a retry without a session", fresh, claims, loses, late(claims))
	row("running, spared once", fresh, claims, expires(1500, 1400))
	row("complete", fresh, claims, completes)
	row("awaiting an answer", fresh, claims, asks)
	row("awaiting an answer, with options", fresh, claims, asksFor(offer(t, false, 2_000_000)))
	row("awaiting an option", fresh, claims, asksFor(offer(t, true, 0)))
	row("error, failed", fresh, claims, failsTerminal)
	row("error, interrupted, answered before", fresh, claims, asks, replies, claims, gives(task.AttemptInterrupted))
	row("error, retries exhausted", lean, claims, failsProvider)
	row("cancelled before its first claim", fresh, cancels)
	row("cancelled, waits for a task", newTask(t, 1), cancels)
	row("cancelled while it ran", fresh, claims, cancels, gives(task.AttemptCancelled))
	row("cancelled while it waited for an answer", fresh, claims, asks, cancels)
	row("cancelled while it waited for an option", fresh, claims, asksFor(offer(t, true, 2_000_000)), cancels)
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

const foreign = "tok_foreign"

// as changes the event of a move.
func as[E task.Event](move taskMove, change func(*E)) taskMove {
	return func(task task.Task, at core.Instant) task.Event {
		e := move(task, at).(E)
		change(&e)
		return e
	}
}

// oldToken returns the token of the attempt before the newest one, or "".
func oldToken(task task.Task) string { return tokenOf(task.Current.Number - 1) }

func taskTables() []taskTable {
	return []taskTable{
		{"Claims, and what waits", []taskHappening{
			{"claim", claims},
			{"claim, much later", as(claims, func(e *task.Claim) { e.At = 90_000 })},
			{"claim, clock set back", as(claims, func(e *task.Claim) { e.At = -100_000_000 })},
			{"take back", takesBack},
			{"take back, wrong token", as(takesBack, func(e *task.Return) { e.Token = foreign })},
			{"a dependency is done", func(t task.Task, at core.Instant) task.Event {
				if t.Waits == 0 {
					return nil
				}
				return task.DependencyDone{At: at}
			}},
		}},
		{"Sessions that are bound", []taskHappening{
			{"bind, its session", binds},
			{"bind, another session", as(binds, func(e *task.Bind) { e.Session = "ses_other" })},
			{"bind, with a model", as(binds, func(e *task.Bind) { e.Model = gemini })},
			{"bind, another attempt", as(binds, func(e *task.Bind) { e.AttemptID = "att_00" })},
			{"bind, wrong token", as(binds, func(e *task.Bind) { e.Token = foreign })},
			{"bind, old token", func(t task.Task, at core.Instant) task.Event {
				return as(binds, func(e *task.Bind) { e.Token = oldToken(t) })(t, at)
			}},
		}},
		{"Signs of life", []taskHappening{
			{"heartbeat", beats},
			{"heartbeat, with progress", as(beats, func(e *task.Heartbeat) { e.Progress = true })},
			{"heartbeat, new length", as(beats, func(e *task.Heartbeat) { e.Length = 7000 })},
			{"heartbeat, clock set back", as(beats, func(e *task.Heartbeat) { e.At = 50 })},
			{"heartbeat, wrong token", as(beats, func(e *task.Heartbeat) { e.Token = foreign })},
			{"heartbeat, old token", func(t task.Task, at core.Instant) task.Event {
				return task.Heartbeat{At: at, Token: oldToken(t)}
			}},
		}},
		{"Leases that end", []taskHappening{
			{"expire, lease runs", expires(coretest.MatrixNow, 0)},
			{"expire, lease ended", expires(9000, 0)},
			{"expire, observer woke a moment ago", expires(9000, 8500)},
			{"expire, observer came in its last half", watched(leaseLength/2 - 1)},
			{"expire, observer awake for half of it", watched(leaseLength / 2)},
			{"expire, clock set back", expires(50, 0)},
		}},
		{"Reports of an end", []taskHappening{
			{"finish, completed", completes},
			{"finish, awaiting_response", asks},
			{"finish, cancelled", gives(task.AttemptCancelled)},
			{"finish, interrupted", gives(task.AttemptInterrupted)},
			{"finish, wrong token", as(completes, func(e *task.Finish) { e.Token = foreign })},
			{"finish, old token", func(t task.Task, at core.Instant) task.Event {
				return as(completes, func(e *task.Finish) { e.Token = oldToken(t) })(t, at)
			}},
		}},
		{"Reports of a failure", []taskHappening{
			{"error, transient", failsTransient},
			{"error, provider", failsProvider},
			{"error, no quota left", as(failsProvider, func(e *task.Finish) { e.Failure.Message = noQuota })},
			{"error, terminal", failsTerminal},
			{"error, user", breaks(task.ClassUser, task.RetryAuto)},
			{"error, terminal, a timeout", as(failsTerminal, func(e *task.Finish) { e.Failure.Name = "TimeoutError" })},
			{"error, transient, retry never", breaks(task.ClassTransient, task.RetryNever)},
			{"error, transient, same model", breaks(task.ClassTransient, task.RetrySame)},
			{"error, provider, same model", breaks(task.ClassProvider, task.RetrySame)},
		}},
		{"Failures whose host tries another model", []taskHappening{
			{"next model outside", handsOn(task.ClassTerminal, gemini)},
			{"next model of the chain", handsOn(task.ClassProvider, gpt)},
			{"the same model", func(t task.Task, at core.Instant) task.Event {
				if t.Current.Model == (task.Model{}) {
					return nil
				}
				return handsOn(task.ClassTransient, t.Current.Model)(t, at)
			}},
			{"next model, wrong token", as(handsOn(task.ClassTerminal, gemini), func(e *task.Finish) { e.Token = foreign })},
		}},
		{"What a host says about a session", []taskHappening{
			{"session started", hears(task.SessionStarted, "")},
			{"session progress, silent", hears(task.SessionProgress, "")},
			{"session progress, telling", as(hears(task.SessionProgress, ""), func(e *task.ReportSession) { e.Telling = true })},
			{"session idle", hears(task.SessionIdle, "")},
			{"session error, transient", hears(task.SessionError, task.ClassTransient)},
			{"session error, provider", hears(task.SessionError, task.ClassProvider)},
			{"session error, terminal", hears(task.SessionError, task.ClassTerminal)},
			{"session deleted", hears(task.SessionDeleted, "")},
			{"session error, another session", as(hears(task.SessionError, task.ClassTerminal), func(e *task.ReportSession) { e.Session = "ses_other" })},
			{"session error, no session", as(hears(task.SessionError, task.ClassTerminal), func(e *task.ReportSession) { e.Session = "" })},
		}},
		{"What people and runs ask for", []taskHappening{
			{"retry", retries(task.Model{})},
			{"retry, last of the chain", retries(task.Model{Provider: "OpenAI", ID: "GPT.5"})},
			{"retry, model outside", retries(gemini)},
			{"cancel", cancels},
			{"reply", replies},
			{"reply, to an earlier question", as(replies, func(e *task.Reply) { e.AttemptID = "att_00" })},
			{"block", blocks},
		}},
		{"Options, and the time of a default", []taskHappening{
			{"option", chooses("navy")},
			{"option, written as a reply", as(replies, func(e *task.Reply) { e.Text = " navy\n" })},
			{"option, with a remark", as(replies, func(e *task.Reply) { e.Option = "navy" })},
			{"option that is not offered", chooses("teal")},
			{"time, default not due", passes(-1)},
			{"time, default due", passes(0)},
			{"time, clock set back", as(passes(0), func(e *task.TakeDefault) { e.At = -5_000_000 })},
			{"finish, asks with options", asksFor(offerOf(false, 2_000_000))},
		}},
	}
}

// offerOf is offer for a table.
func offerOf(closed bool, after int64) task.Offer {
	o, err := task.NewOffer([]task.Option{{Label: "navy"}, {Label: "sky"}}, closed, "sky", after)
	if err != nil {
		panic(err)
	}
	return o
}

// handsOn reports a failure after which the host tries another model.
func handsOn(class task.Class, model task.Model) taskMove {
	return as(breaks(class, task.RetryAuto), func(e *task.Finish) { e.NextModel = model })
}

func expires(at, calm core.Instant) taskMove {
	return func(t task.Task, _ core.Instant) task.Event {
		return task.Expire{At: at, Calm: calm, Next: successor(t)}
	}
}

// watched returns an Expire from an observer that has watched that part of the lease.
func watched(span core.Instant) taskMove {
	return func(t task.Task, _ core.Instant) task.Event {
		p, running := t.Current.Phase.(task.RunningAttempt)
		if !running {
			return expires(9000, 8500)(t, 0)
		}
		return expires(p.Lease.ExpiresAt, p.Lease.ExpiresAt-span)(t, 0)
	}
}
