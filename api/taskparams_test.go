package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

func TestTextsOfTasksAreBounded(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, row := range []struct {
		name, pointer string
		limit         int
		call          func(h *host, text string) (method, params string)
	}{
		{"prompt", "/prompt", schema.MaxContentBytes, func(_ *host, text string) (string, string) {
			return "create_task", fmt.Sprintf(`{"prompt": %q}`, text)
		}},
		{"description", "/description", schema.MaxReplyBytes, func(_ *host, text string) (string, string) {
			return "create_task", fmt.Sprintf(`{"prompt": "x", "description": %q}`, text)
		}},
		{"labels", "/labels", schema.MaxReplyBytes, func(_ *host, text string) (string, string) {
			return "create_task", fmt.Sprintf(`{"prompt": "x", "labels": {"k": %q}}`, text[1:])
		}},
		{"models", "/models", schema.MaxReplyBytes, func(_ *host, text string) (string, string) {
			return "create_task", fmt.Sprintf(`{"prompt": "x", "models": [{"provider_id": "p", "model_id": %q}]}`, text[1:])
		}},
		{"output", "/output", schema.MaxContentBytes, func(h *host, text string) (string, string) {
			_, c := h.in("RUNNING")
			return "finish_attempt", fmt.Sprintf(`{"task_id": %q, "lease_token": %q, "status": "completed", "output": %q}`,
				c.str("claim.task.task_id"), c.str("claim.lease.token"), text)
		}},
		{"question", "/question", schema.MaxReplyBytes, func(h *host, text string) (string, string) {
			_, c := h.in("RUNNING")
			return "finish_attempt", fmt.Sprintf(`{"task_id": %q, "lease_token": %q, "status": "awaiting_response", "question": %q}`,
				c.str("claim.task.task_id"), c.str("claim.lease.token"), text)
		}},
		{"error", "/error", schema.MaxReplyBytes, func(h *host, text string) (string, string) {
			_, c := h.in("RUNNING")
			return "finish_attempt", fmt.Sprintf(`{"task_id": %q, "lease_token": %q, "status": "error", "error": {"message": %q, "class": "terminal"}}`,
				c.str("claim.task.task_id"), c.str("claim.lease.token"), text)
		}},
		{"progress", "/progress/message", schema.MaxReplyBytes, func(h *host, text string) (string, string) {
			_, c := h.in("RUNNING")
			return "heartbeat", fmt.Sprintf(`{"task_id": %q, "lease_token": %q, "progress": {"message": %q}}`,
				c.str("claim.task.task_id"), c.str("claim.lease.token"), text)
		}},
		{"session event", "/message", schema.MaxReplyBytes, func(_ *host, text string) (string, string) {
			return "report_session_event", fmt.Sprintf(`{"session_id": "s", "type": "idle", "message": %q}`, text)
		}},
		{"session data", "/data", schema.MaxReplyBytes, func(_ *host, text string) (string, string) {
			return "report_session_event", fmt.Sprintf(`{"session_id": "s", "type": "idle", "data": {"x":%q}}`, text[8:])
		}},
		{"reason", "/reason", schema.MaxReplyBytes, func(h *host, text string) (string, string) {
			id, _ := h.in("QUEUED")
			return "cancel_task", fmt.Sprintf(`{"task_id": %q, "reason": %q}`, id, text)
		}},
		{"reply", "/reply", schema.MaxReplyBytes, func(h *host, text string) (string, string) {
			id, _ := h.in("AWAITING_RESPONSE")
			return "reply", fmt.Sprintf(`{"task_id": %q, "reply": %q}`, id, text)
		}},
		{"who replied", "/by", schema.MaxReplyBytes, func(h *host, text string) (string, string) {
			id, _ := h.in("AWAITING_RESPONSE")
			return "reply", fmt.Sprintf(`{"task_id": %q, "reply": "x", "by": %q}`, id, text)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHost(t, setup{})
			method, params := row.call(h, x(row.limit))
			h.call(method, "%s", params)
			h = newHost(t, setup{})
			method, params = row.call(h, x(row.limit+1))
			fault := h.refused(schema.TooLarge, method, "%s", params)
			fault.has(row.limit, "data.details.limit")
			fault.has(row.limit+1, "data.details.size")
			fault.has(row.pointer, "data.details.pointer")
		})
	}
}

