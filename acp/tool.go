package acp

import (
	"bytes"
	"encoding/json"

	"waybill/acp/message"
)

// maxCalls bounds the tool calls that are followed at a time. An agent that begins more has forgotten the oldest.
const maxCalls = 1000

// maxValue bounds the input and the output of a call that are kept, in bytes. Longer ones are not reported.
const maxValue = 1 << 20

// calls follows the tool calls of all sessions until they end. An agent tells a call in pieces: each update has only what
// changed.
type calls struct {
	open  map[string]*ToolCall
	order []string // the keys, oldest first; those that have ended may be among them
}

// update adds what an agent told about a call, and returns the call if that ended it.
func (c *calls) update(session string, u message.ToolCallUpdate) (ended ToolCall, ok bool) {
	key := session + "\x00" + u.ToolCallID
	call := c.open[key]
	if call == nil {
		if u.Status == nil && u.Title == nil && u.RawInput == nil {
			return ToolCall{}, false // a late word about a call that has ended
		}
		call = &ToolCall{ID: u.ToolCallID}
		c.add(key, call)
	}
	call.merge(u)
	if u.Status == nil || *u.Status != message.ToolCallStatusCompleted && *u.Status != message.ToolCallStatusFailed {
		return ToolCall{}, false
	}
	call.Failed = *u.Status == message.ToolCallStatusFailed
	delete(c.open, key)
	return *call, true
}

func (c *calls) add(key string, call *ToolCall) {
	if c.open == nil {
		c.open = map[string]*ToolCall{}
	}
	c.open[key] = call
	c.order = append(c.order, key)
	for len(c.order) > maxCalls {
		delete(c.open, c.order[0])
		c.order = c.order[1:]
	}
}

func (t *ToolCall) merge(u message.ToolCallUpdate) {
	if u.Name != nil {
		t.Name = *u.Name
	}
	if u.Title != nil {
		t.Title = *u.Title
	}
	var kind string
	if json.Unmarshal(u.Kind, &kind) == nil && kind != "" {
		t.Kind = kind
	}
	t.Input = latest(t.Input, u.RawInput)
	t.Output = latest(t.Output, u.RawOutput)
	if t.Output == nil {
		t.Output = latest(nil, u.Content)
	}
}

// latest returns the newer value if an agent told one.
func latest(old, told json.RawMessage) json.RawMessage {
	switch text := string(bytes.TrimSpace(told)); {
	case text == "" || text == "null" || text == "{}" || text == "[]" || len(told) > maxValue:
		return old
	}
	return bytes.Clone(told)
}
