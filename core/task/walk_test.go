package task_test

import (
	"slices"
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

// namedMoves are all columns of the matrix, and what depends on the past of the walk.
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
		plainly("bind, next model of the chain", as(binds, func(e *task.Bind) { e.Model = gpt })),
		plainly("reply, to what the first attempt asked", as(replies, func(e *task.Reply) { e.AttemptID = attemptID(1) })),
		plainly("expire, long after", expires(1<<40, 0)),
		namedMove{"the same report again", func(w *taskModel, at core.Instant) task.Event {
			if w.report == nil {
				return nil
			}
			e := *w.report
			e.At, e.Next = at, successor(w.task)
			return e
		}},
		namedMove{"the same report with something else in it", func(w *taskModel, at core.Instant) task.Event {
			if w.report == nil {
				return nil
			}
			e := *w.report
			e.At, e.Next, e.Output = at, successor(w.task), "something else"
			return e
		}},
	)
}

// A taskViolation is a law together with a walk that breaks it.
type taskViolation struct {
	law  string
	walk []string
}

// searchTaskWalks tries every walk of at most depth moves and returns the violations.
func searchTaskWalks(start taskModel, depth int) []taskViolation {
	all := namedMoves()
	var found []taskViolation
	var walk func(w taskModel, path []string)
	walk = func(w taskModel, path []string) {
		if len(path) == depth {
			return
		}
		at := coretest.MatrixNow + core.Instant(100*len(path))
		for _, m := range all {
			next := w
			event := m.event(&next, at)
			if event == nil {
				continue
			}
			steps := append(slices.Clone(path), m.name)
			if law := next.advance(event); law != "" {
				found = append(found, taskViolation{law, steps})
				continue
			}
			walk(next, steps)
		}
	}
	walk(start, nil)
	return found
}

// taskStarts are the tasks that every short walk is tried on: those of the matrix, with their past.
func taskStarts(t testing.TB) []taskModel {
	var starts []taskModel
	for _, s := range taskSituations(t) {
		starts = append(starts, s.model)
	}
	return starts
}

func TestEveryShortWalkOfATaskKeepsTheLaws(t *testing.T) {
	for _, start := range taskStarts(t) {
		require.Empty(t, searchTaskWalks(start, 2))
	}
}

// randomTaskWalk follows a walk that is written as bytes, two for a move and how much later it comes, and returns
// the law that is broken and the moves up to there, or "".
func randomTaskWalk(w taskModel, walk []byte) (law string, path []string) {
	all, at := namedMoves(), coretest.CreatedAt
	for i := 0; i+1 < len(walk); i += 2 {
		m := all[int(walk[i])%len(all)]
		at += 2 * core.Instant(walk[i+1])
		event := m.event(&w, at)
		if event == nil {
			continue
		}
		path = append(path, m.name)
		if law := w.advance(event); law != "" {
			return law, path
		}
	}
	return "", path
}

// startedTask returns the model of a new task with a chain of models, dependencies, and a limit of attempts.
func startedTask(t require.TestingT, models, waits, limit int) taskModel {
	chain := []task.Model{opus, gpt, gemini}[:models]
	return newTaskModel(task.Create("tsk_1", attemptID(1), 1, launch(t, limit, chain...), waits, coretest.CreatedAt))
}

func TestLongWalksOfATaskKeepTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := startedTask(t, rapid.IntRange(0, 3).Draw(t, "models"), rapid.IntRange(0, 2).Draw(t, "waits"), rapid.IntRange(1, 6).Draw(t, "max_attempts"))
		if law, path := randomTaskWalk(w, rapid.SliceOfN(rapid.Byte(), 2, 120).Draw(t, "walk")); law != "" {
			t.Fatalf("%q is broken by %q", law, path)
		}
	})
}

func FuzzTaskLaws(f *testing.F) {
	f.Add(uint8(2), uint8(0), uint8(4), []byte{0, 1, 10, 1, 20, 1, 30, 1, 0, 50})
	f.Add(uint8(0), uint8(1), uint8(1), []byte{5, 200, 0, 9, 13, 7, 23, 0, 0, 1})
	f.Add(uint8(3), uint8(2), uint8(6), []byte{5, 1, 5, 1, 0, 1, 6, 1, 25, 1, 0, 100, 12, 0})
	f.Fuzz(func(t *testing.T, models, waits, limit uint8, walk []byte) {
		w := startedTask(t, int(models)%4, int(waits)%3, 1+int(limit)%8)
		law, path := randomTaskWalk(w, walk[:min(len(walk), 400)])
		require.Empty(t, law, "broken by %q", path)
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
