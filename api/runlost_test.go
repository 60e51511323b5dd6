package api_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLostLeaseIsAFailureOfTheWorker(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.write("tasks.md", clockPlan, time.Hour)
		run := h.run("1")
		id, claim := h.leased(run, "worker")
		review, _ := h.leased(run, "spec-reviewer")
		free := h.create(``)
		h.claim("w")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for _, lost := range []string{id, review, free} {
			h.is("ERROR", lost)
		}
		now := h.runIs("1")
		now.has(1, "run.counters.worker_failures")
		now.has("broken", "run.standing.worker")
		now.has("retry_worker", "next_action")
		outcomes := h.logged("run.outcome", run)
		require.Len(t, outcomes, 1)
		outcomes[0].has("worker_failures", "data.rule")
		outcomes[0].has(id, "data.task_id")
		outcomes[0].has(claim.str("claim.attempt.attempt_id"), "data.attempt_id")
		h.call("get_ledger", `{"run_id": %q}`, run).has(1, "task_ledger.attempts")
		h.ingest(run, "worker", worked(), lease(claim)).has("stale_attempt", "reason")
		h.runIs("1").has("broken", "run.standing.worker")
	})
}

func TestRunIsBlockedByWorkersThatAreLost(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.write("tasks.md", clockPlan, time.Hour)
		run := h.run("1")
		id := h.create(`"run_id": %q, "role": "worker", "max_attempts": 9`, run)
		other := h.create(`"run_id": %q, "role": "spec-reviewer"`, run)
		h.claim("w").has(id, "claim.task.task_id")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		h.runIs("1").has("running", "run.state")
		h.is("QUEUED", id)
		h.claim("w").has(id, "claim.task.task_id")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		now := h.runIs("1")
		now.has("blocked", "run.state")
		now.has("worker_failures", "run.reason")
		h.is("BLOCKED", id)
		h.is("BLOCKED", other)
		h.nothing()
		h.mirrored(id)
	})
}

func TestOnlyTerminalErrorsAreFailuresOfTheWorker(t *testing.T) {
	for class, failures := range map[string]int{"terminal": 1, "transient": 0, "provider": 0, "user": 0} {
		t.Run(class, func(t *testing.T) {
			h, run := hostWithClock(t, setup{})
			_, claim := h.leased(run, "worker")
			report := `"status": "error", "error": {"message": "x", "class": ` + quoted(class) + `}`
			h.finish(claim, report)
			h.finish(claim, report) // whose answer was lost
			h.runIs("1").has(failures, "run.counters.worker_failures")
			require.Len(t, h.logged("run.outcome", run), failures)
		})
	}
	for _, status := range []string{"completed", "cancelled", "interrupted"} {
		h, run := hostWithClock(t, setup{})
		_, claim := h.leased(run, "worker")
		h.finish(claim, `"status": `+quoted(status))
		require.Empty(t, h.logged("run.outcome", run), status)
	}
	h, run := hostWithClock(t, setup{})
	_, claim := h.leased(run, "code-quality-reviewer")
	h.finish(claim, `"status": "error", "error": {"message": "x", "class": "terminal"}`)
	require.Empty(t, h.logged("run.outcome", run), "a reviewer is no worker")
}

// A blocked run blocks its queued tasks and lets running ones end.
func TestBlockedRunHoldsBackItsTasks(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	running, claim := h.leased(run, "worker")
	waiting := h.create(`"run_id": %q, "role": "spec-reviewer"`, run)
	behind := h.create(`"run_id": %q, "depends_on": [%q]`, run, running)
	others := h.create(`"run_id": %q`, h.run("3"))
	h.walk(run, "worker invalid", "worker invalid").has("blocked", "run.state")
	for id, status := range map[string]string{running: "RUNNING", waiting: "BLOCKED", behind: "BLOCKED", others: "QUEUED"} {
		h.is(status, id)
	}
	require.Contains(t, h.task(waiting).str("task.reason"), run)
	last := h.ingest(run, "worker", worked(), lease(claim))
	last.has("COMPLETE", "task.status")
	last.has("blocked", "run.state")
	h.is("BLOCKED", behind)
	h.claim("w").has(others, "claim.task.task_id")
	h.nothing()
}

func TestEveryLostWorkerCounts(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.write("tasks.md", clockPlan, time.Hour)
		run := h.run("1")
		for range 2 {
			h.leased(run, "worker")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		now := h.runIs("1")
		now.has(2, "run.counters.worker_failures")
		now.has("worker_failures", "run.reason")
		require.Contains(t, h.call("list_notices", `{}`).each("items", "kind"), "run.blocked")
	})
}

func TestLostWorkerOfARunThatIsOver(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.write("tasks.md", clockPlan, time.Hour)
		run := h.run("1")
		id, _ := h.leased(run, "worker")
		h.walk(run, "worker pass", "spec pass", "quality pass").has("done", "run.state")
		before := h.snapshot(run).text
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		h.is("ERROR", id)
		require.Equal(t, before, h.snapshot(run).text)
	})
}

// A failed session counts once as a failure of its worker.
func TestSessionThatFailsIsAFailureOfTheWorker(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	id, claim := h.leased(run, "worker")
	h.bind(claim, "ses_1")
	h.tell("ses_1", `"type": "error", "message": "context too long", "data": {"name": "ContextLengthError"}`).has(true, "applied")
	h.is("ERROR", id)
	h.task(id).has("terminal", "task.error.class")
	h.runIs("1").has(1, "run.counters.worker_failures")
	h.finish(claim, `"status": "error", "error": {"message": "x", "class": "terminal"}`).has(false, "applied")
	h.ingest(run, "worker", says("worker", "1", "error", "x"), lease(claim)).has(false, "applied")
	h.runIs("1").has(1, "run.counters.worker_failures")
}
