package fakemodel

import (
	"encoding/json"
	"strings"
)

// responses is the protocol of OpenAI Responses. A tool of a namespace is named NAMESPACE/NAME.
var responses = protocol{
	read: func(body []byte) (r Request, err error) {
		var asked struct {
			Instructions string
			Input        any
			Tools        []struct {
				Type, Name string
				Tools      []struct{ Name string }
			}
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			return r, err
		}
		r.System = asked.Instructions
		for _, tool := range asked.Tools {
			switch {
			case tool.Type == "namespace":
				for _, inner := range tool.Tools {
					r.Tools = append(r.Tools, tool.Name+"/"+inner.Name)
				}
			case tool.Name != "":
				r.Tools = append(r.Tools, tool.Name)
			default:
				r.Tools = append(r.Tools, tool.Type)
			}
		}
		items, several := asked.Input.([]any)
		if !several {
			r.Turns = []Turn{{Role: "user", Text: text(asked.Input)}}
		}
		for _, item := range items {
			item, _ := item.(object)
			r.Turns = join(r.Turns, responseTurn(item))
		}
		return r, nil
	},
	write: func(a Answer, id string) any {
		return response(id, "completed", responseItems(a))
	},
	stream: func(a Answer, id string, event func(string, any)) {
		number := 0
		send := func(kind string, data object) {
			data["type"], data["sequence_number"] = kind, number
			number++
			event(kind, data)
		}
		send("response.created", object{"response": response(id, "in_progress", []any{})})
		items := responseItems(a)
		for i, item := range items {
			item := item.(object)
			send("response.output_item.added", object{"output_index": i, "item": unfinished(item)})
			if content, spoken := item["content"].([]any); spoken {
				place := func(more object) object {
					more["item_id"], more["output_index"], more["content_index"] = item["id"], i, 0
					return more
				}
				send("response.content_part.added", place(object{"part": outputText("")}))
				send("response.output_text.delta", place(object{"delta": a.Text}))
				send("response.output_text.done", place(object{"text": a.Text}))
				send("response.content_part.done", place(object{"part": content[0]}))
			} else {
				send("response.function_call_arguments.delta", object{"item_id": item["id"], "output_index": i, "delta": item["arguments"]})
				send("response.function_call_arguments.done", object{"item_id": item["id"], "output_index": i, "arguments": item["arguments"]})
			}
			send("response.output_item.done", object{"output_index": i, "item": item})
		}
		send("response.completed", object{"response": response(id, "completed", items)})
	},
}

func responseTurn(item object) Turn {
	kind, _ := item["type"].(string)
	switch {
	case kind == "function_call" || kind == "custom_tool_call":
		name, _ := item["name"].(string)
		return Turn{Role: "assistant", Calls: []Call{{Tool: name, Args: item["arguments"]}}}
	case strings.HasSuffix(kind, "_output"):
		return Turn{Role: "tool", Results: []string{text(item["output"])}}
	case kind == "message" || item["role"] != nil:
		role, _ := item["role"].(string)
		return Turn{Role: role, Text: text(item["content"])}
	}
	return Turn{} // reasoning, and other things that the model wrote for itself
}

// join adds a turn. A text and calls that follow one another are one turn of the model.
func join(turns []Turn, next Turn) []Turn {
	if next.Role == "" {
		return turns
	}
	if last := len(turns) - 1; next.Role == "assistant" && last >= 0 && turns[last].Role == "assistant" {
		turns[last].Text += next.Text
		turns[last].Calls = append(turns[last].Calls, next.Calls...)
		return turns
	}
	return append(turns, next)
}

func response(id, status string, output []any) object {
	usage := object{
		"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1,
		"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2,
	}
	return object{"id": "resp_" + id, "object": "response", "created_at": 1, "model": "scripted", "status": status, "output": output, "usage": usage}
}

func responseItems(a Answer) (items []any) {
	if a.Text != "" {
		items = append(items, object{"type": "message", "id": "msg_text", "role": "assistant", "status": "completed", "content": []any{outputText(a.Text)}})
	}
	for _, call := range a.Calls {
		item := object{
			"type": "function_call", "id": "fc_" + call.id, "call_id": call.id, "name": call.Tool,
			"arguments": encoded(call.Args), "status": "completed",
		}
		if call.room != "" {
			item["namespace"] = call.room
		}
		items = append(items, item)
	}
	return items
}

func outputText(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []any{}}
}

// unfinished returns an item as it is announced, before its content.
func unfinished(item object) object {
	early := object{}
	for key, value := range item {
		early[key] = value
	}
	early["status"] = "in_progress"
	if _, spoken := item["content"]; spoken {
		early["content"] = []any{}
	} else {
		early["arguments"] = ""
	}
	return early
}
