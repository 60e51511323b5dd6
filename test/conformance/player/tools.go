package player

import (
	"encoding/json"
	"fmt"
	"strings"

	"waybill/schema"
)

// Tools is a Translation for a server of the Model Context Protocol. A request becomes a tool call of the same name,
// and its answer becomes a result or an error. It uses the version of the protocol without a handshake, in which each
// request describes the client.
type Tools struct{}

// toolsMeta describes the client in each request.
const toolsMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

type toolCall struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  toolParams      `json:"params"`
}

type toolParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Meta      json.RawMessage `json:"_meta"`
}

// Outgoing turns a request into a tool call.
func (Tools) Outgoing(message []byte) ([]byte, error) {
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(message, &request); err != nil {
		return nil, fmt.Errorf("a message that is not one request cannot be a call of a tool: %w", err)
	}
	if request.Params == nil {
		request.Params = json.RawMessage("{}")
	}
	return json.Marshal(toolCall{JSONRPC: "2.0", ID: request.ID, Method: "tools/call", Params: toolParams{
		Name: request.Method, Arguments: request.Params, Meta: json.RawMessage(toolsMeta),
	}})
}

type toolAnswer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

// Incoming turns the answer of a tool into that of a method. Notifications are dropped, and errors of the protocol
// stay.
func (Tools) Incoming(message []byte) ([]byte, error) {
	var answer struct {
		ID     json.RawMessage `json:"id"`
		Result *struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			Structured json.RawMessage `json:"structuredContent"`
			IsError    bool            `json:"isError"`
		} `json:"result"`
	}
	if err := json.Unmarshal(message, &answer); err != nil {
		return nil, fmt.Errorf("heard %q: %w", message, err)
	}
	switch r := answer.Result; {
	case answer.ID == nil:
		return nil, nil
	case r == nil:
		return message, nil
	case !r.IsError:
		return json.Marshal(toolAnswer{JSONRPC: "2.0", ID: answer.ID, Result: r.Structured})
	case len(r.Content) != 1:
		return nil, fmt.Errorf("an error of a tool has %d texts, want 1: %s", len(r.Content), message)
	default:
		fault, err := toolFault(r.Content[0].Text)
		if err != nil {
			return nil, err
		}
		return json.Marshal(toolAnswer{JSONRPC: "2.0", ID: answer.ID, Error: fault})
	}
}

// toolFault returns the error in a text: CODE: message. hint
func toolFault(text string) (*schema.Error, error) {
	code, message, found := strings.Cut(text, ": ")
	if _, known := schema.Row(schema.Code(code)); !found || !known {
		return nil, fmt.Errorf("the error of a tool begins with no code: %q", text)
	}
	return schema.NewError(schema.Code(code), message), nil
}
