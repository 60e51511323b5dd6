package api_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// track queues a tracked instruction and returns its id.
func (h *host) track(params string, args ...any) string {
	h.t.Helper()
	return h.call("queue_instruction_with_ack", params, args...).str("instruction_id")
}

// pass dispatches the default session once.
func (h *host) pass() object {
	h.t.Helper()
	return h.call("dispatch_instructions", `{}`)
}

// sent returns the texts of a dispatch answer.
func (o object) sent() []string {
	o.t.Helper()
	return o.each("instructions", "text")
}

func TestAckOfAnUnknownID(t *testing.T) {
	h := newHost(t, setup{})
	fault := h.refused(schema.InstructionGone, "acknowledge", `{"instruction_id":"ins_nobody"}`)
	fault.has(4040, "code")
	fault.has("INSTRUCTION_NOT_FOUND", "data.code")
	fault.has(false, "data.retryable")
	fault.has("ins_nobody", "data.details.instruction_id")
	h.refused(schema.InstructionGone, "cancel_instruction", `{"instruction_id":"ins_nobody"}`)
}

func TestAckTwiceIsTheSameAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		id := h.track(`{"content":"x"}`)
		h.pass()
		first := h.call("acknowledge", `{"instruction_id":%q}`, id)
		first.has(false, "already")
		first.lacks("before_dispatch")
		first.has("acknowledged", "instruction.state")
		first.has("call", "instruction.acknowledged_by")
		seq := h.seq()
		time.Sleep(time.Second)
		again := h.call("ack", `{"instruction_id":%q}`, id)
		again.has(true, "already")
		require.Equal(t, first.at("instruction"), again.at("instruction"))
		require.Equal(t, seq, h.seq())
		require.Empty(t, h.pass().sent())
	})
}

func TestAckAfterItFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		id := h.track(`{"content":"x","max_retries":0}`)
		h.pass()
		h.pass().has(id, "failed.0.instruction_id")
		time.Sleep(time.Second)
		late := h.call("acknowledge", `{"instruction_id":%q}`, id)
		late.has(false, "already")
		late.has("failed", "instruction.state")
		late.has("2000-01-01T00:00:01.000000Z", "instruction.late_ack_at")
		late.lacks("instruction.acknowledged_at")
		time.Sleep(time.Second)
		again := h.call("acknowledge", `{"instruction_id":%q}`, id)
		again.has(true, "already")
		again.has("2000-01-01T00:00:01.000000Z", "instruction.late_ack_at")
		h.call("get_failed_instructions", `{}`).has(again.at("instruction"), "items.0")
	})
}

func TestAckBeforeTheFirstDispatch(t *testing.T) {
	h := newHost(t, setup{})
	id := h.track(`{"content":"x"}`)
	acked := h.call("acknowledge", `{"instruction_id":%q}`, id)
	acked.has(true, "before_dispatch")
	acked.has(false, "already")
	acked.has("acknowledged", "instruction.state")
	acked.has(0, "instruction.sends")
	acked.lacks("instruction.last_sent_at")
	require.Empty(t, h.pass().sent())
}

func TestEqualTextsAreTrackedSeparately(t *testing.T) {
	h := newHost(t, setup{})
	a, b := h.track(`{"content":"x"}`), h.track(`{"content":"x"}`)
	require.NotEqual(t, a, b)
	h.call("queue_instruction", `{"content":"x"}`)
	require.Equal(t, []string{"x", "x", "x"}, h.pass().sent())
	h.call("acknowledge", `{"instruction_id":%q}`, a)
	again := h.pass()
	require.Equal(t, []string{b}, again.each("instructions", "instruction_id"))
	again.has("x", "instructions.0.content")
}

