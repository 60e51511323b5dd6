package api_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/store"
)

const directedPlan = `# Plan

### Task 1: Count
**Review:** spec-only
**Model:** acme/large (the slow one)

### Task 2: Report
**Review:** none
**Model:** small
**Depends on:** none

### Task 3: Alarm
`

func TestPlanNamesReviewersAndModel(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", directedPlan, time.Hour)
	first := h.call("init_run", `{"plan": "tasks.md", "item_id": "1"}`)
	first.has([]any{"spec-reviewer"}, "run.policy.reviewers")
	first.has("spec-only", "directives.review")
	first.has("acme/large", "directives.model")
	id := h.create(`"run_id": %q`, first.str("run.run_id"))
	h.task(id).has([]any{map[string]any{"provider_id": "acme", "model_id": "large"}}, "task.models")
	named := h.create(`"run_id": %q, "models": [{"provider_id": "umbra", "model_id": "tiny"}]`, first.str("run.run_id"))
	h.task(named).has("tiny", "task.models.0.model_id")

	second := h.call("init_run", `{"plan": "tasks.md", "item_id": "2"}`)
	second.has([]any{}, "run.policy.reviewers")
	second.has("small", "directives.model")
	h.task(h.create(`"run_id": %q`, second.str("run.run_id"))).has([]any{}, "task.models")
	h.call("init_run", `{"plan": "tasks.md", "item_id": "3"}`).lacks("directives")
}

func TestTaskTakesTheModelOfThePlanAsItIsNow(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", directedPlan, 2*time.Hour)
	run := h.call("init_run", `{"plan": "tasks.md", "item_id": "1"}`).str("run.run_id")
	h.write("tasks.md", strings.Replace(directedPlan, "acme/large", "acme/huge", 1), time.Hour)
	h.call("init_run", `{"plan": "tasks.md", "item_id": "1"}`).has("acme/huge", "directives.model")
	h.task(h.create(`"run_id": %q`, run)).has("huge", "task.models.0.model_id")
	h.write("tasks.md", strings.Replace(directedPlan, "acme/large", "acme/small", 1), time.Minute)
	h.task(h.create(`"run_id": %q`, run)).has("small", "task.models.0.model_id")

	h.refact(run, func(facts []store.Fact) []store.Fact {
		return slices.DeleteFunc(facts, func(f store.Fact) bool { return f.Key == "ledger.task.attempts" })
	})
	h.refused(schema.LedgerIncomplete, "create_task", `{"prompt": "x", "run_id": %q}`, run)
	h.create(`"run_id": %q, "models": [{"provider_id": "umbra", "model_id": "tiny"}]`, run)
}

func TestInitRunPolicyOverridesPlan(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", directedPlan, time.Hour)
	h.call("init_run", `{"plan": "tasks.md", "item_id": "2", "policy": {"reviewers": ["code-quality-reviewer"]}}`).
		has([]any{"code-quality-reviewer"}, "run.policy.reviewers")
	h.call("init_run", `{"plan": "tasks.md", "item_id": "1", "policy": {"reviewers": [], "review_rejections": 7}}`).
		has([]any{}, "run.policy.reviewers")
}

func TestRunWithoutReviewersIsDoneWithTheWork(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", directedPlan, time.Hour)
	run := h.call("init_run", `{"plan": "tasks.md", "item_id": "2"}`).str("run.run_id")
	done := h.call("ingest_output", `{"run_id": %q, "role": "worker", "output": %q}`, run, "role: worker\ntask_id: 2\nstatus: pass\ngit_range: a1..b2\n\nDone.\n")
	done.has("done", "run.state")
	require.NotEqual(t, "dispatch_reviewer", done.str("next_action"))
}
