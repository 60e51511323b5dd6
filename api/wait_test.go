package api_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

const (
	onAcme    = `"models": [{"provider_id": "acme", "model_id": "large"}]`
	denied    = `"status": "error", "error": {"message": "429", "class": "provider"}`
	completed = `"status": "completed"`
)

// waits asserts that a call waits, and returns its answer.
func (h *host) waits(ctx context.Context, method, params string) <-chan api.Answer {
	h.t.Helper()
	done := h.begin(ctx, method, "%s", params)
	synctest.Wait()
	require.Empty(h.t, done, "it did not wait")
	return done
}

// claimWaits asserts that a claim waits, and returns its answer.
func (h *host) claimWaits() <-chan api.Answer {
	h.t.Helper()
	return h.waits(h.t.Context(), "claim_task", `{"worker": "waiting", "wait_ms": 25000}`)
}

func TestDispatchWaitsForSomethingOfItsSession(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		began := time.Now()
		empty := h.call("dispatch_instructions", `{"wait_ms":25000}`)
		require.Equal(t, 25*time.Second, time.Since(began))
		empty.has([]any{}, "instructions", []any{}, "failed", 0, "remaining", 0, "seq")
		h.refused(schema.InvalidParams, "dispatch_instructions", `{"wait_ms":25001}`)

		done := h.waits(t.Context(), "dispatch_instructions", `{"wait_ms":25000}`)
		h.call("queue_instruction", `{"content":"other","session_id":"s"}`) // later, and answered before
		require.Empty(t, done)
		h.track(`{"content":"mine","max_retries":1}`)
		require.Equal(t, []string{"mine"}, h.result(<-done).sent())

		began = time.Now()
		h.call("dispatch_instructions", `{"wait_ms":25000,"min_age_ms":7000}`).has(2, "instructions.0.send")
		require.Equal(t, 7*time.Second, time.Since(began))
		h.call("dispatch_instructions", `{"wait_ms":25000,"min_age_ms":7000}`).has("failed", "failed.0.state")
		require.Equal(t, 14*time.Second, time.Since(began))
	})
}

// An acknowledgement removes the due repeat and does not end the wait.
func TestDispatchWaitsOnAfterAnAcknowledgement(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		id := h.track(`{"content":"x"}`)
		h.pass()
		began := time.Now()
		done := h.waits(t.Context(), "dispatch_instructions", `{"wait_ms":20000,"min_age_ms":7000}`)
		h.call("acknowledge", `{"instruction_id":%q}`, id)
		require.Empty(t, h.result(<-done).sent())
		require.Equal(t, 20*time.Second, time.Since(began))
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

func TestCancelledWaitTakesNothing(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		ctx, cancel := context.WithCancel(t.Context())
		dispatch := h.waits(ctx, "dispatch_instructions", `{"wait_ms":20000}`)
		claim := h.waits(ctx, "claim_task", `{"worker":"w","wait_ms":20000}`)
		cancel()
		a := <-dispatch
		require.Equal(t, schema.Cancelled, a.Err.Data.Code)
		require.Equal(t, -32800, a.Err.Code)
		require.Equal(t, schema.OutcomeNotApplied, a.Err.Data.Outcome)
		require.NotNil(t, (<-claim).Err)
		id := h.create(``)
		h.is("QUEUED", id)
	})
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

// deny fails tasks on the model until its breaker opens.
func (h *host) deny() {
	h.t.Helper()
	for range 5 {
		h.create(onAcme)
		h.finish(h.claim("w"), denied)
	}
}

// probed opens a breaker, claims its probe, and returns the probe and the id of the next task.
func (h *host) probed() (probe object, next string) {
	h.t.Helper()
	h.deny()
	h.create(onAcme)
	next = h.create(onAcme)
	time.Sleep(30 * time.Second)
	return h.claim("w"), next
}

func TestWaitingClaimIsAnswered(t *testing.T) {
	for when, prepare := range map[string]func(h *host) (id string, event func(), after time.Duration){
		"a dependency completes": func(h *host) (string, func(), time.Duration) {
			id := h.create(`"depends_on": [%q]`, h.create(``))
			c := h.claim("w")
			return id, func() { h.finish(c, completed) }, 0
		},
		"a retry delay ends": func(h *host) (string, func(), time.Duration) {
			id := h.create(`"max_attempts": 2`)
			return id, func() {}, time.Until(h.finish(h.claim("w"), overloaded).instant("task.not_before"))
		},
		"a person replies": func(h *host) (string, func(), time.Duration) {
			id := h.asked(``)
			return id, func() { h.call("reply", `{"task_id": %q, "reply": "x"}`, id) }, 0
		},
		"a claim is taken back": func(h *host) (string, func(), time.Duration) {
			id := h.create(``)
			lost := <-h.begin(h.t.Context(), "claim_task", `{"worker": "gone"}`)
			return id, lost.Undelivered, 0
		},
		"a breaker lets it through": func(h *host) (string, func(), time.Duration) {
			h.deny()
			id := h.create(onAcme)
			time.Sleep(10 * time.Second)
			return id, func() {}, 20 * time.Second
		},
		"a probe succeeds": func(h *host) (string, func(), time.Duration) {
			probe, next := h.probed()
			return next, func() { h.finish(probe, completed) }, 0
		},
		"a probe is bound to another model": func(h *host) (string, func(), time.Duration) {
			probe, next := h.probed()
			return next, func() { h.bindTo(probe, "s", `, "model": {"provider_id": "umbra", "model_id": "small"}`) }, 0
		},
	} {
		t.Run(when, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T, h *host) {
				id, event, after := prepare(h)
				began := time.Now()
				done := h.claimWaits()
				event()
				h.result(<-done).has(id, "claim.task.task_id")
				require.Equal(t, after, time.Since(began))
			})
		})
	}
}

