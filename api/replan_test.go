package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// anew replans a run; rest are further params.
func (h *host) replan(run, rest string, args ...any) object {
	h.t.Helper()
	if rest != "" {
		rest = ", " + rest
	}
	return h.call("replan", `{"run_id": `+quoted(run)+`, "summary": "another way"`+rest+`}`, args...)
}

// Only a different plan ends a block.
func TestSamePlanClearsNothing(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker gaps", "worker gaps").has("stalled", "run.reason")
	for version := range 3 {
		same := h.replan(run, "")
		same.has(false, "frontier_changed")
		same.has("blocked", "run.state")
		same.has("halt_and_escalate", "next_action")
		same.has(version+2, "run.plan_version")
		same.has(version+2, "task_ledger.plan_version")
		same.has("another way", "task_ledger.plan_summary")
	}
	h.replan(run, `"plan_items": ["buy ink", "draw"]`).has(true, "frontier_changed")
	h.walk(run, "worker gaps", "worker gaps").has("blocked", "run.state")
	h.replan(run, `"plan_items": [" buy  ink", "draw"]`).has(false, "frontier_changed") // but for spacing
	h.replan(run, "").has([]any{"buy  ink", "draw"}, "task_ledger.plan_items")
	h.write("tasks.md", clockPlan+"- [ ] 4. Something else\n", time.Minute)
	h.replan(run, "").has(false, "frontier_changed")
	h.write("tasks.md", strings.Replace(clockPlan, "[ ] 1.", "[-] 1.", 1), time.Minute)
	h.replan(run, "").has("blocked", "run.state")
}

// An empty list of steps is the same plan as none, so that alternating them ends no block.
func TestEmptyListOfStepsIsNoNewPlan(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.replan(run, `"plan_items": ["buy ink"]`)
	h.walk(run, "worker gaps", "worker gaps").has("blocked", "run.state")
	for _, rest := range []string{`"plan_items": []`, "", `"plan_items": []`} {
		same := h.replan(run, rest)
		same.has(false, "frontier_changed")
		same.has("blocked", "run.state")
		same.has([]any{"buy ink"}, "task_ledger.plan_items")
	}
}

func TestNewPlanEndsEveryHalt(t *testing.T) {
	for _, way := range ways {
		for _, by := range []string{"steps", "file"} {
			t.Run(way.halt+" by "+by, func(t *testing.T) {
				h := newHost(t, setup{})
				h.write("tasks.md", clockPlan, time.Hour)
				run := h.start("1", `"policy": {`+way.policy+`}`).str("run.run_id")
				before := h.walk(run, way.steps...)
				before.has(way.halt, "run.reason")
				rest := `"plan_items": ["do half of it"]`
				if by == "file" {
					rest = ""
					h.write("tasks.md", strings.Replace(clockPlan, "Draw the face of the clock.", "Draw a circle.", 1), time.Minute)
				}
				after := h.replan(run, rest)
				after.has(true, "frontier_changed")
				after.has("running", "run.state")
				after.lacks("run.reason")
				require.NotEqual(t, "halt_and_escalate", after.str("next_action"))
				after.lacks("task_ledger.replan_hint")
				for _, grows := range []string{"invalid_results", "worker_failures", "review_rejections"} {
					require.Equal(t, before.at("counters."+grows), after.at("run.counters."+grows), grows)
				}
				after.has(0, "run.counters.stalled")
				after.has(0, "run.counters.review_loop")
				events := h.logged("run.replanned", run)
				require.Len(t, events, 1)
				events[0].has("new_plan_clears_the_way", "data.rule")
				events[0].has(2, "data.plan_version")
			})
		}
	}
}

// A new plan ends a block by a growing counter once.
func TestNewPlanGivesOneMoreChance(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker error", "worker error").has("worker_failures", "run.reason")
	h.replan(run, `"plan_items": ["a"]`).has("worker", "next.role")
	h.walk(run, "worker error").has("worker_failures", "run.reason")
	h.replan(run, `"plan_items": ["b"]`).has("running", "run.state")
	h.walk(run, "worker pass").has("dispatch_reviewer", "next_action")
	h.walk(run, "spec pass", "quality pass").has("done", "run.state")
	fault := h.refused(schema.InvalidState, "replan", `{"run_id": %q, "summary": "x", "plan_items": ["c"]}`, run)
	fault.has("done", "data.details.state")
}

func TestPlanIsAmongTheFacts(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	h.replan(run, `"plan_items": ["buy ink", "draw"]`)
	h.stop()
	h = p.host(t)
	snapshot := h.snapshot(run)
	snapshot.has(2, "revision")
	facts := map[string]string{}
	for i, key := range snapshot.each("facts", "k") {
		facts[key] = snapshot.each("facts", "v")[i]
	}
	require.Equal(t, "2", facts["ledger.task.plan_version"])
	require.Equal(t, "another way", facts["ledger.task.plan_summary"])
	require.JSONEq(t, `["buy ink", "draw"]`, facts["ledger.task.plan_items"])
	require.Contains(t, h.compile(run).str("prompt"), "buy ink")
}

func TestBlankReplanIsRefused(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	for _, blank := range []string{" ", "\\n\\t"} {
		h.refused(schema.EmptyContent, "replan", `{"run_id": %q, "summary": "%s"}`, run, blank).has("/summary", "data.details.pointer")
	}
	h.badRun("/summary", "replan", `{"run_id": %q, "summary": ""}`, run)
	h.badRun("/plan_items/1", "replan", `{"run_id": %q, "summary": "x", "plan_items": ["a", " "]}`, run)
	h.badRun("/plan_items", "replan", `{"run_id": %q, "summary": "x", "plan_items": ["a"%s]}`, run, strings.Repeat(`,"a"`, 1000))
	h.replan(run, `"plan_items": ["a"%s]`, strings.Repeat(`,"a"`, 999))
	h.refused(schema.TooLarge, "replan", `{"run_id": %q, "summary": %q}`, run, strings.Repeat("x", schema.MaxReplyBytes+1))
	h.refused(schema.TooLarge, "replan", `{"run_id": %q, "summary": "x", "plan_items": [%q]}`, run, strings.Repeat("x", schema.MaxContentBytes+1))
	h.refused(schema.RunGone, "replan", `{"run_id": "run_nobody", "summary": "x"}`)
}

// An unreadable plan has not changed, and a missing item ends no block.
func TestPlanThatIsNotThereClearsNothing(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker gaps", "worker gaps").has("blocked", "run.state")
	h.remove("tasks.md")
	h.replan(run, "").has(false, "frontier_changed")
	h.write("tasks.md", "- [ ] 2. Draw the hands\n", time.Minute)
	h.snapshot(run) // it reads the file
	h.refused(schema.ItemGone, "replan", `{"run_id": %q, "summary": "x"}`, run)
	h.refused(schema.ItemGone, "replan", `{"run_id": %q, "summary": "x", "plan_items": ["a"]}`, run)
	h.write("tasks.md", clockPlan, time.Minute)
	h.replan(run, "").has("blocked", "run.state")
}
