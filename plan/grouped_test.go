package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// One field, or the heading of a story, took the boxes of a plan of another kind away.
func TestOneFieldDropsNoBox(t *testing.T) {
	for name, c := range map[string]struct{ text, dialect, items string }{
		"groups": {
			"## 1. T\n- [ ] 1.1 a\n- [-] 1.2 b\n  - _Requirements: x_\n  - [ ] sub\n- [ ] other\n## Notes\n- [ ] none\n",
			"spec-context", "1.1 1.2 1.2/1 1-t/1",
		},
		"a prompt with a box in it": {
			"## 1. T\n- [ ] 1.1 a\n  - _Prompt: |\n    Task: c\n    - [ ] no item\n    and d_\n- [ ] b\n",
			"spec-context", "1.1 1-t/1",
		},
		"no group":       {"## T\n- [ ] 1.1 a\n  - _Requirements: x_\n  - [ ] sub\n", "spec-context", "1.1"},
		"only numbers":   {"## 1. T\n- [ ] 1.1 a\n  - _Requirements: x_\n", "spec-context", "1.1"},
		"a star":         {"## 1. T\n- [ ]* 1.1 a\n- [ ] b\n", "kiro", "1.1 1-t/1"},
		"of a story":     {"# Implementation Plan\n## Tasks / Subtasks\n- [-] 1. A\n  - _Requirements: 1.1_\n- [ ]* 2. B\n## Later\n- [x] 3. C\n", "kiro", "1 2 3"},
		"a story indeed": {"## Tasks / Subtasks\n- [ ] Task 1: A (AC: 1)\n  - [ ] b\n    - _Requirements: 1.1_\n", "bmad", "1 1/1"},
	} {
		r := parse(t, c.text)
		require.Equal(t, c.dialect, r.Dialect, name)
		require.Equal(t, c.items, strings.Join(idsOf(r.Items()), " "), name)
		checkLaws(t, []byte(c.text))
	}
	grouped := parse(t, "## 1. T\n- [ ] 1.1 a\n  - _Blocked: c_\n- [-] b\n- [~] 1.2 d\n")
	require.Equal(t, plan.InProgress, item(t, grouped, "1-t/1").Status)
	require.Equal(t, plan.Blocked, item(t, grouped, "1.2").Status)
}