func TestParamsOfTasksThatAreUnknownAreRefusedByName(t *testing.T) {
	h := newHost(t, setup{})
	for method, params := range map[string]string{
		"create_task": `"prompt": "x"`, "claim_task": `"worker": "w"`,
		"bind_session": `"task_id": "t", "attempt_id": "a", "lease_token": "l", "session_id": "s"`,
		"heartbeat":    `"task_id": "t", "lease_token": "l"`, "finish_attempt": `"task_id": "t", "lease_token": "l", "status": "completed"`,
		"report_session_event": `"session_id": "s", "type": "idle"`, "retry_task": `"task_id": "t"`, "cancel_task": `"task_id": "t"`,
		"get_task": `"task_id": "t"`, "list_tasks": `"limit": 1`, "get_timeline": `"task_id": "t"`, "list_awaiting": `"limit": 1`,
		"reply": `"task_id": "t", "reply": "x"`,
	} {
		h.refused(schema.UnknownField, method, `{%s, "attemptId": "a"}`, params).has("attemptId", "data.details.field")
	}
}

// Models are checked when the task is created.
func TestInvalidModelChainIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	for models, pointer := range map[string]string{
		`{"provider_id": "", "model_id": "m"}`:                                                                                "/models/0/provider_id",
		`{"provider_id": "p", "model_id": " "}`:                                                                               "/models/0/model_id",
		`{"provider_id": "p", "model_id": "m"}, {"provider_id": "p", "model_id": "m"}`:                                        "/models/1",
		`{"provider_id": "p", "model_id": "m-4.5"}, {"provider_id": "P", "model_id": "M-4-5"}`:                                "/models/1",
		`{"provider_id": "p", "model_id": "m"}, {"provider_id": "p", "model_id": "m", "variant": "v"}`:                        "/models/1",
		`{"provider_id": "a", "model_id": "m"}, {"provider_id": "b", "model_id": "m"}, {"provider_id": "a", "model_id": "m"}`: "/models/2",
	} {
		fault := h.refused(schema.InvalidParams, "create_task", `{"prompt": "x", "models": [%s]}`, models)
		fault.has(pointer, "data.details.errors.0.pointer")
	}
	h.refused(schema.InvalidParams, "create_task", `{"prompt": "x", "models": [{"provider_id": "p"}]}`).
		has("/models/0/model_id", "data.details.errors.0.pointer")
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf(`{"provider_id": "p", "model_id": "m%d"}`, i)
	}
	h.refused(schema.InvalidParams, "create_task", `{"prompt": "x", "models": [%s]}`, strings.Join(many, ",")).
		has("/models", "data.details.errors.0.pointer")
	h.create(`"models": [%s]`, strings.Join(many[1:], ","))
}

// A model without a name or a provider is refused.
func TestModelOfACallMustBeAWholeOne(t *testing.T) {
	h := newHost(t, setup{})
	failed, _ := h.in("ERROR")
	_, c := h.in("RUNNING")
	for method, params := range map[string]string{
		"retry_task": fmt.Sprintf(`"task_id": %q`, failed),
		"bind_session": fmt.Sprintf(`"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": "s"`,
			c.str("claim.task.task_id"), c.str("claim.attempt.attempt_id"), c.str("claim.lease.token")),
	} {
		for model, pointer := range map[string]string{
			`{"provider_id": "", "model_id": ""}`: "/model/provider_id", `{"provider_id": "p", "model_id": " "}`: "/model/model_id",
			`{"provider_id": "p"}`: "/model/model_id",
		} {
			fault := h.refused(schema.InvalidParams, method, `{%s, "model": %s}`, params, model)
			fault.has(pointer, "data.details.errors.0.pointer")
		}
		h.refused(schema.TooLarge, method, `{%s, "model": {"provider_id": "p", "model_id": %q}}`, params, strings.Repeat("x", schema.MaxReplyBytes)).
			has(schema.MaxReplyBytes, "data.details.limit")
		h.call(method, `{%s, "model": {"provider_id": "p", "model_id": "m", "variant": "v"}}`, params).
			has("v", "attempt.model.variant")
	}
}

func TestDependenciesThatCannotBeAreRefused(t *testing.T) {
	h := newHost(t, setup{newID: counted()})
	on := h.create(``)
	for list, pointer := range map[string]string{
		`"tsk_nobody"`:                      "/depends_on/0",
		fmt.Sprintf(`%q, "tsk_nobody"`, on): "/depends_on/1",
		fmt.Sprintf(`%q, %q`, on, on):       "/depends_on/1",
		`"tsk_2"`:                           "/depends_on/0", // the id that it would get itself
		fmt.Sprintf(`%q, "att_1"`, on):      "/depends_on/1",
	} {
		fault := h.refused(schema.InvalidParams, "create_task", `{"prompt": "x", "depends_on": [%s]}`, list)
		fault.has(pointer, "data.details.errors.0.pointer")
		require.Contains(t, fault.str("message"), pointer)
	}
	require.Len(t, h.call("list_tasks", `{}`).at("items"), 1)
	ids := strings.TrimSuffix(strings.Repeat(`"x",`, 501), ",")
	h.refused(schema.InvalidParams, "create_task", `{"prompt": "x", "depends_on": [%s]}`, ids).
		has("/depends_on", "data.details.errors.0.pointer")
}

