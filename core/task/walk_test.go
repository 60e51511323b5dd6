package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
)

// A namedMove is a move of a walk. Its event is nil where there is none.
type namedMove struct {
	name  string
	event func(w *taskModel, at core.Instant) task.Event
}

func plainly(name string, move taskMove) namedMove {
	return namedMove{name, func(w *taskModel, at core.Instant) task.Event { return move(w.task, at) }}
}

// again returns a move that repeats the last report with a change.
func again(name string, change func(e *task.Finish)) namedMove {
	return namedMove{name, func(w *taskModel, at core.Instant) task.Event {
		if w.report == nil {
			return nil
		}
		e := *w.report
		e.At, e.Next = at, successor(w.task)
		change(&e)
		return e
	}}
}

// namedMoves are the columns of the matrix, and moves that depend on the past of the walk.
func namedMoves() []namedMove {
	var all []namedMove
	for _, table := range taskTables() {
		for _, column := range table.columns {
			if column.name != "claim, clock set back" { // which leaves the walk in another age
				all = append(all, plainly(column.name, column.event))
			}
		}
	}
	return append(
		all,
		plainly("lose the lease", loses),
		plainly("claim, when it may", func(t task.Task, at core.Instant) task.Event {
			if p, queued := t.Phase.(task.Queued); queued {
				at = max(at, p.NotBefore)
			}
			return claims(t, at)
		}),
		plainly("bind, again with its session and a clock set back", as(binds, func(e *task.Bind) { e.At = 20 })),
		plainly("finish, clock set back", as(completes, func(e *task.Finish) { e.At = 30 })),
		plainly("cancel, clock set back", as(cancels, func(e *task.Cancel) { e.At = 40 })),
		plainly("error, retry would wait very long", as(failsTransient, func(e *task.Finish) {
			e.Next.Base, e.Next.Jitter = 1<<62, 999
		})),
		plainly("error, with a log", reporting(failsTransient, "partial log", "")),
		plainly("complete, without a word", reporting(completes, "", "")),
		plainly("error, terminal, with a question", reporting(failsTerminal, "a log", "what now?")),
		plainly("bind, next model of the chain", as(binds, func(e *task.Bind) { e.Model = gpt })),
		plainly("bind, first model of the chain", as(binds, func(e *task.Bind) { e.Model = opus })),
		plainly("reply, to the first attempt", as(replies, func(e *task.Reply) { e.AttemptID = attemptID(1) })),
		plainly("expire, long after", expires(1<<40, 0)),
		again("the same report again", func(*task.Finish) {}),
		again("the same report, another token", func(e *task.Finish) { e.Token = foreign }),
		again("the same report, another status", func(e *task.Finish) { e.Status = task.AttemptCancelled }),
		again("the same report, another output", func(e *task.Finish) { e.Output += "!" }),
		again("the same report, another question", func(e *task.Finish) { e.Question += "?" }),
		again("the same report, another offer", func(e *task.Finish) { e.Offer = offerOf(true, 0) }),
		again("the same report, another failure", func(e *task.Finish) { e.Failure.Message += "!" }),
		again("the same report, another retry mode", func(e *task.Finish) { e.Mode = task.RetryNever }),
		again("the same report, another next model", func(e *task.Finish) { e.NextModel = gemini }),
	)
}

// Every two moves from every row of the matrix keep the laws.
func TestShortWalksKeepTheLaws(t *testing.T) {
	all := namedMoves()
	var explore func(w taskModel, path string, depth int)
	explore = func(w taskModel, path string, depth int) {
		for _, m := range all {
			next := w
			event := m.event(&next, coretest.MatrixNow+core.Instant(200-100*depth))
			if event == nil {
				continue
			}
			steps := path + "; " + m.name
			if law := next.advance(event); law != "" {
				t.Fatalf("%s: breaks %q", steps, law)
			}
			if depth > 1 {
				explore(next, steps, depth-1)
			}
		}
	}
	for _, start := range taskSituations(t) {
		explore(start.model, start.name, 2)
	}
}

// startedTask returns the model of a new task with a chain of models, dependencies, and a limit of attempts.
func startedTask(t require.TestingT, models, waits, limit int) taskModel {
	chain := []task.Model{opus, gpt, gemini}[:models]
	return newTaskModel(task.Create("tsk_1", attemptID(1), 1, launch(t, limit, chain...), waits, coretest.CreatedAt))
}

func TestLongWalksKeepTheLaws(t *testing.T) {
	all := namedMoves()
	rapid.Check(t, func(t *rapid.T) {
		w := startedTask(t, rapid.IntRange(0, 3).Draw(t, "models"), rapid.IntRange(0, 2).Draw(t, "waits"), rapid.IntRange(1, 6).Draw(t, "max_attempts"))
		at := coretest.CreatedAt
		for range rapid.IntRange(1, 60).Draw(t, "length") {
			m := all[rapid.IntRange(0, len(all)-1).Draw(t, "move")]
			at += 2 * core.Instant(rapid.IntRange(0, 255).Draw(t, "later"))
			if event := m.event(&w, at); event != nil {
				if law := w.advance(event); law != "" {
					t.Fatalf("%s breaks %q", m.name, law)
				}
			}
		}
	})
}

// Walks that only claim and fail run through the whole chain and the whole budget.
func TestFailingWalksKeepTheLaws(t *testing.T) {
	troubles := []taskMove{
		failsTransient, failsTransient, failsProvider, breaks(task.ClassTransient, task.RetrySame),
		breaks(task.ClassProvider, task.RetrySame), loses,
	}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 8).Draw(t, "max_attempts")
		w := startedTask(t, rapid.IntRange(0, 3).Draw(t, "models"), 0, limit)
		at := coretest.CreatedAt
		for w.task.Status() == task.StatusQueued {
			at += 100_000 // behind every wait
			require.Empty(t, w.advance(claims(w.task, at)))
			require.Empty(t, w.advance(rapid.SampledFrom(troubles).Draw(t, "trouble")(w.task, at)))
		}
		require.Equal(t, task.Errored{Reason: task.ReasonExhausted}, w.task.Phase)
		require.LessOrEqual(t, w.failures, limit)
	})
}
