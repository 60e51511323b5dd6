package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/schema"
	"waybill/wire"
)

// idOf gives the SDK's form of an id that was found valid.
func idOf(id []byte) (key jsonrpc.ID) {
	var v any
	if json.Unmarshal(id, &v) == nil {
		key, _ = jsonrpc.MakeID(v)
	}
	return key
}

// escort gives a handler the context of its flight.
func (d *door) escort(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		f := d.hand.of(req.GetExtra())
		if f == nil {
			return next(ctx, method, req)
		}
		ctx, leave := f.board(ctx)
		defer leave()
		return next(ctx, method, req)
	}
}

// answer takes the answer of the SDK to a request. If the request was answered in its place, or the host does not want
// to know any more, it goes nowhere.
func (d *door) answer(r *jsonrpc.Response) {
	f := d.hand.answer(r.ID)
	if f == nil {
		return
	}
	f.pass()
	if f.method == "initialize" && r.Error == nil {
		d.ready.Store(true)
	}
	if f.silenced {
		d.hand.land(f, false)
		return
	}
	if r.Error != nil {
		f.recall() // what was handed out is not in an error
		d.outlet.put(line{d.failure(f, r.Error), f})
		return
	}
	text := append(append([]byte(`{"jsonrpc":"2.0","id":`), f.id...), `,"result":`...)
	d.outlet.put(line{append(append(text, r.Result...), "}\n"...), f})
}

// failure gives the answer for an error of the SDK or of a handler. An error without a code is one that nobody
// thought of, but for those of the handshake.
func (d *door) failure(f *flight, err error) []byte {
	coded := new(jsonrpc.Error)
	if errors.As(err, &coded) && coded.Code != 0 {
		text, bad := schema.Encode(struct {
			Code    int64          `json:"code"`
			Message string         `json:"message"`
			Data    jsontext.Value `json:"data,omitzero"`
		}{coded.Code, err.Error(), jsontext.Value(coded.Data)})
		if bad == nil {
			return enveloped(f.id, text)
		}
		err = errors.Join(err, bad)
	}
	return refused(f.id, d.uncoded(f, err))
}

// uncoded gives the error of the protocol for one that has none.
func (d *door) uncoded(f *flight, err error) *schema.Error {
	ready := d.ready.Load()
	switch {
	case errors.Is(err, context.Canceled):
		return schema.NewError(schema.Cancelled, "the request was given up")
	case f.method == "initialize" && ready:
		return schema.NewError(schema.InvalidRequest, "initialize was answered before").Hint("keep to what the first answer says")
	case f.method == "initialize":
		return schema.NewError(schema.InvalidParams, err.Error())
	case f.era == d.legacy && !ready:
		return notIntroduced(f.method)
	}
	return d.defect(f.method, err)
}

// defect makes an incident of what should not be: the host gets a number, the log gets what happened.
func (d *door) defect(method string, cause error) *schema.Error {
	fault := schema.NewError(schema.Internal, method+" failed; this is a defect of waybill").Hint("look for the incident in the log of waybill")
	fault.Data.Incident = newIncident()
	d.o.Logger.Error("a request failed", "method", method, "incident", fault.Data.Incident, "cause", cause)
	d.o.Tally.Incidents.Add(1)
	return fault
}

// land lets go of what was written, or will not be.
func (d *door) land(l line, delivered bool) {
	if l.flight != nil {
		d.hand.land(l.flight, delivered)
	}
}

// say writes what the SDK sends of its own accord.
func (d *door) say(m *jsonrpc.Request) {
	d.expect(m)
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		d.o.Logger.Error("a message cannot be encoded", "method", m.Method, "cause", err)
		return
	}
	d.outlet.put(line{text: append(text, '\n')})
}

// expect notes whether the host has to answer what is sent. What was asked and is not wanted any more it need not.
func (d *door) expect(m *jsonrpc.Request) {
	var p struct {
		ID any `json:"requestId"`
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case m.IsCall():
		d.asked[m.ID] = true
	case m.Method == cancellation && json.Unmarshal(m.Params, &p) == nil:
		id, _ := jsonrpc.MakeID(p.ID)
		delete(d.asked, id)
	}
}

// refused gives the answer that says why there is no result.
func refused(id []byte, fault *schema.Error) []byte {
	text, err := schema.Encode(fault)
	if err != nil { // only what was quoted from the host can have done this
		text, _ = schema.Encode(schema.NewError(fault.Data.Code, "the message cannot be quoted"))
	}
	return enveloped(id, text)
}

// enveloped puts an error into an answer.
func enveloped(id, fault []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, fault)
}

func noBatches() *schema.Error {
	return schema.NewError(schema.InvalidBatch, "the line is a batch, which this protocol does not have").
		Hint("send each message on a line of its own")
}

func duplicateID() *schema.Error {
	return schema.NewError(schema.DuplicateID, "a request with this id is still being worked on").
		Hint("give every request in hand an id of its own")
}

func notIntroduced(method string) *schema.Error {
	return schema.NewError(schema.InvalidRequest, fmt.Sprintf("%q came before initialize", wire.Excerpt([]byte(method)))).
		Hint("send initialize first, or name the version of the protocol in _meta of each request")
}

// retryAfterMS is what a host is told that asks for more than can be in hand.
const retryAfterMS = 100

func overloaded() *schema.Error {
	e := schema.NewError(schema.Overloaded, fmt.Sprintf("%d requests are in hand, or their answers are not being read", maxInHand)).
		With("limit", maxInHand).
		Hint("read the answers, and wait for some of them before sending more")
	e.Data.RetryAfterMS = retryAfterMS
	return e
}

func shuttingDown() *schema.Error {
	return schema.NewError(schema.ShuttingDown, "waybill is on its way out; nothing new is accepted").
		Hint("start a new process")
}

// leftBehind answers a request that hangs on the way out.
func leftBehind(f *flight) *schema.Error {
	e := schema.NewError(schema.ShuttingDown, "waybill is on its way out and the request did not end in time").
		Hint("start a new process and look there")
	if f.change {
		e.Data.Outcome = schema.OutcomeUnknown
	}
	return e
}
