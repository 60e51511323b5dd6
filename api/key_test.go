package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

func TestSameKeyGetsTheFirstAnswerByteForByte(t *testing.T) {
	h := newHost(t, setup{})
	first := h.call("queue_instruction_with_ack",
		`{"content":"x & <y>","idempotency_key":"k","priority":true,"ack_on":{"event_type":"e","match":{"a":{"b":1,"c":2}}}}`)
	h.call("acknowledge", `{"instruction_id":%q}`, first.str("instruction_id"))
	seq := h.seq()
	for _, spelling := range []string{
		`{"content":"x & <y>","idempotency_key":"k","priority":true,"ack_on":{"event_type":"e","match":{"a":{"b":1,"c":2}}}}`,
		`{ "priority":true, "ack_on": {"match":{"a":{"c":2, "b":1}},"event_type":"e"},"idempotency_key":"k","content":"x \u0026 <y>"}`,
		`[{"content":"x & <y>","idempotency_key":"k","priority":true,"_meta":{"n":7},"ack_on":{"event_type":"e","match":{"a":{"b":1,"c":2}}}}]`,
	} {
		require.Equal(t, first.text, h.call("queue_instruction_with_ack", "%s", spelling).text)
	}
	require.Equal(t, seq, h.seq())
	first = h.call("queue_instruction", `{"content":"x","idempotency_key":"k2"}`)
	require.Equal(t, first.text, h.call("queue", `{"content":"x","idempotency_key":"k2","priority":false}`).text)
}

func TestSameKeyForAnotherMethodIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	id := h.track(`{"content":"x","idempotency_key":"k"}`)
	for method, params := range map[string]string{
		"queue_instruction":     `{"content":"x","idempotency_key":"k"}`,
		"acknowledge":           fmt.Sprintf(`{"instruction_id":%q,"idempotency_key":"k"}`, id),
		"dispatch_instructions": `{"idempotency_key":"k"}`,
	} {
		fault := h.refused(schema.IdempotencyClash, method, "%s", params)
		fault.has("k", "data.details.idempotency_key", false, "data.retryable")
	}
}

// A refused call leaves its key free.
func TestRefusalIsNotRemembered(t *testing.T) {
	h := newHost(t, setup{maxPending: 1})
	id := h.track(`{"content":"x"}`)
	h.refused(schema.QueueFull, "queue_instruction", `{"content":"y","idempotency_key":"k"}`)
	h.refused(schema.InvalidParams, "queue_instruction", `{"idempotency_key":"k"}`)
	h.call("acknowledge", `{"instruction_id":%q}`, id)
	h.call("queue_instruction", `{"content":"y","idempotency_key":"k"}`).has("y", "instruction.content")
}

