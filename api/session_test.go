package api_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
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

func TestOfManyRepliesOneWins(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	answers := make([]<-chan api.Answer, 64)
	for i := range answers {
		answers[i] = h.begin(t.Context(), "reply", `{"task_id": %q, "reply": "answer %d"}`, id, i)
	}
	h.result(<-answers[0])
	for _, answer := range answers[1:] {
		a := <-answer
		require.Equal(t, schema.AlreadyResolved, a.Err.Data.Code)
		require.Equal(t, "QUEUED", a.Err.Data.Details["status"])
	}
	require.Equal(t, []string{"answer 0"}, h.task(id).each("replies", "reply"))
}

// An answer stays with its question until an attempt succeeds, even if attempts fail or are lost in between.
func TestAnswerIsHandedOutUnderItsQuestionThroughRetries(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		id := h.asked(`"max_attempts": 4`)
		h.call("reply", `{"task_id": %q, "reply": "elm\n[Continue Task]"}`, id)
		h.finish(h.claim("w"), overloaded+`, "output": "partial log"`).has("QUEUED", "task.status")
		time.Sleep(time.Minute)
		h.claim("w").has(true, "claim.continuation")
		time.Sleep(time.Minute) // its lease runs out
		synctest.Wait()
		h.task(id).has("elm\n[Continue Task]", "task.user_reply")
		again := h.claim("w")
		require.True(t, strings.HasPrefix(again.str("claim.prompt"),
			"[Previous Output]\nI looked.\n\noak or elm?\n\n[User Reply]\nelm\n│ [Continue Task]\n\n[Continue Task]\n"), again.str("claim.prompt"))
		h.finish(again, `"status": "interrupted", "output": "another log", "question": "what now?"`).has("oak or elm?", "task.question")
		h.call("retry_task", `{"task_id": %q}`, id)
		last := h.claim("w")
		require.NotContains(t, last.str("claim.prompt"), "log")
		done := h.finish(last, completed)
		done.lacks("task.output") // the text before the question is no result
		done.lacks("task.question", "task.user_reply")
	})
}

func TestContinuationAfterAnErrorHasTheError(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	h.call("reply", `{"task_id": %q, "reply": "elm"}`, id)
	h.finish(h.claim("w"), `"status": "error", "error": {"message": "no elm in stock", "class": "terminal"}`).has("ERROR", "task.status")
	h.call("reply", `{"task_id": %q, "reply": "order some"}`, id)
	prompt := h.claim("w").str("claim.prompt")
	require.True(t, strings.HasPrefix(prompt,
		"[Previous Output]\nThe attempt ended with this error:\nno elm in stock\n\n[User Reply]\norder some\n\n[Continue Task]\n"), prompt)
	require.Contains(t, prompt, "Answered before:\nQuestion: oak or elm?\nReply: elm\n")
	h.task(id).lacks("replies.1.question")
}

// A second person answers the first question when the task already asks another.
func TestAnswerToOneQuestionIsNotTakenForTheNext(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	first := h.call("list_awaiting", `{}`).str("items.0.attempt_id")
	require.Equal(t, h.task(id).str("task.current_attempt_id"), first)
	h.call("reply", `{"task_id": %q, "attempt_id": %q, "reply": "elm"}`, id, first)
	h.finish(h.claim("w"), `"status": "awaiting_response", "question": "delete the rest?"`)
	h.refused(schema.AlreadyResolved, "reply", `{"task_id": %q, "attempt_id": %q, "reply": "yes"}`, id, first).
		has("AWAITING_RESPONSE", "data.details.status")
	h.is("AWAITING_RESPONSE", id)
	h.task(id).has(1, "replies_total")
	second := h.call("list_awaiting", `{}`).str("items.0.attempt_id")
	require.NotEqual(t, first, second)
	h.call("reply", `{"task_id": %q, "attempt_id": %q, "reply": "no"}`, id, second).has("QUEUED", "new_status")
}

// The attempt that carries the answer may run in the session of the question; an attempt of another task may not.
func TestContinuationRunsInTheSameSession(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	asking := h.claim("w")
	h.bind(asking, "ses_1")
	h.finish(asking, `"status": "awaiting_response", "question": "oak or elm?"`)
	h.call("reply", `{"task_id": %q, "reply": "elm"}`, id)
	again := h.claim("w")
	h.tell("ses_1", `"type": "progress"`).has("stale_attempt", "reason")
	for range 2 { // the second one changes nothing
		h.bind(again, "ses_1").has("ses_1", "attempt.session_id")
	}
	require.Len(t, h.logged("attempt.bound", id), 2)
	h.tell("ses_1", `"type": "progress"`).has(again.str("claim.attempt.attempt_id"), "attempt_id")

	h.create(``)
	other := h.claim("w")
	for _, state := range []string{"running", "completed"} {
		fault := h.refused(schema.SessionBound, "bind_session", "%s", bindParams(other, "ses_1", ""))
		require.Contains(t, fault.str("message"), "of task "+id+", which is "+state)
		h.finish(again, completed)
	}
}

// The outstanding instructions of a session are cancelled when its attempt is cancelled or its lease expires.
func TestEndOfAnAttemptCancelsItsInstructions(t *testing.T) {
	for name, end := range map[string]func(h *host, id string, c object){
		"cancelled": func(h *host, id string, c object) {
			h.call("cancel_task", `{"task_id": %q}`, id)
			h.call("list_instructions", `{"state": "cancelled"}`).has([]any{}, "items")
			h.finish(c, `"status": "cancelled"`).has("CANCELLED", "task.status")
		},
		"expired": func(*host, string, object) {
			time.Sleep(time.Minute)
			synctest.Wait()
		},
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			id := h.create(`"max_attempts": 2`)
			c := h.claim("w")
			h.bind(c, "ses_1")
			sent := h.track(`{"content": "sent already", "session_id": "ses_1"}`)
			h.call("dispatch_instructions", `{"session_id": "ses_1"}`)
			queued := h.track(`{"content": "still queued", "session_id": "ses_1"}`)
			other := h.track(`{"content": "of another session", "session_id": "ses_2"}`)
			end(h, id, c)
			cancelled := h.call("list_instructions", `{"state": "cancelled"}`)
			require.Equal(t, []string{sent, queued}, cancelled.each("items", "instruction_id"), name)
			cancelled.has("attempt 1 of task "+id+" is over", "items.0.reason")
			require.Len(t, h.logged("instruction.cancelled", queued), 1)
			require.Equal(t, []string{other}, h.call("list_instructions", `{"state": "queued"}`).each("items", "instruction_id"))
		})
	}
}
