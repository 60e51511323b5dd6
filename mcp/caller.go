package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"waybill/api"
	"waybill/schema"
)

// lateTime is how long a call that was given up may take to say what became of it.
const lateTime = time.Second

// A caller carries out methods of the table, as one who waits for their answers.
type caller struct {
	table *api.Table
	log   *slog.Logger
}

// call carries a method out and reads its result into result, which may be nil.
func (c *caller) call(ctx context.Context, method string, params, result any) *schema.Error {
	raw, err := schema.Encode(params)
	if err != nil {
		return schema.NewError(schema.InvalidUTF8, "the arguments are not valid UTF-8").Hint("send text only")
	}
	return c.carry(ctx, method, raw, result)
}

// carry is call with params that are JSON already.
func (c *caller) carry(ctx context.Context, method string, params []byte, result any) *schema.Error {
	a := c.start(ctx, method, params)
	if a.Err != nil {
		return c.explained(a, method)
	}
	if a.Undelivered != nil {
		turnOf(ctx).undelivered(a.Undelivered)
	}
	if result == nil {
		return nil
	}
	text, err := schema.Encode(a.Result)
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		return c.explained(api.Answer{Err: schema.NewError(schema.Internal, "the answer cannot be read"), Cause: err}, method)
	}
	return nil
}

// start begins a method when it is its turn, lets the next one go, and waits for the answer.
func (c *caller) start(ctx context.Context, method string, params []byte) api.Answer {
	entry, ok := c.table.Entry(method)
	if !ok || entry.Start == nil {
		return api.Answer{Err: schema.NewError(schema.MethodNotFound, "there is no method "+method)}
	}
	t := turnOf(ctx)
	if entry.Kind != schema.Change {
		t.pass() // it may take its time
	} else if err := t.await(ctx); err != nil {
		return api.Answer{Err: schema.NewError(schema.Cancelled, "the call was cancelled before it was begun")}
	}
	w := &wait{answers: make(chan api.Answer, 1)}
	entry.Start(ctx, params, w.done)
	t.pass()
	return w.end(ctx)
}

// A wait is for one answer.
type wait struct {
	answers chan api.Answer // never closed
	givenUp atomic.Bool     // nobody waits any more
}

// done takes the answer. What was handed out with one that comes too late is taken back.
func (w *wait) done(a api.Answer) {
	w.answers <- a
	if !w.givenUp.Load() {
		return
	}
	if a, late := w.left(); late && a.Undelivered != nil {
		a.Undelivered()
	}
}

// left gives the answer, if it is there and nobody has it.
func (w *wait) left() (a api.Answer, there bool) {
	select {
	case a = <-w.answers:
		return a, true
	default:
		return a, false
	}
}

// end waits for the answer, and not much longer than somebody wants to know it.
func (w *wait) end(ctx context.Context) api.Answer {
	select {
	case a := <-w.answers:
		return a
	case <-ctx.Done():
	}
	late := time.NewTimer(lateTime)
	defer late.Stop()
	select {
	case a := <-w.answers:
		return a
	case <-late.C:
	}
	w.givenUp.Store(true)
	if a, there := w.left(); there {
		return a
	}
	fault := schema.NewError(schema.StoreIO, "the store does not answer").
		Hint("look at what is there before you repeat the call")
	fault.Data.Outcome = schema.OutcomeUnknown
	return api.Answer{Err: fault}
}

// explained gives the error of an answer. A defect gets an incident, and its cause goes to the log.
func (c *caller) explained(a api.Answer, method string) *schema.Error {
	if a.Err.Data.Code != schema.Internal || a.Err.Data.Incident != "" {
		return a.Err
	}
	fault := *a.Err
	fault.Data.Incident = newIncident()
	c.log.Error("a method failed", "method", method, "incident", fault.Data.Incident, "cause", fmt.Sprint(a.Cause))
	return &fault
}

// newIncident names a defect, for the host and for the log.
func newIncident() string { return "inc_" + strings.ToLower(rand.Text()[:12]) }
