package mcp

import "waybill/schema"

// This file has the tools about instructions.

// maxDispatch limits the bytes of content of one call of dispatch_instructions, because a model reads all of it.
const maxDispatch = 32 << 10

func (s *server) acknowledge(c *call) (facts, *schema.Error) {
	var r schema.AcknowledgeResult
	if fault := s.caller.call(c.ctx, "acknowledge", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("instruction_id", r.Instruction.InstructionID)
	f.add("state", r.Instruction.State)
	f.put("already", r.Already)
	f.add("before_dispatch", r.BeforeDispatch)
	f.add("late_ack_at", string(r.Instruction.LateAckAt))
	return f, nil
}

func (s *server) queueInstruction(c *call) (facts, *schema.Error) {
	var r schema.QueueInstructionWithAckResult
	if fault := s.caller.call(c.ctx, "queue_instruction_with_ack", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("instruction_id", r.InstructionID)
	f.add("session_id", r.Instruction.SessionID)
	f.add("state", r.Instruction.State)
	f.add("sends_max", r.Instruction.SendsMax)
	return f, nil
}

func (s *server) dispatchInstructions(c *call) (facts, *schema.Error) {
	var r schema.DispatchResult
	c.params["max_bytes"] = maxDispatch
	if fault := s.caller.call(c.ctx, "dispatch_instructions", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.put("count", len(r.Instructions))
	f.add("instructions", listOf(r.Instructions, sendFacts))
	addSome(&f, "failed", r.Failed, failedInstruction)
	f.put("remaining", r.Remaining)
	return f, nil
}

// sendFacts returns the facts of an instruction that the model must follow.
func sendFacts(i schema.Send) (f facts) {
	f.add("instruction_id", i.InstructionID)
	f.put("tracked", i.Tracked)
	f.add("send", i.Send)
	f.add("sends_max", i.SendsMax)
	f.add("text", longText{neutral(i.Text), maxPage})
	return f
}

// failedInstruction returns the facts of an instruction that was never acknowledged.
func failedInstruction(i schema.Instruction) (f facts) {
	f.add("instruction_id", i.InstructionID)
	f.add("content", neutralCut(i.Content, maxLine))
	return f
}
