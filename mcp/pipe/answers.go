package pipe

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/schema/codec"
)

// idOf returns the SDK's form of a valid id.
func idOf(id []byte) (key jsonrpc.ID) {
	var v any
	if json.Unmarshal(id, &v) == nil {
		key, _ = jsonrpc.MakeID(v)
	}
	return key
}

// withRequestContext wraps a handler so that it runs in the context of its request.
func (c *conn) withRequestContext(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		r := c.inFlight.byHandler(req.GetExtra())
		if r == nil {
			return next(ctx, method, req)
		}
		ctx, leave := r.handlerContext(ctx)
		defer leave()
		return next(ctx, method, req)
	}
}

// sendAnswer writes the SDK's answer to a request. It drops the answer if the request was cancelled or is answered.
func (c *conn) sendAnswer(response *jsonrpc.Response) {
	r := c.inFlight.answer(response.ID)
	if r == nil {
		return
	}
	r.pass()
	if r.method == "initialize" && response.Error == nil {
		c.ready.Store(true)
	}
	if r.dropped {
		c.inFlight.complete(r, false)
		return
	}
	if response.Error != nil {
		r.runUndelivered() // an error answer does not carry the result
		c.writer.write(line{c.errorAnswer(r, response.Error), r})
		return
	}
	text := append(append([]byte(`{"jsonrpc":"2.0","id":`), r.id...), `,"result":`...)
	c.writer.write(line{append(append(text, response.Result...), "}\n"...), r})
}

// errorAnswer returns the answer for an error of the SDK or of a handler. An error without a code is a defect, except
// during the handshake.
func (c *conn) errorAnswer(r *request, err error) []byte {
	coded := new(jsonrpc.Error)
	if errors.As(err, &coded) && coded.Code != 0 {
		text, bad := codec.Encode(struct {
			Code    int64          `json:"code"`
			Message string         `json:"message"`
			Data    jsontext.Value `json:"data,omitzero"`
		}{coded.Code, err.Error(), jsontext.Value(coded.Data)})
		if bad == nil {
			return errorMessage(r.id, text)
		}
		err = errors.Join(err, bad)
	}
	return refusalMessage(r.id, c.protocolError(r, err))
}

// protocolError returns the protocol's error for an error without a code.
func (c *conn) protocolError(r *request, err error) *schema.Error {
	ready := c.ready.Load()
	switch {
	case errors.Is(err, context.Canceled):
		return schema.NewError(schema.Cancelled, "the request was cancelled")
	case r.method == "initialize" && ready:
		return schema.NewError(schema.InvalidRequest, "initialize was answered before").Hint("use the version and capabilities of the first answer")
	case r.method == "initialize":
		return schema.NewError(schema.InvalidParams, err.Error())
	case r.era == c.legacy && !ready:
		return beforeInitialize(r.method)
	}
	return c.reportDefect(r.method, err)
}

// reportDefect logs a defect under a new incident id and returns an INTERNAL error with that id.
func (c *conn) reportDefect(method string, cause error) *schema.Error {
	fault := schema.NewError(schema.Internal, method+" failed; this is a defect of waybill").Hint("look for the incident in the log of waybill")
	fault.Data.Incident = NewIncident()
	c.o.Logger.Error("a request failed", "method", method, "incident", fault.Data.Incident, "cause", cause)
	c.o.Tally.Incidents.Add(1)
	return fault
}

// complete releases the request of a line that was written or dropped.
func (c *conn) complete(l line, delivered bool) {
	if l.request != nil {
		c.inFlight.complete(l.request, delivered)
	}
}

// sendRequest writes a request or notification of the SDK.
func (c *conn) sendRequest(m *jsonrpc.Request) {
	m = c.asked.track(m)
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		c.o.Logger.Error("a message cannot be encoded", "method", m.Method, "cause", err)
		return
	}
	c.writer.write(line{text: append(text, '\n')})
}

// refusalMessage returns an error answer.
func refusalMessage(id []byte, fault *schema.Error) []byte {
	text, err := codec.Encode(fault)
	if err != nil { // only text quoted from the host can cause this
		text, _ = codec.Encode(schema.NewError(fault.Data.Code, "the message cannot be quoted"))
	}
	return errorMessage(id, text)
}

// errorMessage returns an answer with an encoded error.
func errorMessage(id, fault []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, fault)
}

func noBatches() *schema.Error {
	return schema.NewError(schema.InvalidBatch, "the line is a batch, which this protocol does not support").
		Hint("send each message on a line of its own")
}

func duplicateID() *schema.Error {
	return schema.NewError(schema.DuplicateID, "a request with this id is still being worked on").
		Hint("give each unanswered request its own id")
}

// beforeInitialize returns the error for a request of the older protocol before initialize was accepted.
func beforeInitialize(method string) *schema.Error {
	return schema.NewError(schema.InvalidRequest, fmt.Sprintf("%q came before initialize was accepted", safetext.Truncate(method, 80))).
		Hint("send initialize first, or name the version of the protocol in _meta of each request")
}

// retryAfterMS is the retry_after_ms of OVERLOADED.
const retryAfterMS = 100

func overloaded() *schema.Error {
	e := schema.NewError(schema.Overloaded, fmt.Sprintf("%d requests are unanswered, or their answers are unread", maxInFlight)).
		With("limit", maxInFlight).
		Hint("read the answers, and wait for some of them before sending more")
	e.Data.RetryAfterMS = retryAfterMS
	return e
}

func shuttingDown() *schema.Error {
	return schema.NewError(schema.ShuttingDown, "waybill is shutting down and accepts no new requests").
		Hint("start a new process")
}

// unfinished is the error for a request that did not end during shutdown.
func unfinished(r *request) *schema.Error {
	e := schema.NewError(schema.ShuttingDown, "waybill is shutting down and the request did not end in time").
		Hint("start a new process and read the state there")
	if r.ready != nil {
		e.Data.Outcome = schema.OutcomeUnknown
	}
	return e
}
