package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/test/slow"
)

func parse(t require.TestingT, text string) *plan.Reading {
	r, err := readBytes([]byte(text))
	require.NoError(t, err, "%s", text)
	return r
}

func item(t *testing.T, r *plan.Reading, id string) plan.Item {
	t.Helper()
	it, ok := r.Item(id)
	require.True(t, ok, "no item %s", id)
	return it
}

func diagnostics(r *plan.Reading, code string) []plan.Diagnostic {
	var found []plan.Diagnostic
	for _, d := range r.Diagnostics {
		if d.Code == code {
			found = append(found, d)
		}
	}
	return found
}

// Ids are text, levels are many, and the size of a plan costs in proportion:
// each shape would take minutes here if anything in it were looked at again
// for each task.
func TestFaultF21_LargeAndDeepPlansCostInProportion(t *testing.T) {
	slow.Test(t)
	many := slow.Size(99_000)
	each := func(line func(i int) string) string {
		var b strings.Builder
		for i := range many {
			b.WriteString(line(i))
			b.WriteByte('\n')
		}
		return b.String()
	}
	for _, c := range []struct{ name, text string }{
		{"tasks", each(func(i int) string { return fmt.Sprintf("- [ ] %d.%d x\n  - _Requirements: 1, 2_", i/100+1, i%100) })},
		{"one id", each(func(int) string { return "- [ ] 1 x" })},
		{"nested", each(func(i int) string { return strings.Repeat(" ", i/1000) + fmt.Sprintf("- [ ] %d x", i) })},
		{"waits for the next", each(func(i int) string { return fmt.Sprintf("- [ ] %d x\n  _Depends: %d_", i, i+1) })},
		{"circle", each(func(i int) string { return fmt.Sprintf("- [ ] %d x\n  _Depends: %d_", i, (i+1)%many) })},
		{"waits for a wide range", each(func(i int) string { return fmt.Sprintf("- [ ] %d x\n  _Depends: 1-256_", i) })},
		{"fences that never end", each(func(i int) string { return strings.Repeat("`", 3+i%40) + "go\n- [ ] 1 x" })},
		{"comments that never end", each(func(int) string { return "<!--\n- [ ] 1 x" })},
		{"boxes without id", each(func(int) string { return "- [ ] x" }) + "- [ ] 1 x"},
		{"one long detail", "- [ ] 1 x\n  - a\n" + each(func(int) string { return "    b" })},
		{"one long prompt", "- [ ] 1 x\n  _Prompt: |\n" + each(func(int) string { return "    b" })},
		{"fields in a line", "- [ ] 1 x\n" + each(func(int) string { return "  _Depends: 1_ " })[:many] + strings.Repeat(" _Leverage: a", many)},
		{"underscores", "- [ ] 1 x " + strings.Repeat("_", many) + strings.Repeat(" _", many)},
		{"a long id", "- [ ] 1 x\n- [ ] " + strings.Repeat("1.", many)},
		{"quotes", "- [ ] 1 x\n" + strings.Repeat(">", many) + "- [ ] 2 x"},
		{"headings", strings.Repeat("### Task 1: a\n**Depends on:** 1-3\n", many/2)},
		{"steps", "### Task 1: a\n" + strings.Repeat("- [ ] **Step 1: b**\n", many/2)},
		{"late dependencies", "### Task 1: a\n" + strings.Repeat("- [ ] **Step 1: b (depends on 1)**\n", many/2) + strings.Repeat("**Depends on:** 1\n", many/2)},
		{"deeper headings", strings.Repeat("# Task 1: a\n## Task 1.1: b\n### Task 1.1.1: c\n#### d\n", many/8)},
		{"hidden headings", "### Task 1: a\n```\n" + strings.Repeat("### Task 1.2: a\n", many/2) + "```\n"},
		{"signs", "### Task 1: " + strings.Repeat("✅(", many/2)},
		{"names", "### Task 1: a\n**Files:** " + strings.Repeat("a, ", many*2)},
		{"files", "### Task 1: a\n**Files:** " + strings.Repeat("Create: `a`, ", many/2)},
		{"criteria", "### Task 1: a\n" + strings.Repeat("**Acceptance:**\n- [ ] a\n", many/2)},
		{"a wide table", "| ID | Status |" + strings.Repeat(" a |", many/5) + "\n" + strings.Repeat("|-", many/5+2) + "|\n" + each(func(i int) string { return fmt.Sprintf("| %d | todo |", i) })},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, c.text)
			require.Equal(t, r.Checkboxes, countBoxed(r)+countNotTasks(r.Diagnostics))
			require.Len(t, r.Items(), r.Len())
			more := parse(t, c.text+"\n- [ ] 9999999. the last")
			require.NotEmpty(t, plan.Diff(r, more))
		})
	}
}

// Small sentences about wide ranges stand for many pairs; what is too much is left out and said.
func TestSentencesCannotAskForMuchMemory(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "- [ ] T%04d a\n", i)
	}
	b.WriteString("## Dependencies\n" + strings.Repeat("- T0001-T0200 before T0300-T0500\n", 1000))
	r := parse(t, b.String())
	require.Len(t, diagnostics(r, "graph_too_large"), 1)
	require.Len(t, item(t, r, "T0300").DependsOn, 200)
}
