package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

const (
	edited    = `{"tool_name":"Edit","tool_input":{"file_path":"/repo/a.go"}}`
	formatted = `{"tool_name":"Bash","tool_input":{"command":"cd /repo && gofmt -w a.go"}}`
)

// formats queues "run the formatter after you edit *.go" for a session. rest are further params.
func (h *host) formats(session, rest string) string {
	h.t.Helper()
	in := h.call("queue_instruction_with_ack", `{"content": "Run the formatter.", "session_id": %q, "standing": true,
		"trigger": {"event_type": "tool", "match": {"tool_name": {"$any": ["Edit", "Write"]}}, "path": "*.go"},
		"ack_on": {"event_type": "tool", "match": {"tool_input.command": {"$command": "gofmt -w"}}}%s}`, session, rest)
	in.has("armed", "instruction.state", true, "instruction.standing", "tool", "instruction.trigger.event_type", "*.go", "instruction.trigger.path")
	return in.str("instruction_id")
}

// hears reports a tool call of a session.
func (h *host) hears(session, data string) object {
	h.t.Helper()
	return h.call("report_event", `{"type": "tool", "session_id": %q, "data": %s}`, session, data)
}

// sent returns how many instructions a pass sends.
func (h *host) sent(session string) int {
	h.t.Helper()
	return len(h.call("dispatch_instructions", `{"session_id": %q}`, session).at("instructions").([]any))
}

func (h *host) stateOf(id string) string {
	h.t.Helper()
	return h.call("list_instructions", `{"instruction_id": %q}`, id).str("items.0.state")
}

func TestAStandingInstructionIsSentOnceEachTimeItIsDue(t *testing.T) {
	h := newHost(t, setup{})
	id := h.formats("s", "")
	require.Zero(t, h.sent("s"), "nothing was edited")
	for range 3 {
		h.hears("s", edited).has(id, "due.0")
		require.Equal(t, "queued", h.stateOf(id))
		require.Equal(t, 1, h.sent("s"))
		h.hears("s", formatted).has(id, "acknowledged.0")
		require.Equal(t, "armed", h.stateOf(id))
		require.Zero(t, h.sent("s"), "it is gone from the context")
	}
	h = h.restart()
	h.hears("s", edited).has(id, "due.0")
	require.Equal(t, 1, h.sent("s"), "a restart forgets no rule")
}

func TestFiringsBeforeADispatchAreOne(t *testing.T) {
	h := newHost(t, setup{})
	h.formats("s", "")
	for range 5 {
		h.hears("s", edited)
	}
	require.Equal(t, 1, h.sent("s"))
}

// What was acknowledged before the pass is not sent: the agent did it by itself.
func TestAnAcknowledgementBeforeThePassSavesTheSend(t *testing.T) {
	h := newHost(t, setup{})
	id := h.formats("s", "")
	h.hears("s", edited)
	h.hears("s", formatted)
	require.Zero(t, h.sent("s"))
	h.hears("s", edited)
	h.call("acknowledge", `{"instruction_id": %q}`, id).has("armed", "instruction.state")
	h.call("acknowledge", `{"instruction_id": %q}`, id).has(false, "already") // nothing waits for it
	require.Zero(t, h.sent("s"))
}

// An agent that edits again and again and never formats is reminded more urgently, and then the host is told.
func TestEditsAfterTheSendDoNotHideThatARuleIsIgnored(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		id := h.formats("s", `, "max_retries": 1`)
		const pass = `{"session_id": "s", "min_age_ms": 86400000}`
		for n := range 3 {
			h.hears("s", edited).has(id, "due.0")
			h.call("dispatch_instructions", pass).has(1, "instructions.0.send")
			h.hears("s", edited).lacks("due")
			require.Equal(t, 1, h.sent("s"), "the send that is left serves the second edit")
			time.Sleep(time.Second)
			h.hears("s", edited).lacks("due")
			require.Equal(t, "sent", h.stateOf(id), "the agent has had no time to answer")
			require.Len(t, h.call("list_notices", `{"session_id": "s", "peek": true}`).at("items"), n)
			time.Sleep(time.Minute)
		}
		h.hears("s", edited).has(id, "due.0")
		notices := h.call("list_notices", `{"session_id": "s", "peek": true}`)
		require.Len(t, notices.at("items"), 3)
		require.Contains(t, notices.str("items.2.text"), "was sent 2 times and never acknowledged")
		h.call("get_status", `{}`).has(1.0, "counts.instructions.queued", 3.0, "moves.failed")
		h.call("dispatch_instructions", pass).has(1, "instructions.0.send")
		h.hears("s", formatted).has(id, "acknowledged.0")
	})
}

