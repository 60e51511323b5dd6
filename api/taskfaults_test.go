package api_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// Cancelling a task cancels the outstanding instructions of its session.
func TestCancelledTaskTakesItsInstructionsAlong(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	c := h.claim("w")
	h.bind(c, "ses_1")
	sent := h.track(`{"content": "sent already", "session_id": "ses_1"}`)
	h.call("dispatch_instructions", `{"session_id": "ses_1"}`)
	queued := h.track(`{"content": "still queued", "session_id": "ses_1"}`)
	other := h.track(`{"content": "of another session", "session_id": "ses_2"}`)
	h.call("cancel_task", `{"task_id": %q}`, id)
	h.call("list_instructions", `{"state": "cancelled"}`).has([]any{}, "items")
	h.finish(c, `"status": "cancelled"`).has("CANCELLED", "task.status")
	cancelled := h.call("list_instructions", `{"state": "cancelled"}`)
	require.Equal(t, []string{sent, queued}, cancelled.each("items", "instruction_id"))
	cancelled.has("attempt 1 of task "+id+" is over", "items.0.reason")
	require.Empty(t, h.call("dispatch_instructions", `{"session_id": "ses_1"}`).sent())
	require.Len(t, h.logged("instruction.cancelled", queued), 1)
	require.Equal(t, []string{other}, h.call("list_instructions", `{"state": "queued"}`).each("items", "instruction_id"))
}

// An expired lease cancels the outstanding instructions of its session.
func TestExpiredAttemptTakesItsInstructionsAlong(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.create(`"max_attempts": 2`)
		h.bind(h.claim("w"), "ses_1")
		in := h.track(`{"content": "x", "session_id": "ses_1"}`)
		time.Sleep(time.Minute)
		synctest.Wait()
		h.call("list_instructions", `{"state": "cancelled"}`).has(in, "items.0.instruction_id")
	})
}

func TestReplyWhenNothingWasAsked(t *testing.T) {
	for _, status := range []string{"QUEUED", "RUNNING", "COMPLETE"} {
		h := newHost(t, setup{})
		id, _ := h.in(status)
		fault := h.refused(schema.InvalidState, "reply", `{"task_id": %q, "reply": "yes"}`, id)
		fault.has(4000, "code")
		fault.has(status, "data.details.status")
		require.NotContains(t, fault.at("data.details.allowed"), "reply")
	}
	for _, status := range []string{"ERROR", "CANCELLED", "AWAITING_RESPONSE"} { // a person may help there
		h := newHost(t, setup{})
		id, _ := h.in(status)
		answer := h.call("reply", `{"task_id": %q, "reply": "yes"}`, id)
		answer.has(true, "success")
		answer.has(status, "old_status")
		answer.has("QUEUED", "new_status")
	}
}

func TestOfManyRepliesOneWins(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	answers := make([]<-chan api.Answer, 64)
	start := make(chan struct{})
	ready := make(chan struct{})
	for i := range answers {
		answer := make(chan api.Answer, 1)
		answers[i] = answer
		go func() { // ends when its call is answered
			ready <- struct{}{}
			<-start
			entry, _ := h.table.Entry("reply")
			entry.Start(t.Context(), fmt.Appendf(nil, `{"task_id": %q, "reply": "answer %d"}`, id, i), func(a api.Answer) { answer <- a })
		}()
	}
	for range answers {
		<-ready
	}
	close(start)
	won := -1
	for i, answer := range answers {
		a := <-answer
		if a.Err == nil {
			require.Negative(t, won, "two had success")
			won = i
			continue
		}
		require.Equal(t, schema.AlreadyResolved, a.Err.Data.Code)
		require.Equal(t, 4090, a.Err.Code)
		require.Equal(t, "QUEUED", a.Err.Data.Details["status"])
	}
	require.GreaterOrEqual(t, won, 0)
	task := h.task(id)
	task.has(fmt.Sprint("answer ", won), "task.user_reply")
	require.Len(t, task.at("replies"), 1)
}

