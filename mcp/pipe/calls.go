package pipe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/schema/codec"
)

// idsOfProcess is how many requests to the host one process can make. Each process begins behind those of its dead
// predecessors, so that a late answer to one of theirs is no answer to one of its own.
const idsOfProcess = 1 << 32

// outgoing are the requests to the host that it has not answered.
type outgoing struct {
	last atomic.Int64 // the last id

	mu   sync.Mutex // guards open
	open map[string]chan<- response
}

// A response is the answer of the host to a request.
type response struct {
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// answer passes an answer to the call that waits for it. It reports false if none does.
func (o *outgoing) answer(id, text []byte) bool {
	o.mu.Lock()
	answers := o.open[string(id)]
	delete(o.open, string(id))
	o.mu.Unlock()
	var r response
	if answers == nil || json.Unmarshal(text, &r) != nil {
		return false
	}
	answers <- r
	return true
}

// Call sends a request to the host and decodes its result. If ctx ends before the answer, it withdraws the request.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	id, answers := strconv.FormatInt(c.calls.last.Add(1), 10), make(chan response, 1)
	c.calls.mu.Lock()
	c.calls.open[id] = answers
	c.calls.mu.Unlock()
	c.send(outgoingMessage{Version: "2.0", ID: jsontext.Value(id), Method: method, Params: params})
	select {
	case r := <-answers:
		if r.Error != nil {
			return fmt.Errorf("calling %q: %s", method, r.Error.Message)
		}
		if json.Unmarshal(r.Result, result) != nil {
			return fmt.Errorf("calling %q: the result cannot be read", method)
		}
		return nil
	case <-c.closing:
		return errors.New("the connection has ended")
	case <-ctx.Done():
	}
	c.calls.mu.Lock()
	delete(c.calls.open, id)
	c.calls.mu.Unlock()
	c.Notify(cancellation, struct {
		ID     jsontext.Value `json:"requestId"`
		Reason string         `json:"reason"`
	}{jsontext.Value(id), "the call that asked has ended"})
	return context.Cause(ctx)
}

// Notify sends a notification to the host, in order with the answers. It does not block, because its caller may hold a
// mutex that the callbacks of undelivered answers need.
func (c *Conn) Notify(method string, params any) {
	c.send(outgoingMessage{Version: "2.0", Method: method, Params: params})
}

// An outgoingMessage is a request or a notification to the host.
type outgoingMessage struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method"`
	Params  any            `json:"params"`
}

func (c *Conn) send(m outgoingMessage) {
	text, err := codec.Encode(m)
	if err != nil {
		c.o.Logger.Error("a message cannot be encoded", "method", m.Method, "cause", err)
		return
	}
	c.writer.writeAsync(line{text: append(text, '\n')})
}
