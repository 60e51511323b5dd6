package api_test

import (
	"strings"
	"testing"

	"waybill/schema"
)

func TestReasonsAndRulesAreBounded(t *testing.T) {
	h := newHost(t, setup{})
	long := strings.Repeat("x", schema.MaxReplyBytes+1)
	h.refused(schema.TooLarge, "cancel_instruction", `{"instruction_id":"ins_x","reason":%q}`, long)
	h.refused(schema.TooLarge, "queue_instruction_with_ack", `{"content":"c","ack_on":{"event_type":"e","match":{"a":%q}}}`, long)
}
