package api_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/schema/codec"
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

func TestPlainInstructionIsSentOnce(t *testing.T) {
	h := newHost(t, setup{})
	queued := h.call("queue", `{"content":"x"}`)
	queued.has("default", "instruction.session_id", false, "instruction.tracked", 1, "instruction.sends_max")
	queued.lacks("instruction.last_sent_at")
	pass := h.pass()
	require.Equal(t, []string{"x"}, pass.sent())
	pass.has(false, "instructions.0.tracked")
	require.Empty(t, h.pass().sent())
	h.call("list_instructions", `{}`).has("delivered", "items.0.state")
	h.refused(schema.InvalidState, "acknowledge", `{"instruction_id":%q}`, queued.str("instruction.instruction_id"))
}

func TestRepeatedAckHasTheFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		id, queued := h.track(`{"content":"x"}`), h.track(`{"content":"y"}`)
		early := h.call("acknowledge", `{"instruction_id":%q}`, queued)
		early.has(true, "before_dispatch", 0, "instruction.sends")
		require.Equal(t, []string{"x"}, h.pass().sent())
		first := h.call("acknowledge", `{"instruction_id":%q}`, id)
		first.has(false, "already")
		first.lacks("before_dispatch")
		first.has("call", "instruction.acknowledged_by")
		seq := h.seq()
		time.Sleep(time.Second)
		again := h.call("ack", `{"instruction_id":%q}`, id)
		again.has(true, "already")
		require.Equal(t, first.at("instruction"), again.at("instruction"))
		require.Equal(t, seq, h.seq())
		require.Empty(t, h.pass().sent())
	})
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

func TestQueuedGoBeforeRepeatsAndPriorityGoesFirst(t *testing.T) {
	h := newHost(t, setup{})
	h.track(`{"content":"old 1"}`)
	h.track(`{"content":"old 2","priority":true}`)
	require.Equal(t, []string{"old 2", "old 1"}, h.pass().sent())
	h.call("queue_instruction", `{"content":"a"}`)
	h.call("queue_instruction", `{"content":"b","priority":true}`)
	h.call("queue_instruction", `{"content":"c"}`)
	h.call("queue_instruction", `{"content":"d","priority":true}`)
	again := h.call("dispatch_instructions", `{"escalate":false}`)
	want := []string{"b", "d", "a", "c", "old 1", "old 2"} // repeats go by their last send
	require.Equal(t, want, again.sent())
	again = h.pass()
	again.has("**IMPORTANT:** old 1", "instructions.0.text", "old 1", "instructions.0.content")
}

// A pass over several calls sends and fails each instruction once.
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

func TestCancelledInstructionsAreNotSent(t *testing.T) {
	h := newHost(t, setup{})
	h.call("queue_instruction", `{"content":"over","session_id":"s"}`)
	h.call("dispatch_instructions", `{"session_id":"s"}`)
	h.track(`{"content":"sent","session_id":"s"}`)
	h.call("dispatch_instructions", `{"session_id":"s"}`)
	h.track(`{"content":"queued","session_id":"s"}`)
	h.call("queue_instruction", `{"content":"plain","session_id":"s"}`)
	id := h.track(`{"content":"other"}`)
	gone := h.call("cancel_instruction", `{"session_id":"s","all":true,"reason":"reset"}`)
	gone.has(3, "cancelled", h.seq(), "seq")
	gone.lacks("instruction")
	require.Empty(t, h.call("dispatch_instructions", `{"session_id":"s"}`).sent())
	require.Equal(t, []string{"other"}, h.pass().sent())
	list := h.call("list_instructions", `{"state":"cancelled"}`)
	require.Equal(t, []string{"sent", "queued", "plain"}, list.each("items", "content"))
	require.Equal(t, []string{"reset", "reset", "reset"}, list.each("items", "reason"))
	h.call("cancel_instruction", `{"session_id":"s","all":true}`).has(0, "cancelled")

	one := h.call("cancel_instruction", `{"instruction_id":%q,"reason":"not wanted"}`, id)
	one.has(1, "cancelled", "not wanted", "instruction.reason")
	again := h.call("cancel_instruction", `{"instruction_id":%q,"reason":"another"}`, id)
	again.has(0, "cancelled")
	require.Equal(t, one.at("instruction"), again.at("instruction"))
}

func TestCancelNamesOneInstructionOrASession(t *testing.T) {
	h := newHost(t, setup{})
	for params, pointer := range map[string]string{
		`{}`:                     "/instruction_id",
		`{"session_id":"s"}`:     "/instruction_id",
		`{"all":true}`:           "/session_id",
		`{"reason":"no reason"}`: "/instruction_id",
		`{"all":true,"session_id":"s","instruction_id":"i"}`: "/instruction_id",
	} {
		h.bad(pointer, "cancel_instruction", "%s", params)
	}
	h.refused(schema.InstructionGone, "cancel_instruction", `{"instruction_id":"ins_nobody"}`)
}

