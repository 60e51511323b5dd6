package api_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/store"
)

// leased returns a task of a run in a role, and its claim.
func (h *host) leased(run, role string) (id string, claim object) {
	h.t.Helper()
	if role == "" {
		id = h.create(`"run_id": %q`, run)
	} else {
		id = h.create(`"run_id": %q, "role": %q`, run, role)
	}
	claim = h.claim("w")
	claim.has(id, "claim.task.task_id")
	return id, claim
}

// lease returns the params with which a result finishes a claimed attempt.
func lease(claim object) string {
	return `"task_id": ` + quoted(claim.str("claim.task.task_id")) + `, "lease_token": ` + quoted(claim.str("claim.lease.token"))
}

// A result ends its attempt as completed if the work can continue, and otherwise as an error without retry.
func TestResultFinishesItsAttempt(t *testing.T) {
	for _, c := range []struct {
		role   string
		said   step
		status string
		class  string
	}{
		{"worker", "worker pass", "COMPLETE", ""},
		{"worker", "worker gaps", "ERROR", "result_gaps"},
		{"worker", "worker error", "ERROR", "result_error"},
		{"worker", "worker invalid", "ERROR", "result_invalid"},
		{"spec-reviewer", "spec pass", "COMPLETE", ""},
		{"spec-reviewer", "spec gaps", "COMPLETE", ""},
		{"spec-reviewer", "spec error", "ERROR", "result_error"},
		{"spec-reviewer", "spec invalid", "ERROR", "result_invalid"},
	} {
		t.Run(string(c.said), func(t *testing.T) {
			h, run := hostWithClock(t, setup{})
			id := h.create(`"run_id": %q, "role": %q, "max_attempts": 5`, run, c.role)
			dependent := h.create(`"depends_on": [%q]`, id)
			claim := h.claim("w")
			role, output := c.said.result()
			last := h.ingest(run, role, output, lease(claim))
			last.has(true, "applied")
			last.has(id, "task.task_id")
			last.has(c.status, "task.status")
			last.has(claim.str("claim.attempt.attempt_id"), "attempt.attempt_id")
			task := h.task(id)
			task.has(c.status, "task.status")
			require.Len(t, task.at("attempts"), 1, "the queue tries it again")
			held := h.task(dependent)
			if c.status == "COMPLETE" {
				last.has("completed", "attempt.status")
				held.lacks("task.waiting_for")
			} else {
				last.has("error", "attempt.status")
				last.has("terminal", "attempt.error_class")
				held.has(id, "task.waiting_for.0.task_id")
				h.nothing()
			}
			outcome := h.logged("run.outcome", run)
			require.Len(t, outcome, 1)
			outcome[0].has(id, "data.task_id")
			outcome[0].has(claim.str("claim.attempt.attempt_id"), "data.attempt_id")
		})
	}
}

// A broken store fails at the end of a transaction.
type broken struct {
	store.Store
	fault atomic.Pointer[store.Error] // nil: it works
}

func (b *broken) Update(ctx context.Context, fn func(store.Tx) error) error {
	return b.Store.Update(ctx, b.failing(fn))
}

func (b *broken) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	return b.Store.UpdateReserved(ctx, b.failing(fn))
}

func (b *broken) failing(fn func(store.Tx) error) func(store.Tx) error {
	return func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		if fault := b.fault.Load(); fault != nil {
			return fault
		}
		return nil
	}
}

// The attempt and the run change in one transaction.
func TestFailedCommitLeavesRunAndAttempt(t *testing.T) {
	p := newStoreCase(t)
	st := &broken{Store: p.open(t)}
	h, run := hostWithClock(t, setup{store: st})
	id, claim := h.leased(run, "worker")
	before, ledger := h.snapshot(run).text, h.call("get_ledger", `{"run_id": %q}`, run).text
	st.fault.Store(&store.Error{Kind: store.IO, Message: "the disk failed"})
	h.refused(schema.StoreIO, "ingest_output", "%s", ingestParams(run, "worker", worked(), lease(claim)))
	require.Equal(t, before, h.snapshot(run).text)
	require.Equal(t, ledger, h.call("get_ledger", `{"run_id": %q}`, run).text)
	h.is("RUNNING", id)
	st.fault.Store(nil)
	h.ingest(run, "worker", worked(), lease(claim)).has(true, "applied")
	h.is("COMPLETE", id)
	h.call("get_telemetry", `{}`).has(1, "dispatch.results")
}

// A refusal leaves the attempt unchanged, too.
func TestResultForARunThatIsOverLeavesItsAttempt(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	id, claim := h.leased(run, "worker")
	h.start("1", `"resume": "new"`)
	h.refused(schema.InvalidState, "ingest_output", "%s", ingestParams(run, "worker", worked(), lease(claim)))
	h.is("RUNNING", id)
	h.finish(claim, completed).has("COMPLETE", "task.status")
}

func TestResultUnderAStaleLeaseMovesNothing(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	id, claim := h.leased(run, "worker")
	h.finish(claim, `"status": "error", "error": {"message": "429", "http_status": 429}`)
	before := h.snapshot(run).text
	for i, output := range []string{worked(), "nonsense"} {
		last := h.ingest(run, "worker", output, lease(claim))
		last.has(false, "applied")
		last.has("stale_attempt", "reason")
		last.lacks("decision")
		last.lacks("next_action")
		last.lacks("next")
		last.lacks("retry_prompt")
		h.task(id).has(i+1, "attempts.0.stale_events")
	}
	last := h.ingest(run, "worker", worked(), `"lease_token": "lease_of_nobody"`)
	last.has(false, "applied")
	last.has("stale_attempt", "reason")
	last.lacks("task")
	require.Equal(t, before, h.snapshot(run).text)
	require.Empty(t, h.logged("run.outcome", run))
	h.call("get_telemetry", `{}`).has(0, "dispatch.results")
}

