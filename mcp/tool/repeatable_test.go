package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/mcp/tool"
)

// A change that is wrongly repeated takes effect twice, or is answered as if it had not taken effect.
func TestOnlyHarmlessRequestsAreRepeatable(t *testing.T) {
	for _, c := range []struct {
		method, params string
		repeatable     bool
		untilAnswer    bool
	}{
		{"initialize", `{}`, true, false},
		{"resources/read", `{"uri":"waybill://awaiting"}`, true, false},
		{"tools/call", `[]`, true, false},
		{"tools/call", `{"name":"unknown"}`, true, false},
		{"tools/call", `{"name":"get_task","arguments":{"task_id":"t"}}`, true, false},
		{"tools/call", `{"name":"claim_task","arguments":{}}`, false, false},
		{"tools/call", `{"name":"dispatch_instructions","arguments":{}}`, false, false},
		{"tools/call", `{"name":"create_task","arguments":{"prompt":"p"}}`, false, false},
		{"tools/call", `{"name":"create_task","arguments":{"prompt":"p","idempotency_key":"k"}}`, true, false},
		{"tools/call", `{"name":"acknowledge","arguments":{"instruction_id":"i"}}`, true, false},
		{"tools/call", `{"name":"finish_attempt","arguments":{"task_id":"t","lease_token":"l"}}`, true, false},
		{"tools/call", `{"name":"report_event","arguments":{"type":"x"}}`, false, false},
		{"tools/call", `{"name":"report_event","arguments":{"instruction_id":"i"}}`, true, false},
		{"tools/call", `{"name":"report_event","arguments":{"type":"x","idempotency_key":"k"}}`, true, false},
		{"tools/call", `{"name":"reply","arguments":{"task_id":"t"}}`, true, true},
		{"tools/call", `{"name":"reply","arguments":{"task_id":"t","reply":"yes"}}`, false, false},
		{"tools/call", `{"name":"reply","arguments":{"task_id":"t"},"inputResponses":{}}`, false, false},
	} {
		repeatable, untilAnswer := tool.Repeatable(c.method, []byte(c.params))
		require.Equal(t, c.repeatable, repeatable, c.params)
		require.Equal(t, c.untilAnswer, untilAnswer, c.params)
	}
}