// Dependencies on existing tasks cannot form a cycle, so some task is always ready.
func TestDependenciesFormNoCycle(t *testing.T) {
	h := newHost(t, setup{})
	ids := []string{h.create(``)}
	for i := range 20 {
		on := fmt.Sprintf("%q", ids[i])
		if i > 0 {
			on += fmt.Sprintf(", %q", ids[i/2])
		}
		ids = append(ids, h.create(`"depends_on": [%s]`, on))
	}
	for _, id := range ids {
		c := h.claim("w")
		c.has(id, "claim.task.task_id")
		h.nothing()
		h.finish(c, completed)
	}
}

func TestFailedDependencyHoldsBackOnlyItsDependents(t *testing.T) {
	h := newHost(t, setup{})
	failing, cancelled, fine := h.create(``), h.create(``), h.create(``)
	behindFailing := h.create(`"depends_on": [%q, %q]`, failing, fine)
	behindCancelled := h.create(`"depends_on": [%q]`, cancelled)
	behindFine := h.create(`"depends_on": [%q]`, fine)
	h.finish(h.claim("w"), `"status": "error", "error": {"message": "no", "class": "terminal"}`)
	h.call("cancel_task", `{"task_id": %q}`, cancelled)
	h.finish(h.claim("w"), completed)
	h.claim("w").has(behindFine, "claim.task.task_id")
	h.nothing()

	list := h.call("list_tasks", `{"status": "QUEUED"}`)
	require.Equal(t, []string{behindFailing, behindCancelled}, list.each("items", "task_id"))
	list.has([]any{map[string]any{"kind": "depends_on", "task_id": failing, "status": "ERROR"}}, "items.0.waiting_for")
	list.has([]any{map[string]any{"kind": "depends_on", "task_id": cancelled, "status": "CANCELLED"}}, "items.1.waiting_for")
	fault := h.refused(schema.Conflict, "retry_task", `{"task_id": %q}`, behindFailing)
	require.NotContains(t, fault.at("data.details.allowed"), "claim_task")

	h.call("retry_task", `{"task_id": %q}`, failing)
	h.finish(h.claim("w"), completed).has(failing, "task.task_id")
	require.Len(t, h.logged("task.released", behindFailing), 1)
	released := h.claim("w")
	released.has(behindFailing, "claim.task.task_id")
	released.has([]any{failing, fine}, "claim.task.depends_on")
}

func TestDependencyThatIsCompleteHoldsNothingBack(t *testing.T) {
	h := newHost(t, setup{})
	on := h.create(``)
	h.finish(h.claim("w"), completed)
	id := h.create(`"depends_on": [%q]`, on)
	h.task(id).lacks("task.waiting_for")
	h.claim("w").has(id, "claim.task.task_id")
}

func TestOneTaskReleasesVeryMany(t *testing.T) {
	h := newHost(t, setup{})
	on := h.create(``)
	const many = 1200 // more than one read returns
	for range many {
		h.create(`"depends_on": [%q]`, on)
	}
	c := h.claim("w")
	h.nothing()
	h.finish(c, completed)
	for range many {
		h.claim("w")
	}
	h.nothing()
}

func TestAwaitingResponseNeedsAQuestion(t *testing.T) {
	h := newHost(t, setup{})
	id, c := h.in("RUNNING")
	for _, said := range []string{``, `, "question": " "`, `, "output": "\n"`} {
		h.refused(schema.InvalidParams, "finish_attempt", `{"task_id": %q, "lease_token": %q, "status": "awaiting_response"%s}`,
			id, c.str("claim.lease.token"), said).has("/question", "data.details.errors.0.pointer")
	}
	h.finish(c, `"status": "awaiting_response", "output": "Shall I?"`)
	h.call("list_awaiting", `{}`).has("Shall I?", "items.0.question")
}

func TestTasksUnderWayAreBounded(t *testing.T) {
	h := newHost(t, setup{maxPending: 2})
	h.asked(``)
	h.create(``)
	fault := h.refused(schema.QueueFull, "create_task", `{"prompt": "x"}`)
	fault.has(4290, "code")
	fault.has(true, "data.retryable")
}
