package api_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// A walker calls random methods on some tasks, determined by its seed.
type walker struct {
	*host
	*rand.Rand
	ids      []string
	claims   []object
	sessions int
}

func one[T any](w *walker, list []T) T { return list[w.IntN(len(list))] }

// try calls a method and accepts every answer but INTERNAL.
func (w *walker) try(method, params string, args ...any) {
	w.t.Helper()
	a := <-w.begin(w.t.Context(), method, params, args...)
	require.NoError(w.t, a.Cause, "%s %s", method, fmt.Sprintf(params, args...))
}

func (w *walker) step() {
	w.t.Helper()
	switch w.IntN(10) {
	case 0:
		if len(w.ids) < 6 {
			params := []string{`"parent_session_id": "p", "max_attempts": 3`, twoModels + `, "max_attempts": 4`, `"parent_session_id": "p"`}
			w.ids = append(w.ids, w.create(one(w, params)))
		}
	case 1, 2:
		if c := w.call("claim_task", `{"worker": "w", "lease_ms": %d}`, 1000*(1+w.IntN(90))); c.at("claim") != nil {
			w.claims = append(w.claims, c)
		}
	case 3:
		time.Sleep(time.Duration(w.IntN(40)) * time.Second)
	case 4:
		w.try("reply", `{"task_id": %q, "reply": "x"}`, one(w, w.ids))
	case 5:
		w.try(one(w, []string{"cancel_task", "retry_task"}), `{"task_id": %q}`, one(w, w.ids))
	default:
		if len(w.claims) > 0 {
			w.report(one(w, w.claims))
		}
	}
	synctest.Wait()
}

// report reports about an attempt, which may be over.
func (w *walker) report(c object) {
	w.t.Helper()
	id, attempt, token := c.str("claim.task.task_id"), c.str("claim.attempt.attempt_id"), c.str("claim.lease.token")
	switch w.IntN(4) {
	case 0:
		w.sessions++
		w.try("bind_session", `{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": "ses_%d"}`, id, attempt, token, w.sessions)
	case 1:
		w.try("heartbeat", `{"task_id": %q, "lease_token": %q}`, id, token)
	case 2:
		w.try("report_session_event", `{"session_id": "ses_%d", "type": %q}`, w.IntN(w.sessions+1),
			one(w, []string{"started", "progress", "idle", "error", "deleted"}))
	default:
		w.try("finish_attempt", `{"task_id": %q, "lease_token": %q, %s}`, id, token, one(w, []string{
			completed, overloaded, denied, `"status": "cancelled"`, `"status": "interrupted"`, `"status": "awaiting_response", "question": "?"`,
		}))
	}
}

// check asserts the invariants of tasks.
func (w *walker) check() {
	w.t.Helper()
	told := map[string]bool{}
	notices := w.call("list_notices", `{"limit": 500}`)
	for i, kind := range notices.each("items", "kind") {
		told[kind+" "+notices.str(fmt.Sprintf("items.%d.subject_id", i))] = true
	}
	counts := w.call("get_status", `{}`)
	total := 0.0
	for _, n := range counts.at("counts.tasks").(map[string]any) {
		total += n.(float64)
	}
	require.Len(w.t, w.ids, int(total))
	for _, id := range w.ids {
		w.mirrored(id)
		task := w.task(id)
		require.LessOrEqual(w.t, task.at("task.failures"), task.at("task.max_attempts"))
		switch task.str("task.status") {
		case "COMPLETE", "ERROR", "CANCELLED":
			require.True(w.t, told["task.finished "+id], "it ended in silence")
		case "AWAITING_RESPONSE":
			require.True(w.t, told["task.awaiting_response "+id], "it asks in silence")
		case "QUEUED":
			task.has("pending", fmt.Sprintf("attempts.%d.status", len(task.at("attempts").([]any))-1))
		}
	}
}

func TestTasksKeepTheirPromisesInEveryOrder(t *testing.T) {
	seeds := uint64(12)
	if slow.Race {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inFakeTime(t, func(t *testing.T, h *host) {
				w := &walker{host: h, Rand: rand.New(rand.NewPCG(seed, 7))}
				w.ids = append(w.ids, w.create(`"max_attempts": 5`))
				for range 150 {
					w.step()
					w.check()
				}
			})
		})
	}
}
