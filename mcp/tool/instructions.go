package tool

import (
	"path"

	"waybill/mcp/inert"
	"waybill/schema"
)

// This file has the tools about instructions.

// maxDispatch limits the bytes of content of one call of dispatch_instructions, because a model reads all of it.
const maxDispatch = 32 << 10

func (c *call) acknowledge() (facts, *schema.Error) {
	var r schema.AcknowledgeResult
	if fault := c.set.Caller.Call(c.ctx, "acknowledge", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	c.addInstruction(&f, r.Instruction.InstructionID)
	f.add("state", r.Instruction.State)
	f.put("already", r.Already)
	f.add("before_dispatch", r.BeforeDispatch)
	f.add("late_ack_at", string(r.Instruction.LateAckAt))
	return f, nil
}

// addInstruction adds the id of an instruction, unless hooks of the host acknowledge instructions.
func (c *call) addInstruction(f *facts, id string) {
	if !c.set.o.Hooks {
		f.add("instruction_id", id)
	}
}

// Members of the tool calls that hooks report.
const (
	eventOfTool = "tool"
	commandPath = "tool_input.command"
	filePath    = "tool_input.file_path"
)

// reportEvent acknowledges one instruction, or reports an event that acknowledges those that wait for it.
func (c *call) reportEvent() (facts, *schema.Error) {
	id, _ := c.args["instruction_id"]
	_, typed := c.params["type"]
	switch {
	case id != nil && typed:
		return nil, schema.NewError(schema.InvalidParams, "instruction_id and type exclude each other").
			Hint("send instruction_id alone to acknowledge one instruction")
	case id != nil:
		c.params = object{"instruction_id": c.args.text("instruction_id")}
		return c.acknowledge()
	}
	// An audit must not take the word of a model for a tool call that a host has seen.
	data := object{"self_reported": true}
	for name, place := range map[string][]string{"command": {"tool_input", "command"}, "path": {"tool_input", "file_path"}, "text": {"text"}} {
		if value := c.args.text(name); value != "" {
			data.put(place, value)
		}
	}
	c.params["data"] = data
	var r schema.ReportEventResult
	if fault := c.set.Caller.Call(c.ctx, "report_event", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.put("acknowledged_total", len(r.Acknowledged))
	if !c.set.o.Hooks {
		f.add("acknowledged", r.Acknowledged[:min(len(r.Acknowledged), maxListed)])
	}
	return f, nil
}

func (c *call) queueInstruction() (facts, *schema.Error) {
	match := object{}
	if command := c.args.text("ack_command"); command != "" {
		match[commandPath] = object{"$command": command}
	}
	if glob := c.args.text("ack_path"); glob != "" { // hosts report absolute paths
		match[filePath] = object{"$any": []object{{"$glob": glob}, {"$glob": path.Join("**", glob)}}}
	}
	if len(match) > 0 {
		if _, named := c.params["ack_on"]; !named {
			c.params.put([]string{"ack_on", "event_type"}, eventOfTool)
		}
		c.params.put([]string{"ack_on", "match"}, match)
	}
	if glob := c.args.text("trigger_path"); glob != "" {
		c.params["standing"], c.params["trigger"] = true, schema.Trigger{EventType: eventOfTool, Path: glob}
	}
	var r schema.QueueInstructionWithAckResult
	if fault := c.set.Caller.Call(c.ctx, "queue_instruction_with_ack", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	c.addInstruction(&f, r.InstructionID)
	f.add("session_id", r.Instruction.SessionID)
	f.add("state", r.Instruction.State)
	f.add("sends_max", r.Instruction.SendsMax)
	return f, nil
}

func (c *call) dispatchInstructions() (facts, *schema.Error) {
	var r schema.DispatchResult
	c.params["max_bytes"] = maxDispatch
	if fault := c.set.Caller.Call(c.ctx, "dispatch_instructions", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.put("count", len(r.Instructions))
	f.add("instructions", listOf(r.Instructions, c.sendFacts))
	addSome(&f, "failed", r.Failed, func(i schema.Instruction) (f facts) { // never acknowledged
		c.addInstruction(&f, i.InstructionID)
		f.add("content", inert.Cut(i.Content, maxLine))
		return f
	})
	f.put("remaining", r.Remaining)
	return f, nil
}

// sendFacts returns the facts of an instruction that the model must follow.
func (c *call) sendFacts(i schema.Send) (f facts) {
	c.addInstruction(&f, i.InstructionID)
	f.put("tracked", i.Tracked)
	f.add("send", i.Send)
	f.add("sends_max", i.SendsMax)
	f.add("text", longText{inert.Text(i.Text), maxPage})
	return f
}
