package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

const choices = `"status": "awaiting_response", "output": "I found old data.", "question": "What about it?",
	"options": [{"label": "keep", "detail": "2 GB"}, {"label": "drop it"}], "default": "drop it"`

func TestTheAnswerSaysWhichOption(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		id, c := h.in("RUNNING")
		h.finish(c, choices)
		w := h.call("list_awaiting", `{}`)
		w.has("2 GB", "items.0.options.0.detail")
		w.has("drop it", "items.0.options.1.label")
		w.has(true, "items.0.allow_text")
		w.has("drop it", "items.0.default")
		w.lacks("items.0.default_at")
		h.bad("/option", "reply", `{"task_id": %q, "option": "keep it"}`, id)
		h.call("reply", `{"task_id": %q, "option": "keep", "by": "ann"}`, id)
		h.refused(schema.AlreadyResolved, "reply", `{"task_id": %q, "option": "drop it"}`, id)
		d := h.call("get_task", `{"task_id": %q}`, id)
		for _, path := range []string{"replies.0.option", "replies.0.reply", "task.user_option", "task.user_reply"} {
			d.has("keep", path)
		}
		d.lacks("replies.0.by_time", "task.user_by_time")
		claim := h.call("claim_task", `{"worker": "w"}`)
		require.Contains(t, claim.str("claim.prompt"), "The question offered these answers:\n1. keep (2 GB)\n2. drop it\n")
		require.Contains(t, claim.str("claim.prompt"), "\nOption 1 of 2: keep (2 GB)\n")
	})
}

func TestOwnWordsAreAnAnswerUnlessTheQuestionIsClosed(t *testing.T) {
	h := newHost(t, setup{})
	id, c := h.in("RUNNING")
	h.finish(c, choices)
	h.call("reply", `{"task_id": %q, "reply": "move it to the attic"}`, id)
	h.call("get_task", `{"task_id": %q}`, id).lacks("task.user_option", "replies.0.option")

	h = newHost(t, setup{})
	id, c = h.in("RUNNING")
	h.finish(c, choices+`, "allow_text": false`)
	h.bad("/reply", "reply", `{"task_id": %q, "reply": "move it to the attic"}`, id)
	h.bad("/reply", "reply", `{"task_id": %q, "option": "keep", "reply": "and move it"}`, id)
	h.is("AWAITING_RESPONSE", id)
	h.call("reply", `{"task_id": %q, "reply": " drop it\n"}`, id)
	h.call("get_task", `{"task_id": %q}`, id).has("drop it", "task.user_option")
}

func TestTheCaseOfALabelDoesNotCount(t *testing.T) {
	for _, answer := range []string{`"reply": "Drop IT"`, `"option": "DROP it"`, `"option": "Drop it", "reply": "dROP it\n"`} {
		for _, closed := range []string{"", `, "allow_text": false`} {
			h := newHost(t, setup{})
			id, c := h.in("RUNNING")
			h.finish(c, choices+closed)
			h.call("reply", `{"task_id": %q, `+answer+`}`, id)
			d := h.call("get_task", `{"task_id": %q}`, id)
			d.has("drop it", "task.user_option")
			d.has("drop it", "task.user_reply")
		}
	}
}

func TestABlankOptionIsNoAnswer(t *testing.T) {
	for _, rest := range []string{`, "allow_text": false`, ""} {
		h := newHost(t, setup{})
		id, c := h.in("RUNNING")
		h.finish(c, choices+rest)
		h.bad("/option", "reply", `{"task_id": %q, "option": " "}`, id)
		h.bad("/option", "reply", `{"task_id": %q, "option": "\t", "reply": "keep"}`, id)
		h.is("AWAITING_RESPONSE", id)
	}
}

func TestTimeTakesADefaultAndNoPerson(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		id, c := h.in("RUNNING")
		h.finish(c, choices+`, "default_after_ms": 60000`)
		require.Equal(t, time.Now().Add(time.Minute).UTC(), h.call("list_awaiting", `{}`).instant("items.0.default_at"))
		time.Sleep(time.Minute + time.Second)
		claim := h.call("claim_task", `{"worker": "w"}`)
		claim.has(id, "claim.task.task_id")
		require.Contains(t, claim.str("claim.prompt"), "\nNo person answered in time. The default was taken, and no person has confirmed it.\nOption 2 of 2: drop it\n")
		d := h.call("get_task", `{"task_id": %q}`, id)
		d.has(true, "replies.0.by_time")
		d.has(true, "task.user_by_time")
		d.lacks("replies.0.by")
		h.call("events_since", `{"cursor": "0", "types": ["task.default_taken"]}`).has("drop it", "events.0.data.option")
		h.refused(schema.AlreadyResolved, "reply", `{"task_id": %q, "option": "keep"}`, id)
	})
}

func TestABadOfferNamesTheOption(t *testing.T) {
	h := newHost(t, setup{})
	id, c := h.in("RUNNING")
	for rest, pointer := range map[string]string{
		`"options": [{"label": "a"}, {"label": "A "}]`:                        "/options/1/label",
		`"options": [{"label": "a"}, {"label": "\u001b[2J"}]`:                 "/options/1/label",
		`"options": [{"label": "a"}, {"detail": "b"}]`:                        "/options/1/label",
		`"options": [{"label": "a"}], "default": "b"`:                         "/default",
		`"options": [{"label": "a"}], "default_after_ms": 1000`:               "/default_after_ms",
		`"options": [{"label": "a"}], "default": "a", "default_after_ms": 10`: "/default_after_ms",
		`"allow_text": false`:                                                 "/allow_text",
	} {
		h.bad(pointer, "finish_attempt", `{"task_id": %q, "lease_token": %q, "status": "awaiting_response", "question": "?", %s}`, id, c.str("claim.lease.token"), rest)
	}
	h.bad("/options", "finish_attempt", `{"task_id": %q, "lease_token": %q, "status": "completed", "options": [{"label": "a"}]}`, id, c.str("claim.lease.token"))
	h.is("RUNNING", id)
}