// A rule that the agent ignores leaves one notice for each firing, and stays.
func TestAnIgnoredStandingInstructionLeavesOneNoticeAFiring(t *testing.T) {
	h := newHost(t, setup{})
	id := h.formats("s", `, "max_retries": 1`)
	for n := range 3 {
		h.hears("s", edited)
		require.Equal(t, 2, h.sent("s")+h.sent("s"))
		failed := h.call("dispatch_instructions", `{"session_id": "s"}`)
		failed.has(id, "failed.0.instruction_id", "armed", "failed.0.state", 2.0, "failed.0.sends")
		require.Empty(t, failed.at("instructions"))
		require.Zero(t, h.sent("s"))
		notices := h.call("list_notices", `{"session_id": "s", "peek": true}`)
		require.Len(t, notices.at("items"), n+1)
		require.Contains(t, notices.str(fmt.Sprintf("items.%d.text", n)), "was sent 2 times and never acknowledged")
	}
	status := h.call("get_status", `{}`)
	status.has(1.0, "counts.instructions.armed", 3.0, "moves.first_sends", 3.0, "moves.repeats", 3.0, "moves.failed")
	require.Contains(t, status.text, "1 instruction was never acknowledged", "until the notices are consumed")
	why := h.call("explain", `{"subject_id": %q}`, id).text
	require.Contains(t, why, "it was due 3 times, and acknowledged 0 times")
}

func TestStandingInstructionsOfSessionsAreTheirOwn(t *testing.T) {
	h := newHost(t, setup{})
	one, two := h.formats("one", ""), h.formats("two", "")
	h.hears("one", edited).has(one, "due.0")
	require.Equal(t, "armed", h.stateOf(two))
	h.call("report_event", `{"type": "tool", "data": %s}`, edited).has(two, "due.1")
	require.Equal(t, 1, h.sent("one"))
	require.Equal(t, 1, h.sent("two"))
}

func TestCancellingEndsAStandingInstruction(t *testing.T) {
	h := newHost(t, setup{})
	armed, due := h.formats("s", ""), h.formats("s", "")
	h.call("cancel_instruction", `{"instruction_id": %q}`, armed).has("cancelled", "instruction.state")
	require.NotContains(t, h.hears("s", edited).text, armed)
	h.formats("s", "")
	h.call("cancel_instruction", `{"all": true, "session_id": "s"}`).has(2.0, "cancelled")
	require.Zero(t, h.sent("s"))
	require.Equal(t, "cancelled", h.stateOf(due))
	h.refused(schema.InvalidState, "acknowledge", `{"instruction_id": %q}`, due)
}

// The same event, reported again with its key, fires nothing again.
func TestARepeatedReportFiresOnce(t *testing.T) {
	h := newHost(t, setup{})
	id := h.formats("s", "")
	const report = `{"type": "tool", "session_id": "s", "idempotency_key": "use_1", "data": %s}`
	h.call("report_event", report, edited).has(id, "due.0")
	h.sent("s")
	h.hears("s", formatted)
	h.call("report_event", report, edited).has(id, "due.0")
	require.Zero(t, h.sent("s"))
}

func TestTriggersThatCannotFireAreRefusedWithTheReason(t *testing.T) {
	h := newHost(t, setup{})
	for params, pointer := range map[string]string{
		`"standing": true`:                  "/trigger",
		`"trigger": {"event_type": "tool"}`: "/standing",
		`"standing": true, "trigger": {"event_type": "tool", "path": "["}`:                                              "/trigger",
		`"standing": true, "trigger": {"event_type": "tool", "match": {"a": {"$contains": ""}}}`:                        "/trigger",
		`"standing": true, "trigger": {"event_type": "tool", "path": "*.go"}, "ack_on": {"event_type": "tool"}`:         "/trigger",
		`"standing": true, "trigger": {"event_type": "tool"}, "ack_on": {"event_type": "tool", "match": {"": "empty"}}`: "/ack_on",
	} {
		h.bad(pointer, "queue_instruction_with_ack", `{"content": "x", %s}`, params)
	}
	h.refused(schema.TooLarge, "queue_instruction_with_ack", `{"content": "x", "standing": true, "trigger": {"event_type": "tool", "match": {"a": %q}}}`,
		strings.Repeat("a", 65<<10))
}

// An anchor names a standing instruction only while it is due.
func TestAnAnchorNamesStandingInstructionsThatAreDue(t *testing.T) {
	h := newHost(t, setup{})
	h.formats("s", "")
	h.call("compile_anchor", `{"session_id": "s"}`).has("", "text")
	h.hears("s", edited)
	require.Contains(t, h.call("compile_anchor", `{"session_id": "s"}`).str("text"), "\n- Run the formatter.\n")
}
