package conn

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"waybill/schema"
	"waybill/wire"
)

func noBatches() *schema.Error {
	return schema.NewError(schema.InvalidBatch, "the line is a batch, which this protocol does not support").
		Hint("send each message on a line of its own")
}

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
func unfinished(c *Call) *schema.Error {
	e := schema.NewError(schema.ShuttingDown, "waybill is shutting down and the request did not end in time").
		Hint("start a new process and read the state there")
	if c.changes() && c.progress.started.Load() {
		e.Data.Outcome = schema.OutcomeUnknown
	}
	return e
}

func cancelled() *schema.Error {
	return schema.NewError(schema.Cancelled, "the request was cancelled before it started")
}

// code returns the name of the fault, which a fault without data has by its number.
func (f *Fault) code() schema.Code {
	if data, ok := f.Data.(schema.ErrorData); ok {
		return data.Code
	}
	switch f.Code {
	case -32601:
		return schema.MethodNotFound
	case -32602:
		return schema.InvalidParams
	}
	return schema.InvalidRequest
}

// A defectLog logs defects of waybill and failures that no answer can report.
type defectLog struct {
	log      *slog.Logger
	incident func() string
	tally    *wire.Tally
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

// recovered returns the error for a recovered panic, or nil if p is nil.
func (t *defectLog) recovered(p any, what string) *schema.Error {
	if p == nil {
		return nil
	}
	return t.report(what+" panicked", p, "stack", string(debug.Stack()))
}

// takeBack calls undelivered, which may be nil.
func (t *defectLog) takeBack(undelivered func()) {
	if undelivered != nil {
		defer func() { _ = t.recovered(recover(), "taking back an answer") }()
		undelivered()
	}
}

// logFailedNotification logs the failure of a notification, which has no answer.
func (t *defectLog) logFailedNotification(method string, fault *Fault) {
	t.tally.FailedNotifications.Add(1)
	t.log.Warn("a notification failed", "method", method, "code", fault.code(), "cause", fault.Message)
}

// NewIncident returns a random id for a defect.
func NewIncident() string { return "inc_" + strings.ToLower(rand.Text()[:12]) }