// A claim whose answer did not reach the host costs no attempt and no time.
func TestClaimThatWasNotDeliveredIsTakenBack(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		empty := <-h.begin(t.Context(), "claim_task", `{"worker": "w"}`)
		empty.Undelivered()
		id := h.create(`"max_attempts": 1`)
		for range 3 {
			lost := <-h.begin(t.Context(), "claim_task", `{"worker": "gone"}`)
			h.is("RUNNING", id)
			lost.Undelivered()
			synctest.Wait()
			task := h.task(id)
			task.has("QUEUED", "task.status", "pending", "attempts.0.status")
			task.lacks("task.started_at", "attempts.0.worker")
		}
		require.Len(t, h.logged("attempt.returned", id), 3)
		c := h.claim("w")
		c.has(1, "claim.attempt.attempt_number", 0, "claim.task.failures")
		time.Sleep(50 * time.Second)
		h.finish(c, completed).has("COMPLETE", "task.status")
	})
}

// A task that was cancelled while its claim was lost is over.
func TestLostClaimOfACancelledTaskEndsIt(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	lost := <-h.begin(t.Context(), "claim_task", `{"worker": "gone"}`)
	h.call("cancel_task", `{"task_id": %q, "reason": "not wanted"}`, id)
	lost.Undelivered()
	h.nothing() // is carried out behind it
	h.task(id).has("CANCELLED", "task.status")
	h.task(id).has("not wanted", "task.reason")
}

func TestClaimsOfRunsAndRolesGetTheirOwn(t *testing.T) {
	h, run := planned(t, setup{})
	plain := h.create(``)
	worker := h.create(`"run_id": %q, "role": "implementer"`, run)
	for range 300 { // more than one read returns must not hide the wanted one
		h.create(`"role": "code-quality-reviewer"`)
	}
	reviewer := h.create(`"run_id": %q, "role": "spec-reviewer"`, run)
	h.call("claim_task", `{"worker": "w", "role": "spec-reviewer"}`).has(reviewer, "claim.task.task_id")
	h.call("claim_task", `{"worker": "w", "run_id": %q, "role": "worker"}`, run).has(worker, "claim.task.task_id")
	h.call("claim_task", `{"worker": "w", "run_id": %q}`, run).has(nil, "claim")
	h.claim("w").has(plain, "claim.task.task_id")
}

// count returns the number of events of a type.
func (h *host) count(kind string) int {
	h.t.Helper()
	return len(h.call("events_since", `{"cursor": "0", "limit": 500, "types": [%q]}`, kind).at("events").([]any))
}

func TestModelThatFailsInSeveralTasksIsPaused(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		h.deny()
		require.Equal(t, 1, h.count("breaker.opened"))
		held, other := h.create(onAcme), h.create(`"models": [{"provider_id": "umbra", "model_id": "small"}]`)
		h.create(onAcme)
		h.claim("w").has(other, "claim.task.task_id")
		h.nothing()
		list := h.call("list_tasks", `{"status": "QUEUED"}`)
		list.has("provider_cooling", "items.0.waiting_for.0.kind")
		list.has("2000-01-01T00:00:30.000000Z", "items.0.waiting_for.0.until")
		time.Sleep(30*time.Second - time.Millisecond)
		h.nothing()
		time.Sleep(time.Millisecond)
		lost := <-h.begin(t.Context(), "claim_task", `{"worker": "w"}`) // an answer that did not arrive is no probe
		h.nothing()
		lost.Undelivered()
		synctest.Wait()
		probe := h.claim("w")
		probe.has(held, "claim.task.task_id")
		for range 20 { // a probe stays one while it sends heartbeats
			time.Sleep(50 * time.Second)
			h.beat(probe, ``)
			h.nothing()
		}
		h.finish(probe, completed)
		require.Equal(t, 1, h.count("breaker.closed"))
		h.claim("w")
	})
}

func TestAttemptThatIsBoundToAModelOnTrialIsItsProbe(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		h.deny()
		h.create(``)
		time.Sleep(30 * time.Second)
		probe := h.claim("w")
		h.bindTo(probe, "s", `, "model": {"provider_id": "acme", "model_id": "large"}`)
		h.create(onAcme)
		h.nothing()
		h.finish(probe, completed)
		h.claim("w")
	})
}