func TestMaxRetriesHasBounds(t *testing.T) {
	h := newHost(t, setup{})
	for _, bad := range []string{"-1", "1001", "1e9", "1.5", `"3"`, "null"} {
		fault := h.bad("/max_retries", "queue_instruction_with_ack", `{"content":"x","max_retries":%s}`, bad)
		require.Contains(t, fault.str("message"), "from 0 to 1000", bad)
	}
	for good, sends := range map[string]int{`,"max_retries":0`: 1, `,"max_retries":1000`: 1001, ``: 4} {
		h.call("queue_instruction_with_ack", `{"content":"x"%s}`, good).has(sends, "instruction.sends_max")
	}
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

func TestEventAcknowledgesWhatMatches(t *testing.T) {
	h := newHost(t, setup{})
	rule := `{"content":%q,"session_id":%q,"ack_on":{"event_type":"command","match":{"name":"go test"}}}`
	mine, other := h.track(rule, "mine", "s"), h.track(rule, "other", "t")
	loose := h.track(`{"content":"loose","session_id":"s","ack_on":{"event_type":"command"}}`)
	h.call("dispatch_instructions", `{"session_id":"t"}`) // other was sent; the rest is still queued
	missed := h.call("report_event", `{"type":"command","session_id":"nobody","data":{"name":"go test"}}`)
	missed.has([]any{}, "acknowledged", true, "unmatched")
	hit := h.call("report_event", `{"type":"command","session_id":"s","data":{"name":"go build"}}`)
	hit.has([]any{loose}, "acknowledged", false, "unmatched", h.seq(), "seq")
	h.call("report_event", `{"type":"command","data":{"name":"go test"}}`).has([]any{mine, other}, "acknowledged")
	list := h.call("list_instructions", `{"state":"acknowledged"}`)
	require.Equal(t, []string{"event", "event", "event"}, list.each("items", "acknowledged_by"))
}

func TestRuleIsShownAsItWasGiven(t *testing.T) {
	h := newHost(t, setup{})
	queued := h.call("queue_instruction_with_ack",
		`{"content":"x","ack_on":{"match":{"/a.b": [1, {"c":null}],"x":1.50},"event_type":"e"}}`)
	text, err := codec.Encode(queued.at("instruction.ack_on"))
	require.NoError(t, err)
	require.JSONEq(t, `{"event_type":"e","match":{"/a.b":[1,{"c":null}],"x":1.50}}`, string(text))
}

func TestEventSaysWhatTheOperatorsMatched(t *testing.T) {
	h := newHost(t, setup{})
	id := h.track(`{"content":%q,"session_id":%q,"ack_on":{"event_type":"tool","match":{
		"args.command":{"$command":"go test ./..."},"exit":{"$any":[0,5]},"output":{"$contains":"PASS"},"tool":"bash"}}}`, "test", "s")
	event := `{"type":"tool","data":{"tool":"bash","exit":%d,"output":"PASS%s","args":{"command":"cd /repo && timeout 60 go test -v ./... | tail"}}}`
	failed := h.call("report_event", event, 1, "")
	failed.has(true, "unmatched")
	failed.lacks("matched")
	passed := h.call("report_event", event, 0, strings.Repeat("é", 300))
	passed.has([]any{id}, "acknowledged")
	for i, want := range [][3]string{
		{"args.command", "$command", "timeout 60 go test -v ./..."},
		{"exit", "$any", "0"},
		{"output", "$contains", "PASS" + strings.Repeat("é", 195) + "…"},
	} {
		at := "matched." + strconv.Itoa(i) + "."
		passed.has(id, at+"instruction_id")
		require.Equal(t, want, [3]string{passed.str(at + "path"), passed.str(at + "operator"), passed.str(at + "text")})
	}
	passed.lacks("matched.3")
}

func TestRuleThatCannotMatchIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	for rule, pointer := range map[string]string{
		`{"event_type":""}`: "/ack_on/event_type", `{"match":{}}`: "/ack_on/event_type", `{"event_type":"e","match":{"a..b":1}}`: "/ack_on",
	} {
		h.bad(pointer, "queue_instruction_with_ack", `{"content":"x","ack_on":%s}`, rule)
	}
	h.refused(schema.InvalidParams, "report_event", `{"type":"e","data":[]}`)
	h.refused(schema.InvalidParams, "report_event", `{"data":{}}`)
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

func TestListOfOneInstruction(t *testing.T) {
	h := newHost(t, setup{})
	h.track(`{"content":"0"}`)
	id := h.track(`{"content":"1"}`)
	one := h.call("list_instructions", `{"instruction_id":%q,"limit":1}`, id)
	require.Equal(t, []string{"1"}, one.each("items", "content"))
	one.lacks("next_cursor")
	h.refused(schema.InstructionGone, "list_instructions", `{"instruction_id":"ins_nobody"}`)
	for name, value := range map[string]string{"session_id": "s", "state": "queued", "cursor": "1"} {
		h.bad("/"+name, "list_instructions", `{"instruction_id":%q,%q:%q}`, id, name, value).
			has("absent when instruction_id is given", "data.details.errors.0.expected")
	}
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
