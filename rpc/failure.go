package rpc

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"waybill/api"
	"waybill/internal/nearest"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/wire"
)

func duplicateID() *schema.Error {
	return schema.NewError(schema.DuplicateID, "a request with this id is still being worked on").
		Hint("give each unanswered request its own id")
}

func shuttingDown() *schema.Error {
	return schema.NewError(schema.ShuttingDown, "waybill is shutting down and accepts no new requests").
		Hint("start a new process")
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

// batchTooLarge refuses a member of a batch when the answers of incomplete batches fill their memory. None of
// them can be written yet, so waiting would not help.
func batchTooLarge() *schema.Error {
	return schema.NewError(schema.Overloaded, fmt.Sprintf("the answers of incomplete batches exceed %d bytes", maxUnwrittenBytes)).
		With("limit", maxUnwrittenBytes).
		Hint("send requests with large answers one by one")
}

// unfinished is the error for a call that did not end during shutdown.
func unfinished(c *call) *schema.Error {
	e := schema.NewError(schema.ShuttingDown, "waybill is shutting down and the request did not end in time").
		Hint("start a new process and read the state there")
	if c.changes() && c.started.Load() {
		e.Data.Outcome = schema.OutcomeUnknown
	}
	return e
}

func cancelled() *schema.Error {
	return schema.NewError(schema.Cancelled, "the request was cancelled before it started")
}

// unknownMethod is the error for a method that does not exist. It names the nearest existing ones.
func unknownMethod(name string, known []string) *schema.Error {
	near := nearest.Names(name, known)
	e := schema.NewError(schema.MethodNotFound, fmt.Sprintf("there is no method %q", safetext.Truncate(name, 80))).
		With("did_you_mean", near)
	if len(near) > 0 {
		return e.Hint("did you mean " + strings.Join(near, " or ") + "?")
	}
	return e.Hint("rpc.discover lists the methods")
}

// report logs a defect under a new incident id and returns an INTERNAL error with that id.
func (t *defectLog) report(what string, cause any, attrs ...any) *schema.Error {
	id := t.incident()
	t.log.Error(what, append(attrs, "incident", id, "cause", cause)...)
	t.tally.Incidents.Add(1)
	e := schema.NewError(schema.Internal, what+"; this is a defect of waybill").
		Hint("look for the incident in the log of waybill")
	e.Data.Incident = id
	return e
}

// A defectLog logs defects of waybill and failures that no answer can report.
type defectLog struct {
	log      *slog.Logger
	incident func() string
	tally    *wire.Tally
}

// recovered returns the error for a recovered panic, or nil if p is nil.
func (t *defectLog) recovered(p any, what string) *schema.Error {
	if p == nil {
		return nil
	}
	return t.report(what+" panicked", p, "stack", string(debug.Stack()))
}

// withIncident adds an incident id to an INTERNAL answer and logs its cause.
func (t *defectLog) withIncident(a api.Answer, method string) api.Answer {
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

// logFailedNotification logs the failure of a notification, which has no answer.
func (t *defectLog) logFailedNotification(method string, fault *schema.Error) {
	t.tally.FailedNotifications.Add(1)
	t.log.Warn("a notification failed", "method", method, "code", fault.Data.Code, "cause", fault.Message)
}

// newIncident returns a random id for a defect.
func newIncident() string { return "inc_" + strings.ToLower(rand.Text()[:12]) }
