package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/test/slow"
)

// tree writes each item as id:parent.
func tree(r *plan.Reading) string {
	var all []string
	for _, it := range r.Items() {
		all = append(all, it.ID+":"+it.ParentID)
	}
	return strings.Join(all, " ")
}

// A heading counted once as text of the task above it, since that was a heading as well, and the task was lost.
func TestAHeadingEndsTheTaskAbove(t *testing.T) {
	r := parse(t, "### Task 1: a\ntext\n### Task 2: b\n  ### Task 3: c\n- [ ] **Step 1: d**\n ### Task 4: e\n#### Task 5: f\n")
	require.Equal(t, "1: 2: 3: 3.1:3 4: 5:", tree(r))
	require.Equal(t, []string{"text"}, item(t, r, "1").Details)
}

func TestHeadingsThatAreTasks(t *testing.T) {
	for _, c := range []struct{ heading, id, title string }{
		{"### Task 1: Compost log", "1", "Compost log"},
		{"## Task 1.2: Compost log ##", "1.2", "Compost log"},
		{"# task 2 - Seed", "2", "Seed"},
		{"###### TASK 2 — Seed", "2", "Seed"},
		{"### Task 3. Seed", "3", "Seed"},
		{"### Task 3) Seed", "3", "Seed"},
		{"### Task 01: Seed", "01", "Seed"},
		{"### Task #4: Seed", "4", "Seed"},
		{"### **Task 5: Seed**", "5", "Seed"},
		{"### 🌱 Task 6: Seed", "6", "Seed"},
		{"### Task 7", "7", "Task 7"},
		{"### Task B: Seed", "B", "Seed"},
		{"### Task B2.1 - Seed", "B2.1", "Seed"},
		{"#### Task Group 8: Seed", "8", "Seed"},
		{"### Task: Seed", "task-seed/1", "Seed"},
		{"### Task 9: Task 10 comes next", "9", "Task 10 comes next"},
		{"### Tasks", "", ""},
		{"### Tasks 1-3: Seed", "", ""},
		{"### Task List", "", ""},
		{"### Task Group", "", ""},
		{"### Task Breakdown: Seed", "", ""},
		{"### Task A is next", "", ""},
		{"### Taskmaster 1", "", ""},
		{"### Task:", "", ""},
		{"####### Task 1: too deep", "", ""},
		{"###Task 1: too near", "", ""},
	} {
		t.Run(c.heading, func(t *testing.T) {
			r := parse(t, c.heading+"\n\n### Task 99: last\n")
			if c.id == "" {
				require.Equal(t, "99:", tree(r))
				return
			}
			require.Equal(t, 2, r.Len())
			require.Equal(t, []string{c.id, c.title}, []string{r.Items()[0].ID, r.Items()[0].Title})
			require.Equal(t, plan.Span{}, r.Items()[0].Mark)
		})
	}
}

// What looks like a task and has no number is not passed over in silence.
func TestAHeadingThatIsNearlyATaskIsReported(t *testing.T) {
	r := parse(t, "### Task 1: a\n### Task 2/3: b\n### Task 4-6\n### Task 3rd\n")
	found := diagnostics(r, "dialect_drift")
	require.Len(t, found, 3)
	require.Equal(t, []int{2, 3, 4}, []int{found[0].Line, found[1].Line, found[2].Line})
	require.Contains(t, found[0].Message, `"Task 2/3: b"`)
}

