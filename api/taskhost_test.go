package api_test

import (
	"fmt"

	"github.com/stretchr/testify/require"
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

// create creates a task and returns its id. params are further JSON members.
func (h *host) create(params string, args ...any) string {
	h.t.Helper()
	if params != "" {
		params = ", " + params
	}
	return h.call("create_task", `{"prompt": "do it"`+params+`}`, args...).str("task.task_id")
}

// bind binds the attempt of a claim to a session.
func (h *host) bind(claim object, session string) object {
	h.t.Helper()
	return h.bindTo(claim, session, "")
}

// bindTo is bind with further params.
func (h *host) bindTo(claim object, session, rest string) object {
	h.t.Helper()
	return h.call("bind_session", "%s", bindParams(claim, session, rest))
}

func bindParams(claim object, session, rest string) string {
	return fmt.Sprintf(`{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": %q%s}`,
		claim.str("claim.task.task_id"), claim.str("claim.attempt.attempt_id"), claim.str("claim.lease.token"), session, rest)
}

// beat sends a heartbeat for a claim; rest are further params.
func (h *host) beat(claim object, rest string) object {
	h.t.Helper()
	if rest != "" {
		rest = ", " + rest
	}
	return h.call("heartbeat", `{"task_id": %q, "lease_token": %q%s}`,
		claim.str("claim.task.task_id"), claim.str("claim.lease.token"), rest)
}

// task calls get_task.
func (h *host) task(id string) object {
	h.t.Helper()
	return h.call("get_task", `{"task_id": %q}`, id)
}

// is asserts the status of a task.
func (h *host) is(status, id string) {
	h.t.Helper()
	h.task(id).has(status, "task.status")
}

// asked returns a new task that waits for a person.
func (h *host) asked(params string, args ...any) string {
	h.t.Helper()
	id := h.create(params, args...)
	c := h.claim("w")
	c.has(id, "claim.task.task_id")
	h.finish(c, `"status": "awaiting_response", "output": "I looked.", "question": "oak or elm?"`).
		has("AWAITING_RESPONSE", "task.status")
	return id
}

// in returns a new task with the given status.
func (h *host) in(status string) (id string, claim object) {
	h.t.Helper()
	id = h.create(``)
	if status == "QUEUED" {
		return id, claim
	}
	if status == "CANCELLED" {
		h.call("cancel_task", `{"task_id": %q}`, id)
		return id, claim
	}
	claim = h.claim("w")
	switch status {
	case "COMPLETE":
		h.finish(claim, `"status": "completed"`)
	case "AWAITING_RESPONSE":
		h.finish(claim, `"status": "awaiting_response", "question": "well?"`)
	case "ERROR":
		h.finish(claim, `"status": "error", "error": {"message": "no", "class": "terminal"}`)
	case "RUNNING":
	default:
		require.Fail(h.t, "no way into "+status)
	}
	h.is(status, id)
	return id, claim
}

// nothing asserts that no task can be claimed.
func (h *host) nothing() {
	h.t.Helper()
	h.call("claim_task", `{"worker": "w"}`).has(nil, "claim")
}

// logged returns the events of a type about a subject.
func (h *host) logged(kind, subject string) []object {
	h.t.Helper()
	found := []object{}
	all := h.call("events_since", `{"cursor": "0", "limit": 500, "types": [%q]}`, kind)
	for _, ev := range all.at("events").([]any) {
		if o := (object{h.t, all.text, ev}); o.str("subject_id") == subject {
			found = append(found, o)
		}
	}
	return found
}

// mirrored asserts that a task shows the state of its newest attempt.
func (h *host) mirrored(id string) {
	h.t.Helper()
	all := h.call("get_timeline", `{"task_id": %q, "max_lines": 500}`, id)
	attempts := all.at("attempts").([]any)
	last := object{h.t, all.text, attempts[len(attempts)-1]}
	task := h.task(id)
	for ours, theirs := range map[string]string{
		"current_attempt_id": "attempt_id", "attempt_number": "attempt_number", "session_id": "session_id",
		"model": "model", "started_at": "started_at", "completed_at": "completed_at", "error.message": "error", "error.class": "error_class",
	} {
		want, known := last.find(theirs)
		got, shown := task.find("task." + ours)
		require.Equal(h.t, known, shown, ours)
		require.Equal(h.t, want, got, ours)
	}
	for i, a := range attempts {
		o := object{h.t, all.text, a}
		o.has(i+1, "attempt_number")
		if i < len(attempts)-1 {
			require.NotContains(h.t, []string{"pending", "running"}, o.str("status"), "two attempts are live")
		}
	}
}
