package acp

import (
	"bytes"
	"encoding/json"

	"waybill/acp/message"
	"waybill/wire"
)

// internalError is the code of JSON-RPC for a fault of the other side.
const internalError = -32603

// encode returns a value as JSON. The values here can be encoded.
func encode(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// An envelope is a message of JSON-RPC.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *message.Error  `json:"error,omitempty"`
}

func (e envelope) line() []byte {
	e.JSONRPC = "2.0"
	return append(encode(e), '\n')
}

// requestOf returns a request, or without an id a notification, as a line.
func requestOf(id []byte, method string, params any) []byte {
	return envelope{ID: id, Method: method, Params: params}.line()
}

// answerTo returns an answer as a line.
func answerTo(id []byte, result any) []byte { return envelope{ID: id, Result: result}.line() }

// refusal returns an error as a line.
func refusal(id []byte, why string) []byte {
	return envelope{ID: id, Error: &message.Error{Code: internalError, Message: why}}.line()
}

// textBlock returns a text as a block of content.
func textBlock(words string) []byte {
	return encode(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", words})
}

// text returns the content of a JSON string that may be absent.
func text(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	return wire.Text(value)
}