func TestWhatAHeadingSaysOfItsStatus(t *testing.T) {
	for heading, want := range map[string]struct {
		title  string
		status plan.Status
	}{
		"### Task 1: Seed (COMPLETED)":            {"Seed", plan.Completed},
		"### Task 1: Seed (completed 2024-10-02)": {"Seed", plan.Completed},
		"### Task 1: Seed (✅ Done)":               {"Seed", plan.Completed},
		"### Task 1: Seed [DONE]":                 {"Seed", plan.Completed},
		"### Task 1: Seed [x]":                    {"Seed", plan.Completed},
		"### Task 1: Seed ✅":                      {"Seed", plan.Completed},
		"### Task 1: Seed ✔️ Complete":            {"Seed", plan.Completed},
		"### ✅ Task 1: Seed":                      {"Seed", plan.Completed},
		"### Task 1: ✅ Seed":                      {"Seed", plan.Completed},
		"### Task 1 [x]: Seed":                    {"Seed", plan.Completed},
		"### Task 1 (COMPLETED)":                  {"Task 1", plan.Completed},
		"### Task 1: Seed (in progress)":          {"Seed", plan.InProgress},
		"### Task 1: Seed 🚧":                      {"Seed", plan.InProgress},
		"### Task 1: Seed (Blocked: no earth)":    {"Seed (Blocked: no earth)", plan.Pending},
		"### Task 1: Seed (Blocked)":              {"Seed", plan.Blocked},
		"### Task 1: Seed (deferred)":             {"Seed", plan.Skipped},
		"### ~~Task 1: Seed~~":                    {"Seed", plan.Skipped},
		"### Task 1: Seed [ ]":                    {"Seed", plan.Pending},
		"### Task 1: Seed (done when it rains)":   {"Seed (done when it rains)", plan.Pending},
		"### Task 1: Seed (open questions)":       {"Seed (open questions)", plan.Pending},
		"### Task 1: Check ✅ and ❌ signs":         {"Check ✅ and ❌ signs", plan.Pending},
		"### Task 1: Seed - done":                 {"Seed - done", plan.Pending},
		"### Task 1: Seed [1]":                    {"Seed [1]", plan.Pending},
	} {
		t.Run(heading, func(t *testing.T) {
			it := item(t, parse(t, heading+"\n"), "1")
			require.Equal(t, want.title, it.Title)
			require.Equal(t, want.status, it.Status)
			require.Zero(t, it.DerivedStatus)
		})
	}
}

// A heading says nothing of its status, so its steps do, and nothing contradicts them.
func TestTheStatusOfAHeadingFollowsItsSteps(t *testing.T) {
	for marks, want := range map[string]plan.Status{
		"  ": plan.Pending, "x ": plan.InProgress, "xx": plan.Completed, "": plan.Pending,
	} {
		text := "### Task 1: a\n"
		for i, mark := range marks {
			text += fmt.Sprintf("- [%c] **Step %d: b**\n", mark, i+1)
		}
		r := parse(t, text)
		it := item(t, r, "1")
		require.Equal(t, want, it.Status, "%q", marks)
		if marks != "" {
			require.Equal(t, want, it.DerivedStatus)
		}
		require.Empty(t, diagnostics(r, "parent_child_conflict"))
		require.Equal(t, want == plan.InProgress, r.Active() == "1")
	}
}

// A word in a heading is a status, and may say something else than the boxes.
func TestAHeadingThatContradictsItsStepsIsReportedWithBothLines(t *testing.T) {
	for heading, want := range map[string]string{
		"#### Task Group 1: a (COMPLETED)": "1 (line 1) is completed, but 1.1 (line 3) below it is still open",
		"### Task 1: Sow ✅":                "1 (line 1) is completed, but 1.1 (line 3) below it is still open",
		"### [x] Task 1: a":                "1 (line 1) is completed, but 1.1 (line 3) below it is still open",
		"### ~~Task 1: a~~":                "1 (line 1) is skipped, but 1.1 (line 3) below it is still open",
	} {
		r := parse(t, heading+"\n\n- [ ] 1.1 b\n")
		found := diagnostics(r, "parent_child_conflict")
		require.Len(t, found, 1, heading)
		require.Equal(t, want, found[0].Message)
		require.NotEqual(t, plan.Pending, item(t, r, "1").Status, "what the plan says is not changed")
	}
	done := parse(t, "### [ ] Task 1: a\n- [x] **Step 1: b**\n")
	require.Equal(t, "1 (line 1) is pending, but everything below it is completed", diagnostics(done, "parent_child_conflict")[0].Message)
}

