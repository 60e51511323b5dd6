package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
	"waybill/schema"
	"waybill/store"
	"waybill/test/slow"
)

func TestEmptyAndHugeContents(t *testing.T) {
	h := newHost(t, setup{})
	for _, method := range []string{"queue_instruction", "queue_instruction_with_ack"} {
		for _, blank := range []string{"", " ", "\\n\\t", "\\u2003"} {
			h.refused(schema.EmptyContent, method, `{"content":"%s"}`, blank).has(-32602, "code")
		}
		h.refused(schema.InvalidParams, method, `{}`)
		fault := h.refused(schema.TooLarge, method, `{"content":"%s"}`, strings.Repeat("x", schema.MaxContentBytes+1))
		fault.has(4130, "code")
		fault.has(schema.MaxContentBytes, "data.details.limit")
		fault.has(schema.MaxContentBytes+1, "data.details.size")
		h.call(method, `{"content":"%s"}`, strings.Repeat("x", schema.MaxContentBytes))
	}
	h.refused(schema.TooLarge, "report_event", `{"type":"e","data":{"x":"%s"}}`, strings.Repeat("x", schema.MaxContentBytes)).
		has(schema.MaxContentBytes, "data.details.limit")
}

// More instructions are outstanding than one answer can hold.
func TestHundredThousandPending(t *testing.T) {
	slow.Test(t)
	const many, page = 100_000, 500
	h := newHost(t, setup{})
	require.NoError(t, h.store.Update(t.Context(), func(tx store.Tx) error {
		for i := range many {
			if err := tx.PutInstruction(instruction.Instruction{
				ID: fmt.Sprint("ins_", i), Session: "default", Content: fmt.Sprint(i), CreatedAt: 1,
				Position: int64(i) + 1, Phase: instruction.Queued{},
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	h.call("get_status", `{}`).has(many, "counts.instructions.queued")

	pass := h.call("dispatch_instructions", `{}`)
	require.Len(t, pass.sent(), 50)
	pass.has(many-50, "remaining")
	pass = h.call("dispatch_instructions", `{"limit":500}`)
	require.Len(t, pass.sent(), 500)
	pass.has("50", "instructions.0.content")
	pass.has(many-550, "remaining")

	seen, cursor := 0, ""
	for more := true; more; more = cursor != "" {
		a := <-h.begin(t.Context(), "list_instructions", `{"limit":%d,"cursor":%q}`, page, cursor)
		list := a.Result.(*schema.InstructionList) // 10^5 maps would take their time
		require.Equal(t, fmt.Sprint(seen), list.Items[0].Content)
		seen += len(list.Items)
		cursor = list.NextCursor
	}
	require.Equal(t, many, seen)
}

func TestQueueFull(t *testing.T) {
	h := newHost(t, setup{maxPending: 3})
	a := h.track(`{"content":"a"}`)
	h.call("queue_instruction", `{"content":"b"}`)
	h.track(`{"content":"c"}`)
	fault := h.refused(schema.QueueFull, "queue_instruction", `{"content":"d"}`)
	fault.has(4290, "code")
	fault.has(true, "data.retryable")
	h.refused(schema.QueueFull, "queue_instruction_with_ack", `{"content":"d"}`)

	h.pass() // the plain one is over
	h.call("queue_instruction", `{"content":"d"}`)
	h.refused(schema.QueueFull, "queue_instruction", `{"content":"e"}`)
	h.call("acknowledge", `{"instruction_id":%q}`, a)
	h.call("queue_instruction", `{"content":"e"}`)
	h.refused(schema.QueueFull, "queue_instruction", `{"content":"f"}`)
}
