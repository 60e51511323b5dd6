package plan_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

func TestBoxesBelowHeadings(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"steps", "- [ ] **Step 1: a**\n- [ ] **Step 2:** b\n- [ ] Step 3 - c\n- [ ] **4. d**\n- [ ] 5) e", "1: 1.1:1 1.2:1 1.3:1 1.4:1 1.5:1"},
		{"numbers of their own", "- [ ] 1.1 a\n- [ ] 1.10 b\n- [ ] 2.1 c", "1: 1.1:1 1.10:1 2.1:1"},
		{"a number that counts", "- [ ] 3 jars\n- [ ] 2024 budget", "1: 1/1:1 1/2:1"},
		{"no number", "- [ ] a\n  - [ ] b\n- [ ] c", "1: 1/1:1 1/1/1:1/1 1/2:1"},
		{"below a step", "- [ ] **Step 1: a**\n  - [ ] b\n  - [ ] **Step 2: c**", "1: 1.1:1 1.1/1:1.1 1.2:1"},
		{"below a part of the task", "- [ ] **Step 1: a**\n#### Hints\n  - [ ] b\n- [ ] **Step 2: c**", "1: 1.1:1 1/1:1 1.2:1"},
		{"a part with the name of a legend", "#### Format the code\n- [ ] a", "1: 1/1:1"},
		{"behind the task", "## Notes\n- [ ] a\n- [ ] **Step 1: b**\n- [ ] 7. c", "1: notes/1: notes/2: 7:"},
		{"parents with zero", "- [ ] 1.0 a\n  - [ ] 1.1 b\n- [ ] 1.2 c", "1: 1.0:1 1.1:1.0 1.2:1.0"},
		{"groups with tasks", "# Task Group 5: a\n## Task 5.1: b\n- [ ] **Step 1: c**\n## Task 6: d", "1: 5: 5.1:5 5.1.1:5.1 6:5"},
		{"tasks are beside each other", "#### Task 2: a\n- [ ] **Step 1: b**", "1: 2: 2.1:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, tree(parse(t, "<!-- waybill: dialect=superpowers -->\n### Task 1: x\n"+c.text+"\n")))
		})
	}
}

// Criteria are boxes that nobody works on.
func TestCriteriaBelowATaskAreNoItems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"label", "**Acceptance Criteria:**\n- [ ] a\n- [ ] 4 b\n- [ ] 1.1 c", "1: 2:"},
		{"label with text", "**Acceptance Criteria:** all of\n* [ ] a", "1: 2:"},
		{"label in plain type", "Acceptance criteria:\n- [ ] a", "1: 2:"},
		{"label in a list", "- [ ] **Step 1: a**\n  - Acceptance:\n    - [ ] b\n- [ ] **Step 2: c**", "1: 1.1:1 1.2:1 2:"},
		{"definition of done", "**Definition of Done**\n- [ ] a", "1: 2:"},
		{"heading", "#### Acceptance Criteria\n- [ ] a\n- [ ] **Step 1: b**\n#### Steps\n- [ ] **Step 1: c**", "1: 1.1:1 2:"},
		{"another label ends it", "**Acceptance Criteria:**\n- [ ] a\n\n**Steps:**\n- [ ] b", "1: 1/1:1 2:"},
		{"a sentence is no label", "Acceptance is up to the baker.\n- [ ] a", "1: 1/1:1 2:"},
		{"a heading above tasks", "## Acceptance\n- [ ] a\n### Task 3: b\n- [ ] c", "1: 3: 3/1:3 2:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, "### Task 1: x\n"+c.text+"\n### Task 2: y\n")
			require.Equal(t, c.want, tree(r))
			require.Equal(t, len(diagnostics(r, "not_a_task_section")), countNotTasks(r.Diagnostics))
		})
	}
}