func TestABoxInAHeadingIsItsMark(t *testing.T) {
	const text = "### [x] Task 1: a\n### [-] Task 2: b\n- [ ] **Step 1: c**\n## [ ] Notes\n- [ ] d\n"
	r := parse(t, text)
	require.Equal(t, "1: 2: 2.1:2 notes/1: notes/2:", tree(r))
	require.Equal(t, plan.Completed, item(t, r, "1").Status)
	require.Equal(t, "x", text[r.Items()[0].Mark.Start:r.Items()[0].Mark.End])
	require.Len(t, diagnostics(r, "ambiguous_mark"), 1)
	require.Empty(t, diagnostics(r, "dialect_drift"), "a heading is nothing odd here")
}

// The first step of task 1 and task 1.1 have one id. Both are items, and the steps of each are its own.
func TestATaskAndAStepWithOneIDAreNotMerged(t *testing.T) {
	r := parse(t, "## Task 1: a\n- [x] **Step 1: b**\n## Task 1.1: c\n- [ ] **Step 1: d**\n## Task 1: e\n- [x] **Step 2: f**\n")
	require.Equal(t, "1: 1.1:1 1.1:1 1.1.1:1.1 1: 1.2:1", tree(r))
	found := diagnostics(r, "duplicate_id")
	require.Len(t, found, 2)
	require.Contains(t, found[0].Message, "line 2 and again on line 3")
	require.Contains(t, found[1].Message, "line 1 and again on line 5")
	require.Equal(t, plan.Pending, r.Items()[2].Status, "what stands below the step says nothing of the task")
	require.Equal(t, plan.Completed, r.Items()[4].Status)
}

// A task in a fence or a comment is no task, unless others wait for it.
func TestHiddenHeadings(t *testing.T) {
	const text = "### Task 1: a\n````md\n```\n### Task 7: b\n```\n````\n<!--\n### Task 8: c\n**Model:** d\n-->\n### Task 2: e\n"
	r := parse(t, text)
	require.Equal(t, "1: 2:", tree(r))
	require.Equal(t, 4, diagnostics(r, "heading_in_fence")[0].Line)
	require.Equal(t, 8, diagnostics(r, "heading_in_comment")[0].Line)

	r = parse(t, text+"**Depends on:** 7, 8\n")
	require.Equal(t, "1: 7: 8: 2:", tree(r))
	require.Equal(t, []string{"b", "c"}, []string{item(t, r, "7").Title, item(t, r, "8").Title})
	require.Contains(t, diagnostics(r, "heading_in_fence")[0].Message, "counts only because the plan refers to 7")
}

func TestDialectOfPlansOfHeadings(t *testing.T) {
	for text, want := range map[string]string{
		"### Task 1: a\n- [ ] **Step 1: b**":                                     "superpowers",
		"### Task 1: a\n- [ ] b":                                                 "superpowers",
		"### Task 1: a\n- [ ] 1.1 b\n- [ ] 1.2 c":                                "superpowers",
		"## Task 1: a\n### Steps\n- [ ] 1.1 b\n- [ ] 1.2 c":                      "superpowers",
		"### Task 1: a\n- [ ] 1. b\n- [ ] 2. c\n### Task 2: d\n- [ ] 1. e":       "superpowers",
		"### Task 1: a\n**Step 1: b**":                                           "superpowers",
		"### [ ] Task 1: a":                                                      "superpowers",
		"### Task 1: a\n**Model:** small\n**Step 1: b**":                         "tina",
		"### Task 1: a":                                                          "tina",
		"### Task 1: a\n**Acceptance Criteria:**\n- [ ] b":                       "tina",
		"#### Task Group 1: a\n- [ ] 1.0 b\n- [ ] 1.1 c":                         "agent-os",
		"#### Task Group 1: a\n":                                                 "agent-os",
		"### Task 1: a\n- [ ] **Files**: b":                                      "spec-context",
		"### Task 1: a\n- [ ] 1.1 b\n  - _Leverage: c_":                          "spec-context",
		"### Task 9: a\n- [ ] 1. b\n- [ ] 2. c":                                  "spec-context",
		"### Task 1: a\n- [ ] T001 b\n- [ ] T002 c":                              "spec-kit",
		"# a\n- [ ] b\n```\n### Task 1: c\n```":                                  "loose",
		"## 1. a\n- [ ] 1.1 b":                                                   "openspec",
		"<!-- waybill: dialect=agent-os -->\n### Task 1: a\n- [ ] **Step 1: b**": "agent-os",
		"<!-- waybill: dialect=loose -->\n### Task 1: a\n- [ ] **Step 1: b**":    "loose",

		// Headings that are notes about what boxes say.
		"## Tasks / Subtasks\n- [ ] Task 1: a (AC: 1)\n  - [ ] b\n## Dev Notes\n### Task 1\nc": "bmad",
		"## [~] Track: a\n- [ ] Task: b\n### Task 1\nc":                                        "conductor",
	} {
		require.Equal(t, want, parse(t, text+"\n").Dialect, "%q", text)
	}
	r := parse(t, "### Task 1: a\n**review:** full\n- [ ] **Step 1: b**\n")
	require.Contains(t, r.Evidence, plan.Evidence{Line: 1, Dialect: "superpowers", Signal: "heading such as Task 1"})
	require.Contains(t, r.Evidence, plan.Evidence{
		Line: 2, Dialect: "tina", Signal: "**Model:**, **review:** or **Depends on:** below a heading such as Task 1",
	}, "the runner-up")
}

