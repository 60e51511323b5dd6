// Command emptyserver is the least that can answer the first request of a host: it reads a line,
// decodes the envelope, and answers as long as there are lines.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

type result struct {
	ProtocolVersion int  `json:"protocol_version,omitempty"`
	Pong            bool `json:"pong,omitempty"`
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  result          `json:"result"`
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var req request
		if err := json.Unmarshal(line, &req); err != nil {
			os.Exit(1)
		}
		answer := response{JSONRPC: "2.0", ID: req.ID, Result: result{Pong: true}}
		if req.Method == "initialize" {
			answer.Result = result{ProtocolVersion: 1}
		}
		if err := answers.Encode(answer); err != nil {
			os.Exit(1)
		}
	}
}
