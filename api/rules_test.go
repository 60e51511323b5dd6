package api_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/schema/codec"
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
	for _, rule := range []string{
		`{"event_type":""}`, `{"match":{}}`, `{"event_type":"e","match":{"a..b":1}}`, `{"event_type":"e","match":{"/a~b":1}}`,
		`{"event_type":"e","match":{"a":{"$command":"go test | tail"}}}`, `{"event_type":"e","match":{"a":{"$match":"x"}}}`,
	} {
		fault := h.refused(schema.InvalidParams, "queue_instruction_with_ack", `{"content":"x","ack_on":%s}`, rule)
		require.True(t, strings.HasPrefix(fault.str("data.details.errors.0.pointer"), "/ack_on"), fault.text)
	}
	h.refused(schema.InvalidParams, "report_event", `{"type":"e","data":[]}`)
	h.refused(schema.InvalidParams, "report_event", `{"data":{}}`)
}
