package api_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// tell reports about a session; rest are further params.
func (h *host) tell(session, rest string) object {
	h.t.Helper()
	return h.call("report_session_event", `{"session_id": %q, %s}`, session, rest)
}

func TestIdleSessionIsNotFinished(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	h.bind(h.claim("w"), "ses_1")
	for _, kind := range []string{"started", "idle", "idle"} {
		h.tell("ses_1", `"type": "`+kind+`"`).has(true, "applied")
		h.is("RUNNING", id)
	}
	heard := h.logged("attempt.reported", id)
	require.Len(t, heard, 3)
	heard[0].has("started", "data.session_event")
	heard[2].has("idle", "data.session_event")
}

func TestWhatIsHeardOfASessionExtendsItsLease(t *testing.T) {
	for _, kind := range []string{`"type": "started"`, `"type": "progress"`, `"type": "idle"`, `"type": "error", "message": "try again", "data": {"class": "transient"}`} {
		timedTasks(t, setup{}, func(t *testing.T, h *host) {
			id := h.create(``)
			h.bind(h.claim("w"), "ses_1")
			for range 3 {
				time.Sleep(50 * time.Second)
				h.tell("ses_1", kind).has(true, "applied")
			}
			time.Sleep(59 * time.Second)
			synctest.Wait()
			h.is("RUNNING", id)
			time.Sleep(time.Second)
			synctest.Wait()
			h.is("ERROR", id)
		})
	}
}

func TestErrorThatASessionMayRecoverFromEndsNothing(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	h.bind(h.claim("w"), "ses_1")
	for _, said := range []string{
		`"message": "socket hang up"`, `"data": {"http_status": 503}`, `"data": {"message": "overloaded"}`, `"message": "x", "data": {"class": "transient"}`,
	} {
		h.tell("ses_1", `"type": "error", `+said).has(true, "applied")
		h.is("RUNNING", id)
	}
	heard := h.logged("attempt.reported", id)
	require.Len(t, heard, 4)
	heard[0].has("error", "data.session_event")
	heard[0].has("socket hang up", "data.message")
	heard[2].has("overloaded", "data.message")
}

func TestErrorThatEndsASessionEndsItsAttempt(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	c := h.claim("w")
	h.bind(c, "ses_1")
	h.tell("ses_1", `"type": "error", "message": "context too long", "data": {"name": "ContextLengthError"}`).has(true, "applied")
	task := h.task(id)
	task.has("ERROR", "task.status")
	task.has("failed", "task.reason")
	task.has("context too long", "task.error.message")
	h.finish(c, completed).has(false, "applied")
	h.tell("ses_1", `"type": "idle"`).has("stale_attempt", "reason")
	h.task(id).has(2, "attempts.0.stale_events")
	h.mirrored(id)
}

func TestDeletedSessionCancelsItsTask(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(`"max_attempts": 5`)
	h.bind(h.claim("w"), "ses_1")
	h.tell("ses_1", `"type": "deleted"`).has(true, "applied")
	task := h.task(id)
	task.has("CANCELLED", "task.status")
	task.has("its session was deleted", "task.reason")
	h.tell("ses_1", `"type": "deleted"`).has("stale_attempt", "reason")
}

func TestSessionThatWasNeverBoundIsUnknown(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	h.claim("w")
	seq := h.seq()
	h.tell("ses_1", `"type": "deleted"`).has("unknown_session", "reason")
	require.Equal(t, seq, h.seq())
	h.is("RUNNING", id)
}

func TestErrorOfASessionIsReadStrictly(t *testing.T) {
	h := newHost(t, setup{})
	h.create(``)
	h.bind(h.claim("w"), "ses_1")
	for data, pointer := range map[string]string{
		`{"class": "odd"}`: "/data/class", `{"class": 7}`: "/data", `{"http_status": "429"}`: "/data", `[1]`: "/data", `"x"`: "/data",
	} {
		fault := h.refused(schema.InvalidParams, "report_session_event", `{"session_id": "ses_1", "type": "error", "data": %s}`, data)
		fault.has(pointer, "data.details.errors.0.pointer")
	}
	h.refused(schema.InvalidParams, "report_session_event", `{"session_id": "ses_1", "type": "stopped"}`)
	h.tell("ses_1", `"type": "error", "data": {"class": "transient", "of the host": {"n": 1}}`).has(true, "applied")
}

