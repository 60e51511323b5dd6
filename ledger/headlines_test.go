package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
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
	ready := ledger.Ready(r.Items(), func(string) ledger.ItemRun { return ledger.NoRun })
	require.Equal(t, []string{"1.2", "3"}, ready.Ready)
	for _, w := range ready.Waiting {
		if w.ItemID == "2.1" {
			require.Equal(t, []ledger.Hold{{Kind: ledger.HeldByDependency, ItemID: "1"}, {Kind: ledger.HeldByParent, ItemID: "2"}}, w.Because)
		}
	}
}
