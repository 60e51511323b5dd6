package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// limits are the numbers of a policy and their minimum.
var limits = map[string]int{
	"invalid_retries": 0, "reviewer_fresh_runs": 0, "worker_failures": 0,
	"review_rejections": 1, "stalled_threshold": 1, "review_loop_threshold": 1, "check_failures": 1,
}

const everyLimit = `"policy": {"invalid_retries": 11, "reviewer_fresh_runs": 12, "worker_failures": 13, "review_rejections": 14,
	"stalled_threshold": 15, "review_loop_threshold": 16, "reviewers": ["code-quality-reviewer"], "result_form": "json", "check_failures": 17, "require_checks": ["test", "lint"]}`

func TestPolicyIsStoredWithItsRun(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	own, usual := h.start("1", everyLimit), h.start("3", "")
	own.has(map[string]any{
		"invalid_retries": 11.0, "reviewer_fresh_runs": 12.0, "worker_failures": 13.0, "review_rejections": 14.0,
		"stalled_threshold": 15.0, "review_loop_threshold": 16.0, "reviewers": []any{"code-quality-reviewer"},
		"result_form": "json", "require_key": false, "check_failures": 17.0, "require_checks": []any{"lint", "test"},
	}, "run.policy")
	usual.has(map[string]any{
		"invalid_retries": 1.0, "reviewer_fresh_runs": 1.0, "worker_failures": 1.0, "review_rejections": 3.0,
		"stalled_threshold": 2.0, "review_loop_threshold": 2.0, "result_form": "headers", "require_key": false,
		"check_failures": 3.0,
	}, "run.policy")
	ledger := h.call("get_ledger", `{"run_id": %q}`, own.str("run.run_id"))
	ledger.has(15, "task_ledger.stalled.threshold")
	ledger.has(16, "task_ledger.review_loop.threshold")
	h.stop()

	h = p.host(t)
	require.Equal(t, own.at("run"), h.start("1", "").at("run"))
	h.start("1", `"policy": {"worker_failures": 0}`).has(13, "run.policy.worker_failures") // it is under way already
	for i := range 2 {
		h.ingest(usual.str("run.run_id"), "worker", says("worker", "3", "gaps", "no name is free")).
			has([]string{"running", "blocked"}[i], "run.state")
		h.walk(own.str("run.run_id"), "worker gaps").has("running", "run.state")
	}
}

func TestEveryLimitIsKept(t *testing.T) {
	repeated := func(n int, steps ...step) (all []step) {
		for range n {
			all = append(all, steps...)
		}
		return all
	}
	others := `"stalled_threshold": 99, "review_loop_threshold": 99, "review_rejections": 99`
	for name, c := range map[string]struct {
		policy string
		steps  []step // all but the last leave the run running
		halt   string
	}{
		"no retry of a worker":       {`"invalid_retries": 0`, repeated(1, "worker invalid"), "invalid_results"},
		"three retries of a worker":  {`"invalid_retries": 3`, repeated(4, "worker invalid"), "invalid_results"},
		"no retry of a reviewer":     {`"invalid_retries": 0, "reviewer_fresh_runs": 0`, repeated(1, "spec invalid"), "invalid_results"},
		"only fresh reviewers":       {`"invalid_retries": 0, "reviewer_fresh_runs": 2`, repeated(3, "quality invalid"), "invalid_results"},
		"retries and fresh ones":     {`"invalid_retries": 2, "reviewer_fresh_runs": 2`, repeated(5, "quality invalid"), "invalid_results"},
		"no worker may fail":         {`"worker_failures": 0, ` + others, repeated(1, "worker error"), "worker_failures"},
		"three workers may fail":     {`"worker_failures": 3, ` + others, repeated(4, "worker error"), "worker_failures"},
		"no rejection":               {`"review_rejections": 1`, repeated(1, "spec gaps"), "review_rejections"},
		"stalled at once":            {`"stalled_threshold": 1`, repeated(1, "worker gaps"), "stalled"},
		"stalled at the third time":  {`"stalled_threshold": 3`, repeated(3, "worker gaps"), "stalled"},
		"a loop at the first review": {`"review_loop_threshold": 1`, repeated(1, "quality gaps"), "review_loop"},
		"a loop at the fourth":       {`"review_rejections": 99, "review_loop_threshold": 4`, []step{"quality gaps", "worker pass", "quality gaps", "worker pass", "quality gaps", "worker pass", "quality gaps"}, "review_loop"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, setup{})
			h.write("tasks.md", clockPlan, time.Hour)
			run := h.start("1", `"policy": {`+c.policy+`}`).str("run.run_id")
			for _, s := range c.steps[:len(c.steps)-1] {
				h.walk(run, s).has("running", "run.state")
			}
			last := h.walk(run, c.steps[len(c.steps)-1])
			last.has("blocked", "run.state")
			last.has(c.halt, "run.reason")
		})
	}
}

