package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// track queues a tracked instruction and returns its id.
func (h *host) track(params string, args ...any) string {
	h.t.Helper()
	return h.call("queue_instruction_with_ack", params, args...).str("instruction_id")
}

// pass dispatches the default session once.
func (h *host) pass() object {
	h.t.Helper()
	return h.call("dispatch_instructions", `{}`)
}

// sent returns the texts of a dispatch answer.
func (o object) sent() []string {
	o.t.Helper()
	return o.each("instructions", "text")
}

// The process could not write its answer to the host: a send uses up no retry, and does not change the time of the last
// one. A later send stays.
func TestUndeliveredSendIsForgotten(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		plain := h.call("queue_instruction", `{"content":"plain"}`).str("instruction.instruction_id")
		tracked := h.track(`{"content":"tracked"}`)
		for range 3 {
			lost := <-h.begin(t.Context(), "dispatch_instructions", `{}`)
			require.Equal(t, []string{plain, tracked}, h.result(lost).each("instructions", "instruction_id"))
			lost.Undelivered()
		}
		h.pass().has(1, "instructions.1.send")
		time.Sleep(time.Minute)
		lost := <-h.begin(t.Context(), "dispatch_instructions", `{}`)
		lost.Undelivered()
		require.Empty(t, h.call("dispatch_instructions", `{"min_age_ms":60001}`).sent())
		late := <-h.begin(t.Context(), "dispatch_instructions", `{"min_age_ms":60000}`)
		h.result(late).has(2, "instructions.0.send")
		h.pass().has(3, "instructions.0.send")
		late.Undelivered()
		h.pass().has(4, "instructions.0.send")
	})
}

func TestDispatchKeepsToItsBytes(t *testing.T) {
	h := newHost(t, setup{})
	for _, size := range []int{40, 60, 1, 500, 20} {
		h.track(`{"content":"%s","max_retries":0}`, strings.Repeat("x", size))
	}
	for _, part := range []string{"instructions", "failed"} { // both have contents
		for i, want := range [][]int{{40, 60}, {1}, {500}, {20}} {
			pass := h.call("dispatch_instructions", `{"max_bytes":100}`)
			sizes := []int{}
			for _, content := range pass.each(part, "content") {
				sizes = append(sizes, len(content))
			}
			require.Equal(t, want, sizes, "%s of pass %d", part, i)
			if part == "instructions" {
				pass.has([]int{3, 2, 1, 0}[i], "remaining")
			}
		}
	}
	require.Len(t, h.call("list_notices", `{}`).each("items", "kind"), 5)
}

func TestInstructionTextsAreBounded(t *testing.T) {
	h := newHost(t, setup{})
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, method := range []string{"queue_instruction", "queue_instruction_with_ack"} {
		for _, blank := range []string{"", " ", "\\n\\t", "\\u2003"} {
			h.refused(schema.EmptyContent, method, `{"content":"%s"}`, blank)
		}
		h.refused(schema.InvalidParams, method, `{}`)
		fault := h.refused(schema.TooLarge, method, `{"content":"%s"}`, x(schema.MaxContentBytes+1))
		fault.has(schema.MaxContentBytes, "data.details.limit", schema.MaxContentBytes+1, "data.details.size")
		h.call(method, `{"content":"%s"}`, x(schema.MaxContentBytes))
	}
	h.refused(schema.TooLarge, "report_event", `{"type":"e","data":{"x":"%s"}}`, x(schema.MaxContentBytes))
	h.refused(schema.TooLarge, "cancel_instruction", `{"instruction_id":"ins_x","reason":%q}`, x(schema.MaxReplyBytes+1))
	h.refused(schema.TooLarge, "queue_instruction_with_ack", `{"content":"c","ack_on":{"event_type":"e","match":{"a":%q}}}`, x(schema.MaxReplyBytes))
}

func TestFullQueueTakesNoMore(t *testing.T) {
	h := newHost(t, setup{maxPending: 2})
	id := h.track(`{"content":"a"}`)
	h.call("queue_instruction", `{"content":"b"}`)
	for _, method := range []string{"queue_instruction", "queue_instruction_with_ack"} {
		h.refused(schema.QueueFull, method, `{"content":"c"}`).has(true, "data.retryable")
	}
	h.pass() // the plain one is over
	h.call("queue_instruction", `{"content":"c"}`)
	h.refused(schema.QueueFull, "queue_instruction", `{"content":"d"}`)
	h.call("acknowledge", `{"instruction_id":%q}`, id)
	h.call("queue_instruction", `{"content":"d"}`)
	h.asked(``)
	h.create(``)
	h.refused(schema.QueueFull, "create_task", `{"prompt": "x"}`)
}

func TestListsOfInstructionsContinueWhereTheyEnded(t *testing.T) {
	h := newHost(t, setup{})
	for i := range 5 {
		h.track(`{"content":"%d","session_id":"%c","max_retries":0}`, i, "sst"[i%3])
	}
	for range 2 {
		h.call("dispatch_instructions", `{"session_id":"s"}`)
	}
	require.Equal(t, [][]string{{"0", "1"}, {"2", "3"}, {"4"}}, h.pages("list_instructions", "content", ""))
	require.Equal(t, [][]string{{"0", "1"}, {"3", "4"}}, h.pages("list_instructions", "content", `,"session_id":"s"`))
	require.Equal(t, [][]string{{"2"}}, h.pages("list_instructions", "content", `,"state":"queued"`))
	require.Equal(t, [][]string{{"0", "1"}, {"3", "4"}}, h.pages("get_failed_instructions", "content", ""))
	require.Equal(t, [][]string{{}}, h.pages("get_failed_instructions", "content", `,"session_id":"t"`))
	for _, method := range []string{"list_instructions", "get_failed_instructions", "list_notices", "list_tasks", "list_awaiting", "list_runs"} {
		h.refused(schema.InvalidParams, method, `{"limit":501}`)
		h.refused(schema.InvalidParams, method, `{"limit":0}`)
		h.bad("/cursor", method, `{"cursor":"-1"}`).has(`"-1"`, "data.details.errors.0.found")
	}
	h.refused(schema.InvalidParams, "list_instructions", `{"state":"lost"}`)
}

// A page has at least one instruction, however large.
func TestPagesOfInstructionsAreBoundedInBytes(t *testing.T) {
	h := newHost(t, setup{})
	for i, size := range []int{1000, 300 << 10, 300 << 10, schema.MaxContentBytes, schema.MaxContentBytes} {
		h.call("queue_instruction", `{"content":"%d%s"}`, i, strings.Repeat("x", size-1))
	}
	firsts := ""
	for _, page := range h.pages("list_instructions", "content", `,"limit":500`) {
		for _, content := range page {
			firsts += content[:1]
		}
		firsts += " "
	}
	require.Equal(t, "01 2 3 4 ", firsts)
}
