package pipe

import (
	"fmt"

	"waybill/schema"
	"waybill/schema/codec"
)

// answer returns the answer to a request. It returns false if the request was cancelled or is answered.
func (c *Conn) answer(r *request, result any, fault *Fault) (l line, ok bool) {
	if !c.inFlight.answer(r) {
		return line{}, false
	}
	r.pass()
	if r.dropped {
		c.inFlight.complete(r, false)
		return line{}, false
	}
	text := append(append([]byte(`{"jsonrpc":"2.0","id":`), r.ID...), `,"result":`...)
	if fault == nil {
		var err error
		if text, err = codec.AppendEncode(text, result); err != nil {
			fault = FaultOf(c.reportDefect(r.Method, err))
		}
	}
	if fault != nil {
		r.runUndelivered() // an error answer does not carry the result
		text = refusalMessage(r.ID, fault)
	} else {
		text = append(text, "}\n"...)
	}
	return line{text, r}, true
}

// reportDefect logs a defect under a new incident id and returns an INTERNAL error with that id.
func (c *Conn) reportDefect(method string, cause error) *schema.Error {
	fault := schema.NewError(schema.Internal, method+" failed; this is a defect of waybill").Hint("look for the incident in the log of waybill")
	fault.Data.Incident = NewIncident()
	c.o.Logger.Error("a request failed", "method", method, "incident", fault.Data.Incident, "cause", cause)
	c.o.Tally.Incidents.Add(1)
	return fault
}

// complete releases the request of a line that was written or dropped.
func (c *Conn) complete(l line, delivered bool) {
	if l.request != nil {
		c.inFlight.complete(l.request, delivered)
	}
}

// refusalMessage returns an error answer.
func refusalMessage(id []byte, fault *Fault) []byte {
	text, err := codec.Encode(fault)
	if err != nil { // only text quoted from the host can cause this
		text, _ = codec.Encode(&Fault{Code: fault.Code, Message: "the message cannot be quoted"})
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, text)
}

func noBatches() *schema.Error {
	return schema.NewError(schema.InvalidBatch, "the line is a batch, which this protocol does not support").
		Hint("send each message on a line of its own")
}

func duplicateID() *schema.Error {
	return schema.NewError(schema.DuplicateID, "a request with this id is still being worked on").
		Hint("give each unanswered request its own id")
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
