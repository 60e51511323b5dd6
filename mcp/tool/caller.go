package tool

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"waybill/api"
	"waybill/schema"
	"waybill/schema/codec"
	"waybill/wire/conn"
)

// lateAnswerTime is how long await waits for the answer of a cancelled call.
const lateAnswerTime = time.Second

// A Caller calls methods of the table and waits for their answers.
type Caller struct {
	table *api.Table
	log   *slog.Logger
}

// Call runs a method and decodes its result into result, which may be nil.
func (c *Caller) Call(ctx context.Context, method string, params, result any) *schema.Error {
	raw, err := codec.Encode(params)
	if err != nil {
		return schema.NewError(schema.InvalidUTF8, "the arguments are not valid UTF-8").Hint("send text only")
	}
	return c.callRaw(ctx, method, raw, result)
}

// callRaw is Call with encoded params.
func (c *Caller) callRaw(ctx context.Context, method string, params []byte, result any) *schema.Error {
	a := c.start(ctx, method, params)
	if a.Err != nil {
		return c.WithIncident(a, method)
	}
	if a.Undelivered != nil {
		turnOf(ctx).undelivered(a.Undelivered)
	}
	if result == nil {
		return nil
	}
	text, err := codec.Encode(a.Result)
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		return c.WithIncident(api.Answer{Err: schema.NewError(schema.Internal, "the answer cannot be read"), Cause: err}, method)
	}
	return nil
}

// start runs a method when it is its turn, passes the turn on, and waits for the answer.
func (c *Caller) start(ctx context.Context, method string, params []byte) api.Answer {
	entry, ok := c.table.Entry(method)
	if !ok || entry.Start == nil {
		return api.Answer{Err: schema.NewError(schema.MethodNotFound, "there is no method "+method)}
	}
	t := turnOf(ctx)
	if entry.Kind != schema.Change {
		t.call.Pass() // only changes keep their order
	} else if err := t.await(ctx); err != nil {
		return api.Answer{Err: schema.NewError(schema.Cancelled, "the call was cancelled before it started")}
	}
	w := &pendingAnswer{answers: make(chan api.Answer, 1)}
	entry.Start(ctx, params, w.done)
	t.call.Pass()
	return w.await(ctx)
}

// A pendingAnswer waits for the answer of one call.
type pendingAnswer struct {
	answers   chan api.Answer // never closed
	abandoned atomic.Bool     // await has returned without the answer
}

// done accepts the answer. If await has returned, it calls Undelivered.
func (w *pendingAnswer) done(a api.Answer) {
	w.answers <- a
	if !w.abandoned.Load() {
		return
	}
	if a, late := w.takeAnswer(); late && a.Undelivered != nil {
		a.Undelivered()
	}
}

// takeAnswer returns the answer if it is there and was not taken.
func (w *pendingAnswer) takeAnswer() (a api.Answer, ok bool) {
	select {
	case a = <-w.answers:
		return a, true
	default:
		return a, false
	}
}

// await waits for the answer. After ctx ends it waits for lateAnswerTime more.
func (w *pendingAnswer) await(ctx context.Context) api.Answer {
	select {
	case a := <-w.answers:
		return a
	case <-ctx.Done():
	}
	late := time.NewTimer(lateAnswerTime)
	defer late.Stop()
	select {
	case a := <-w.answers:
		return a
	case <-late.C:
	}
	w.abandoned.Store(true)
	if a, there := w.takeAnswer(); there {
		return a
	}
	fault := schema.NewError(schema.StoreIO, "the store does not answer").
		Hint("look at what is there before you repeat the call")
	fault.Data.Outcome = schema.OutcomeUnknown
	return api.Answer{Err: fault}
}

// WithIncident returns the error of an answer. A defect gets an incident id, and its cause is logged.
func (c *Caller) WithIncident(a api.Answer, method string) *schema.Error {
	if a.Err.Data.Code != schema.Internal || a.Err.Data.Incident != "" {
		return a.Err
	}
	fault := *a.Err
	fault.Data.Incident = conn.NewIncident()
	c.log.Error("a method failed", "method", method, "incident", fault.Data.Incident, "cause", fmt.Sprint(a.Cause))
	return &fault
}
