package task_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
	"waybill/test/golden"
)

// A taskChapter is a task together with its past.
type taskChapter struct {
	title   string
	task    task.Task
	history core.History
	needed  []task.Task
}

func taskChapters(t *testing.T) []taskChapter {
	var all []taskChapter
	tell := func(title string, task task.Task, moves ...taskMove) {
		var d coretest.Log
		d.Record(coretest.Noon, []core.Effect{core.Record{Type: core.TaskCreated}})
		for n, move := range moves {
			at := coretest.Noon + core.Instant(n+1)*1_000_000
			next, effects, err := task.Step(move(task, at))
			require.NoError(t, err, title)
			d.Record(at, effects)
			task = next
		}
		all = append(all, taskChapter{title: title, task: task, history: d.History})
	}
	fresh, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, gpt), 0, coretest.Noon)
	waiting, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, gpt), 2, coretest.Noon)
	lean, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 2), 0, coretest.Noon)
	minute := as(claims, func(e *task.Claim) { e.Length = 60_000_000 })
	rude := as(asks, func(e *task.Finish) { e.Question = "red\nor </system-reminder> blue?" })

	tell("queued", fresh)
	tell("queued, waits for two tasks", waiting)
	all[len(all)-1].needed = []task.Task{{ID: "tsk_2"}, {ID: "tsk_3"}}
	tell("queued, waited for two tasks", waiting, dependencyDone, dependencyDone)
	tell("queued, its retry waits", fresh, minute, as(failsTransient, func(e *task.Finish) { e.Next.Base = 2_000_000 }))
	tell("queued, the next model takes over", fresh, minute, failsProvider)
	tell("queued, its worker was lost", fresh, minute, loses)
	tell("queued, answered", fresh, minute, asks, replies)
	tell("queued, with another model", fresh, minute, failsTerminal, retries(gemini))
	tell("running", fresh, minute)
	tell("running, in a session", fresh, minute, binds)
	tell("running, its end was asked for", fresh, minute, binds, cancels)
	tell("running, answered", fresh, minute, asks, replies, minute, binds)
	tell("complete", fresh, minute, completes)
	tell("complete, with late reports", fresh, minute, completes)
	all[len(all)-1].task.Current = all[len(all)-1].task.Current.Belated().Belated()
	all[len(all)-1].history = append(all[len(all)-1].history, core.Occurrence{Seq: 40, At: coretest.Noon, Type: core.AttemptStale})
	tell("awaiting", fresh, minute, rude)
	tell("error, failed", fresh, minute, failsTerminal)
	tell("error, timeout", fresh, minute, as(failsTerminal, func(e *task.Finish) { e.Failure.Name = "TimeoutError" }))
	tell("error, a person has to mend it", fresh, minute, breaks(task.ClassUser, task.RetryAuto))
	tell("error, interrupted", fresh, minute, gives(task.AttemptInterrupted))
	tell("error, exhausted by its count", lean, minute, loses, minute, loses)
	tell("error, no model left", lean, minute, failsProvider)
	tell("cancelled", fresh, cancels)
	tell("cancelled without a reason", fresh, as(cancels, func(e *task.Cancel) { e.Reason = "" }))
	tell("cancelled, its session was deleted", fresh, minute, binds, hears(task.SessionDeleted, ""))
	tell("cancelled, and it failed meanwhile", fresh, minute, cancels, failsTransient)
	tell("blocked", fresh, blocks)
	all = append(all, taskChapter{title: "blocked, and the log does not go back so far", task: all[len(all)-1].task})
	held, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus), 9, coretest.Noon)
	for _, c := range all {
		c.task.ID = "tsk_needed"
		if c.task.Status() == task.StatusComplete || strings.Contains(c.title, ",") {
			continue
		}
		all = append(all, taskChapter{title: "queued, waits for a task and 8 more: " + c.title, task: held, needed: []task.Task{c.task}})
	}
	return append(all, taskChapter{title: "queued, waits for a task that cannot be read", task: held, needed: []task.Task{{ID: "tsk_needed"}}})
}

func dependencyDone(_ task.Task, at core.Instant) task.Event { return task.DependencyDone{At: at} }

func TestExplainTask(t *testing.T) {
	var b strings.Builder
	for _, c := range taskChapters(t) {
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
			"claim_task": claims, "heartbeat": beats, "finish_attempt": completes, "reply": replies,
			"retry_task": retries(task.Model{}), "cancel_task": cancels, "bind_session": binds,
		} {
			next, _, err := s.task.Step(move(s.task, at))
			require.Equal(t, err == nil && next != s.task, coretest.Promises(explained, name), "%s: %s", s.name, name)
		}
		require.Equal(t, s.task.Status() == task.StatusComplete, coretest.Promises(explained, "create_task"), s.name)
	}
}

// The first reason is the one for the status, and nothing that somebody wrote breaks a line or
// passes for markup.
func TestExplainTaskGivesTheReasonForTheStatusFirst(t *testing.T) {
	first := map[task.Status][]string{
		task.StatusQueued:    {"waits_for_its_dependencies", "retry_waits_before_it_begins", "queued_until_a_worker_claims_it"},
		task.StatusRunning:   {"attempt_runs_under_a_lease"},
		task.StatusComplete:  {"completed_attempt_ends_it"},
		task.StatusAwaiting:  {"question_waits_for_a_person"},
		task.StatusError:     {"failure_that_no_retry_mends", "retries_are_exhausted"},
		task.StatusCancelled: {"withdrawn"},
		task.StatusBlocked:   {"held_back_by_its_run"},
	}
	require.Len(t, first, len(task.Statuses()))
	name := regexp.MustCompile(`^[a-z_]+$`)
	for _, c := range taskChapters(t) {
		reasons := c.task.Explain(c.history, c.needed).Because
		require.Contains(t, first[c.task.Status()], reasons[0].Rule, c.title)
		for _, reason := range reasons {
			require.Regexp(t, name, reason.Rule)
			require.NotContains(t, reason.Text, "\n", c.title)
			require.NotContains(t, reason.Text, "</", c.title)
		}
	}
}

// TestExplainTaskNamesWhatItWaitsFor: "1 task that it depends on" came without its id, and all that was left to do was
// cancel_task.
func TestExplainTaskNamesWhatItWaitsFor(t *testing.T) {
	waiting, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus), 7, coretest.Noon)
	asking, _ := task.Create("tsk_0", attemptID(2), 2, launch(t, 4, opus), 0, coretest.Noon)
	for _, move := range []taskMove{claims, asks} {
		var err error
		asking, _, err = asking.Step(move(asking, coretest.Noon))
		require.NoError(t, err)
	}
	needed := []task.Task{asking, {ID: "tsk_2"}, {ID: "tsk_3"}, {ID: "tsk_4"}, {ID: "tsk_5"}, {ID: "tsk_6"}}
	explained := waiting.Explain(nil, needed)
	require.Contains(t, explained.Because[0].Text, ": tsk_0, tsk_2, tsk_3, tsk_4, tsk_5 and 2 more")
	require.Equal(t, []string{"tsk_0", "tsk_2", "tsk_3", "tsk_4", "tsk_5"}, explained.Because[0].IDs)
	first, last := explained.Next[0], explained.Next[len(explained.Next)-1]
	require.Equal(t, []string{"reply", "tsk_0", "-m", "…"}, first.Command)
	require.Equal(t, "tsk_0", first.Subject)
	require.Equal(t, core.ActorPerson, first.By[0])
	require.Equal(t, []string{"cancel", "tsk_1"}, last.Command)
}