func TestProgressThatSaysSomethingIsOnTheLog(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	h.bind(h.claim("w"), "ses_1")
	seq := h.seq()
	h.tell("ses_1", `"type": "progress"`).has(true, "applied")
	require.Equal(t, seq, h.seq(), "a mere sign of life is nothing to tell")
	h.tell("ses_1", `"type": "progress", "message": "reading\nfiles"`)
	heard := h.logged("attempt.reported", id)
	require.Len(t, heard, 1)
	heard[0].has("reading files", "data.message")
	heard[0].has("progress", "data.session_event")
}

// Hosts use their own event names and forward their event data.
func TestHostEventNamesAreMapped(t *testing.T) {
	for _, row := range []struct{ said, status, heard string }{
		{`"type": "message.updated"`, "RUNNING", "progress"},
		{`"type": "message.updated", "data": {"info": {"id": "msg_1", "role": "assistant"}}, "message": "reading"`, "RUNNING", "progress"},
		{`"type": "message.updated", "data": {"info": {"error": {"name": "ProviderAuthError", "data": {"message": "no api key"}}}}`, "QUEUED", "error"},
		{`"type": "session.status", "data": {"status": {"type": "busy"}}`, "RUNNING", "progress"},
		{`"type": "session.status", "data": {"status": {"type": "idle"}}`, "RUNNING", "idle"},
		{`"type": "session.status", "data": {"status": {"type": "retry", "attempt": 1, "message": "Overloaded", "next": 5}}`, "RUNNING", "error"},
		{`"type": "session.status", "data": {"status": {"type": "retry", "message": "Too Many Requests"}}`, "QUEUED", "error"},
		{`"type": "session.error", "data": {"error": {"name": "APIError", "data": {"message": "gone", "statusCode": 404}}}`, "QUEUED", "error"},
		{`"type": "session.error", "data": {"class": "provider", "message": "gone"}`, "QUEUED", "error"},
		{`"type": "session.error", "message": "the frobnicator is out of tune"`, "RUNNING", "error"},
		{`"type": "session.error", "data": {"error": {"name": "MessageAbortedError", "data": {"message": "x"}}}`, "ERROR", "error"},
		{`"type": "session.error", "data": {"type": "session.error", "properties": {"sessionID": "s", "error": {"name": "APIError", "data": {"message": "insufficient_quota"}}}}`, "QUEUED", "error"},
		{`"type": "session.error", "data": {"properties": {"error": {"name": "ProviderAuthError", "data": {"message": "bad key"}}}}`, "QUEUED", "error"},
		{`"type": "message.updated", "data": {"message": {"error": {"message": "insufficient_quota"}}}`, "QUEUED", "error"},
		{`"type": "message.updated", "data": {"properties": {"info": {"error": {"message": "insufficient_quota"}}}}`, "QUEUED", "error"},
		{`"type": "message.updated", "data": {"message": "reading"}`, "RUNNING", "progress"},
		{`"type": "session.status", "data": {"properties": {"status": {"type": "idle"}}}`, "RUNNING", "idle"},
	} {
		h := newHost(t, setup{})
		id := h.create(`"models": [{"provider_id": "acme", "model_id": "large"}, {"provider_id": "umbra", "model_id": "small"}]`)
		h.bind(h.claim("w"), "ses_1")
		h.tell("ses_1", row.said).has(true, "applied")
		h.is(row.status, id)
		if row.status == "RUNNING" && row.heard != "progress" {
			h.logged("attempt.reported", id)[0].has(row.heard, "data.session_event")
		}
	}
}

func TestEventOfAHostThatIsNoneIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	for _, data := range []string{`{"error": "text"}`, `{"status": 7}`, `{"info": {"error": {"data": {"statusCode": "404"}}}}`} {
		h.refused(schema.InvalidParams, "report_session_event", `{"session_id": "ses_1", "type": "session.error", "data": %s}`, data).
			has("/data", "data.details.errors.0.pointer")
	}
	h.refused(schema.InvalidParams, "report_session_event", `{"session_id": "ses_1", "type": "session.gone"}`)
	h.create(``)
	h.bind(h.claim("w"), "ses_1")
	for _, data := range []string{`{}`, `{"error": {}}`, `{"properties": {"error": null}}`, `{"failure": {"message": "insufficient_quota"}}`} {
		fault := h.refused(schema.InvalidParams, "report_session_event", `{"session_id": "ses_1", "type": "session.error", "data": %s}`, data)
		fault.has("/data", "data.details.errors.0.pointer")
	}
	h.refused(schema.InvalidParams, "report_session_event", `{"session_id": "ses_1", "type": "session.error"}`)
}
