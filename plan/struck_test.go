package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// What was struck through was withdrawn in cc-sdd alone: elsewhere such an item had no id, or was open with strokes in its title.
func TestStruckThroughIsWithdrawnInEveryDialect(t *testing.T) {
	for _, c := range []struct{ dialect, text, id, title string }{
		{"kiro", "# Implementation Plan\n- [ ]* 1. A\n- [ ] 3. ~~C~~\n", "3", "C"},
		{"kiro", "# Implementation Plan\n- [ ]* 1. A\n- [-] ~~3. C~~\n", "3", "C"},
		{"kiro", "# Implementation Plan\n- [x] 1. A\n- [~] ~~3. C~~\n", "3", "C"},
		{"spec-context", "- [ ] 1. A\n  - _Prompt: b_\n- [ ] ~~2. B~~\n", "2", "B"},
		{"spec-workflow", "- [ ] 1. A\n  - _Blocked: b_\n- [~] ~~2. B~~\n", "2", "B"},
		{"cc-sdd", "- [ ] 1. A (P)\n- [-] 2. ~~B~~\n", "2", "B"},
		{"cc-sdd", "- [ ] 1. A (P)\n- [ ] ~~2. B~~ and more (P)\n", "2", "B and more"},
		{"openspec", "## 1. G\n- [ ] 1.1 A\n- [ ] ~~1.2 B~~\n", "1.2", "B"},
		{"openspec", "## 1. G\n- [ ] 1.1 A\n- [ ] ~~1.2~~ B\n", "1.2", "B"},
		{"openspec", "## 1. G\n- [ ] 1.1 A\n  - [x] ~~B~~\n", "1.1/1", "B"},
		{"spec-kit", "- [ ] T001 A\n- [ ] ~~T002 [P] [US1] B in a/b.go~~\n", "T002", "B in a/b.go"},
		{"spec-kit", "- [ ] T001 A\n- [ ] T002 [P] ~~B~~\n", "T002", "B"},
		{"spec-kit", "- [ ] T001 A\n- [ ] [P] ~~T002 B~~\n", "T002", "B"},
		{"spec-kit", "- [ ] ~~**T002** B~~\n", "T002", "B"},
		{"openspec", "## 1. G\n- [ ] 1.1 A\n- [~] ~~1.2 B~~\n", "1.2", "B"},
		{"loose", "- [ ] A\n- [?] ~~B~~\n", "item/2", "B"},
		{"ai-dev-tasks", "- [ ] 1.0 A\n- [ ] 2.0 B\n  - [ ] ~~2.1 C~~\n", "2.1", "C"},
		{"conductor", "## [ ] Track: A\n- [ ] Task: B\n- [x] ~~Task: C~~\n", "a/2", "C"},
		{"conductor", "## [ ] Track: A\n- [ ] Task: B\n- [~] Task: ~~C~~ 7be20f1\n", "a/2", "C"},
		{"conductor", "## [~] ~~Track: A~~\n", "a", "A"},
		{"bmad", "## Tasks / Subtasks\n- [ ] Task 1: A (AC: 1)\n- [ ] ~~Task 2: B (AC: 2)~~\n", "2", "B"},
		{"bmad", "## Tasks / Subtasks\n- [ ] Task 1: A (AC: 1)\n- [ ] Task 2: ~~B~~ (AC: 2)\n", "2", "B"},
		{"ccpm", "- [ ] 001.md - A (parallel: true)\n- [x] ~~002.md - B (parallel: true)~~\n", "002", "B"},
		{"ccpm", "- [ ] 001.md - A (parallel: true)\n- [x] 002.md - ~~B~~ (parallel: true)\n", "002", "B"},
		{"superpowers", "### Task 1: A\n- [ ] **Step 1: a**\n- [ ] ~~**Step 2: b**~~\n", "1.2", "b"},
		{"superpowers", "### Task 1: A\n- [ ] Step 1: a\n### [ ] Task 2: ~~B~~\n", "2", "B"},
		{"superpowers", "### Task 1: A\n- [ ] Step 1: a\n### [ ] ~~Task 2: B~~ (done)\n", "2", "B"},
		{"loose", "- [ ] A\n- [ ] ~~B gone~~\n", "item/2", "B gone"},
		{"loose", "- [ ] A\n- [x] **~~B gone~~**\n", "item/2", "**B gone**"},
		{"loose", "- [ ] A\n- ✅ ~~B gone~~\n", "item/2", "B gone"},
		{"table", "| ID | Status | Title |\n|--|--|--|\n| 1 | todo | ~~A~~ |\n", "1", "A"},
	} {
		r := parse(t, c.text)
		require.Equal(t, c.dialect, r.Dialect, "%q", c.text)
		it, ok := r.Item(c.id)
		require.True(t, ok, "%q", c.text)
		require.Equal(t, c.title, it.Title, "%q", c.text)
		require.Equal(t, plan.Skipped, it.Status, "%q", c.text)
		require.NotEqual(t, c.id, r.Active())
		require.Empty(t, diagnostics(r, "ambiguous_mark"), "%q", c.text) // which would say that it is open
		require.Empty(t, diagnostics(r, "unknown_mark"), "%q", c.text)
		for _, to := range settable {
			_, err := markOf(t, c.text, c.id, 0, to)
			var refusal *plan.MarkError
			require.ErrorAs(t, err, &refusal, "%q", c.text)
			require.Equal(t, plan.MarkWithdrawn, refusal.Reason)
		}
	}
}
