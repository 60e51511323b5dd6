package fakemodel

import "encoding/json"

// completions is the protocol of OpenAI Chat Completions.
var completions = protocol{
	read: func(body []byte) (r Request, err error) {
		var asked struct {
			Tools    []struct{ Function struct{ Name string } }
			Messages []struct {
				Role      string
				Content   any
				ToolCalls []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			return r, err
		}
		for _, tool := range asked.Tools {
			r.Tools = append(r.Tools, tool.Function.Name)
		}
		for _, message := range asked.Messages {
			turn := Turn{Role: message.Role, Text: text(message.Content)}
			switch message.Role {
			case "system", "developer":
				r.System += turn.Text + "\n"
				continue
			case "tool":
				turn.Text, turn.Results = "", []string{turn.Text}
			}
			for _, call := range message.ToolCalls {
				turn.Calls = append(turn.Calls, Call{Tool: call.Function.Name, Args: call.Function.Arguments})
			}
			r.Turns = append(r.Turns, turn)
		}
		return r, nil
	},
	write: func(a Answer, id string) any {
		message := object{"role": "assistant", "content": a.Text}
		if len(a.Calls) > 0 {
			message["tool_calls"] = toolCalls(a)
		}
		return completion(id, "chat.completion", object{"index": 0, "message": message, "finish_reason": finishReason(a)})
	},
	stream: func(a Answer, id string, event func(string, any)) {
		chunk := func(delta object, reason any) {
			event("", completion(id, "chat.completion.chunk", object{"index": 0, "delta": delta, "finish_reason": reason}))
		}
		chunk(object{"role": "assistant", "content": a.Text}, nil)
		if len(a.Calls) > 0 {
			chunk(object{"tool_calls": toolCalls(a)}, nil)
		}
		chunk(object{}, finishReason(a))
		event("", "[DONE]")
	},
}

func completion(id, kind string, choice object) object {
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	return object{"id": id, "object": kind, "created": 1, "model": "scripted", "choices": []any{choice}, "usage": usage}
}

func toolCalls(a Answer) (calls []any) {
	for i, call := range a.Calls {
		function := object{"name": call.Tool, "arguments": encoded(call.Args)}
		calls = append(calls, object{"index": i, "id": call.id, "type": "function", "function": function})
	}
	return calls
}

func finishReason(a Answer) string {
	if len(a.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}
