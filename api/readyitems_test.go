package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// ready calls ready_items for tasks.md; rest are further params.
func (h *host) ready(rest string) object {
	h.t.Helper()
	return h.call("ready_items", "%s", `{"plan": "tasks.md"`+rest+`}`)
}

// waits returns why each item cannot be started, in plan order.
func (o object) waits() []string {
	o.t.Helper()
	list := []string{}
	for i, id := range o.each("waiting", "item_id") {
		reasons := []string{}
		for j, kind := range o.each(fmt.Sprintf("waiting.%d.because", i), "kind") {
			if about, ok := o.find(fmt.Sprintf("waiting.%d.because.%d.item_id", i, j)); ok {
				kind += " " + about.(string)
			}
			reasons = append(reasons, kind)
		}
		list = append(list, id+": "+strings.Join(reasons, ", "))
	}
	return list
}

const wholePlan = "- [x] 1. First\n- [ ] 2. Second\n  - _Depends: 1_\n- [ ] 3. Third\n  - _Depends: 2_\n- [ ] 4. Fourth\n" +
	"- [ ] 5. Group\n  - [ ] 5.1 One\n  - [-] 5.2 Two\n- [ ] 6. Sixth\n  - _Depends: 5, 9_\n"

func TestReadyItems(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", wholePlan, time.Hour)
	all := h.ready("")
	all.has([]any{"2", "4", "5.1"}, "ready")
	all.has(3, "ready_total")
	require.Equal(t, []string{
		"1: done", "3: depends_on 2", "5: parent", "5.2: in_progress", "6: depends_on 5",
	}, all.waits())
	all.has(6, "left")
	all.has(false, "completed")
	all.lacks("stale")
	few := h.ready(`, "limit": 2`)
	few.has([]any{"2", "4"}, "ready")
	few.has(3, "ready_total")
	require.Equal(t, all.at("waiting"), few.at("waiting"))
	for _, limit := range []string{"0", "-1", "501", "1.5"} {
		h.badRun("/limit", "ready_items", `{"plan": "tasks.md", "limit": %s}`, limit)
	}
	h.refused(schema.PlanGone, "ready_items", `{"plan": "login"}`).has("login", "data.details.plan")
	h.refused(schema.LedgerMissing, "ready_items", `{"plan": "other/tasks.md"}`)
	h.refused(schema.PathOutside, "ready_items", `{"plan": "../tasks.md"}`)
}

func TestBlockedItemHoldsBackItsDependentsOnly(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", wholePlan, time.Hour)
	run := h.run("2")
	require.Contains(t, h.ready("").waits(), "2: in_progress")
	for range 2 {
		h.ingest(run, "worker", "nonsense")
	}
	now := h.ready("")
	now.has([]any{"4", "5.1"}, "ready")
	require.Equal(t, []string{
		"1: done", "2: blocked 2", "3: depends_on 2, blocked 2", "5: parent", "5.2: in_progress", "6: depends_on 5",
	}, now.waits())
	h.replan(run, `"plan_items": ["another way"]`)
	require.Contains(t, h.ready("").waits(), "3: depends_on 2")
	h.start("2", `"resume": "new"`)
	require.Contains(t, h.ready("").waits(), "2: in_progress")
}

// An approved item is done even if the file does not say so.
func TestApprovedItemIsDone(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", wholePlan, time.Hour)
	run := h.run("2")
	for _, role := range []string{"worker", "spec-reviewer", "code-quality-reviewer"} {
		last := h.ingest(run, role, says(role, "2", "pass", ""))
		if role == "code-quality-reviewer" {
			last.has("advance_to_next_item", "next_action")
			last.has([]any{"3", "4", "5.1"}, "next.item_ids")
		}
	}
	before := h.ready("")
	before.has([]any{"3", "4", "5.1"}, "ready")
	before.has(5, "left")
	require.Contains(t, before.waits(), "2: done")
	h.stop()
	require.Equal(t, before.text, p.host(t).ready("").text)
}