// Every change repeats its answer for its key, also in the next process and without its plan, and refuses the key for
// other params.
func TestEveryChangeTakesAKey(t *testing.T) {
	h := clockHost(t, setup{})
	run, blocked := h.run("1"), h.run("3")
	h.ingest(blocked, "spec-reviewer", says("spec-reviewer", "3", "error", "no name")).has("blocked", "run.state")
	waiting, _ := h.in("AWAITING_RESPONSE")
	failed, _ := h.in("ERROR")
	_, c := h.in("RUNNING")
	queued := h.create(``)
	named := func(name, value string) string { return fmt.Sprintf("%q: %q", name, value) }
	held := named("task_id", c.str("claim.task.task_id")) + ", " + named("lease_token", c.str("claim.lease.token"))
	bound := held + ", " + named("attempt_id", c.str("claim.attempt.attempt_id"))
	check := named("run_id", run) + `, "check": "test", "outcome": `
	changes := []struct{ method, params, others string }{
		{"queue_instruction", `"content": "x"`, `"content": "y"`},
		{"queue_instruction_with_ack", `"content": "x"`, `"content": "x", "max_retries": 0`},
		{"dispatch_instructions", `"session_id": "s"`, `"session_id": "t"`},
		{"acknowledge", named("instruction_id", h.track(`{"content": "x"}`)), `"instruction_id": "ins_1"`},
		{"report_event", `"type": "e"`, `"type": "f"`},
		{"cancel_instruction", `"session_id": "s", "all": true`, `"session_id": "t", "all": true`},
		{"consume_notices", `"notice_ids": ["ntc_nobody"]`, `"notice_ids": ["ntc_1"]`},
		{"create_task", `"prompt": "x"`, `"prompt": "y"`},
		{"claim_task", `"worker": "a"`, `"worker": "b"`},
		{"bind_session", bound + `, "session_id": "s"`, bound + `, "session_id": "t"`},
		{"heartbeat", held, held + `, "lease_ms": 5000`},
		{"finish_attempt", held + `, "status": "completed"`, held + `, "status": "cancelled"`},
		{"report_session_event", `"session_id": "s", "type": "idle"`, `"session_id": "s", "type": "started"`},
		{"retry_task", named("task_id", failed), named("task_id", waiting)},
		{"cancel_task", named("task_id", queued), named("task_id", waiting)},
		{"reply", named("task_id", waiting) + `, "reply": "x"`, named("task_id", waiting) + `, "reply": "y"`},
		{"ask_user", `"session_id": "ses_1", "question": "Keep it?"`, `"session_id": "ses_1", "question": "Drop it?"`},
		{"set_item_status", `"plan": "tasks.md", "item_id": "2", "status": "completed"`, `"plan": "tasks.md", "item_id": "3", "status": "completed"`},
		{"init_run", `"plan": "tasks.md", "item_id": "2"`, `"plan": "tasks.md", "item_id": "2", "resume": "new"`},
		{"ingest_output", named("run_id", run) + `, "role": "worker", "output": "x"`, named("run_id", run) + `, "role": "worker", "output": "y"`},
		{"report_check", check + `"green"`, check + `"red"`},
		{"replan", named("run_id", run) + `, "summary": "x"`, named("run_id", run) + `, "summary": "y"`},
		{"unblock_run", named("run_id", blocked), named("run_id", run)},
	}
	call := func(method, params string) object {
		return h.call(method, "%s", "{"+params+`, "idempotency_key": "key.of.`+method+`"}`)
	}
	firsts := map[string]string{}
	for _, c := range changes {
		first := call(c.method, c.params)
		firsts[c.method] = first.text
		first.has(h.seq(), "seq")
	}
	h.remove("tasks.md")
	seq := h.seq()
	for range 2 {
		for _, c := range changes {
			require.Equal(t, firsts[c.method], call(c.method, c.params).text, c.method)
			h.refused(schema.IdempotencyClash, c.method, "%s", "{"+c.others+`, "idempotency_key": "key.of.`+c.method+`"}`)
		}
		require.Equal(t, seq, h.seq())
		h = h.restart()
	}
	for _, name := range h.table.Names() {
		entry, _ := h.table.Entry(name)
		_, keyed := entry.Params.FieldByName("IdempotencyKey")
		listed := slices.ContainsFunc(changes, func(c struct{ method, params, others string }) bool { return c.method == name })
		require.Equal(t, entry.Kind == schema.Change, keyed, name)
		require.Equal(t, keyed, listed, name)
	}
	require.Equal(t, 1, strings.Count(h.call("list_tasks", `{}`).text, `"prompt":"x"`), "the task was created again")
}

// An answer with a key is not taken back when it was not delivered, because the host can repeat the call.
func TestKeyedAnswerThatWasNotDeliveredIsRepeated(t *testing.T) {
	h := newHost(t, setup{})
	h.track(`{"content":"x","max_retries":1}`)
	h.create(``)
	for method, params := range map[string]string{
		"dispatch_instructions": `{"idempotency_key":"d"}`, "claim_task": `{"worker":"w","idempotency_key":"c"}`,
	} {
		lost := <-h.begin(t.Context(), method, "%s", params)
		require.Nil(t, lost.Undelivered)
		require.Equal(t, h.result(lost).text, h.call(method, "%s", params).text)
	}
	h.pass().has(2, "instructions.0.send")
}

// A repeated waiting call with the same key is answered at once.
func TestKeyedWaitIsNotWaitedForAgain(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		began := time.Now()
		first := h.call("dispatch_instructions", `{"wait_ms":20000,"idempotency_key":"k"}`)
		h.call("queue_instruction", `{"content":"x"}`)
		require.Equal(t, first.text, h.call("dispatch_instructions", `{"wait_ms":20000,"idempotency_key":"k"}`).text)
		require.Equal(t, 20*time.Second, time.Since(began))
	})
}
