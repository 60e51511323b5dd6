package api_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

func TestPlainInstructionIsSentOnce(t *testing.T) {
	h := newHost(t, setup{})
	queued := h.call("queue", `{"content":"x"}`)
	queued.has("queued", "instruction.state")
	queued.has("default", "instruction.session_id")
	queued.has(false, "instruction.tracked")
	queued.has(1, "instruction.sends_max")
	queued.has(0, "instruction.sends")
	queued.lacks("instruction.last_sent_at")
	queued.has(1, "seq")
	pass := h.pass()
	require.Equal(t, []string{"x"}, pass.sent())
	pass.has(false, "instructions.0.tracked")
	require.Empty(t, h.pass().sent())
	h.call("list_instructions", `{}`).has("delivered", "items.0.state")
	h.refused(schema.InvalidState, "acknowledge", `{"instruction_id":%q}`, queued.str("instruction.instruction_id"))
}

func TestSessionsAreSeparate(t *testing.T) {
	h := newHost(t, setup{})
	h.call("queue_instruction", `{"content":"mine","session_id":"s"}`)
	h.call("queue_instruction", `{"content":"other"}`)
	require.Equal(t, []string{"other"}, h.pass().sent())
	require.Equal(t, []string{"mine"}, h.call("dispatch_instructions", `{"session_id":"s"}`).sent())
}

func TestQueuedGoBeforeRepeatsAndPriorityGoesFirst(t *testing.T) {
	h := newHost(t, setup{})
	h.track(`{"content":"old 1"}`)
	h.track(`{"content":"old 2","priority":true}`)
	require.Equal(t, []string{"old 2", "old 1"}, h.pass().sent())
	h.call("queue_instruction", `{"content":"a"}`)
	h.call("queue_instruction", `{"content":"b","priority":true}`)
	h.call("queue_instruction", `{"content":"c"}`)
	h.call("queue_instruction", `{"content":"d","priority":true}`)
	want := []string{"b", "d", "a", "c", "old 1", "old 2"} // repeats go by their last send
	require.Equal(t, want, h.pass().each("instructions", "content"))
}

func TestDispatchInPages(t *testing.T) {
	h := newHost(t, setup{})
	for i := range 5 {
		h.track(`{"content":"%d","max_retries":1}`, i)
	}
	for i, want := range []struct {
		sent      []string
		remaining int
	}{
		{[]string{"0", "1"}, 3}, {[]string{"2", "3"}, 1}, {[]string{"4"}, 0}, // one pass
		{[]string{"0", "1"}, 3}, {[]string{"2", "3"}, 1}, {[]string{"4"}, 0}, // and the next
	} {
		pass := h.call("dispatch_instructions", `{"limit":2}`)
		require.Equal(t, want.sent, pass.each("instructions", "content"), "pass %d", i)
		pass.has(want.remaining, "remaining")
	}
}

func TestDispatchKeepsToItsBytes(t *testing.T) {
	h := newHost(t, setup{})
	for _, size := range []int{40, 60, 1, 500, 20} {
		h.call("queue_instruction", `{"content":"%s"}`, strings.Repeat("x", size))
	}
	for i, want := range [][]int{{40, 60}, {1}, {500}, {20}} {
		pass := h.call("dispatch_instructions", `{"max_bytes":100}`)
		sizes := []int{}
		for _, content := range pass.sent() {
			sizes = append(sizes, len(content))
		}
		require.Equal(t, want, sizes, "pass %d", i)
		pass.has([]int{3, 2, 1, 0}[i], "remaining")
	}
}

// Failed instructions have contents too, which count towards the size of the answer.
func TestFailuresOfOnePassAreBounded(t *testing.T) {
	h := newHost(t, setup{})
	for range 5 {
		h.track(`{"content":"%s","max_retries":0}`, strings.Repeat("x", 40))
	}
	h.pass()
	failed := 0
	for _, want := range []int{2, 2, 1} {
		pass := h.call("dispatch_instructions", `{"max_bytes":100}`)
		require.Empty(t, pass.sent())
		require.Len(t, pass.each("failed", "state"), want)
		failed += want
		require.Len(t, h.call("list_notices", `{}`).each("items", "kind"), failed)
	}
}

func TestRepeatsGetMoreUrgent(t *testing.T) {
	h := newHost(t, setup{})
	h.track(`{"content":"x","max_retries":4}`)
	for _, want := range []string{"x", "**REMINDER:** x", "**IMPORTANT:** x", "**URGENT:** x"} {
		pass := h.pass()
		pass.has(want, "instructions.0.text")
		pass.has("x", "instructions.0.content")
	}
	h.call("dispatch_instructions", `{"escalate":false}`).has("x", "instructions.0.text")
}

