package api_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWaitingClaimIsAnsweredWhenATaskIsCreated(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		done := h.claimWaits(t.Context())
		time.Sleep(time.Second)
		began := time.Now()
		id := h.create(``)
		h.result(<-done).has(id, "claim.task.task_id")
		require.Zero(t, time.Since(began))
	})
}

func TestWaitingClaimEndsEmptyWhenItsTimeIsUp(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		began := time.Now()
		h.result(<-h.claimWaits(t.Context())).has(nil, "claim")
		require.Equal(t, 25*time.Second, time.Since(began))
	})
}

func TestOfTwoWaitingClaimsOneGetsTheTask(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		a, b := h.claimWaits(t.Context()), h.claimWaits(t.Context())
		h.create(``)
		synctest.Wait()
		require.Equal(t, 1, len(a)+len(b))
	})
}

func TestWaitingClaimIsAnsweredWhenADependencyCompletes(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		on := h.create(``)
		id := h.create(`"depends_on": [%q]`, on)
		c := h.claim("w")
		done := h.claimWaits(t.Context())
		began := time.Now()
		h.finish(c, completed)
		h.result(<-done).has(id, "claim.task.task_id")
		require.Zero(t, time.Since(began))
	})
}

func TestWaitingClaimIsAnsweredWhenARetryDelayEnds(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		id := h.create(`"max_attempts": 2`)
		wait := time.Until(h.finish(h.claim("w"), overloaded).instant("task.not_before"))
		require.Positive(t, wait)
		began := time.Now()
		h.result(<-h.claimWaits(t.Context())).has(id, "claim.task.task_id")
		require.Equal(t, wait, time.Since(began))
	})
}

func TestWaitingClaimIsAnsweredWhenAPersonReplies(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		id := h.asked(``)
		done := h.claimWaits(t.Context())
		h.call("reply", `{"task_id": %q, "reply": "x"}`, id)
		h.result(<-done).has(true, "claim.continuation")
	})
}

// A claim whose answer did not reach the host costs no attempt and no time.
func TestClaimThatWasNotDeliveredIsTakenBack(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		id := h.create(`"max_attempts": 1`)
		for range 3 {
			lost := <-h.begin(t.Context(), "claim_task", `{"worker": "gone"}`)
			h.is("RUNNING", id)
			lost.Undelivered()
			synctest.Wait()
			task := h.task(id)
			task.has("QUEUED", "task.status")
			task.has("pending", "attempts.0.status")
			task.lacks("task.started_at")
			task.lacks("attempts.0.worker")
		}
		require.Len(t, h.logged("attempt.returned", id), 3)
		c := h.claim("w")
		c.has(1, "claim.attempt.attempt_number")
		c.has(0, "claim.task.failures")
		time.Sleep(50 * time.Second)
		h.finish(c, completed).has("COMPLETE", "task.status")
	})
}

func TestWaitingClaimGetsWhatWasTakenBack(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		id := h.create(``)
		lost := <-h.begin(t.Context(), "claim_task", `{"worker": "gone"}`)
		done := h.claimWaits(t.Context())
		began := time.Now()
		lost.Undelivered()
		h.result(<-done).has(id, "claim.task.task_id")
		require.Zero(t, time.Since(began))
	})
}

// A claim with a report is kept, because its answer arrived.
func TestReportedClaimIsNotTakenBack(t *testing.T) {
	for name, report := range map[string]func(h *host, c object){
		"heartbeat": func(h *host, c object) { h.beat(c, ``) },
		"session":   func(h *host, c object) { h.bind(c, "ses_1") },
		"end":       func(h *host, c object) { h.finish(c, completed) },
		"failure":   func(h *host, c object) { h.finish(c, overloaded) },
	} {
		t.Run(name, func(t *testing.T) {
			timedTasks(t, setup{}, func(t *testing.T, h *host) {
				id := h.create(`"max_attempts": 2`)
				a := <-h.begin(t.Context(), "claim_task", `{"worker": "w"}`)
				if name != "session" { // which says enough by itself
					time.Sleep(time.Second)
				}
				report(h, h.result(a))
				before := h.task(id).text
				a.Undelivered()
				synctest.Wait()
				require.Equal(t, before, h.task(id).text)
				require.Empty(t, h.logged("attempt.returned", id))
			})
		})
	}
}

// A task that was cancelled while its claim was lost is over.
func TestLostClaimOfATaskThatIsCancelledEndsIt(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	lost := <-h.begin(t.Context(), "claim_task", `{"worker": "gone"}`)
	h.call("cancel_task", `{"task_id": %q, "reason": "not wanted"}`, id)
	lost.Undelivered()
	h.nothing() // is carried out behind it
	h.task(id).has("CANCELLED", "task.status")
	h.task(id).has("not wanted", "task.reason")
}

// A claim with a key is kept, because the host can repeat the call.
func TestKeyedClaimThatWasNotDeliveredIsReplayed(t *testing.T) {
	h := newHost(t, setup{})
	h.create(``)
	lost := <-h.begin(t.Context(), "claim_task", `{"worker": "w", "idempotency_key": "k"}`)
	require.Nil(t, lost.Undelivered)
	again := h.call("claim_task", `{"worker": "w", "idempotency_key": "k"}`)
	require.Equal(t, h.result(lost).text, again.text)
	h.finish(again, completed).has(true, "applied")
}

func TestEmptyClaimThatWasNotDelivered(t *testing.T) {
	h := newHost(t, setup{})
	a := <-h.begin(t.Context(), "claim_task", `{"worker": "w"}`)
	a.Undelivered()
	h.nothing()
	require.Zero(t, h.seq())
}

func TestClaimsOfRunsAndRolesGetTheirOwn(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", twoItems, time.Hour)
	run := h.call("init_run", `{"plan": "tasks.md", "item_id": "1"}`).str("run.run_id")
	plain := h.create(``)
	worker := h.create(`"run_id": %q, "role": "implementer"`, run)
	reviewer := h.create(`"run_id": %q, "role": "spec-reviewer"`, run)
	h.call("claim_task", `{"worker": "w", "run_id": %q, "role": "spec-reviewer"}`, run).has(reviewer, "claim.task.task_id")
	h.call("claim_task", `{"worker": "w", "role": "worker"}`).has(worker, "claim.task.task_id")
	h.call("claim_task", `{"worker": "w", "run_id": %q}`, run).has(nil, "claim")
	h.claim("w").has(plain, "claim.task.task_id")
}

func TestCancelledWaitOfAClaimTakesNothing(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		ctx, cancel := context.WithCancel(t.Context())
		done := h.claimWaits(ctx)
		cancel()
		require.NotNil(t, (<-done).Err)
		id := h.create(``)
		h.is("QUEUED", id)
	})
}