func TestWhatAHeadingWaitsFor(t *testing.T) {
	for line, want := range map[string][]string{
		"**Depends on:** none":                                    nil,
		"**Dependencies:** None":                                  nil,
		"**Depends on:** -":                                       nil,
		"**Dependencies:** None (beside Task Group 1 and 2)":      nil,
		"**Depends on:** None - the first":                        nil,
		"**Depends on:** 1":                                       {"1"},
		"**Depends on:** 1, 2":                                    {"1", "2"},
		"**Depends on:** Task 1":                                  {"1"},
		"**Depends on:** Task 1, Task 2":                          {"1", "2"},
		"**Depends On**: Tasks 1 and 2":                           {"1", "2"},
		"**Depends on:** Task 1, 2, and 3.":                       {"1", "2", "3"},
		"**Depends on:** task #1 & #2":                            {"1", "2"},
		"**Dependencies:** Task 1.2 (its list, and the baker)":    {"1.2"},
		"**Dependencies:** Task 1: Compost log, Task 2 (a and b)": {"1", "2"},
		"**Dependencies:** Task 1 for its list":                   {"1"},
		"**Dependencies:** Task Group 1":                          {"1"},
		"**Dependencies:** Task Groups 1, 2":                      {"1", "2"},
		"**Dependencies:** Task Groups 1-3":                       {"1", "2", "3"},
		"**Dependencies:** Task Groups 1 – 3 (all)":               {"1", "2", "3"},
		"**Dependencies:** Task Groups 1 through 3":               {"1", "2", "3"},
		"**Dependencies:** Task 1.1-1.2, Task Group 3":            {"1.1", "1.2", "3"},
		"**Dependencies:** Task 1 - Task 3":                       {"1", "2", "3"},
		"- **Depends on:** Task 1":                                {"1"},
		"Depends on: Task 1":                                      {"1"},
		"**Depends on:** Task B":                                  {"B"},
		"- [ ] **Step 1: a**\n\n**Depends on:** Task 1":           {"1"},
		"#### Order\n**Depends on:** Task 1\n**Depends on:** 2":   {"1", "2"},
		"**Depends on:** 1\n#### Order\n**Depends on:** 2":        {"1", "2"},
	} {
		t.Run(line, func(t *testing.T) {
			r := parse(t, "### Task 9: x\n"+line+"\n### Task 10: y\n")
			require.Equal(t, want, item(t, r, "9").DependsOn)
			require.Empty(t, item(t, r, "10").DependsOn)
		})
	}
	require.Equal(t, []string{"2"}, item(t, parse(t, "### Task 1: a (depends on Task 2)\n### Task 2: b\n"), "1").DependsOn)
}

func TestFilesOfAHeading(t *testing.T) {
	for lines, want := range map[string][]string{
		"**Files:** `a.go`":           {"a.go"},
		"**Files:** `a.go`, `b.go`":   {"a.go", "b.go"},
		"**Files:** a.go, b.go (new)": {"a.go", "b.go"},
		"**Files:**\n- Create: `a.go`\n- Modify: `b.go:1-2`\n- Test: `c.go`":          {"a.go", "b.go:1-2", "c.go"},
		"**Files:**\n\n- `a.go` (edit), `b.go`\n- `c.go` and `d.go` — both, and more": {"a.go", "b.go", "c.go", "d.go"},
		"**Files:**\n- Create/Modify: `a.go` (`Run` and its comment, 1-2)":            {"a.go"},
		"**Files:**\n- **Modify:** a.go - the call, and more":                         {"a.go"},
		"**Files:**\n* Create: none\n* C:\\a.go":                                      {`C:\a.go`},
		"**Files:**\n- `a.go\n- Test: ``\n- (new)":                                    {"`a.go", "(new)"},
		"Files: a.go\n\nText.\n- b.go":                                                {"a.go"},
	} {
		t.Run(lines, func(t *testing.T) {
			require.Equal(t, want, item(t, parse(t, "### Task 1: x\n"+lines+"\n- [ ] **Step 1: y**\n"), "1").Files)
		})
	}
}

func TestLabelsOfAHeadingAreKeptAsDetails(t *testing.T) {
	r := parse(t, "### Task 1: x\n**Files:** `a.go`\n**Model:** small (fast)\n**review:** full\nSome text\ngoes on.\n---\n")
	require.Equal(t, []string{"**Model:** small (fast)", "**review:** full\nSome text\ngoes on."}, item(t, r, "1").Details)
}

// The order of the file is no dependency, as in other dialects; what a task waits for, its steps wait for.
func TestStepsWaitForWhatTheirTaskWaitsFor(t *testing.T) {
	r := parse(t, "### Task 1: a\n- [x] **Step 1: b**\n- [ ] **Step 2: c**\n### Task 2: d\n**Depends on:** Task 1\n- [ ] **Step 1: e**\n### Task 3: f\n")
	ready := plan.Ready(r.Items(), func(string) plan.ItemRun { return plan.NoRun })
	require.Equal(t, []string{"1.2", "3"}, ready.Ready)
	for _, w := range ready.Waiting {
		if w.ItemID == "2.1" {
			require.Equal(t, []plan.Hold{{Kind: plan.HeldByDependency, ItemID: "1"}, {Kind: plan.HeldByParent, ItemID: "2"}}, w.Because)
		}
	}
}

