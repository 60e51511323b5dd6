package mcp

import "waybill/schema"

func (s *server) acknowledge(c *call) (facts, *schema.Error) {
	var r schema.AcknowledgeResult
	if fault := s.caller.call(c.ctx, "acknowledge", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("instruction_id", r.Instruction.InstructionID)
	f.add("state", r.Instruction.State)
	f.put("already", r.Already)
	f.add("late_ack_at", string(r.Instruction.LateAckAt))
	return f, nil
}