func TestOneSendAPassAndAsManyAsWereAskedFor(t *testing.T) {
	for _, retries := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(retries), func(t *testing.T) {
			h := newHost(t, setup{})
			id := h.track(`{"content":"x","max_retries":%d}`, retries)
			for send := 1; send <= 1+retries; send++ {
				pass := h.pass()
				require.Equal(t, []string{id}, pass.each("instructions", "instruction_id"))
				pass.has(send, "instructions.0.send")
				pass.has(1+retries, "instructions.0.sends_max")
				pass.has(true, "instructions.0.tracked")
				pass.has(0, "remaining")
				require.Empty(t, pass.each("failed", "state"))
			}
			last := h.pass()
			require.Empty(t, last.sent())
			last.has(id, "failed.0.instruction_id")
			last.has("failed", "failed.0.state")
			last.has(1+retries, "failed.0.sends")
			over := h.pass()
			require.Empty(t, over.sent())
			require.Empty(t, over.each("failed", "state"))
			h.call("get_failed_instructions", `{}`).has(id, "items.0.instruction_id")
		})
	}
}

func TestFailureAndItsNoticeAreOneChange(t *testing.T) {
	h := newHost(t, setup{})
	id := h.track(`{"content":"x","session_id":"s","max_retries":0}`)
	h.call("dispatch_instructions", `{"session_id":"s"}`)
	h.call("list_notices", `{}`).has([]any{}, "items")
	failed := h.call("dispatch_instructions", `{"session_id":"s"}`)
	notices := h.call("list_notices", `{"session_id":"s"}`)
	notices.has("instruction.failed", "items.0.kind")
	notices.has(id, "items.0.subject_id")
	notices.has("s", "items.0.session_id")
	notices.has(`an instruction for session s was sent once and never acknowledged: "x"`, "items.0.text")
	notices.has(1, "items.0.data.sends")
	log := h.call("events_since", `{"cursor":"0","types":["instruction.failed","notice.posted"]}`)
	require.Equal(t, []string{"instruction.failed", "notice.posted"}, log.each("events", "type"))
	require.Equal(t, log.at("events.0.seq").(float64)+1, log.at("events.1.seq"))
	failed.has(log.at("events.1.seq"), "seq")
	require.Equal(t, log.at("events.0.at"), log.at("events.1.at"))
}

// The process could not write its answer to the host.
func TestUndeliveredSendBurnsNoRetry(t *testing.T) {
	h := newHost(t, setup{})
	plain := h.call("queue_instruction", `{"content":"plain"}`).str("instruction.instruction_id")
	tracked := h.track(`{"content":"tracked","max_retries":1}`)
	for range 3 {
		lost := <-h.begin(t.Context(), "dispatch_instructions", `{}`)
		require.Equal(t, []string{plain, tracked}, h.result(lost).each("instructions", "instruction_id"))
		lost.Undelivered()
	}
	for send := 1; send <= 2; send++ {
		pass := h.pass()
		pass.has(send, fmt.Sprintf("instructions.%d.send", 2-send))
		lost := <-h.begin(t.Context(), "dispatch_instructions", `{"limit":1}`)
		if send == 1 {
			h.result(lost).has(2, "instructions.0.send")
			lost.Undelivered()
		}
	}
	list := h.call("list_instructions", `{}`)
	list.has(1, "items.0.sends")
	list.has("failed", "items.1.state")
	list.has(2, "items.1.sends")
}

// A send that was taken back does not change the time of the last send.
func TestUndeliveredRepeatIsAsOldAsTheSendBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		h.track(`{"content":"x"}`)
		h.pass()
		time.Sleep(time.Minute)
		lost := <-h.begin(t.Context(), "dispatch_instructions", `{}`)
		lost.Undelivered()
		require.Empty(t, h.call("dispatch_instructions", `{"min_age_ms":60001}`).sent())
		h.call("dispatch_instructions", `{"min_age_ms":60000}`).has(2, "instructions.0.send")
	})
}

