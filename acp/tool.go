package acp

import (
	"bytes"
	"encoding/json"
	"slices"

	"waybill/acp/message"
)

// maxCalls bounds the tool calls that are remembered. When there are more, the oldest is dropped.
const maxCalls = 1000

// maxValue bounds the input and the output of a call that are kept, in bytes. Longer ones are not reported.
const maxValue = 1 << 20

// calls follows the tool calls of all sessions. An agent sends a call in pieces: each update has only what changed.
type calls struct {
	known map[string]*ToolCall // nil for a call that has ended, so that a late update does not begin it again
	order []string             // the keys, oldest first
}

// update adds what the agent sent about a call, and returns the call if that ended it. begins says that the call is a new one if
// the last of its id has ended.
func (c *calls) update(session string, u message.ToolCallUpdate, begins bool) (ended ToolCall, ok bool) {
	key := session + "\x00" + u.ToolCallID
	call, known := c.known[key]
	if call == nil {
		if known && !begins {
			return ToolCall{}, false
		}
		call = &ToolCall{ID: u.ToolCallID}
		c.add(key, call)
	}
	call.merge(u)
	if u.Status == nil || *u.Status != message.ToolCallStatusCompleted && *u.Status != message.ToolCallStatusFailed {
		return ToolCall{}, false
	}
	call.Failed = *u.Status == message.ToolCallStatusFailed
	c.known[key] = nil
	return *call, true
}

func (c *calls) add(key string, call *ToolCall) {
	if c.known == nil {
		c.known = map[string]*ToolCall{}
	}
	if _, known := c.known[key]; known {
		c.order = slices.DeleteFunc(c.order, func(other string) bool { return other == key })
	}
	c.known[key] = call
	c.order = append(c.order, key)
	for len(c.order) > maxCalls {
		delete(c.known, c.order[0])
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

// latest returns the newer value if the agent sent one.
func latest(old, newer json.RawMessage) json.RawMessage {
	switch text := string(bytes.TrimSpace(newer)); {
	case text == "" || text == "null" || text == "{}" || text == "[]" || len(newer) > maxValue:
		return old
	}
	return bytes.Clone(newer)
}