// Items in a cycle are never ready and say so; other items are not affected.
func TestPlanWithACircle(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [ ] 1. A\n  - _Depends: 2_\n- [ ] 2. B\n  - _Depends: 1_\n- [ ] 3. C\n  - _Depends: 3_\n- [ ] 4. D\n", time.Hour)
	circle := h.ready("")
	circle.has([]any{"4"}, "ready")
	require.Equal(t, []string{"1: depends_on 2", "2: depends_on 1", "3: depends_on 3"}, circle.waits())
	run := h.run("4")
	for _, role := range []string{"worker", "spec-reviewer"} {
		h.ingest(run, role, says(role, "4", "pass", ""))
	}
	last := h.ingest(run, "code-quality-reviewer", says("code-quality-reviewer", "4", "pass", ""))
	last.has("done", "run.state")
	last.has("halt_and_escalate", "next_action") // no remaining item can be started
	last.lacks("evidence")
}

// The last good reading is used for an unreadable file, and the answer says so.
func TestReadyItemsOfAPlanThatIsGone(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", wholePlan, time.Hour)
	before := h.ready("")
	h.write("tasks.md", "", time.Hour)
	h.ready("").has("empty", "stale")
	h.remove("tasks.md")
	after := h.ready("")
	require.Equal(t, before.at("ready"), after.at("ready"))
	after.has("rebuild_failed", "stale")
}

// Each item is either ready or waits for a reason.
func TestNoItemIsLeftOut(t *testing.T) {
	h := newHost(t, setup{})
	var plan strings.Builder
	const many = 300
	for i := range many {
		fmt.Fprintf(&plan, "- [%c] %d. Item\n  - _Depends: %d_\n", " x-"[i%3], i+1, (i*7)%many+1)
	}
	h.write("tasks.md", plan.String(), time.Hour)
	all := h.ready(`, "limit": 500`)
	seen := map[string]bool{}
	for _, id := range all.at("ready").([]any) {
		seen[id.(string)] = true
	}
	for i, id := range all.each("waiting", "item_id") {
		require.False(t, seen[id], id)
		seen[id] = true
		require.NotEmpty(t, all.at(fmt.Sprintf("waiting.%d.because", i)), id)
	}
	require.Len(t, seen, many)
}

func TestExplanationOfAWaitingItemNamesWhatItWaitsFor(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", wholePlan, time.Hour)
	steps := func(id string) (steps []string) {
		why := h.call("explain", `{"plan": "tasks.md", "item_id": %q}`, id)
		for i, action := range why.each("next", "action") {
			steps = append(steps, action+" of "+why.str(fmt.Sprintf("next.%d.subject", i)))
		}
		return steps
	}
	require.Equal(t, []string{"init_run of tasks.md 2"}, steps("2"))
	for _, id := range []string{"3", "5", "6"} {
		require.NotContains(t, steps(id), "init_run of tasks.md "+id)
		require.NotEmpty(t, steps(id), id)
	}
}

// Boxes without an id keep the plan from being completed.
func TestAPlanWithUnreadBoxesIsNotCompleted(t *testing.T) {
	h := newHost(t, setup{})
	const plan = "# Implementation Plan\n- [ ] 1. First\n- [x] asked\n"
	h.write("tasks.md", plan+"- [ ] test it\n", time.Hour)
	now := h.ready("")
	now.has(2, "left")
	now.has(1, "unread")
	run := h.run("1")
	h.walk(run, "worker pass", "spec pass")
	last := h.ingest(run, "code-quality-reviewer", says("code-quality-reviewer", "1", "pass", ""))
	last.has("halt_and_escalate", "next_action")
	require.Empty(t, h.call("list_notices", `{}`).each("items", "kind"))
	now = h.ready("")
	now.has(1, "left")
	now.has(1, "unread")
	now.has(false, "completed")
	h.write("tasks.md", plan, 0)
	now = h.ready("")
	now.has(true, "completed")
	now.lacks("unread")
}

// Only the plan says which items may be worked on in parallel.
func TestReadyItemsSayWhichTheAuthorAllowsBesideOthers(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [x] 1. Dig\n- [ ] 2. Sow\n- [ ] 3. (P) Water\n- [ ] 4. Prune (P)\n- [ ] 5. (P) Reap\n  - _Depends: 2_\n", time.Hour)
	all := h.call("ready_items", `{"plan": "tasks.md"}`)
	all.has([]any{"2", "3", "4"}, "ready")
	all.has([]any{"3", "4"}, "parallel")
	few := h.call("ready_items", `{"plan": "tasks.md", "limit": 2}`)
	few.has([]any{"3"}, "parallel")
	h.write("tasks.md", "- [ ] 1. Dig\n", time.Hour)
	h.call("ready_items", `{"plan": "tasks.md"}`).has([]any{}, "parallel")
}
