package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A result about another item is invalid and changes nothing.
func TestForeignResultIsInvalidAndBindsNothing(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	for i, id := range []string{"2", "10", "1.0", "tsk_1", run} {
		if i%2 == 0 {
			run = h.start("1", `"resume": "new"`).str("run.run_id")
		}
		last := h.ingest(run, "worker", says("worker", id, "pass", ""))
		last.has("invalid", "verdict")
		last.has("task_id_mismatch", "errors.0.code")
		last.has("task_id", "errors.0.field")
		last.has("1", "run.item_id")
		last.has(i%2+1, "counters.invalid_results.worker")
		h.call("get_ledger", `{"run_id": %q}`, run).has("1", "task_ledger.item_id")
		h.compile(run).has("none", "compaction.stage")
	}
}

func TestResultMayNameItsTaskOfTheQueue(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	id := h.create(`"run_id": %q, "role": "worker"`, run)
	output := says("worker", id, "pass", "")
	h.ingest(run, "worker", output).has("task_id_mismatch", "errors.0.code") // the call named no task
	last := h.ingest(run, "worker", output, `"task_id": `+quoted(id))
	last.has("pass", "verdict")
	last.has("running", "run.state")
	h.is("QUEUED", id) // without a lease nothing becomes of the task
	h.ingest(run, "worker", worked(), `"task_id": `+quoted(id)).has("pass", "verdict")
	h.ingest(run, "worker", worked(), `"task_id": "1"`).has("pass", "verdict") // a host that takes the item for the task
}

func TestResultOfWhatIsNotTheRunsIsRefused(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	other := h.run("3")
	mine, foreign, free := h.create(`"run_id": %q`, run), h.create(`"run_id": %q`, other), h.create(``)
	attempt := func(id string) string { return h.task(id).str("attempts.0.attempt_id") }
	about := func(task, attempt string) string {
		return ingestParams(run, "worker", worked(), `"task_id": `+quoted(task), `"attempt_id": `+quoted(attempt))
	}
	for _, id := range []string{foreign, free} {
		fault := h.badRun("/task_id", "ingest_output", "%s", ingestParams(run, "worker", worked(), `"task_id": `+quoted(id)))
		require.Contains(t, fault.str("message"), run)
		fault = h.badRun("/attempt_id", "ingest_output", "%s", ingestParams(run, "worker", worked(), `"attempt_id": `+quoted(attempt(id))))
		require.Contains(t, fault.str("message"), run)
		h.badRun("/attempt_id", "ingest_output", "%s", about(mine, attempt(id)))
		h.badRun("/attempt_id", "ingest_output", "%s", about("1", attempt(id)))
	}
	h.refused(schema.TaskGone, "ingest_output", "%s", ingestParams(run, "worker", worked(), `"task_id": "tsk_nobody"`))
	h.refused(schema.AttemptGone, "ingest_output", "%s", ingestParams(run, "worker", worked(), `"attempt_id": "att_nobody"`))
	h.refused(schema.RunGone, "ingest_output", "%s", ingestParams("run_nobody", "worker", worked()))
	require.Equal(t, 1.0, h.snapshot(run).at("revision"), "something was counted")
	h.call("ingest_output", "%s", about(mine, attempt(mine))).has("pass", "verdict")
}

func TestUnknownRoleOfAResultIsRefused(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	for _, role := range []string{"cook", "", "Worker", "spec_reviewer"} {
		h.badRun("/role", "ingest_output", "%s", ingestParams(run, role, worked()))
	}
	h.ingest(run, "implementer", says("implementer", "1", "pass", "")+"git_range: a..b\n").has("pass", "verdict")
}

func TestResultForARunThatIsOverIsRefused(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass", "spec pass", "quality pass").has("done", "run.state")
	superseded := h.run("3")
	h.start("3", `"resume": "new"`)
	for id, state := range map[string]string{run: "done", superseded: "failed"} {
		for _, output := range []string{worked(), "nonsense"} {
			fault := h.refused(schema.InvalidState, "ingest_output", "%s", ingestParams(id, "worker", output))
			fault.has(state, "data.details.state")
			fault.has(id, "data.details.run_id")
			require.Contains(t, fault.str("message"), `init_run with resume "new"`)
		}
	}
}

