package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// Unblocking a run resets its counters.
func TestUnblockGivesTheWholeAllowanceAgain(t *testing.T) {
	for _, way := range ways {
		t.Run(way.halt, func(t *testing.T) {
			h := newHost(t, setup{})
			h.write("tasks.md", clockPlan, time.Hour)
			run := h.start("1", `"policy": {`+way.policy+`}`).str("run.run_id")
			h.walk(run, way.steps...).has(way.halt, "run.reason")
			require.Contains(t, h.call("list_notices", `{"peek": true}`).text, `"kind":"run.`)
			waiting := h.call("create_task", `{"prompt": "x", "run_id": %q}`, run)
			waiting.has("BLOCKED", "task.status")
			params := `{"run_id": ` + quoted(run) + `, "reason": "the font is there", "idempotency_key": "k"}`
			after := h.call("unblock_run", "%s", params)
			after.has("running", "run.state")
			after.lacks("run.reason")
			require.NotContains(t, h.call("list_notices", `{"peek": true}`).text, `"kind":"run.`, "status said that all is well, and that the run is blocked")
			require.NotEqual(t, "halt_and_escalate", after.str("next_action"))
			after.has(0, "run.counters.worker_failures")
			after.has(0, "run.counters.review_rejections")
			after.has(0, "run.counters.stalled")
			h.call("get_task", `{"task_id": %q}`, waiting.str("task.task_id")).has("QUEUED", "task.status")
			require.JSONEq(t, after.text, h.call("unblock_run", "%s", params).text, "the same key is the same answer")
			events := h.logged("run.unblocked", run)
			require.Len(t, events, 1)
			events[0].has("person_unblocks", "data.rule")
			events[0].has("the font is there", "data.why")
			h.refused(schema.InvalidState, "unblock_run", `{"run_id": %q}`, run).has("running", "data.details.state")
			require.Len(t, h.logged("run.unblocked", run), 1)
			h.walk(run, way.steps...).has(way.halt, "run.reason")
		})
	}
}

func TestUnblockRefusesRunsThatCannotContinue(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.refused(schema.RunGone, "unblock_run", `{"run_id": "run_nobody"}`)
	h.refused(schema.TooLarge, "unblock_run", `{"run_id": %q, "reason": %q}`, run, strings.Repeat("x", schema.MaxReplyBytes+1))
	h.walk(run, "worker error", "worker error").has("blocked", "run.state")
	h.write("tasks.md", "- [ ] 9. Something else\n", time.Minute)
	h.snapshot(run) // it reads the file
	h.refused(schema.ItemGone, "unblock_run", `{"run_id": %q}`, run)
	h.write("tasks.md", clockPlan, 2*time.Minute)
	h.call("init_run", `{"plan": "tasks.md", "item_id": "1", "resume": "new"}`)
	h.snapshot(run)
	h.refused(schema.InvalidState, "unblock_run", `{"run_id": %q}`, run).has("failed", "data.details.state")
}
