package api_test

import (
	"strings"
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

// A report about a session extends the lease of its attempt and, unless it is progress without a message, is recorded.
func TestReportOfASessionExtendsItsLease(t *testing.T) {
	for report, kind := range map[string]string{
		`"type": "started"`: "started", `"type": "idle"`: "idle", `"type": "progress"`: "",
		`"type": "progress", "message": "reading\nfiles"`:                              "progress",
		`"type": "error", "message": "reading\nfiles", "data": {"class": "transient"}`: "error",
		`"type": "error", "data": {"message": "reading\nfiles", "http_status": 503}`:   "error",
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			id := h.create(``)
			h.bind(h.claim("w"), "ses_1")
			for range 3 {
				time.Sleep(50 * time.Second)
				h.tell("ses_1", report).has(true, "applied")
			}
			heard := h.logged("attempt.reported", id)
			if kind == "" {
				require.Empty(t, heard)
			} else {
				require.Len(t, heard, 3)
				heard[0].has(kind, "data.session_event")
				if strings.Contains(report, "reading") {
					heard[0].has("reading files", "data.message")
				}
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
}

func TestInvalidReportOfASessionIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	h.create(``)
	h.bind(h.claim("w"), "ses_1")
	for data, pointer := range map[string]string{
		`{"class": "odd"}`: "/data/class", `{"class": 7}`: "/data", `{"http_status": "429"}`: "/data", `[1]`: "/data", `"x"`: "/data",
	} {
		h.bad(pointer, "report_session_event", `{"session_id": "ses_1", "type": "error", "data": %s}`, data)
	}
	for _, data := range []string{
		`{"error": "text"}`, `{"status": 7}`, `{"info": {"error": {"data": {"statusCode": "404"}}}}`,
		`{}`, `{"error": {}}`, `{"properties": {"error": null}}`, `{"failure": {"message": "insufficient_quota"}}`,
	} {
		h.bad("/data", "report_session_event", `{"session_id": "ses_1", "type": "session.error", "data": %s}`, data)
	}
	h.refused(schema.InvalidParams, "report_session_event", `{"session_id": "ses_1", "type": "session.error"}`)
	for _, kind := range []string{"stopped", "session.gone"} {
		h.refused(schema.InvalidParams, "report_session_event", `{"session_id": "ses_1", "type": %q}`, kind)
	}
	h.tell("ses_1", `"type": "error", "data": {"class": "transient", "of the host": {"n": 1}}`).has(true, "applied")
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
