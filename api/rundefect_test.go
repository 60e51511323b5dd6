package api_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/store"
)

func TestResultOfALostAttemptByItsIDMovesNothing(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.write("tasks.md", clockPlan, time.Hour)
		run := h.run("1")
		h.create(`"run_id": %q, "role": "worker", "max_attempts": 3`, run)
		lost := h.claim("a").str("claim.attempt.attempt_id")
		time.Sleep(3 * time.Minute)
		now := h.claim("b").str("claim.attempt.attempt_id")
		late := h.ingest(run, "worker", worked(), `"attempt_id": `+quoted(lost))
		late.has(false, "applied")
		late.has("stale_attempt", "reason")
		late.lacks("next_action")
		h.ingest(run, "worker", worked(), `"attempt_id": `+quoted(now)).has("dispatch_reviewer", "next_action")
		again := h.ingest(run, "worker", worked(), `"attempt_id": `+quoted(now))
		again.has(true, "already")
		again.lacks("decision")
		require.Len(t, h.logged("run.outcome", run), 2, "the loss of the first, and the result of the second")
	})
}

// A lease that expires after the result must not undo it.
func TestLossAfterTheResultUndoesNothing(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.write("tasks.md", clockPlan, time.Hour)
		run := h.run("1")
		h.create(`"run_id": %q, "role": "worker"`, run)
		attempt := h.claim("a").str("claim.attempt.attempt_id")
		h.ingest(run, "worker", "I had a look.", `"attempt_id": `+quoted(attempt)).has("retry_with_preamble", "next_action")
		time.Sleep(3 * time.Minute)
		h.call("list_tasks", `{}`).has("ERROR", "items.0.status")
		at := h.resume("tasks.md", "1")
		at.has("retry_with_preamble", "next_action")
		at.has(0, "run.counters.worker_failures")
	})
}

// While the queue retries a lost worker, the next action asks for no other.
func TestLossThatTheQueueRetriesAsksForNoWorker(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.write("tasks.md", clockPlan, time.Hour)
		run := h.run("1")
		h.create(`"run_id": %q, "role": "worker", "max_attempts": 3`, run)
		h.claim("a")
		time.Sleep(3 * time.Minute)
		at := h.resume("tasks.md", "1")
		at.has(1, "run.counters.worker_failures")
		at.has("dispatch_worker", "next_action")
	})
}

// A repeated review of the spec must not count as the quality review.
func TestOneReviewIsNotTwo(t *testing.T) {
	h, _ := hostWithClock(t, setup{})
	run := h.start("1", `"resume": "new", "policy": {"reviewers": ["spec-reviewer", "code-quality-reviewer"]}`).str("run.run_id")
	h.walk(run, "worker pass")
	approval := says("spec-reviewer", "1", "pass", "")
	h.ingest(run, "reviewer", approval).has("code-quality-reviewer", "next.role")
	h.ingest(run, "reviewer", approval).has("code-quality-reviewer", "next.role")
	h.ingest(run, "reviewer", says("code-quality-reviewer", "1", "pass", "")).has("done", "run.state")
}

// A worker's tick must not complete an item under review.
func TestTickedItemUnderReviewStaysOpen(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass", "spec gaps:too small")
	h.write("tasks.md", "# Clock\n\n- [x] 1. Draw the face\n- [ ] 2. Draw the hands\n  - _Depends: 1_\n", time.Minute)
	ready := h.call("ready_items", `{"plan": "tasks.md"}`)
	ready.has([]any{}, "ready")
	ready.has(2, "left")
	ready.has("in_progress", "waiting.0.because.0.kind")
}

func TestApprovalIsOfAnItemAndNotOfItsID(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass", "spec pass", "quality pass").has("done", "run.state")
	h.call("ready_items", `{"plan": "tasks.md"}`).has("done", "waiting.0.because.0.kind")
	h.write("tasks.md", "# Clock\n\n- [ ] 1. Draw the  face\n  - _Prompt: Draw it anew._\n", time.Minute)
	h.call("ready_items", `{"plan": "tasks.md"}`).has(true, "completed")
	h.write("tasks.md", "# Clock\n\n- [ ] 1. Sell the clock\n", time.Minute/2)
	h.call("ready_items", `{"plan": "tasks.md"}`).has([]any{"1"}, "ready")
	h.start("1", "").has(true, "created")
}

// After a crash, init_run and resume_run return the retry prompt of the agent's prompt.
func TestRetryPromptIsGivenAgain(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	given := h.ingest(run, "worker", "I had a look.", `"prompt": "Draw the face, and be quick."`).str("retry_prompt")
	require.Contains(t, given, "---\nDraw the face, and be quick.")
	require.Equal(t, given, h.resume("tasks.md", "1").str("retry_prompt"))
	again := h.start("1", "")
	again.has("retry_with_preamble", "next_action")
	require.Equal(t, given, again.str("retry_prompt"))
	same := h.call("replan", `{"run_id": %q, "summary": "as before"}`, run)
	require.Equal(t, given, same.str("retry_prompt"))
}

