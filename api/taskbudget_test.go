package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const twoModels = `"models": [{"provider_id": "a", "model_id": "1"}, {"provider_id": "b", "model_id": "2"}]`

// Failed and lost attempts use up the budget; a reply does not.
func TestAnswersDoNotUseUpTheBudget(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		id := h.asked(`"max_attempts": 2`)
		for range 5 {
			h.call("reply", `{"task_id": %q, "reply": "x"}`, id)
			h.finish(h.claim("w"), `"status": "awaiting_response", "question": "again?"`)
		}
		h.call("reply", `{"task_id": %q, "reply": "x"}`, id)
		h.finish(h.claim("w"), overloaded).has("QUEUED", "task.status")
		time.Sleep(time.Minute)
		last := h.finish(h.claim("w"), overloaded)
		last.has("retries_exhausted", "task.reason")
		last.has(2, "task.failures")
		h.call("retry_task", `{"task_id": %q}`, id).has(0, "task.failures") // a retry by hand restores the budget
	})
}

func TestNextStateByErrorClass(t *testing.T) {
	for _, row := range []struct {
		name, said, status, reason, next string
	}{
		{"transient", `"error": {"message": "x", "class": "transient"}`, "QUEUED", "", "1"},
		{"provider", `"error": {"message": "x", "class": "provider"}`, "QUEUED", "", "2"},
		{"provider on the same model", `"error": {"message": "x", "class": "provider"}, "retry": "same_model"`, "QUEUED", "", "1"},
		{"terminal", `"error": {"message": "x", "class": "terminal"}`, "ERROR", "failed", ""},
		{"user", `"error": {"message": "x", "class": "user"}`, "ERROR", "failed", ""},
		{"no retry wanted", `"error": {"message": "x", "class": "transient"}, "retry": "never"`, "ERROR", "failed", ""},
		{"by status", `"error": {"message": "x", "http_status": 429}`, "QUEUED", "", "2"},
		{"by name", `"error": {"message": "x", "name": "TimeoutError"}`, "ERROR", "timeout", ""},
		{"by message", `"error": {"message": "model_not_found"}`, "QUEUED", "", "2"},
		{"nothing is said", `"output": "x"`, "ERROR", "failed", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHost(t, setup{})
			h.create(twoModels + `, "max_attempts": 4`)
			failed := h.finish(h.claim("w"), `"status": "error", `+row.said)
			failed.has(row.status, "task.status")
			if row.reason != "" {
				failed.has(row.reason, "task.reason")
				failed.lacks("retry")
				return
			}
			failed.has(row.next, "retry.model.model_id")
			failed.has(failed.at("retry.attempt.attempt_id"), "task.current_attempt_id")
			// Another model is tried at once; the same one has to wait.
			_, waits := failed.find("task.not_before")
			require.Equal(t, row.next == "1", waits)
		})
	}
}

func TestInterruptedAttemptLeavesTheTaskToAPerson(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(`"max_attempts": 5`)
	over := h.finish(h.claim("w"), `"status": "interrupted", "output": "half"`)
	over.has("ERROR", "task.status")
	over.has("interrupted", "task.reason")
	over.has("half", "task.output")
	h.call("reply", `{"task_id": %q, "reply": "go on"}`, id).has("ERROR", "old_status")
	require.Contains(t, h.claim("w").str("claim.prompt"), "[Previous Output]\nhalf\n")
}

func TestCancelOfWhatDoesNotRunIsAtOnce(t *testing.T) {
	for _, status := range []string{"QUEUED", "AWAITING_RESPONSE"} {
		h := newHost(t, setup{})
		id, _ := h.in(status)
		cancelled := h.call("cancel_task", `{"task_id": %q, "reason": "enough"}`, id)
		cancelled.has("CANCELLED", "task.status")
		cancelled.has("enough", "task.reason")
		seq := h.seq()
		h.call("cancel_task", `{"task_id": %q, "reason": "again"}`, id).has("enough", "task.reason")
		require.Equal(t, seq, h.seq())
		h.nothing()
	}
}

// The next heartbeat asks the worker to cancel, and its report then counts.
func TestCancelOfWhatRunsIsAskedForAndThenReported(t *testing.T) {
	for report, status := range map[string]string{
		`"status": "cancelled"`:                              "CANCELLED",
		`"status": "interrupted"`:                            "CANCELLED",
		`"status": "awaiting_response", "question": "sure?"`: "CANCELLED",
		overloaded: "CANCELLED",
		completed:  "COMPLETE", // it was faster
	} {
		h := newHost(t, setup{})
		id, c := h.in("RUNNING")
		h.beat(c, ``).has(false, "cancel_requested")
		asked := h.call("cancel_task", `{"task_id": %q, "reason": "enough"}`, id)
		asked.has("RUNNING", "task.status")
		asked.at("task.cancel_requested_at")
		h.beat(c, ``).has(true, "cancel_requested")
		h.is("RUNNING", id)
		h.finish(c, report).has(status, "task.status")
		h.mirrored(id)
	}
}

func TestRetryOnANamedModel(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(twoModels)
	h.finish(h.claim("w"), `"status": "error", "error": {"message": "x", "class": "terminal"}`)
	h.call("retry_task", `{"task_id": %q, "model": {"provider_id": "c", "model_id": "3"}}`, id)
	c := h.claim("w")
	c.has("3", "claim.attempt.model.model_id")
	c.has("request", "claim.attempt.cause")
	h.finish(c, denied).has("1", "retry.model.model_id") // and then the list from its beginning
}