func TestFaultF21_LargePlansOfHeadingsCostInProportion(t *testing.T) {
	slow.Test(t)
	many := slow.Size(50_000)
	for name, text := range map[string]string{
		"tasks":             strings.Repeat("### Task 1: a\n**Depends on:** 1-3\n", many),
		"steps":             "### Task 1: a\n" + strings.Repeat("- [ ] **Step 1: b**\n", many),
		"late dependencies": "### Task 1: a\n" + strings.Repeat("- [ ] **Step 1: b (depends on 1)**\n", many) + strings.Repeat("**Depends on:** 1\n", many),
		"deeper":            strings.Repeat("# Task 1: a\n## Task 1.1: b\n### Task 1.1.1: c\n#### d\n", many/4),
		"hidden":            "### Task 1: a\n```\n" + strings.Repeat("### Task 1.2: a\n", many) + "```\n",
		"signs":             "### Task 1: " + strings.Repeat("✅(", many),
		"names":             "### Task 1: a\n**Files:** " + strings.Repeat("a, ", many*4),
		"files":             "### Task 1: a\n**Files:** " + strings.Repeat("Create: `a`, ", many),
		"criteria":          "### Task 1: a\n" + strings.Repeat("**Acceptance:**\n- [ ] a\n", many),
	} {
		t.Run(name, func(t *testing.T) {
			r := parse(t, text)
			require.Len(t, r.Items(), r.Len())
			require.Equal(t, r.Checkboxes, countBoxed(r)+countNotTasks(r.Diagnostics))
		})
	}
}

func TestStatusOfPlansOfHeadingsIsWritten(t *testing.T) {
	const text = "### Task 1: a\n- [ ] **Step 1: b**\n- [ ] **Step 2: c**\n### [ ] Task 2: d\n- [ ] **Step 1: e**\n### Task 3: f\n"
	marked, err := markOf(t, text, "1.2", 0, plan.Completed)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(text, "- [ ] **Step 2", "- [x] **Step 2", 1), marked.Text)
	require.Equal(t, plan.InProgress, item(t, parse(t, marked.Text), "1").Status, "the heading follows")

	marked, err = markOf(t, text, "2", 0, plan.Completed)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(text, "### [ ] Task 2", "### [x] Task 2", 1), marked.Text)

	for id, want := range map[string]string{
		"1": "line 1 has no box to mark: its status follows from the items below it, so set those",
		"3": "line 6 has no box to mark: add one, or add items with boxes below it",
	} {
		_, err = markOf(t, text, id, 0, plan.Completed)
		refusal, ok := errors.AsType[*plan.MarkError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, plan.MarkBoxless, refusal.Reason)
		require.Equal(t, want, refusal.Message)
	}
	_, err = markOf(t, text, "1.1", 0, plan.InProgress)
	require.ErrorContains(t, err, "the dialect superpowers has no mark for in_progress, only for pending, completed")
}
