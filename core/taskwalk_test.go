package core_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
)

// A taskStride is a move of a walk. Its event is nil where there is none.
type taskStride struct {
	name  string
	event func(w *taskWitness, at core.Instant) core.TaskEvent
}

func plainly(name string, move taskMove) taskStride {
	return taskStride{name, func(w *taskWitness, at core.Instant) core.TaskEvent { return move(w.task, at) }}
}

// strides are all columns of the matrix, and what depends on the past of the walk.
func strides() []taskStride {
	var all []taskStride
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
		plainly("claim, when it may", func(task core.Task, at core.Instant) core.TaskEvent {
			if p, queued := task.Phase.(core.TaskQueued); queued {
				at = max(at, p.NotBefore)
			}
			return claims(task, at)
		}),
		plainly("bind, again with its session and a clock set back", as(binds, func(e *core.BindSession) { e.At = 20 })),
		plainly("finish, clock set back", as(completes, func(e *core.FinishAttempt) { e.At = 30 })),
		plainly("cancel, clock set back", as(cancels, func(e *core.CancelTask) { e.At = 40 })),
		plainly("error, retry would wait very long", as(failsTransient, func(e *core.FinishAttempt) {
			e.Next.Base, e.Next.Jitter = 1<<62, 999
		})),
		plainly("error, with a log", reporting(failsTransient, "partial log", "")),
		plainly("complete, without a word", reporting(completes, "", "")),
		plainly("bind, next model of the chain", as(binds, func(e *core.BindSession) { e.Model = gpt })),
		plainly("reply, to what the first attempt asked", as(replies, func(e *core.ReplyToTask) { e.AttemptID = attemptID(1) })),
		plainly("expire, long after", expires(1<<40, 0)),
		taskStride{"the same report again", func(w *taskWitness, at core.Instant) core.TaskEvent {
			if w.report == nil {
				return nil
			}
			e := *w.report
			e.At, e.Next = at, successor(w.task)
			return e
		}},
		taskStride{"the same report with something else in it", func(w *taskWitness, at core.Instant) core.TaskEvent {
			if w.report == nil {
				return nil
			}
			e := *w.report
			e.At, e.Next, e.Output = at, successor(w.task), "something else"
			return e
		}},
	)
}

// A taskBreach is a law together with a walk that breaks it.
type taskBreach struct {
	law  string
	walk []string
}

// taskHunt tries every walk of at most depth moves and gives the breaches it meets.
func taskHunt(step taskStepper, start taskWitness, depth int) []taskBreach {
	all := strides()
	var found []taskBreach
	var walk func(w taskWitness, path []string)
	walk = func(w taskWitness, path []string) {
		if len(path) == depth {
			return
		}
		at := matrixNow + core.Instant(100*len(path))
		for _, m := range all {
			next := w
			event := m.event(&next, at)
			if event == nil {
				continue
			}
			steps := append(slices.Clone(path), m.name)
			if law := next.advance(step, event); law != "" {
				found = append(found, taskBreach{law, steps})
				continue
			}
			walk(next, steps)
		}
	}
	walk(start, nil)
	return found
}

// taskStarts are the tasks that every short walk is tried on: those of the matrix, with their past.
func taskStarts(t testing.TB) []taskWitness {
	var starts []taskWitness
	for _, s := range taskSituations(t) {
		starts = append(starts, s.witness)
	}
	return starts
}

func TestEveryShortWalkOfATaskKeepsTheLaws(t *testing.T) {
	for _, start := range taskStarts(t) {
		require.Empty(t, taskHunt(core.Task.Step, start, 2))
	}
}

// taskStroll follows a walk that is written as bytes, two for a move and how much later it comes, and gives
// the law that is broken and the moves up to there, or "".
func taskStroll(w taskWitness, walk []byte) (law string, path []string) {
	all, at := strides(), createdAt
	for i := 0; i+1 < len(walk); i += 2 {
		m := all[int(walk[i])%len(all)]
		at += 2 * core.Instant(walk[i+1])
		event := m.event(&w, at)
		if event == nil {
			continue
		}
		path = append(path, m.name)
		if law := w.advance(core.Task.Step, event); law != "" {
			return law, path
		}
	}
	return "", path
}

// strolling gives the witness of a new task with so many models, tasks that it waits for, and attempts.
func strolling(t require.TestingT, models, waits, limit int) taskWitness {
	chain := []core.Model{opus, gpt, gemini}[:models]
	return watch(core.CreateTask("tsk_1", attemptID(1), 1, launch(t, limit, chain...), waits, createdAt))
}

func TestLongWalksOfATaskKeepTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := strolling(t, rapid.IntRange(0, 3).Draw(t, "models"), rapid.IntRange(0, 2).Draw(t, "waits"), rapid.IntRange(1, 6).Draw(t, "max_attempts"))
		if law, path := taskStroll(w, rapid.SliceOfN(rapid.Byte(), 2, 120).Draw(t, "walk")); law != "" {
			t.Fatalf("%q is broken by %q", law, path)
		}
	})
}

func FuzzTaskLaws(f *testing.F) {
	f.Add(uint8(2), uint8(0), uint8(4), []byte{0, 1, 10, 1, 20, 1, 30, 1, 0, 50})
	f.Add(uint8(0), uint8(1), uint8(1), []byte{5, 200, 0, 9, 13, 7, 23, 0, 0, 1})
	f.Add(uint8(3), uint8(2), uint8(6), []byte{5, 1, 5, 1, 0, 1, 6, 1, 25, 1, 0, 100, 12, 0})
	f.Fuzz(func(t *testing.T, models, waits, limit uint8, walk []byte) {
		w := strolling(t, int(models)%4, int(waits)%3, 1+int(limit)%8)
		law, path := taskStroll(w, walk[:min(len(walk), 400)])
		require.Empty(t, law, "broken by %q", path)
	})
}

// Walks that only claim and fail run through the whole chain and the whole budget.
func TestFailingWalksKeepTheLaws(t *testing.T) {
	troubles := []taskMove{
		failsTransient, failsTransient, failsProvider, breaks(core.ClassTransient, core.RetrySame),
		breaks(core.ClassProvider, core.RetrySame), loses,
	}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 8).Draw(t, "max_attempts")
		w := strolling(t, rapid.IntRange(0, 3).Draw(t, "models"), 0, limit)
		at := createdAt
		for w.task.Status() == core.StatusQueued {
			at += 100_000 // behind every wait
			require.Empty(t, w.advance(core.Task.Step, claims(w.task, at)))
			require.Empty(t, w.advance(core.Task.Step, rapid.SampledFrom(troubles).Draw(t, "trouble")(w.task, at)))
		}
		require.Equal(t, core.TaskErrored{Reason: core.ReasonExhausted}, w.task.Phase)
		require.LessOrEqual(t, w.failures, limit)
	})
}