// A task whose status stood in a line below its heading was open for ever.
func TestAStatusLineBelowATaskHeadingCounts(t *testing.T) {
	for line, want := range map[string]plan.Status{
		"**Status**: COMPLETED":     plan.Completed,
		"**Status:** [x] Complete":  plan.Completed,
		"Status: Done":              plan.Completed,
		"- **Status**: In progress": plan.InProgress,
		"**Status**: ✅ Done":        plan.Completed,
		"**Status**: [ ] Complete":  plan.Pending,
		"**Status**: not started":   plan.Pending,
		"**Status**: blocked":       plan.Blocked,
		"**Status**: as you like":   plan.Pending,
		"**Status**: done if lucky": plan.Pending,
		"The status: done":          plan.Pending,

		"> **Status**: COMPLETED":                         plan.Pending,
		"#### Upstream library\n**Status**: COMPLETED":    plan.Pending,
		"**Status**: COMPLETED\n**Status**: PENDING":      plan.Pending,
		"**Status**: PENDING\n**Status**: COMPLETED":      plan.Pending,
		"**Status**: COMPLETED\n**Status**: IN PROGRESS":  plan.InProgress,
		"**Status**: COMPLETED | [x] Complete":            plan.Completed,
		"**Status**: PENDING | [x] Complete":              plan.Completed,
		"**Status**: [x] COMPLETED":                       plan.Completed,
		"**Status**: PENDING | [ ] Complete":              plan.Pending,
		"**Status**: COMPLETED | [ ] Complete":            plan.Pending,
		"**Status**: [x] PENDING | [ ] COMPLETED":         plan.Pending,
		"**Status**: [ ] Open | [ ] Done":                 plan.Pending,
		"**Status**: [ ] PENDING | [x] DONE":              plan.Completed,
		"**Status**: [x] PENDING | [x] DONE":              plan.Pending,
		"**Status**: PENDING | DONE":                      plan.Pending,
		"**Acceptance:**\n- it flies\n\n**Status**: done": plan.Completed,
	} {
		r := parse(t, "### Task 1: a\n"+line+"\n**Files:** `a.go`\n### Task 2: b\n**Depends on:** Task 1\n")
		require.Equal(t, want, item(t, r, "1").Status, line)
		require.Equal(t, plan.Pending, item(t, r, "2").Status, line)
		require.Equal(t, want == plan.Completed, slices.Contains(r.Ready(r.Items(), runs(nil)).Ready, "2"), line)
		_, err := r.Marked(plan.Marking{ItemID: "1", Status: plan.Skipped})
		require.Error(t, err, "the line is read and not written")
	}
	for line, conflicts := range map[string]int{
		"**Status**: COMPLETED\n**Status**: PENDING": 1, "**Status**: done\n**Status**: COMPLETED": 0, "> **Status**: done\n**Status**: open": 0,
	} {
		require.Len(t, diagnostics(parse(t, "### Task 1: a\n"+line+"\n"), "summary_conflict"), conflicts, line)
	}
	for line, unknown := range map[string]int{
		"COMPLETED | [x] Complete": 0, "PENDING | [ ] Complete": 0, "COMPLETED | [ ] Complete": 1, "[x] PENDING | [x] DONE": 1, "PENDING | DONE": 1,
	} {
		require.Len(t, diagnostics(parse(t, "### Task 1: a\n**Status**: "+line+"\n"), "unknown_mark"), unknown, line)
	}
	r := parse(t, "### Task 1: a (DONE)\n**Status**: pending\n- [x] **Step 1: b**\n- [ ] **Step 2: c**\n**Status**: done\n")
	require.Equal(t, plan.Completed, item(t, r, "1").Status, "the heading counts")
	require.Len(t, diagnostics(r, "summary_conflict"), 1)
	unknown := diagnostics(parse(t, "### [x] Task 1: a\n**Status**: ❌ as you like\n"), "unknown_mark")
	require.Equal(t, `the status "❌ as you like" has no meaning here, so the task is completed`, unknown[0].Message, "the heading counts, and it said open")
	require.Len(t, diagnostics(r, "parent_child_conflict"), 1)
	require.Less(t, r.Totals.Completed, r.Totals.Total)
}
