package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// An answer stays with its question even if an attempt failed with other output in between.
func TestAnswerIsHandedOutUnderItsQuestionThroughRetries(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		id := h.asked(`"max_attempts": 3`)
		h.call("reply", `{"task_id": %q, "reply": "elm"}`, id)
		h.finish(h.claim("w"), overloaded+`, "output": "partial log"`).has("QUEUED", "task.status")
		time.Sleep(time.Minute)
		again := h.claim("w")
		require.True(t, strings.HasPrefix(again.str("claim.prompt"),
			"[Previous Output]\nI looked.\n\noak or elm?\n\n[User Reply]\nelm\n\n[Continue Task]\n"), again.str("claim.prompt"))
		h.finish(again, `"status": "interrupted", "output": "another log", "question": "what now?"`).has("oak or elm?", "task.question")
		h.call("retry_task", `{"task_id": %q}`, id)
		last := h.claim("w")
		require.NotContains(t, last.str("claim.prompt"), "log")
		done := h.finish(last, `"status": "completed"`)
		done.lacks("task.output") // not what was said before the question
		done.lacks("task.question")
	})
}

func TestContinuationAfterAnErrorHasTheErrorAndNoOlderQuestion(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	h.call("reply", `{"task_id": %q, "reply": "elm"}`, id)
	h.finish(h.claim("w"), `"status": "error", "error": {"message": "no elm in stock", "class": "terminal"}`).has("ERROR", "task.status")
	h.call("reply", `{"task_id": %q, "reply": "order some"}`, id)
	prompt := h.claim("w").str("claim.prompt")
	require.True(t, strings.HasPrefix(prompt,
		"[Previous Output]\nThe attempt ended with this error:\nno elm in stock\n\n[User Reply]\norder some\n\n[Continue Task]\n"), prompt)
	require.Contains(t, prompt, "Answered before:\nQuestion: oak or elm?\nReply: elm\n")
	h.task(id).lacks("replies.1.question")
}

// A second person answers the first question when the task already asks another.
func TestAnswerToOneQuestionIsNotTakenForTheNext(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	first := h.call("list_awaiting", `{}`).str("items.0.attempt_id")
	require.Equal(t, h.task(id).str("task.current_attempt_id"), first)
	h.call("reply", `{"task_id": %q, "attempt_id": %q, "reply": "elm"}`, id, first)
	h.finish(h.claim("w"), `"status": "awaiting_response", "question": "delete the rest?"`)
	h.refused(schema.AlreadyResolved, "reply", `{"task_id": %q, "attempt_id": %q, "reply": "yes"}`, id, first).
		has("AWAITING_RESPONSE", "data.details.status")
	h.is("AWAITING_RESPONSE", id)
	h.task(id).has(1, "replies_total")
	second := h.call("list_awaiting", `{}`).str("items.0.attempt_id")
	require.NotEqual(t, first, second)
	h.call("reply", `{"task_id": %q, "attempt_id": %q, "reply": "no"}`, id, second).has("QUEUED", "new_status")
}

// The attempt that carries the answer runs in the session of the question.
func TestContinuationRunsInTheSameSession(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	asking := h.claim("w")
	h.bind(asking, "ses_1")
	h.finish(asking, `"status": "awaiting_response", "question": "oak or elm?"`)
	h.call("reply", `{"task_id": %q, "reply": "elm"}`, id)
	again := h.claim("w")
	h.call("report_session_event", `{"session_id": "ses_1", "type": "progress"}`).has("stale_attempt", "reason")
	h.bind(again, "ses_1").has("ses_1", "attempt.session_id")
	h.call("report_session_event", `{"session_id": "ses_1", "type": "progress"}`).
		has(again.str("claim.attempt.attempt_id"), "attempt_id")
	h.mirrored(id)

	h.create(``)
	other := h.claim("w")
	taken := func(what string) {
		t.Helper()
		fault := h.refused(schema.SessionBound, "bind_session", `{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": "ses_1"}`,
			other.str("claim.task.task_id"), other.str("claim.attempt.attempt_id"), other.str("claim.lease.token"))
		require.Contains(t, fault.str("message"), "of task "+id+", which is "+what)
	}
	taken("running")
	h.finish(again, `"status": "completed"`)
	taken("completed")
}

// A probe that the host binds to another model frees its own model.
func TestProbeThatIsBoundToAnotherModelLetsTheNextOneThrough(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.deny()
		h.create(onAcme)
		next := h.create(onAcme)
		time.Sleep(30 * time.Second)
		probe := h.claim("w")
		done := h.claimWaits(t.Context())
		h.call("bind_session", `{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": "s", "model": {"provider_id": "umbra", "model_id": "small"}}`,
			probe.str("claim.task.task_id"), probe.str("claim.attempt.attempt_id"), probe.str("claim.lease.token"))
		h.result(<-done).has(next, "claim.task.task_id")
	})
}

func TestAttemptThatIsBoundToAModelOnTrialIsItsProbe(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.deny()
		h.create(``)
		time.Sleep(30 * time.Second)
		probe := h.claim("w")
		h.call("bind_session", `{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": "s", "model": {"provider_id": "acme", "model_id": "large"}}`,
			probe.str("claim.task.task_id"), probe.str("claim.attempt.attempt_id"), probe.str("claim.lease.token"))
		h.create(onAcme)
		h.nothing()
		h.finish(probe, completed)
		h.claim("w")
	})
}

// A probe stays one while it sends heartbeats, and its success counts.
func TestProbeThatTakesLongClosesItsBreaker(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.deny()
		h.create(onAcme)
		next := h.create(onAcme)
		time.Sleep(30 * time.Second)
		probe := h.claim("w")
		for range 20 {
			time.Sleep(50 * time.Second)
			h.beat(probe, ``)
			h.nothing()
		}
		h.finish(probe, completed)
		require.Equal(t, 1, h.count("breaker.closed"))
		h.claim("w").has(next, "claim.task.task_id")
	})
}

// A missing file in five tasks must not open the breaker of their model.
func TestFailureThatIsOnlyGuessedToBeTheProvidersShutsNoModel(t *testing.T) {
	h := newHost(t, setup{})
	for range 8 {
		h.create(onAcme)
		h.finish(h.claim("w"), `"status": "error", "error": {"message": "file not found: main.go"}`).has("provider", "attempt.error_class")
	}
	require.Zero(t, h.count("breaker.opened"))
}
