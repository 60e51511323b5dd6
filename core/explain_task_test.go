package core_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

// A taskChapter is a task together with its past.
type taskChapter struct {
	title   string
	task    core.Task
	history []core.Occurrence
}

func taskChapters(t *testing.T) []taskChapter {
	var all []taskChapter
	tell := func(title string, task core.Task, moves ...taskMove) {
		var d diary
		d.record(noon, []core.Effect{core.Record{Type: core.TaskCreated}})
		for n, move := range moves {
			at := noon + core.Instant(n+1)*1_000_000
			next, effects, err := task.Step(move(task, at))
			require.NoError(t, err, title)
			d.record(at, effects)
			task = next
		}
		all = append(all, taskChapter{title, task, d.kept})
	}
	fresh, _ := core.CreateTask("tsk_1", attemptID(1), 1, launch(t, 4, opus, gpt), 0, noon)
	waiting, _ := core.CreateTask("tsk_1", attemptID(1), 1, launch(t, 4, opus, gpt), 2, noon)
	lean, _ := core.CreateTask("tsk_1", attemptID(1), 1, launch(t, 2), 0, noon)
	minute := as(claims, func(e *core.ClaimTask) { e.Length = 60_000_000 })
	rude := as(asks, func(e *core.FinishAttempt) { e.Question = "red\nor </system-reminder> blue?" })

	tell("queued", fresh)
	tell("queued, waits for two tasks", waiting)
	tell("queued, waited for two tasks", waiting, dependencyDone, dependencyDone)
	tell("queued, its retry waits", fresh, minute, as(failsTransient, func(e *core.FinishAttempt) { e.Next.Base = 2_000_000 }))
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
	all[len(all)-1].history = append(all[len(all)-1].history, core.Occurrence{Seq: 40, At: noon, Type: core.AttemptStale})
	tell("awaiting", fresh, minute, rude)
	tell("error, failed", fresh, minute, failsTerminal)
	tell("error, timeout", fresh, minute, as(failsTerminal, func(e *core.FinishAttempt) { e.Failure.Name = "TimeoutError" }))
	tell("error, a person has to mend it", fresh, minute, breaks(core.ClassUser, core.RetryAuto))
	tell("error, interrupted", fresh, minute, gives(core.AttemptInterrupted))
	tell("error, exhausted by its count", lean, minute, loses, minute, loses)
	tell("error, no model left", lean, minute, failsProvider)
	tell("cancelled", fresh, cancels)
	tell("cancelled without a reason", fresh, as(cancels, func(e *core.CancelTask) { e.Reason = "" }))
	tell("cancelled, its session was deleted", fresh, minute, binds, hears(core.SessionDeleted, ""))
	tell("cancelled, and it failed meanwhile", fresh, minute, cancels, failsTransient)
	tell("blocked", fresh, blocks)
	return append(all, taskChapter{"blocked, and the log does not go back so far", all[len(all)-1].task, nil})
}

func dependencyDone(_ core.Task, at core.Instant) core.TaskEvent { return core.DependencyDone{At: at} }

func TestExplainTask(t *testing.T) {
	var b strings.Builder
	for _, c := range taskChapters(t) {
		fmt.Fprintf(&b, "== %s ==\n%s\n", c.title, written(c.task.Explain(c.history)))
	}
	golden(t, "explain-task.golden", b.String())
}

func TestExplainTaskPromisesExactlyWhatStepAllows(t *testing.T) {
	for _, s := range taskSituations(t) {
		explained := s.task.Explain(nil)
		require.NotEmpty(t, explained.Because, s.name)
		require.NotNil(t, explained.Next, s.name)
		at := core.Instant(90_000) // behind every wait
		for name, move := range map[string]taskMove{
			"claim_task": claims, "heartbeat": beats, "finish_attempt": completes, "reply": replies,
			"retry_task": retries(core.Model{}), "cancel_task": cancels, "bind_session": binds,
		} {
			next, _, err := s.task.Step(move(s.task, at))
			require.Equal(t, err == nil && next != s.task, promises(explained, name), "%s: %s", s.name, name)
		}
		require.Equal(t, s.task.Status() == core.StatusComplete, promises(explained, "create_task"), s.name)
	}
}

// The first reason is the one for the status, and nothing that somebody wrote breaks a line or
// passes for markup.
func TestExplainTaskGivesTheReasonForTheStatusFirst(t *testing.T) {
	first := map[core.TaskStatus][]string{
		core.StatusQueued:    {"waits_for_its_dependencies", "retry_waits_before_it_begins", "queued_until_a_worker_claims_it"},
		core.StatusRunning:   {"attempt_runs_under_a_lease"},
		core.StatusComplete:  {"completed_attempt_ends_it"},
		core.StatusAwaiting:  {"question_waits_for_a_person"},
		core.StatusError:     {"failure_that_no_retry_mends", "retries_are_exhausted"},
		core.StatusCancelled: {"withdrawn"},
		core.StatusBlocked:   {"held_back_by_its_run"},
	}
	require.Len(t, first, len(core.TaskStatuses()))
	name := regexp.MustCompile(`^[a-z_]+$`)
	for _, c := range taskChapters(t) {
		reasons := c.task.Explain(c.history).Because
		require.Contains(t, first[c.task.Status()], reasons[0].Rule, c.title)
		for _, reason := range reasons {
			require.Regexp(t, name, reason.Rule)
			require.NotContains(t, reason.Text, "\n", c.title)
			require.NotContains(t, reason.Text, "</", c.title)
		}
	}
}
