package fakemodel

import "encoding/json"

// messages is the protocol of Anthropic Messages.
var messages = protocol{
	read: func(body []byte) (r Request, err error) {
		var asked struct {
			System   any
			Tools    []struct{ Name string }
			Messages []struct {
				Role    string
				Content any
			}
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			return r, err
		}
		r.System = text(asked.System)
		for _, tool := range asked.Tools {
			r.Tools = append(r.Tools, tool.Name)
		}
		for _, message := range asked.Messages {
			r.Turns = append(r.Turns, messageTurn(message.Role, message.Content))
		}
		return r, nil
	},
	write: func(a Answer, id string) any {
		return message(a, id, messageBlocks(a))
	},
	stream: func(a Answer, id string, event func(string, any)) {
		send := func(kind string, data object) {
			data["type"] = kind
			event(kind, data)
		}
		send("message_start", object{"message": message(a, id, []any{})})
		for i, block := range messageBlocks(a) {
			block := block.(object)
			delta := object{"type": "text_delta", "text": block["text"]}
			if block["type"] == "tool_use" {
				delta = object{"type": "input_json_delta", "partial_json": encoded(block["input"])}
				block["input"] = object{}
			} else {
				block["text"] = ""
			}
			send("content_block_start", object{"index": i, "content_block": block})
			send("content_block_delta", object{"index": i, "delta": delta})
			send("content_block_stop", object{"index": i})
		}
		send("message_delta", object{"delta": object{"stop_reason": stopReason(a), "stop_sequence": nil}, "usage": object{"output_tokens": 1}})
		send("message_stop", object{})
	},
}

func messageTurn(role string, content any) Turn {
	turn := Turn{Role: role}
	blocks, several := content.([]any)
	if !several {
		turn.Text = text(content)
		return turn
	}
	var spoken []any
	for _, block := range blocks {
		part, _ := block.(object)
		switch part["type"] {
		case "tool_use":
			name, _ := part["name"].(string)
			turn.Calls = append(turn.Calls, Call{Tool: name, Args: part["input"]})
		case "tool_result":
			turn.Results = append(turn.Results, text(part["content"]))
		default:
			spoken = append(spoken, part)
		}
	}
	turn.Text = text(spoken)
	return turn
}

func message(a Answer, id string, content []any) object {
	return object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": "scripted", "content": content,
		"stop_reason": stopReason(a), "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1},
	}
}

func messageBlocks(a Answer) (blocks []any) {
	if a.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": a.Text})
	}
	for _, call := range a.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": call.id, "name": call.Tool, "input": call.Args})
	}
	return blocks
}

func stopReason(a Answer) string {
	if len(a.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}
