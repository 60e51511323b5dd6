package api_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

// waits asserts that a dispatch waits, and returns its answer.
func (h *host) waits(ctx context.Context, params string, args ...any) <-chan api.Answer {
	h.t.Helper()
	done := h.begin(ctx, "dispatch_instructions", params, args...)
	synctest.Wait()
	require.Empty(h.t, done, "it did not wait")
	return done
}

// inFakeTime runs a test in fake time; elapsed asserts the time since its start.
func inFakeTime(t *testing.T, test func(t *testing.T, h *host, elapsed func(want time.Duration))) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		test(t, newHost(t, setup{}), func(want time.Duration) {
			t.Helper()
			require.Equal(t, want, time.Since(began))
		})
	})
}

func TestDispatchWaitsForSomethingOfItsSession(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host, elapsed func(time.Duration)) {
		h.call("queue_instruction", `{"content":"here already"}`)
		require.Equal(t, []string{"here already"}, h.call("dispatch_instructions", `{"wait_ms":25000}`).sent())
		elapsed(0)
		done := h.waits(t.Context(), `{"wait_ms":25000}`)
		time.Sleep(time.Second)
		h.call("queue_instruction", `{"content":"other","session_id":"s"}`) // later, and answered before
		require.Empty(t, done)
		time.Sleep(time.Second)
		h.call("queue_instruction", `{"content":"mine"}`)
		require.Equal(t, []string{"mine"}, h.result(<-done).sent())
		elapsed(2 * time.Second)
	})
}

func TestDispatchEndsEmptyWhenItsTimeIsUp(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host, elapsed func(time.Duration)) {
		pass := h.call("dispatch_instructions", `{"wait_ms":25000}`)
		elapsed(25 * time.Second)
		pass.has([]any{}, "instructions")
		pass.has([]any{}, "failed")
		pass.has(0, "remaining")
		pass.has(0, "seq")
		h.refused(schema.InvalidParams, "dispatch_instructions", `{"wait_ms":25001}`)
	})
}

func TestDispatchWaitsUntilARepeatIsDue(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host, elapsed func(time.Duration)) {
		h.track(`{"content":"x","max_retries":1}`)
		h.pass()
		pass := h.call("dispatch_instructions", `{"wait_ms":25000,"min_age_ms":7000}`)
		elapsed(7 * time.Second)
		pass.has(2, "instructions.0.send")
		pass = h.call("dispatch_instructions", `{"wait_ms":25000,"min_age_ms":7000}`)
		elapsed(14 * time.Second)
		pass.has("failed", "failed.0.state")
	})
}

// An acknowledgement removes the due repeat and does not end the wait.
func TestDispatchWaitsOnWhenWhatWasDueIsAcknowledged(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host, elapsed func(time.Duration)) {
		id := h.track(`{"content":"x"}`)
		h.pass()
		done := h.waits(t.Context(), `{"wait_ms":20000,"min_age_ms":7000}`)
		h.call("acknowledge", `{"instruction_id":%q}`, id)
		require.Empty(t, h.result(<-done).sent())
		elapsed(20 * time.Second)
	})
}

func TestWaitingDispatchGetsBackWhatWasNotDelivered(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host, elapsed func(time.Duration)) {
		h.call("queue_instruction", `{"content":"x"}`)
		lost := <-h.begin(t.Context(), "dispatch_instructions", `{}`)
		done := h.waits(t.Context(), `{"wait_ms":20000}`)
		lost.Undelivered()
		h.result(<-done).has(1, "instructions.0.send")
		elapsed(0)
	})
}

// A front door may learn during the commit that the answer cannot be written.
func TestUndeliveredMayBeCalledFromDone(t *testing.T) {
	h := newHost(t, setup{})
	h.call("queue_instruction", `{"content":"x"}`)
	entry, ok := h.table.Entry("dispatch_instructions")
	require.True(t, ok)
	called := make(chan struct{})
	entry.Start(t.Context(), []byte(`{}`), func(a api.Answer) {
		a.Undelivered()
		close(called)
	})
	<-called
	require.Equal(t, []string{"x"}, h.pass().sent())
}

func TestCancelledWaitIsCancelled(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host, elapsed func(time.Duration)) {
		ctx, cancel := context.WithCancel(t.Context())
		done := h.waits(ctx, `{"wait_ms":20000}`)
		cancel()
		a := <-done
		require.Equal(t, schema.Cancelled, a.Err.Data.Code)
		require.Equal(t, -32800, a.Err.Code)
		require.Equal(t, schema.OutcomeNotApplied, a.Err.Data.Outcome)
		elapsed(0)
	})
}

func TestHurriedWaitIsAnsweredEmpty(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host, elapsed func(time.Duration)) {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := h.waits(ctx, `{"wait_ms":20000}`)
		cancel(engine.ErrHurry)
		require.Empty(t, h.result(<-done).sent())
		elapsed(0)
	})
}

func TestCancelledBeforeTheCommit(t *testing.T) {
	h := newHost(t, setup{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := <-h.begin(ctx, "queue_instruction", `{"content":"x","idempotency_key":"k"}`)
	require.Equal(t, schema.Cancelled, a.Err.Data.Code)
	require.Zero(t, h.seq())
}

// A hasty store calls a function between the commit and the answer.
type hasty struct {
	*sharedStore
	committed func()
}

func (s hasty) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := s.sharedStore.Update(ctx, fn)
	s.committed()
	return err
}

// A cancellation after the commit does not change the answer, nor that of the repeated call.
func TestCancelledAfterTheCommit(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := newHost(t, setup{store: hasty{newSharedStore(t), cancel}})
	a := <-h.begin(ctx, "queue_instruction", `{"content":"x","idempotency_key":"k"}`)
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	first := h.result(a)
	first.has("x", "instruction.content")
	cancel()
	again := h.call("queue_instruction", `{"content":"x","idempotency_key":"k"}`)
	again.has(first.at("instruction.instruction_id"), "instruction.instruction_id")
	require.EqualValues(t, 1, h.seq())
}

// Repeats are sent by passes, so none is added while the machine is suspended.
func TestSuspendAddsNoRepeats(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host, _ func(time.Duration)) {
		h.track(`{"content":"x"}`)
		h.pass()
		time.Sleep(10 * time.Hour)
		pass := h.call("dispatch_instructions", `{"min_age_ms":1000}`)
		require.Len(t, pass.sent(), 1)
		pass.has(2, "instructions.0.send")
		require.Empty(t, h.call("dispatch_instructions", `{"min_age_ms":1000}`).sent())
	})
}

func TestChangesKeepTheirOrder(t *testing.T) {
	h := newHost(t, setup{})
	var answers []<-chan api.Answer
	for i := range 2000 {
		answers = append(answers, h.begin(t.Context(), "queue_instruction", `{"content":"%d"}`, i))
	}
	for i, answer := range answers {
		h.result(<-answer).has(i+1, "seq")
	}
}

func TestChangeDuringShutdownIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	accepted := h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
	h.stop()
	h.result(<-accepted).has(1, "seq")
	a := <-h.begin(t.Context(), "queue_instruction", `{"content":"late"}`)
	require.Equal(t, schema.ShuttingDown, a.Err.Data.Code)
	require.Equal(t, 5030, a.Err.Code)
}