func TestReplyAgainWithItsKey(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	first := h.call("reply", `{"task_id": %q, "reply": "elm", "idempotency_key": "k"}`, id)
	h.finish(h.claim("w"), `"status": "completed"`)
	require.Equal(t, first.text, h.call("reply", `{"task_id": %q, "reply": "elm", "idempotency_key": "k"}`, id).text)
	h.refused(schema.IdempotencyClash, "reply", `{"task_id": %q, "reply": "oak", "idempotency_key": "k"}`, id)
}

func TestReplyThatIsNoReply(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	for _, blank := range []string{`""`, `" \t\r\n"`, `"\u00a0\u2003"`} {
		fault := h.refused(schema.EmptyContent, "reply", `{"task_id": %q, "reply": %s}`, id, blank)
		fault.has(-32602, "code")
		fault.has("/reply", "data.details.errors.0.pointer")
	}
	for _, reply := range []string{`7`, `null`, `["yes"]`} {
		fault := h.refused(schema.InvalidParams, "reply", `{"task_id": %q, "reply": %s}`, id, reply)
		fault.has("/reply", "data.details.errors.0.pointer")
	}
	h.refused(schema.InvalidParams, "reply", `{"task_id": %q}`, id).has("/reply", "data.details.errors.0.pointer")
	fault := h.refused(schema.TooLarge, "reply", `{"task_id": %q, "reply": %q}`, id, strings.Repeat("x", schema.MaxReplyBytes+1))
	fault.has(4130, "code")
	fault.has(schema.MaxReplyBytes, "data.details.limit")
	fault.has("/reply", "data.details.pointer")
	h.is("AWAITING_RESPONSE", id)
	h.call("reply", `{"task_id": %q, "reply": %q}`, id, strings.Repeat("x", schema.MaxReplyBytes))
}

// Invalid ids are refused in every param.
func TestInvalidIDsAreRefused(t *testing.T) {
	h := newHost(t, setup{})
	methods := map[string]string{
		"claim_task/worker": `"worker": ID`, "claim_task/run_id": `"worker": "w", "run_id": ID`,
		"create_task/run_id": `"prompt": "x", "run_id": ID`, "create_task/parent_session_id": `"prompt": "x", "parent_session_id": ID`,
		"create_task/depends_on/0": `"prompt": "x", "depends_on": [ID]`,
		"bind_session/task_id":     `"task_id": ID, "attempt_id": "a", "lease_token": "l", "session_id": "s"`,
		"bind_session/attempt_id":  `"task_id": "t", "attempt_id": ID, "lease_token": "l", "session_id": "s"`,
		"bind_session/lease_token": `"task_id": "t", "attempt_id": "a", "lease_token": ID, "session_id": "s"`,
		"bind_session/session_id":  `"task_id": "t", "attempt_id": "a", "lease_token": "l", "session_id": ID`,
		"heartbeat/task_id":        `"task_id": ID, "lease_token": "l"`, "heartbeat/lease_token": `"task_id": "t", "lease_token": ID`,
		"finish_attempt/task_id":          `"task_id": ID, "lease_token": "l", "status": "completed"`,
		"finish_attempt/lease_token":      `"task_id": "t", "lease_token": ID, "status": "completed"`,
		"report_session_event/session_id": `"session_id": ID, "type": "idle"`,
		"retry_task/task_id":              `"task_id": ID`, "cancel_task/task_id": `"task_id": ID`, "get_task/task_id": `"task_id": ID`,
		"get_timeline/task_id": `"task_id": ID`, "reply/task_id": `"task_id": ID, "reply": "x"`,
		"list_tasks/run_id": `"run_id": ID`, "list_tasks/parent_session_id": `"parent_session_id": ID`,
	}
	bad := []string{"", "a/b", "..%2F", "a b", "tsk_\\u0000", "tsk_\\u043e", "ｔsk", "a\\nb", strings.Repeat("x", 129), strings.Repeat("x", 10<<10), "é"}
	for path, params := range methods {
		method, field, _ := strings.Cut(path, "/")
		for _, id := range bad {
			a := <-h.begin(t.Context(), method, "%s", `{`+strings.Replace(params, "ID", `"`+id+`"`, 1)+`}`)
			require.NotNil(t, a.Err, "%s %q", path, id)
			require.Equal(t, schema.InvalidParams, a.Err.Data.Code, "%s %q: %s", path, id, a.Err.Message)
			require.Equal(t, "/"+field, a.Err.Data.Details["errors"].([]schema.Problem)[0].Pointer, path)
			require.Less(t, len(a.Err.Message), 512, "an error repeats its params")
		}
	}
	require.Zero(t, h.seq())
	for _, id := range []string{"..", strings.Repeat("x", 128), "tsk_nobody"} { // well-formed but unknown
		h.refused(schema.TaskGone, "get_task", `{"task_id": %q}`, id).has(4040, "code")
		h.refused(schema.TaskGone, "reply", `{"task_id": %q, "reply": "x"}`, id).has(id, "data.details.task_id")
		h.refused(schema.TaskGone, "retry_task", `{"task_id": %q}`, id)
		h.refused(schema.TaskGone, "cancel_task", `{"task_id": %q}`, id)
		h.refused(schema.TaskGone, "get_timeline", `{"task_id": %q}`, id)
		h.refused(schema.TaskGone, "heartbeat", `{"task_id": %q, "lease_token": "l"}`, id)
		h.refused(schema.TaskGone, "finish_attempt", `{"task_id": %q, "lease_token": "l", "status": "completed"}`, id)
		h.refused(schema.TaskGone, "bind_session", `{"task_id": %q, "attempt_id": "a", "lease_token": "l", "session_id": "s"}`, id)
	}
	h.refused(schema.RunGone, "create_task", `{"prompt": "x", "run_id": "run_nobody"}`)
}