func TestCountersAreIndependent(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.start("1", `"policy": {"invalid_retries": 2, "reviewer_fresh_runs": 0}`).str("run.run_id")
	counts := func(last object, worker, spec, quality, failures, rejections int) {
		t.Helper()
		last.has("running", "run.state")
		last.has(map[string]any{
			"worker": float64(worker), "spec-reviewer": float64(spec), "code-quality-reviewer": float64(quality),
		}, "counters.invalid_results")
		last.has(failures, "counters.worker_failures")
		last.has(rejections, "counters.review_rejections")
		require.Equal(t, last.at("counters"), last.at("run.counters"))
	}
	counts(h.walk(run, "worker invalid", "worker invalid"), 2, 0, 0, 0, 0)
	counts(h.walk(run, "worker error", "worker pass"), 2, 0, 0, 1, 0)
	counts(h.walk(run, "spec invalid", "spec invalid"), 2, 2, 0, 1, 0)
	counts(h.walk(run, "quality invalid"), 2, 2, 1, 1, 0)
	counts(h.walk(run, "spec gaps:a", "worker pass", "quality gaps:b", "worker pass"), 2, 2, 1, 1, 2)
	h.walk(run, "spec pass", "quality pass").has("done", "run.state")
}

func TestReviewersOfAPolicyHaveToApprove(t *testing.T) {
	for list, want := range map[string][]step{
		`["spec-reviewer"]`:                          {"spec pass"},
		`["code-quality-reviewer"]`:                  {"quality pass"},
		`["code-quality-reviewer", "spec-reviewer"]`: {"spec pass", "quality pass"},
		`["spec-reviewer", "spec-reviewer"]`:         {"spec pass"},
		`[]`:                                         {},
	} {
		t.Run(list, func(t *testing.T) {
			h := newHost(t, setup{})
			h.write("tasks.md", clockPlan, time.Hour)
			run := h.start("1", `"policy": {"reviewers": `+list+`}`).str("run.run_id")
			last := h.walk(run, "worker pass")
			for _, s := range want {
				role, _ := s.result()
				last.has("dispatch_reviewer", "next_action")
				last.has(role, "next.role")
				last.has("running", "run.state")
				last = h.walk(run, s)
			}
			last.has("done", "run.state")
		})
	}
}

func TestHostThatKnowsOneReviewer(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	h.walk(run, "worker pass")
	h.ingest(run, "reviewer", says("reviewer", "1", "gaps", "a")).has("dispatch_worker_fixes", "next_action")
	h.walk(run, "worker pass").has("spec-reviewer", "next.role")
	h.ingest(run, "reviewer", says("reviewer", "1", "pass", "")).has("done", "run.state")

	run = h.start("1", `"resume": "new", "policy": {"reviewers": ["spec-reviewer", "code-quality-reviewer"]}`).str("run.run_id")
	h.walk(run, "worker pass")
	h.ingest(run, "reviewer", says("reviewer", "1", "pass", "")).has("code-quality-reviewer", "next.role")
	h.ingest(run, "reviewer", says("reviewer", "1", "pass", "")+"\nIt is clear, too.\n").has("done", "run.state")
}

func TestUnknownReviewerOfAPolicyIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", clockPlan, time.Hour)
	for _, name := range []string{"worker", "implementer", "cook", "", "Spec-Reviewer"} {
		fault := h.badRun("/policy/reviewers/1", "init_run",
			`{"plan": "tasks.md", "item_id": "1", "policy": {"reviewers": ["spec-reviewer", %q]}}`, name)
		require.Contains(t, fault.str("message"), "code-quality-reviewer")
	}
}

// A limit is refused if it is negative, zero where that blocks at once, not a number, or too large.
func TestThresholdsAreRefused(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", clockPlan, time.Hour)
	for limit, least := range limits {
		for _, bad := range []string{fmt.Sprint(least - 1), "-5", "101", "1000000000000000000000", "1.5", `"2"`, "true"} {
			h.badRun("/policy/"+limit, "init_run", `{"plan": "tasks.md", "item_id": "1", "policy": {%q: %s}}`, limit, bad)
		}
		for _, good := range []int{least, 100} {
			h.start("1", `"resume": "new", "policy": {%q: %d}`, limit, good).has(good, "run.policy."+limit)
		}
	}
	h.refused(schema.UnknownField, "init_run", `{"plan": "tasks.md", "item_id": "1", "policy": {"stalled_treshold": 2}}`).
		has("stalled_threshold", "data.details.did_you_mean.0")
}