// The tasks of a run are blocked, released and cancelled with the run.
func TestTasksOfARunAreHeldReleasedAndWithdrawn(t *testing.T) {
	h, _ := hostWithClock(t, setup{})
	run := h.start("1", `"resume": "new", "policy": {"invalid_retries": 0}`).str("run.run_id")
	before := h.create(`"run_id": %q, "role": "worker"`, run)
	h.walk(run, "worker invalid").has("blocked", "run.state")
	h.is("BLOCKED", before)
	created := h.create(`"run_id": %q, "role": "worker"`, run)
	h.is("BLOCKED", created)
	h.call("claim_task", `{"worker": "w"}`).has(nil, "claim")
	h.call("replan", `{"run_id": %q, "summary": "smaller", "plan_items": ["the rim first"]}`, run).has("running", "run.state")
	h.is("QUEUED", before)
	h.is("QUEUED", created)
	claim := h.claim("w")
	next := h.start("1", `"resume": "new"`)
	h.is("CANCELLED", created)
	h.task(claim.str("claim.task.task_id")).at("task.cancel_requested_at")
	h.refused(schema.InvalidState, "create_task", `{"prompt": "x", "run_id": %q}`, run)
	left := h.create(`"run_id": %q, "role": "worker"`, next.str("run.run_id"))
	h.walk(next.str("run.run_id"), "worker pass", "spec pass", "quality pass")
	h.is("CANCELLED", left)
}

func TestRunOfAnItemThatIsGoneHalts(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.write("tasks.md", "# Clock\n\n- [ ] 3. Choose a name\n", time.Minute)
	h.resume("tasks.md", "1").has("halt_and_escalate", "next_action")
	last := h.ingest(run, "worker", "I had a look.")
	last.has("halt_and_escalate", "next_action")
	last.lacks("retry_prompt")
}

func TestExplainIsOfOneThing(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.badRun("/subject_id", "explain", `{"subject_id": %q, "plan": "tasks.md", "item_id": "1"}`, run)
}

func TestItemOfAPlanThatIsGoneIsExplainedByItsRun(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	h.run("1")
	h.stop()
	h = p.host(t)
	h.remove("tasks.md")
	h.call("explain", `{"plan": "tasks.md", "item_id": "1"}`).has("plan.unreadable", "because.0.rule")
	h.refused(schema.LedgerMissing, "explain", `{"plan": "tasks.md", "item_id": "2"}`)
}

// A second result of the same attempt counts if it differs.
func TestSecondResultOfAnAttemptThatGoesOnCounts(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.create(`"run_id": %q, "role": "worker"`, run)
	attempt := `"attempt_id": ` + quoted(h.claim("a").str("claim.attempt.attempt_id"))
	h.ingest(run, "worker", "I had a look.", attempt).has("retry_with_preamble", "next_action")
	h.ingest(run, "worker", "I had a look.", attempt).has(true, "already")
	better := h.ingest(run, "worker", worked(), attempt)
	better.lacks("already")
	better.has("dispatch_reviewer", "next_action")
	better.has(1, "counters.invalid_results.worker")
}

func TestDamagedFactsOfADoneRunCompleteNoPlan(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass", "spec pass", "quality pass").has("advance_to_next_item", "next_action")
	h.refact(run, func(facts []store.Fact) []store.Fact {
		return slices.DeleteFunc(facts, func(f store.Fact) bool { return f.Key == "ledger.task.attempts" })
	})
	h.start("1", "").has("advance_to_next_item", "next_action")
}

// A damaged fact must not make old result keys valid again.
func TestDamagedMemoryOfResultsBringsNoOldKeyBack(t *testing.T) {
	for _, key := range []string{"accepted_results", "taken_attempts", "invalid_result.spec-reviewer"} {
		h, run := hostWithClock(t, setup{})
		h.create(`"run_id": %q, "role": "worker"`, run)
		attempt := h.claim("w").str("claim.attempt.attempt_id")
		h.ingest(run, "worker", worked(), `"attempt_id": `+quoted(attempt)).has("dispatch_reviewer", "next_action")
		h.ingest(run, "spec-reviewer", "I had a look.").has("retry_with_preamble", "next_action")
		damaged := 0
		h.refact(run, func(facts []store.Fact) []store.Fact {
			for i := range facts {
				if facts[i].Key == "ledger.task."+key {
					facts[i].Value, damaged = `{"counts":`, damaged+1
				}
			}
			return facts
		})
		require.Equal(t, 1, damaged, key)
		h.refused(schema.LedgerIncomplete, "compile_prompt", `{"run_id": %q, "role": "worker"}`, run).
			has("ledger.task."+key, "data.details.key")
		h.refused(schema.LedgerIncomplete, "ingest_output", `{"run_id": %q, "role": "worker", "output": %s}`, run, quoted(worked()))
		h.refused(schema.LedgerIncomplete, "resume_run", `{"plan": "tasks.md", "item_id": "1"}`)
		h.start("1", "").lacks("retry_prompt")
	}
}
