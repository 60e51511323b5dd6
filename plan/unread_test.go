package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A heading such as "Task 4" without a box, and a sign instead of a box, were passed by in plans of numbers.
func TestWhatLooksLikeATaskAndIsNoneIsReported(t *testing.T) {
	r := parse(t, "- ⏳ Dry\n- [ ] 1. a\n  - ✅ a detail\n  - _Prompt: p_\n- ✅ Bought\n- ✅ = done\n"+
		"### Task 4: Extra\ntext\n#### Steps\n### Task 5: b\n#### Steps\n- [ ] 5.1 c\n### Task 1: about it\n### Task 6: last\n## Other\n- [ ] 2. d\n")
	require.Equal(t, "spec-context", r.Dialect)
	require.Equal(t, 3, r.Checkboxes)
	var lines []int
	for _, d := range diagnostics(r, "not_read") {
		require.False(t, d.NotATask, "it is no checkbox")
		lines = append(lines, d.Line)
	}
	require.Equal(t, []int{1, 5, 7, 14}, lines)
	require.Equal(t, `this heading looks like a task but is not one in spec-context: write "- [ ] 4. Extra" below it to make it a task`,
		diagnostics(r, "not_read")[2].Message)
	require.Equal(t, `this line looks like a task but is not one, because every task here has a box: write "- [x]" instead of the sign`,
		diagnostics(r, "not_read")[1].Message)
	require.Contains(t, item(t, r, "1").Details, "✅ a detail")
}

// An agent wrote a sign over the box of a task, and a plan with open work counted as done.
func TestSignInsteadOfABoxIsOpenWork(t *testing.T) {
	for _, text := range []string{
		"- [x] T001 a\n- 🔄 T002 b\n- ⬜ T003 c\n", // spec-kit
		"## Phase 1: a [checkpoint: 9f8e7d6]\n- [x] Task 1.1: b 0011aabb\n- [~] Task: e\n- 🔄 Task: c\n- ⬜ Task: d\n", // conductor
		"## Tasks / Subtasks\n- [x] Task 1: a (AC: 1)\n- 🔄 Task 2: b\n- ⬜ Task 3: c\n",                               // bmad
	} {
		r := parse(t, text)
		require.Equal(t, 2, r.Totals.Unread, "%s: %q", r.Dialect, text)
		require.Len(t, diagnostics(r, "not_read"), 2, "%s: %q", r.Dialect, text)
	}
}

// Where such a heading or line is an item, nothing is said.
func TestWhatIsATaskIsNotReportedAsNone(t *testing.T) {
	for _, text := range []string{
		"- [ ] a\n- ✅ b\n", "### Task 4: a\n- [ ] **Step 1: b**\n### Task 5: c\n",
		"### Task 4: a\n- [ ] **Files**: b\n", "## Tasks / Subtasks\n- [ ] Task 1: a (AC: 1)\n### Task 1\n",
	} {
		require.Empty(t, diagnostics(parse(t, text), "not_read"), "%q", text)
	}
}
