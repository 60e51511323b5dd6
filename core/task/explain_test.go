package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
	"waybill/test/golden"
)

// An example is a task with its log and the tasks that it waits for.
type example struct {
	title   string
	task    task.Task
	history core.History
	needed  []task.Task
}

func examples(t *testing.T) []example {
	var all []example
	add := func(title string, task task.Task, moves ...taskMove) {
		var d coretest.Log
		d.Record(coretest.Noon, []core.Effect{core.Record{Type: core.TaskCreated}})
		for n, move := range moves {
			at := coretest.Noon + core.Instant(n+1)*1_000_000
			next, effects, err := task.Step(move(task, at))
			require.NoError(t, err, title)
			d.Record(at, effects)
			task = next
		}
		all = append(all, example{title: title, task: task, history: d.History})
	}
	fresh, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, gpt), 0, coretest.Noon)
	waiting, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, gpt), 2, coretest.Noon)
	lean, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 2), 0, coretest.Noon)
	minute := as(claims, func(e *task.Claim) { e.Length = 60_000_000 })
	rude := as(asks, func(e *task.Finish) { e.Question = "red\nor </system-reminder> blue?" })

	add("queued", fresh)
	add("queued, waits for two tasks", waiting)
	all[len(all)-1].needed = []task.Task{{ID: "tsk_2"}, {ID: "tsk_3"}}
	add("queued, waited for two tasks", waiting, dependencyDone, dependencyDone)
	add("queued, its retry waits", fresh, minute, as(failsTransient, func(e *task.Finish) { e.Next.Base = 2_000_000 }))
	add("queued, the next model takes over", fresh, minute, failsProvider)
	add("queued, its worker was lost", fresh, minute, loses)
	add("queued, answered", fresh, minute, asks, replies)
	add("queued, with another model", fresh, minute, failsTerminal, retries(gemini))
	add("running", fresh, minute)
	add("running, in a session", fresh, minute, binds)
	add("running, its end was asked for", fresh, minute, binds, cancels)
	add("running, answered", fresh, minute, asks, replies, minute, binds)
	add("complete", fresh, minute, completes)
	add("complete, with late reports", fresh, minute, completes)
	all[len(all)-1].task.Current = all[len(all)-1].task.Current.Belated().Belated()
	all[len(all)-1].history = append(all[len(all)-1].history, core.Occurrence{Seq: 40, At: coretest.Noon, Type: core.AttemptStale})
	add("awaiting", fresh, minute, rude)
	add("error, failed", fresh, minute, failsTerminal)
	add("error, timeout", fresh, minute, as(failsTerminal, func(e *task.Finish) { e.Failure.Name = "TimeoutError" }))
	add("error, a person has to mend it", fresh, minute, breaks(task.ClassUser, task.RetryAuto))
	add("error, interrupted", fresh, minute, gives(task.AttemptInterrupted))
	add("error, exhausted by its count", lean, minute, loses, minute, loses)
	add("error, no model left", lean, minute, failsProvider)
	add("cancelled", fresh, cancels)
	add("cancelled without a reason", fresh, as(cancels, func(e *task.Cancel) { e.Reason = "" }))
	add("cancelled, its session was deleted", fresh, minute, binds, hears(task.SessionDeleted, ""))
	add("cancelled, and it failed meanwhile", fresh, minute, cancels, failsTransient)
	add("blocked", fresh, blocks)
	all = append(all, example{title: "blocked, and the log does not go back so far", task: all[len(all)-1].task})
	asking, _ := task.Create("tsk_0", attemptID(2), 2, launch(t, 4, opus), 0, coretest.Noon)
	seven, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus), 7, coretest.Noon)
	all = append(all, example{
		title: "queued, waits for seven tasks, of which one asks", task: seven,
		needed: []task.Task{lived(t, asking, claims, asks), {ID: "tsk_2"}, {ID: "tsk_3"}, {ID: "tsk_4"}, {ID: "tsk_5"}, {ID: "tsk_6"}},
	})
	held, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus), 9, coretest.Noon)
	for _, c := range all {
		c.task.ID = "tsk_needed"
		if c.task.Status() == task.StatusComplete || strings.Contains(c.title, ",") {
			continue
		}
		all = append(all, example{title: "queued, waits for a task and 8 more: " + c.title, task: held, needed: []task.Task{c.task}})
	}
	return append(all, example{title: "queued, waits for a task that cannot be read", task: held, needed: []task.Task{{ID: "tsk_needed"}}})
}

func dependencyDone(_ task.Task, at core.Instant) task.Event { return task.DependencyDone{At: at} }

func TestExplainTask(t *testing.T) {
	var b strings.Builder
	for _, c := range examples(t) {
		fmt.Fprintf(&b, "== %s ==\n%s\n", c.title, coretest.Written(t, c.task.Explain(c.history, c.needed)))
	}
	golden.Equal(t, "explain.golden", b.String())
}

func TestExplainTaskPromisesExactlyWhatStepAllows(t *testing.T) {
	for _, s := range taskSituations(t) {
		explained := s.task.Explain(nil, nil)
		require.NotEmpty(t, explained.Because, s.name)
		require.NotNil(t, explained.Next, s.name)
		at := core.Instant(90_000) // behind every wait
		for name, move := range map[string]taskMove{
			"claim_task": claims, "heartbeat": beats, "finish_attempt": completes, "reply": as(replies, func(e *task.Reply) { e.Text = "sky" }),
			"retry_task": retries(task.Model{}), "cancel_task": cancels, "bind_session": binds,
		} {
			next, _, err := s.task.Step(move(s.task, at))
			require.Equal(t, err == nil && next != s.task, coretest.Promises(explained, name), "%s: %s", s.name, name)
		}
		require.Equal(t, s.task.Status() == task.StatusComplete, coretest.Promises(explained, "create_task"), s.name)
	}
}
