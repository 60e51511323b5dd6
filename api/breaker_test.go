package api_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	onAcme    = `"models": [{"provider_id": "acme", "model_id": "large"}]`
	denied    = `"status": "error", "error": {"message": "429", "class": "provider"}`
	completed = `"status": "completed"`
)

// deny fails tasks on the model until its breaker opens.
func (h *host) deny() {
	h.t.Helper()
	for range 5 {
		h.create(onAcme)
		h.finish(h.claim("w"), denied)
	}
}

func (h *host) count(kind string) int {
	h.t.Helper()
	return len(h.call("events_since", `{"cursor": "0", "limit": 500, "types": [%q]}`, kind).at("events").([]any))
}

func TestModelThatFailsInSeveralTasksIsLeftAloneForAWhile(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.deny()
		require.Equal(t, 1, h.count("breaker.opened"))
		held, other := h.create(onAcme), h.create(`"models": [{"provider_id": "umbra", "model_id": "small"}]`)
		second := h.create(onAcme)
		h.claim("w").has(other, "claim.task.task_id")
		h.nothing()
		list := h.call("list_tasks", `{"status": "QUEUED"}`)
		list.has("provider_cooling", "items.0.waiting_for.0.kind")
		list.has("2000-01-01T00:00:30.000000Z", "items.0.waiting_for.0.until")
		time.Sleep(30*time.Second - time.Millisecond)
		h.nothing()
		time.Sleep(time.Millisecond)
		probe := h.claim("w")
		probe.has(held, "claim.task.task_id")
		h.nothing() // one tries, the others wait
		h.finish(probe, completed)
		require.Equal(t, 1, h.count("breaker.closed"))
		h.claim("w").has(second, "claim.task.task_id")
	})
}

// A failed probe doubles the pause before the next one, up to five minutes.
func TestBreakerPauseDoublesUpToFiveMinutes(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.deny()
		id := h.create(onAcme + `, "max_attempts": 10000`)
		for _, seconds := range []int{30, 60, 120, 240, 300, 300} {
			time.Sleep(time.Duration(seconds)*time.Second - time.Millisecond)
			h.nothing()
			time.Sleep(time.Millisecond)
			probe := h.claim("w")
			probe.has(id, "claim.task.task_id")
			h.finish(probe, `"status": "error", "error": {"message": "429", "class": "provider"}, "retry": "same_model"`).has("QUEUED", "task.status")
		}
		h.is("QUEUED", id)
	})
}

// A probe without any report must not hold back others for ever.
func TestProbeThatIsLostLetsTheNextOneThrough(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.deny()
		h.create(onAcme)
		h.create(onAcme)
		time.Sleep(30 * time.Second)
		h.claim("w")
		done := h.claimWaits(t.Context())
		time.Sleep(20 * time.Second)
		require.Empty(t, done)
		h.result(<-done).has(nil, "claim")
		time.Sleep(35 * time.Second) // the lease of the probe has run out
		synctest.Wait()
		h.claim("w")
	})
}

// A claim whose answer was lost is no probe.
func TestProbeThatNeverBeganLetsTheNextOneThrough(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.deny()
		id := h.create(onAcme)
		time.Sleep(30 * time.Second)
		lost := <-h.begin(t.Context(), "claim_task", `{"worker": "w"}`)
		h.nothing()
		lost.Undelivered()
		synctest.Wait()
		h.claim("w").has(id, "claim.task.task_id")
	})
}

func TestWaitingClaimIsAnsweredWhenABreakerLetsItThrough(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.deny()
		id := h.create(onAcme)
		time.Sleep(10 * time.Second)
		began := time.Now()
		done := h.claimWaits(t.Context())
		h.result(<-done).has(id, "claim.task.task_id")
		require.Equal(t, 20*time.Second, time.Since(began))
	})
}

func TestWaitingClaimIsAnsweredWhenAProbeSucceeds(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		h.deny()
		h.create(onAcme)
		next := h.create(onAcme)
		time.Sleep(30 * time.Second)
		probe := h.claim("w")
		done := h.claimWaits(t.Context())
		time.Sleep(time.Second)
		began := time.Now()
		h.finish(probe, completed)
		h.result(<-done).has(next, "claim.task.task_id")
		require.Zero(t, time.Since(began))
	})
}

// Only failures of the provider in a row open the breaker.
func TestBreakerCountsFailuresOfTheProviderInARow(t *testing.T) {
	h := newHost(t, setup{})
	for i := range 20 {
		h.create(onAcme)
		end := denied
		if i%5 == 4 {
			end = completed
		}
		h.finish(h.claim("w"), end)
	}
	for range 10 {
		h.create(onAcme)
		h.finish(h.claim("w"), fmt.Sprintf(`"status": "error", "error": {"message": "no", "class": %q}`, "terminal"))
	}
	require.Zero(t, h.count("breaker.opened"))
}