func TestLeaseOfAnotherTaskIsRefused(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	mine := h.create(`"run_id": %q`, run)
	claim := h.claim("w")
	other, free := h.create(`"run_id": %q`, run), h.create(``)
	token := `"lease_token": ` + quoted(claim.str("claim.lease.token"))
	h.badRun("/lease_token", "ingest_output", "%s", ingestParams(run, "worker", worked(), `"task_id": `+quoted(other), token))
	h.badRun("/lease_token", "ingest_output", "%s", ingestParams(h.run("3"), "worker", says("worker", "3", "pass", ""), token))
	h.is("RUNNING", mine)
	second := h.claim("w")
	third := h.claim("w")
	third.has(free, "claim.task.task_id")
	h.badRun("/lease_token", "ingest_output", "%s", ingestParams(run, "worker", worked(), `"lease_token": `+quoted(third.str("claim.lease.token"))))
	h.badRun("/lease_token", "ingest_output", "%s", ingestParams(run, "worker", worked(), token,
		`"attempt_id": `+quoted(second.str("claim.attempt.attempt_id"))))
	require.Empty(t, h.logged("run.outcome", run))
}

func TestSameResultOfTheSameAttemptMovesTheRunOnce(t *testing.T) {
	for _, s := range []step{"worker pass", "worker gaps", "worker error", "worker invalid"} {
		t.Run(string(s), func(t *testing.T) {
			h, run := hostWithClock(t, setup{})
			_, claim := h.leased(run, "worker")
			role, output := s.result()
			first := h.ingest(run, role, output, lease(claim))
			again := h.ingest(run, role, output, lease(claim))
			for _, same := range []string{"next", "counters", "run", "task_ledger", "verdict", "applied", "task", "attempt"} {
				require.Equal(t, first.at(same), again.at(same), same)
			}
			prompt, given := first.find("retry_prompt")
			repeated, still := again.find("retry_prompt")
			require.Equal(t, given, still)
			require.Equal(t, prompt, repeated)
			again.lacks("decision")
			require.Len(t, h.logged("run.outcome", run), 1)
			h.call("get_telemetry", `{}`).has(1, "dispatch.results")

			other := h.ingest(run, role, output+"\nand more\n", lease(claim))
			other.has("stale_attempt", "reason")
			require.Equal(t, first.at("run"), other.at("run"))
		})
	}
}

func TestResultWithAKeyIsTakenOnce(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	first := h.ingest(run, "worker", "nonsense", `"idempotency_key": "k"`)
	h.ingest(run, "worker", worked())
	moved := h.snapshot(run).text
	require.JSONEq(t, first.text, h.ingest(run, "worker", "nonsense", `"idempotency_key": "k"`).text)
	h.refused(schema.IdempotencyClash, "ingest_output", "%s", ingestParams(run, "worker", worked(), `"idempotency_key": "k"`))
	h.refused(schema.IdempotencyClash, "replan", `{"run_id": %q, "summary": "x", "idempotency_key": "k"}`, run)
	h.stop()
	h = p.host(t)
	h.remove("tasks.md") // the answer comes from the store, not from the plan
	require.JSONEq(t, first.text, h.ingest(run, "worker", "nonsense", `"idempotency_key": "k"`).text)
	require.Equal(t, moved, h.snapshot(run).text)
}

func TestResultIsTakenOnAFullDisk(t *testing.T) {
	st := newSharedStore(t)
	h, run := hostWithClock(t, setup{store: st})
	_, claim := h.leased(run, "worker")
	st.fail(&store.Error{Kind: store.Full, Message: "no space left on the disk"})
	h.ingest(run, "worker", worked(), lease(claim)).has("COMPLETE", "task.status")
	h.refused(schema.StoreFull, "init_run", `{"plan": "tasks.md", "item_id": "3"}`)
	st.fail(errors.New("nobody knows this one"))
	a := <-h.begin(t.Context(), "ingest_output", "%s", ingestParams(run, "spec-reviewer", says("spec-reviewer", "1", "pass", "")))
	require.Equal(t, schema.Internal, a.Err.Data.Code)
	st.fail(nil)
	h.runIs("1").has("awaited", "run.standing.spec-reviewer")
}

// A review with the lease of a worker must not complete the worker's task.
func TestResultOfAReviewerEndsNoTaskOfAWorker(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	work, working := h.leased(run, "implementer")
	review, reviewing := h.leased(run, "reviewer")
	approval := says("spec-reviewer", "1", "pass", "")
	h.badRun("/role", "ingest_output", "%s", ingestParams(run, "spec-reviewer", approval, lease(working)))
	h.badRun("/role", "ingest_output", "%s", ingestParams(run, "spec-reviewer", approval, `"task_id": `+quoted(work)))
	h.badRun("/role", "ingest_output", "%s", ingestParams(run, "worker", worked(), lease(reviewing)))
	h.badRun("/role", "ingest_output", "%s", ingestParams(run, "worker", worked(),
		`"lease_token": `+quoted(reviewing.str("claim.lease.token"))))
	h.is("RUNNING", work)
	h.is("RUNNING", review)
	h.ingest(run, "worker", worked(), lease(working)).has("COMPLETE", "task.status")
	h.ingest(run, "code-quality-reviewer", says("code-quality-reviewer", "1", "pass", ""), lease(reviewing)).has("COMPLETE", "task.status")
	_, anybody := h.leased(run, "")
	h.ingest(run, "spec-reviewer", approval, lease(anybody)).has("done", "run.state")
}
