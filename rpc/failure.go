package rpc

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"waybill/api"
	"waybill/schema"
	"waybill/wire"
)

func duplicateID() *schema.Error {
	return schema.NewError(schema.DuplicateID, "a request with this id is still being worked on").
		Hint("give every request in hand an id of its own")
}

func shuttingDown() *schema.Error {
	return schema.NewError(schema.ShuttingDown, "waybill is on its way out; nothing new is accepted").
		Hint("start a new process")
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

// heavyBatch refuses a member of a batch when the answers of batches that are not complete fill the
// memory there is for them. None of them can be written yet, so there is nothing to wait for.
func heavyBatch() *schema.Error {
	return schema.NewError(schema.Overloaded, fmt.Sprintf("the answers of batches that are not complete exceed %d bytes", maxUnwrittenBytes)).
		With("limit", maxUnwrittenBytes).
		Hint("send requests with large answers one by one")
}

// leftBehind answers a call that hangs on the way out.
func leftBehind(c *call) *schema.Error {
	e := schema.NewError(schema.ShuttingDown, "waybill is on its way out and the request did not end in time").
		Hint("start a new process and look there")
	if c.changes() && c.begun.Load() {
		e.Data.Outcome = schema.OutcomeUnknown
	}
	return e
}

func cancelled() *schema.Error {
	return schema.NewError(schema.Cancelled, "the request was cancelled before it was begun")
}

// unknownMethod says which methods there are that the name may mean.
func unknownMethod(name string, known []string) *schema.Error {
	near := schema.Nearest(name, known)
	e := schema.NewError(schema.MethodNotFound, fmt.Sprintf("there is no method %q", wire.Excerpt([]byte(name)))).
		With("did_you_mean", near)
	if len(near) > 0 {
		return e.Hint("did you mean " + strings.Join(near, " or ") + "?")
	}
	return e.Hint("rpc.discover lists the methods")
}

// broken makes an incident of a defect: the host gets a number, the log gets what happened.
func (t *trouble) broken(what string, cause any, attrs ...any) *schema.Error {
	id := t.incident()
	t.log.Error(what, append(attrs, "incident", id, "cause", cause)...)
	t.tally.Incidents.Add(1)
	e := schema.NewError(schema.Internal, what+"; this is a defect of waybill").
		Hint("look for the incident in the log of waybill")
	e.Data.Incident = id
	return e
}

// A trouble is where defects go.
type trouble struct {
	log      *slog.Logger
	incident func() string
	tally    *wire.Tally
}

// caught is for deferred calls: it gives the error for a panic, or nil if there was none.
func (t *trouble) caught(p any, what string) *schema.Error {
	if p == nil {
		return nil
	}
	return t.broken(what+" panicked", p, "stack", string(debug.Stack()))
}

// explained completes an INTERNAL answer: it gets an incident, and its cause goes to the log.
func (t *trouble) explained(a api.Answer, method string) api.Answer {
	if a.Err == nil || a.Err.Data.Code != schema.Internal || a.Err.Data.Incident != "" {
		return a
	}
	e := *a.Err
	e.Data.Incident = t.incident()
	t.log.Error("a method failed", "method", method, "incident", e.Data.Incident, "cause", a.Cause)
	t.tally.Incidents.Add(1)
	a.Err = &e
	return a
}

// unheard takes the failure of a notification, which has no answer.
func (t *trouble) unheard(method string, fault *schema.Error) {
	t.tally.Unheard.Add(1)
	t.log.Warn("a notification failed", "method", method, "code", fault.Data.Code, "cause", fault.Message)
}

// newIncident is how defects are named outside of tests.
func newIncident() string { return "inc_" + strings.ToLower(rand.Text()[:12]) }
