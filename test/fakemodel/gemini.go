package fakemodel

import "encoding/json"

// gemini is the protocol of Gemini's generateContent.
var gemini = protocol{
	read: func(body []byte) (r Request, err error) {
		type part struct {
			Text         string
			FunctionCall *struct {
				Name string
				Args any
			}
			FunctionResponse *struct{ Response any }
		}
		var asked struct {
			SystemInstruction struct{ Parts any }
			Tools             []struct {
				FunctionDeclarations []struct{ Name string }
			}
			Contents []struct {
				Role  string
				Parts []part
			}
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			return r, err
		}
		r.System = text(asked.SystemInstruction.Parts)
		for _, group := range asked.Tools {
			for _, tool := range group.FunctionDeclarations {
				r.Tools = append(r.Tools, tool.Name)
			}
		}
		for _, content := range asked.Contents {
			turn := Turn{Role: "user"}
			if content.Role == "model" {
				turn.Role = "assistant"
			}
			for _, part := range content.Parts {
				turn.Text += part.Text + "\n"
				if part.FunctionCall != nil {
					turn.Calls = append(turn.Calls, Call{Tool: part.FunctionCall.Name, Args: part.FunctionCall.Args})
				}
				if part.FunctionResponse != nil {
					turn.Results = append(turn.Results, text(part.FunctionResponse.Response))
				}
			}
			r.Turns = append(r.Turns, turn)
		}
		return r, nil
	},
	write: func(a Answer, _ string) any { return generated(a) },
	stream: func(a Answer, _ string, event func(string, any)) {
		event("", generated(a))
	},
}

func generated(a Answer) object {
	var parts []any
	if a.Text != "" {
		parts = append(parts, object{"text": a.Text})
	}
	for _, call := range a.Calls {
		parts = append(parts, object{"functionCall": object{"name": call.Tool, "args": call.Args}})
	}
	candidate := object{"content": object{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
	usage := object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
	return object{"candidates": []any{candidate}, "usageMetadata": usage, "modelVersion": "scripted"}
}
