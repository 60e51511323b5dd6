package main

import (
	"context"

	"waybill/schema"
)

// maxRetries is the number of retries of the instruction that no agent acknowledges.
const maxRetries = 2

// instructions queues two instructions. An event acknowledges the first, and nothing the second.
func instructions(ctx context.Context, h *host) {
	var tested, ignored schema.QueueInstructionWithAckResult
	h.call(ctx, "queue_instruction_with_ack", map[string]any{
		"content": "Run `make test` and fix what fails.",
		"ack_on": map[string]any{
			"event_type": "command.finished", "match": map[string]any{"command": "make test", "exit_code": 0},
		},
	}, &tested)
	h.show("queue_instruction_with_ack", "%s (acknowledged by an event)", tested.InstructionID)
	h.call(ctx, "queue_instruction_with_ack", map[string]any{
		"content": "Read CONTRIBUTING.md before the next change.", "max_retries": maxRetries,
	}, &ignored)
	h.show("queue_instruction_with_ack", "%s (max_retries %d)", ignored.InstructionID, maxRetries)

	first := dispatch(ctx, h)
	must(len(first.Instructions) == 2 && first.Instructions[0].InstructionID == tested.InstructionID &&
		first.Instructions[1].InstructionID == ignored.InstructionID, "the first pass is not what was queued, in its order")
	for _, exit := range []int{1, 0} { // only the exact match acknowledges
		var r schema.ReportEventResult
		h.call(ctx, "report_event", map[string]any{
			"type": "command.finished", "data": map[string]any{"command": "make test", "exit_code": exit},
		}, &r)
		h.show("report_event", "exit_code %d acknowledged %v", exit, r.Acknowledged)
		must(len(r.Acknowledged) == 1-exit, "exit_code %d acknowledged %v", exit, r.Acknowledged)
	}
	for send := 2; send <= 1+maxRetries; send++ {
		r := dispatch(ctx, h)
		must(len(r.Instructions) == 1 && r.Instructions[0].Send == send, "send %d did not come", send)
	}
	last := dispatch(ctx, h)
	must(len(last.Instructions) == 0 && len(last.Failed) == 1 && last.Failed[0].InstructionID == ignored.InstructionID,
		"it did not fail after %d sends", 1+maxRetries)
	var n schema.NoticeNote
	h.await(ctx, "notice/posted", &n)
	h.print("  ⇠ notice/posted\n      %s\n", n.Notice.Text)
	must(n.Notice.SubjectID == ignored.InstructionID, "the notice is about %s", n.Notice.SubjectID)
}

func dispatch(ctx context.Context, h *host) (r schema.DispatchResult) {
	h.call(ctx, "dispatch_instructions", map[string]any{}, &r)
	h.show("dispatch_instructions", "%d to hand to the agent, %d failed", len(r.Instructions), len(r.Failed))
	for _, send := range r.Instructions {
		h.print("      send %d of %d  %s\n", send.Send, send.SendsMax, send.Text)
	}
	return r
}