func TestAttemptOfAnotherTask(t *testing.T) {
	h := newHost(t, setup{})
	h.create(``)
	first := h.claim("w")
	id := h.create(``)
	second := h.claim("w")
	for _, attempt := range []string{"att_nobody", first.str("claim.attempt.attempt_id")} {
		fault := h.refused(schema.AttemptGone, "bind_session", `{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": "s"}`,
			id, attempt, second.str("claim.lease.token"))
		fault.has(attempt, "data.details.attempt_id")
	}
}

// The worker dies while it carries a person's answer.
func TestAnswerOutlivesTheWorker(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		id := h.asked(`"max_attempts": 3`)
		h.call("reply", `{"task_id": %q, "reply": "elm"}`, id)
		for range 2 {
			h.claim("w").has(true, "claim.continuation")
			time.Sleep(time.Minute)
			synctest.Wait()
			task := h.task(id)
			task.has("QUEUED", "task.status")
			task.has("elm", "task.user_reply")
		}
		last := h.claim("w")
		require.Contains(t, last.str("claim.prompt"), "[User Reply]\nelm\n")
		require.Contains(t, last.str("claim.prompt"), "[Previous Output]\nI looked.\n")
		h.finish(last, `"status": "completed", "output": "Elm it is."`).lacks("task.user_reply")
		h.task(id).has("elm", "replies.0.reply")
	})
}

// The answer is kept after a failed attempt, and after the end of the task.
func TestAnswerOutlivesAFailure(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	h.call("reply", `{"task_id": %q, "reply": "elm"}`, id)
	h.finish(h.claim("w"), `"status": "error", "error": {"message": "no", "class": "terminal"}`).has("elm", "task.user_reply")
	h.call("retry_task", `{"task_id": %q}`, id)
	again := h.claim("w")
	again.has(true, "claim.continuation")
	h.finish(again, `"status": "awaiting_response", "question": "really?"`).lacks("task.user_reply")
}

func TestOneOfManyClaimsGetsTheTask(t *testing.T) {
	h := newHost(t, setup{})
	h.create(``)
	answers := make([]<-chan api.Answer, 64)
	for i := range answers {
		answers[i] = h.begin(t.Context(), "claim_task", `{"worker": "w%d"}`, i)
	}
	got := 0
	for _, answer := range answers {
		if h.result(<-answer).at("claim") != nil {
			got++
		}
	}
	require.Equal(t, 1, got)
}
