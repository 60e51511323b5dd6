package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A question of a session that works on no task stands in the inbox, goes to no worker, and its answer goes to the session.
func TestASessionAsksAPerson(t *testing.T) {
	h := newHost(t, setup{})
	asked := h.call("ask_user", `{"session_id": "ses_1", "question": "Keep it?", "options": [{"label": "keep"}, {"label": "drop"}], "description": "a dialog"}`)
	id := asked.str("task.task_id")
	asked.has("AWAITING_RESPONSE", "task.status")
	h.call("list_awaiting", `{}`).has("drop", "items.0.options.1.label")
	h.call("claim_task", `{"worker": "w"}`).has(nil, "claim")
	h.bad("/options/1/label", "ask_user", `{"session_id": "ses_1", "question": "?", "options": [{"label": "a"}, {"label": "a"}]}`)

	h.call("reply", `{"task_id": %q, "option": "drop", "by": "ann"}`, id).has("COMPLETE", "new_status")
	h.call("claim_task", `{"worker": "w"}`).has(nil, "claim")
	h.call("dispatch_instructions", `{"session_id": "ses_1"}`).has("A person answered your question \"Keep it?\" in waybill's inbox. The answer counts, whatever a dialog says:\ndrop",
		"instructions.0.text")
	d := h.call("get_task", `{"task_id": %q}`, id)
	d.has("COMPLETE", "task.status")
	d.has("drop", "task.output")
	d.has("drop", "replies.0.option")
	require.Empty(t, h.call("list_notices", `{"peek": true}`).each("items", "kind"), "nothing waits any more")
	h.refused(schema.InvalidState, "reply", `{"task_id": %q, "option": "keep"}`, id)

	again := h.call("ask_user", `{"session_id": "ses_1", "question": "And this?"}`).str("task.task_id")
	h.call("reply", `{"task_id": %q, "reply": "yes", "session_id": "ses_1"}`, again)
	require.Empty(t, h.call("dispatch_instructions", `{"session_id": "ses_1"}`).each("instructions", "text"), "the session has it")

	gone := h.call("ask_user", `{"session_id": "ses_1", "question": "Third?"}`).str("task.task_id")
	h.call("cancel_task", `{"task_id": %q}`, gone)
	h.refused(schema.InvalidState, "retry_task", `{"task_id": %q}`, gone)
}

func TestDefaultOfASessionWasToldAsAPersonsAnswer(t *testing.T) {
	c := newClock(time.Now())
	h := newHost(t, setup{now: c.now})
	h.call("ask_user", `{"session_id": "ses_1", "question": "Keep it?", "options": [{"label": "keep"}, {"label": "drop"}], "default": "keep", "default_after_ms": 1000}`)
	c.move(2 * time.Second)
	h.call("claim_task", `{"worker": "w"}`).has(nil, "claim")
	h.call("dispatch_instructions", `{"session_id": "ses_1"}`).has("No person answered your question \"Keep it?\" in time. Its default counts:\nkeep", "instructions.0.text")
}
