package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

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
