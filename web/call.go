package web

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"waybill/api"
	"waybill/schema"
	"waybill/schema/codec"
)

const (
	// callTimeout is the time limit of a call.
	callTimeout = 20 * time.Second
	// lateAnswerTime is how long a call may take to end after its time limit.
	lateAnswerTime = 5 * time.Second
)

// A caller calls the methods of the table.
type caller struct {
	table *api.Table
	log   *slog.Logger // receives the causes of INTERNAL answers
}

// answer calls a method and returns its answer. If the store hangs, it returns an error with an unknown outcome instead
// of blocking.
func (c caller) answer(ctx context.Context, entry *api.Entry, params []byte) (a api.Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = defectAnswer(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		a = c.withIncident(a, entry.Name)
	}()
	answers := make(chan api.Answer, 1)
	entry.Start(ctx, params, func(a api.Answer) { answers <- a })
	select {
	case a := <-answers:
		return a
	case <-ctx.Done():
	}
	late := time.NewTimer(lateAnswerTime)
	defer late.Stop()
	select {
	case a := <-answers: // the end of ctx ends the method
		return a
	case <-late.C:
		return api.Answer{Err: storeHangs()}
	}
}

// storeHangs returns the error for a call that does not end.
func storeHangs() *schema.Error {
	fault := schema.NewError(schema.StoreIO, "the store does not answer").
		Hint("repeat the call with the same idempotency_key: it takes effect once")
	fault.Data.Outcome = schema.OutcomeUnknown
	return fault
}

// newest returns a cursor that points to the end of the log.
func (c caller) newest(ctx context.Context) (string, *schema.Error) {
	result, fault := c.result(ctx, "initialize", []byte("{}"))
	if fault != nil {
		return "", fault
	}
	return result.(*schema.InitializeResult).Cursor, nil
}

// events returns a page of the log.
func (c caller) events(ctx context.Context, cursor string) (*schema.EventList, *schema.Error) {
	limit := schema.MaxPage
	params, err := codec.Encode(schema.EventsSinceParams{Cursor: cursor, Limit: &limit})
	if err != nil {
		return nil, schema.NewError(schema.InvalidUTF8, "the cursor is not valid UTF-8")
	}
	result, fault := c.result(ctx, "events_since", params)
	if fault != nil {
		return nil, fault
	}
	return result.(*schema.EventList), nil
}

// result calls a method by name and returns its result.
func (c caller) result(ctx context.Context, method string, params []byte) (any, *schema.Error) {
	entry, ok := c.table.Entry(method)
	if !ok {
		return nil, schema.NewError(schema.MethodNotFound, "there is no method "+method)
	}
	a := c.answer(ctx, entry, params)
	return a.Result, a.Err
}

// withIncident adds an incident id to an INTERNAL answer and logs its cause.
func (c caller) withIncident(a api.Answer, method string) api.Answer {
	if a.Err == nil || a.Err.Data.Code != schema.Internal || a.Err.Data.Incident != "" {
		return a
	}
	e := *a.Err
	e.Data.Incident = "inc_" + strings.ToLower(rand.Text()[:12])
	c.log.Error("a method failed", "method", method, "incident", e.Data.Incident, "cause", a.Cause)
	a.Err = &e
	return a
}

// defectAnswer returns an INTERNAL answer.
func defectAnswer(cause error) api.Answer {
	return api.Answer{
		Err: schema.NewError(schema.Internal, "the call failed; this is a defect of waybill").
			Hint("look for the incident in the log of waybill"),
		Cause: cause,
	}
}
