package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

const noModel = `"status": "error", "error": {"message": "no such model", "class": "terminal"}`

// A host that names the next model gets no notice that all tasks are over.
func TestHostThatNamesTheNextModelHearsOfNoEarlyEnd(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(`"parent_session_id": "p"`)
	h.finish(h.claim("w"), noModel+`, "next_model": {"provider_id": "acme", "model_id": "large"}`).has("acme", "retry.model.provider_id")
	again := h.claim("w")
	report := noModel + `, "nextModel": {"provider_id": "umbra", "model_id": "small"}, "retry": "auto"`
	first := h.finish(again, report)
	first.has("QUEUED", "task.status")
	first.has(0, "task.failures")
	h.finish(again, report).has(first.str("retry.attempt.attempt_id"), "retry.attempt.attempt_id")
	last := h.claim("w")
	last.has("small", "claim.attempt.model.model_id")
	kinds := func() []string { return h.call("list_notices", `{"session_id": "p"}`).each("items", "kind") }
	require.Equal(t, []string{"task.retry_scheduled", "task.retry_scheduled"}, kinds())
	h.finish(last, noModel).has("ERROR", "task.status")
	require.Equal(t, []string{"task.retry_scheduled", "task.retry_scheduled", "task.finished", "tasks.all_finished"}, kinds())
	h.is("ERROR", id)
}

func TestNextModelGoesWithAnErrorOnly(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	claim := h.claim("w")
	for _, rest := range []string{
		`"status": "completed"`, `"status": "cancelled"`, `"status": "interrupted"`, `"status": "awaiting_response", "question": "?"`,
		noModel + `, "retry": "never"`, noModel + `, "retry": "same_model"`,
	} {
		h.refused(schema.InvalidParams, "finish_attempt", `{"task_id": %q, "lease_token": %q, %s, "next_model": {"provider_id": "a", "model_id": "b"}}`,
			id, claim.str("claim.lease.token"), rest).has("/next_model", "data.details.errors.0.pointer")
	}
	h.refused(schema.InvalidParams, "finish_attempt", `{"task_id": %q, "lease_token": %q, %s, "next_model": {"provider_id": " ", "model_id": "b"}}`,
		id, claim.str("claim.lease.token"), noModel).has("/next_model/provider_id", "data.details.errors.0.pointer")
	h.is("RUNNING", id)
}