func TestResultForABlockedRunIsCountedAndHalts(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker invalid", "worker invalid").has("blocked", "run.state")
	for i, s := range []step{"worker invalid", "worker error", "worker pass"} {
		last := h.walk(run, s)
		last.has("blocked", "run.state")
		last.has("invalid_results", "run.reason")
		last.has("halt_and_escalate", "next_action")
		last.has(3, "counters.invalid_results.worker")
		last.has(min(i, 1), "counters.worker_failures")
		last.lacks("retry_prompt")
	}
	require.Len(t, h.logged("run.outcome", run), 5)
	notices := h.call("list_notices", `{}`)
	require.Equal(t, []string{"run.blocked"}, notices.each("items", "kind"), "the host is told once")
}

func TestInitRunGivesTheLiveRun(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	first := h.start("1", "")
	first.has(true, "created")
	first.has("dispatch_worker", "next_action")
	moved := h.walk(first.str("run.run_id"), "worker pass")
	h.stop()
	h = p.host(t)
	again := h.start("1", `"resume": "existing"`)
	again.has(false, "created")
	require.Equal(t, moved.at("run"), again.at("run"))
	again.has("dispatch_reviewer", "next_action")
	again.has("spec-reviewer", "next.role")

	h.walk(first.str("run.run_id"), "spec error").has("blocked", "run.state")
	blocked := h.start("1", "")
	blocked.has(false, "created")
	blocked.has("halt_and_escalate", "next_action")
	renewed := h.start("1", `"resume": "new"`)
	renewed.has(true, "created")
	renewed.has("dispatch_worker", "next_action")
	renewed.has(0, "run.counters.stalled")
	h.snapshot(first.str("run.run_id")).has("failed", "status")
	require.Len(t, h.logged("run.superseded", first.str("run.run_id")), 1)
	require.Empty(t, h.call("list_notices", `{}`).each("items", "kind"), "the notice of the block goes with it")
}

func TestRunOfAnAbsentItemIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [-] 1. In progress\n- [ ] 2. Second\n", time.Hour)
	for _, id := range []string{"3", "1.1", "01", " 1"} {
		fault := h.refused(schema.ItemGone, "init_run", `{"plan": "tasks.md", "item_id": %q}`, id)
		fault.has(id, "data.details.item_id")
		h.refused(schema.ItemGone, "init_run", `{"plan": "tasks.md", "item_id": %q, "resume": "new"}`, id)
	}
	h.refused(schema.InvalidParams, "init_run", `{"plan": "tasks.md", "item_id": "1", "resume": "maybe"}`)
}

// Every readable result moves its run.
func TestMinimalResultsMoveTheRun(t *testing.T) {
	block := func(body string) string { return "BEGIN_DISPATCH_RESULT\n{" + body + "}\nEND_DISPATCH_RESULT\n" }
	review := `"task_id": "1", "strengths": [], "issues": [], "required_fixes": [], "assessment": `
	work := `"task_id": "1", "summary": "", "files_changed": [], "tests": [], "follow_up_actions": [], "status": `
	for _, c := range []struct{ role, output, verdict string }{
		{"spec-reviewer", block(review + `"needs_changes"`), "gaps"},
		{"spec-reviewer", block(review + `"blocked"`), "error"},
		{"spec-reviewer", block(review + `"approved"`), "pass"},
		{"spec-reviewer", says("spec-reviewer", "1", "gaps", "none"), "invalid"},
		{"spec-reviewer", says("spec-reviewer", "1", "gaps", ";;"), "invalid"},
		{"code-quality-reviewer", "Not approved.", "gaps"},
		{"code-quality-reviewer", "FAILED", "gaps"},
		{"code-quality-reviewer", "Approved.", "pass"},
		{"code-quality-reviewer", "session_died", "error"},
		{"worker", block(work + `"completed"`), "pass"},
		{"worker", block(work + `"blocked"`), "gaps"},
		{"worker", block(work + `"failed"`), "error"},
		{"worker", "FAILED", "gaps"},
		{"worker", "Implementation complete.", "pass"},
		{"worker", "error: the disk is full", "error"},
	} {
		h, run := hostWithClock(t, setup{})
		last := h.ingest(run, c.role, c.output)
		last.has(c.verdict, "verdict")
		require.Len(t, h.logged("run.outcome", run), 1)
		require.NotEmpty(t, last.str("next_action"))
	}
}

func TestRunIsBegunOncePerKey(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", clockPlan, time.Hour)
	first := h.start("1", `"resume": "new", "idempotency_key": "k"`)
	h.remove("tasks.md")
	require.JSONEq(t, first.text, h.start("1", `"resume": "new", "idempotency_key": "k"`).text)
	h.refused(schema.IdempotencyClash, "init_run", `{"plan": "tasks.md", "item_id": "1", "idempotency_key": "k"}`)
	require.Len(t, h.logged("run.superseded", first.str("run.run_id")), 0)
}
