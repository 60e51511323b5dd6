package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// claim claims a task and returns the claim of the answer.
func (h *host) claim(worker string) object {
	h.t.Helper()
	got := h.call("claim_task", `{"worker": %q}`, worker)
	if got.at("claim") == nil {
		require.Fail(h.t, "there was nothing to claim", got.text)
	}
	return got
}

// finish ends the attempt of a claim; rest are further params.
func (h *host) finish(claim object, rest string) object {
	h.t.Helper()
	return h.call("finish_attempt", `{"task_id": %q, "lease_token": %q, %s}`,
		claim.str("claim.task.task_id"), claim.str("claim.lease.token"), rest)
}

// The first model fails, the second asks, a person answers, and the same task completes.
func TestTaskFallsBackAsksAndCompletesAsTheSameTask(t *testing.T) {
	h := newHost(t, setup{})
	created := h.call("create_task", `{"prompt": "Name the crate.", "description": "naming", "parent_session_id": "ses_parent",
		"models": [{"provider_id": "acme", "model_id": "large"}, {"provider_id": "umbra", "model_id": "small", "variant": "high"}]}`)
	created.has("QUEUED", "task.status")
	created.has(2, "task.max_attempts")
	id := created.str("task.task_id")

	first := h.claim("w1")
	first.has("Name the crate.", "claim.prompt")
	first.has(false, "claim.continuation")
	first.has("acme", "claim.attempt.model.provider_id")
	bound := h.call("bind_session", `{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": "ses_1"}`,
		id, first.str("claim.attempt.attempt_id"), first.str("claim.lease.token"))
	bound.has(true, "applied")
	failed := h.finish(first, `"status": "error", "error": {"message": "429 Too Many Requests", "http_status": 429}`)
	failed.has(true, "applied")
	failed.has("provider", "retry.class")
	failed.has("umbra", "retry.model.provider_id")
	failed.has("QUEUED", "task.status")

	second := h.claim("w2")
	second.has(2, "claim.attempt.attempt_number")
	second.has(2, "claim.lease.epoch")
	h.call("bind_session", `{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": "ses_2"}`,
		id, second.str("claim.attempt.attempt_id"), second.str("claim.lease.token"))
	asked := h.finish(second, `"status": "awaiting_response", "output": "Two names are free.", "question": "oak or elm?"`)
	asked.has("AWAITING_RESPONSE", "task.status")

	waiting := h.call("list_awaiting", `{}`)
	waiting.has("oak or elm?", "items.0.question")
	answered := h.call("reply", `{"task_id": %q, "reply": "elm", "by": "Mara"}`, id)
	answered.has("AWAITING_RESPONSE", "old_status")
	answered.has("QUEUED", "new_status")
	h.refused(schema.AlreadyResolved, "reply", `{"task_id": %q, "reply": "oak"}`, id)

	third := h.claim("w1")
	third.has(true, "claim.continuation")
	require.Equal(t, `[Previous Output]
Two names are free.

oak or elm?

[User Reply]
elm

[Continue Task]
Go on with the task below from where the previous output ends. The user reply answers it: do what the reply says, and do not ask the same again.

The task was:
Name the crate.
`, third.str("claim.prompt"))
	h.call("bind_session", `{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": "ses_3"}`,
		id, third.str("claim.attempt.attempt_id"), third.str("claim.lease.token"))
	h.finish(third, `"status": "completed", "output": "Named elm."`).has("COMPLETE", "task.status")

	task := h.call("get_task", `{"task_id": %q}`, id)
	task.has("COMPLETE", "task.status")
	task.has("Named elm.", "task.output")
	task.lacks("task.user_reply")
	task.has("elm", "replies.0.reply")
	task.has("Mara", "replies.0.by")
	timeline := h.call("get_timeline", `{"task_id": %q}`, id)
	require.Equal(t, `Attempt 1 — ERROR — acme/large — ses_1 — 429 Too Many Requests
Attempt 2 — AWAITING_RESPONSE — umbra/small — ses_2
Attempt 3 — COMPLETED — umbra/small — ses_3`, timeline.str("text"))
	notices := h.call("list_notices", `{"session_id": "ses_parent"}`)
	require.Equal(t, []string{
		"task.retry_scheduled", "task.retry_session_ready", "task.finished", "tasks.all_finished",
	}, notices.each("items", "kind"))
	require.Contains(t, notices.str("items.2.text"), timeline.str("text"))

	h.finish(first, `"status": "error", "error": {"message": "429 Too Many Requests", "http_status": 429}`).has(true, "applied")
	late := h.finish(first, `"status": "completed", "output": "late"`)
	late.has(false, "applied")
	late.has("stale_attempt", "reason")
	h.call("get_task", `{"task_id": %q}`, id).has(1, "attempts.0.stale_events")
}
