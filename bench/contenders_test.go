package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"

	"github.com/sourcegraph/jsonrpc2"
)

// contenders are the programs, other than itself, that waybill is measured against. They answer what they are asked
// until their input ends.
var contenders = map[string]func(in io.ReadCloser, out io.WriteCloser){
	"pipe":    pipe,
	"by-hand": byHand,
	"library": library,
	"stock":   stock,

	"stock-same": stockSame,
}

// contender returns the command that runs one of them.
func contender(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role)
	return cmd
}

// pong is what every contender answers, but for the id.
type pong struct {
	Pong bool `json:"pong"`
}

// pipe knows nothing of JSON: for each line it writes as many bytes as an answer has, and for all that
// it has read at once it writes them at once.
func pipe(in io.ReadCloser, out io.WriteCloser) {
	answer := []byte(`{"jsonrpc":"2.0","id":100,"result":{"pong":true}}` + "\n")
	answers := bytes.Repeat(answer, 1<<10)
	buffer := make([]byte, 64<<10)
	for {
		n, err := in.Read(buffer)
		if err != nil {
			return
		}
		lines := bytes.Count(buffer[:n], []byte("\n"))
		if _, err := out.Write(answers[:lines*len(answer)]); err != nil {
			return
		}
	}
}

// byHand is the loop that everyone writes first: a line in, a line out.
func byHand(in io.ReadCloser, out io.WriteCloser) {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var req struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  json.RawMessage `json:"params"`
		}
		var params struct {
			Meta json.RawMessage `json:"_meta"`
		}
		if json.Unmarshal(line, &req) != nil || req.Method != "ping" || json.Unmarshal(req.Params, &params) != nil {
			return
		}
		answer, err := json.Marshal(struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  pong            `json:"result"`
		}{"2.0", req.ID, pong{true}})
		if err != nil {
			return
		}
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return
		}
	}
}

// library is the JSON-RPC library with its own stream, and a handler that runs on its read loop.
func library(in io.ReadCloser, out io.WriteCloser) {
	handler := jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		var params struct {
			Meta json.RawMessage `json:"_meta"`
		}
		if err := json.Unmarshal(*req.Params, &params); err != nil {
			return nil, err
		}
		return pong{true}, nil
	})
	conn := jsonrpc2.NewConn(context.Background(), jsonrpc2.NewPlainObjectStream(struct {
		io.Reader
		io.WriteCloser
	}{in, out}), handler)
	<-conn.DisconnectNotify()
}
