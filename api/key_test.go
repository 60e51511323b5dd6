package api_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
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

func TestSameKeyForSomethingElseIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	id := h.track(`{"content":"x","idempotency_key":"k"}`)
	for method, params := range map[string]string{
		"queue_instruction_with_ack": `{"content":"y","idempotency_key":"k"}`,
		"queue_instruction":          `{"content":"x","idempotency_key":"k"}`,
		"acknowledge":                fmt.Sprintf(`{"instruction_id":%q,"idempotency_key":"k"}`, id),
		"dispatch_instructions":      `{"idempotency_key":"k"}`,
	} {
		fault := h.refused(schema.IdempotencyClash, method, "%s", params)
		fault.has(4090, "code")
		fault.has("k", "data.details.idempotency_key")
		fault.has(false, "data.retryable")
	}
}

func TestRefusalIsNotRemembered(t *testing.T) {
	h := newHost(t, setup{maxPending: 1})
	id := h.track(`{"content":"x"}`)
	h.refused(schema.QueueFull, "queue_instruction", `{"content":"y","idempotency_key":"k"}`)
	h.refused(schema.InvalidParams, "queue_instruction", `{"idempotency_key":"k"}`)
	h.call("acknowledge", `{"instruction_id":%q}`, id)
	h.call("queue_instruction", `{"content":"y","idempotency_key":"k"}`).has("y", "instruction.content")
}

func TestKeyOutlivesTheProcess(t *testing.T) {
	st := newSharedStore(t)
	dir := t.TempDir()
	h := newHost(t, setup{dir: dir, store: st})
	first := h.call("queue_instruction", `{"content":"x","idempotency_key":"k"}`)
	h.stop()
	h = newHost(t, setup{dir: dir, store: st})
	require.Equal(t, first.text, h.call("queue_instruction", `{"content":"x","idempotency_key":"k"}`).text)
	h.refused(schema.IdempotencyClash, "queue_instruction", `{"content":"y","idempotency_key":"k"}`)
	require.Equal(t, []string{"x"}, h.pass().sent())
}

func TestKeyThatManyUseAtOnceHasOneEffect(t *testing.T) {
	h := newHost(t, setup{})
	var answers []<-chan api.Answer
	for range 64 {
		answers = append(answers, h.begin(t.Context(), "queue_instruction", `{"content":"x","idempotency_key":"k"}`))
	}
	first := h.result(<-answers[0])
	for _, answer := range answers[1:] {
		require.Equal(t, first.text, h.result(<-answer).text)
	}
	require.Equal(t, []string{"x"}, h.pass().sent())
}

func TestEveryChangeTakesAKey(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [ ] 1. First\n", time.Hour)
	id := h.track(`{"content":"x"}`)
	for method, params := range map[string]string{
		"queue_instruction":          `"content":"x"`,
		"queue_instruction_with_ack": `"content":"x"`,
		"dispatch_instructions":      `"session_id":"s"`,
		"acknowledge":                fmt.Sprintf(`"instruction_id":%q`, id),
		"report_event":               `"type":"e"`,
		"cancel_instruction":         `"session_id":"s","all":true`,
		"init_run":                   `"plan":"tasks.md","item_id":"1"`,
		"consume_notices":            `"notice_ids":["ntc_nobody"]`,
	} {
		params = fmt.Sprintf(`{%s,"idempotency_key":"%s"}`, params, method)
		first := h.call(method, "%s", params)
		seq := h.seq()
		first.has(seq, "seq")
		require.Equal(t, first.text, h.call(method, "%s", params).text, method)
		require.Equal(t, seq, h.seq(), method)
	}
	for _, name := range h.table.Names() {
		entry, _ := h.table.Entry(name)
		_, keyed := entry.Params.FieldByName("IdempotencyKey")
		require.Equal(t, entry.Kind == schema.Change, keyed, name)
	}
}

func TestReplayOfARunWhosePlanIsGone(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", twoItems, time.Hour)
	first := h.call("init_run", `{"plan":"tasks.md","item_id":"1","idempotency_key":"k"}`)
	h.remove("tasks.md")
	require.Equal(t, first.text, h.call("init_run", `{"plan":"tasks.md","item_id":"1","idempotency_key":"k"}`).text)
	h.refused(schema.LedgerMissing, "init_run", `{"plan":"tasks.md","item_id":"1","idempotency_key":"k2"}`)
	h.write("tasks.md", twoItems, time.Hour)
	h.call("init_run", `{"plan":"tasks.md","item_id":"1","idempotency_key":"k2"}`).has(false, "created")
}

// Sends of an answer with a key are not taken back, because the host can repeat the call.
func TestKeyedDispatchThatWasNotDeliveredIsReplayed(t *testing.T) {
	h := newHost(t, setup{})
	h.track(`{"content":"x","max_retries":1}`)
	lost := <-h.begin(t.Context(), "dispatch_instructions", `{"idempotency_key":"k"}`)
	require.Nil(t, lost.Undelivered)
	again := h.call("dispatch_instructions", `{"idempotency_key":"k"}`)
	require.Equal(t, h.result(lost).text, again.text)
	again.has(1, "instructions.0.send")
	h.pass().has(2, "instructions.0.send")
	h.pass().has("failed", "failed.0.state")
}

// A repeated waiting call with the same key is answered at once.
func TestReplayOfAWaitingDispatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		began := time.Now()
		first := h.call("dispatch_instructions", `{"wait_ms":20000,"idempotency_key":"k"}`)
		require.Equal(t, 20*time.Second, time.Since(began))
		h.call("queue_instruction", `{"content":"x"}`)
		require.Equal(t, first.text, h.call("dispatch_instructions", `{"wait_ms":20000,"idempotency_key":"k"}`).text)
		require.Equal(t, 20*time.Second, time.Since(began))
		require.True(t, json.Valid([]byte(first.text)))
	})
}
