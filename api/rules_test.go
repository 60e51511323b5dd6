package api_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

func TestEventAcknowledgesWhatMatches(t *testing.T) {
	h := newHost(t, setup{})
	rule := `{"content":%q,"session_id":%q,"ack_on":{"event_type":"command","match":{"name":"go test","result.exit_code":0}}}`
	mine, other := h.track(rule, "mine", "s"), h.track(rule, "other", "t")
	loose := h.track(`{"content":"loose","session_id":"s","ack_on":{"event_type":"command"}}`)
	never := h.track(`{"content":"never","session_id":"s","ack_on":{"event_type":"file"}}`)
	h.call("dispatch_instructions", `{"session_id":"t"}`) // other was sent; the rest is still queued

	for _, miss := range []string{
		`{"type":"commands","data":{"name":"go test","result":{"exit_code":0}}}`,
		`{"type":"Command","data":{"name":"go test","result":{"exit_code":0}}}`,
		`{"type":"command","session_id":"nobody","data":{"name":"go test","result":{"exit_code":0}}}`,
	} {
		missed := h.call("report_event", "%s", miss)
		missed.has([]any{}, "acknowledged")
		missed.has(true, "unmatched")
	}
	hit := h.call("report_event", `{"type":"command","session_id":"s","data":{"name":"go build","result":{"exit_code":0}}}`)
	hit.has([]any{loose}, "acknowledged")
	hit.has(false, "unmatched")
	hit.has(h.seq(), "seq")
	hit = h.call("report_event", `{"type":"command","data":{"name":"go test","result":{"exit_code":0.0}}}`)
	hit.has([]any{mine, other}, "acknowledged")
	list := h.call("list_instructions", `{"state":"acknowledged"}`)
	require.Equal(t, []string{"event", "event", "event"}, list.each("items", "acknowledged_by"))
	require.Equal(t, []string{"never"}, h.call("dispatch_instructions", `{"session_id":"s"}`).sent())
	h.call("list_instructions", `{"state":"sent"}`).has(never, "items.0.instruction_id")
}

func TestRuleIsShownAsItWasGiven(t *testing.T) {
	h := newHost(t, setup{})
	queued := h.call("queue_instruction_with_ack",
		`{"content":"x","ack_on":{"match":{"/a.b": [1, {"c":null}],"x":1.50},"event_type":"e"}}`)
	text, err := schema.Encode(queued.at("instruction.ack_on"))
	require.NoError(t, err)
	require.JSONEq(t, `{"event_type":"e","match":{"/a.b":[1,{"c":null}],"x":1.50}}`, string(text))
}

func TestRuleThatCannotMatchIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	for _, rule := range []string{
		`{"event_type":""}`, `{"match":{}}`, `{"event_type":"e","match":{"a..b":1}}`, `{"event_type":"e","match":{"/a~b":1}}`,
	} {
		fault := h.refused(schema.InvalidParams, "queue_instruction_with_ack", `{"content":"x","ack_on":%s}`, rule)
		require.True(t, strings.HasPrefix(fault.str("data.details.errors.0.pointer"), "/ack_on"), fault.text)
	}
	h.refused(schema.InvalidParams, "report_event", `{"type":"e","data":[]}`)
	h.refused(schema.InvalidParams, "report_event", `{"data":{}}`)
}