// A host that dispatches often does not use up all sends at once.
func TestMinAgeDelaysRepeatsAndTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		h.track(`{"content":"x","max_retries":1}`)
		pass := func() object { return h.call("dispatch_instructions", `{"min_age_ms":30000,"escalate":false}`) }
		require.Equal(t, []string{"x"}, pass().sent())
		time.Sleep(30*time.Second - time.Millisecond)
		require.Empty(t, pass().sent())
		time.Sleep(time.Millisecond)
		require.Equal(t, []string{"x"}, pass().sent())
		time.Sleep(29 * time.Second)
		require.Empty(t, pass().each("failed", "state"))
		time.Sleep(time.Second)
		require.Equal(t, []string{"failed"}, pass().each("failed", "state"))
	})
}

func TestCancelEverythingOfASession(t *testing.T) {
	h := newHost(t, setup{})
	h.call("queue_instruction", `{"content":"over","session_id":"s"}`)
	h.call("dispatch_instructions", `{"session_id":"s"}`)
	h.track(`{"content":"sent","session_id":"s"}`)
	h.call("dispatch_instructions", `{"session_id":"s"}`)
	h.track(`{"content":"queued","session_id":"s"}`)
	h.call("queue_instruction", `{"content":"plain","session_id":"s"}`)
	h.track(`{"content":"other"}`)
	gone := h.call("cancel_instruction", `{"session_id":"s","all":true,"reason":"reset"}`)
	gone.has(3, "cancelled")
	gone.has(h.seq(), "seq")
	gone.lacks("instruction")
	require.Empty(t, h.call("dispatch_instructions", `{"session_id":"s"}`).sent())
	require.Equal(t, []string{"other"}, h.pass().sent())
	list := h.call("list_instructions", `{"state":"cancelled"}`)
	require.Equal(t, []string{"sent", "queued", "plain"}, list.each("items", "content"))
	require.Equal(t, []string{"reset", "reset", "reset"}, list.each("items", "reason"))
	h.call("cancel_instruction", `{"session_id":"s","all":true}`).has(0, "cancelled")
}

func TestCancelNamesOneThingOrASession(t *testing.T) {
	h := newHost(t, setup{})
	for params, pointer := range map[string]string{
		`{}`:                     "/instruction_id",
		`{"session_id":"s"}`:     "/instruction_id",
		`{"all":true}`:           "/session_id",
		`{"reason":"no reason"}`: "/instruction_id",
		`{"all":true,"session_id":"s","instruction_id":"i"}`: "/instruction_id",
	} {
		fault := h.refused(schema.InvalidParams, "cancel_instruction", "%s", params)
		fault.has(pointer, "data.details.errors.0.pointer")
	}
}

// A pass over several calls sends each instruction once.
func TestAPassInSeveralCallsSendsOnce(t *testing.T) {
	h := newHost(t, setup{})
	for range 120 {
		h.call("queue_instruction_with_ack", `{"content":"c","max_retries":1}`)
	}
	for pass, want := range []struct{ sent, failed int }{{120, 0}, {120, 0}, {0, 120}} {
		sent, failed := 0, 0
		for more := true; more; {
			d := h.call("dispatch_instructions", `{}`)
			var page schema.DispatchResult
			require.NoError(t, json.Unmarshal([]byte(d.text), &page))
			sent += len(page.Instructions)
			failed += len(page.Failed)
			more = page.Remaining > 0
		}
		require.Equal(t, want.sent, sent, "pass %d", pass+1)
		require.Equal(t, want.failed, failed, "pass %d", pass+1)
	}
}

// A sent plain instruction has another state than an unacknowledged tracked one.
func TestDeliveredIsToldApartFromSent(t *testing.T) {
	h := newHost(t, setup{})
	h.call("queue_instruction", `{"content":"plain"}`)
	h.track(`{"content":"tracked"}`)
	h.pass()
	h.pass()
	for state, content := range map[string]string{"delivered": "plain", "sent": "tracked"} {
		list := h.call("list_instructions", `{"state":%q}`, state)
		list.has(content, "items.0.content")
		list.lacks("items.1")
	}
	status := h.call("get_status", `{}`)
	for path, want := range map[string]int{
		"counts.instructions.delivered": 1, "counts.instructions.sent": 1,
		"moves.first_sends": 2, "moves.repeats": 1, "moves.acknowledged": 0, "moves.failed": 0,
	} {
		status.has(want, path)
	}
}