// An instruction that was acknowledged, cancelled or sent again is not taken back.
func TestUndeliveredTakesBackOnlyTheLastSend(t *testing.T) {
	h := newHost(t, setup{})
	acked, cancelled, again := h.track(`{"content":"a"}`), h.track(`{"content":"b"}`), h.track(`{"content":"c"}`)
	lost := <-h.begin(t.Context(), "dispatch_instructions", `{}`)
	h.call("acknowledge", `{"instruction_id":%q}`, acked)
	h.call("cancel_instruction", `{"instruction_id":%q}`, cancelled)
	h.pass().has(again, "instructions.0.instruction_id")
	seq := h.seq()
	lost.Undelivered()
	list := h.call("list_instructions", `{}`)
	list.has("acknowledged", "items.0.state")
	list.has("cancelled", "items.1.state")
	list.has(2, "items.2.sends")
	h.call("cancel_instruction", `{"session_id":"nobody","all":true}`) // behind the taking back
	require.Equal(t, seq, h.seq())
}

func TestMaxRetries(t *testing.T) {
	h := newHost(t, setup{})
	for _, bad := range []string{"-1", "1001", "1e9", "1.5", `"3"`, "null"} {
		fault := h.refused(schema.InvalidParams, "queue_instruction_with_ack", `{"content":"x","max_retries":%s}`, bad)
		fault.has(-32602, "code")
		fault.has("/max_retries", "data.details.errors.0.pointer")
		require.Contains(t, fault.str("message"), "from 0 to 1000", bad)
	}
	for _, good := range []int{0, 1000} {
		queued := h.call("queue_instruction_with_ack", `{"content":"x","max_retries":%d}`, good)
		queued.has(1+good, "instruction.sends_max")
	}
	h.call("queue_instruction_with_ack", `{"content":"x"}`).has(4, "instruction.sends_max")
}

func TestCancelledIsNotDispatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		id := h.track(`{"content":"x"}`)
		h.pass()
		time.Sleep(time.Second)
		gone := h.call("cancel_instruction", `{"instruction_id":%q,"reason":"not wanted"}`, id)
		gone.has(1, "cancelled")
		gone.has("cancelled", "instruction.state")
		gone.has("not wanted", "instruction.reason")
		gone.has("2000-01-01T00:00:01.000000Z", "instruction.cancelled_at")
		require.Empty(t, h.pass().sent())
		again := h.call("cancel_instruction", `{"instruction_id":%q,"reason":"another"}`, id)
		again.has(0, "cancelled")
		require.Equal(t, gone.at("instruction"), again.at("instruction"))
		fault := h.refused(schema.InvalidState, "acknowledge", `{"instruction_id":%q}`, id)
		fault.has(4000, "code")
		fault.has("cancelled", "data.details.state")
		h.call("events_since", `{"cursor":"0","types":["instruction.cancelled"]}`).has("not wanted", "events.0.data.reason")
	})
}

func TestIds(t *testing.T) {
	h := newHost(t, setup{})
	for _, id := range []string{"", "a/b", "a b", "..\\\\", "ä", strings.Repeat("x", 129), "\\u0000"} {
		h.refused(schema.InvalidParams, "acknowledge", `{"instruction_id":"%s"}`, id)
		h.refused(schema.InvalidParams, "queue_instruction", `{"content":"x","session_id":"%s"}`, id)
	}
	h.call("queue_instruction", `{"content":"x","session_id":"A-z0.9_:%s"}`, strings.Repeat("x", 120))
}

// The clock is set back by a day.
func TestClockBackwards(t *testing.T) {
	c := newClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	h := newHost(t, setup{now: c.now})
	h.track(`{"content":"x"}`)
	h.pass()
	c.move(-24 * time.Hour)
	h.call("dispatch_instructions", `{"min_age_ms":1000}`).has(2, "instructions.0.send")
	log := h.call("events_since", `{"cursor":"0"}`)
	for i, at := range log.each("events", "at") {
		require.Equal(t, "2026-03-01T12:00:00.000000Z", at)
		log.has(i+1, fmt.Sprintf("events.%d.seq", i))
	}
}
