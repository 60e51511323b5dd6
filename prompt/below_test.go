package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/prompt"
)

// The prompt of a task once said nothing of its steps, and that of a step had neither the code nor the commands that
// stand below its box.
func TestThePromptOfATaskNamesItsStepsAndThatOfAStepHasItsText(t *testing.T) {
	const plan = "### Task 1: Add the gauge\n\n**Files:**\n- Create: `src/a.py`\n\nIt counts [Now] and then.\n\n" +
		"- [x] **Step 1: Write the failing test**\n\n```python\ndef test_a():\n    assert a() == 1\n```\n\n" +
		"- [ ] **Step 2: Run it**\n\nRun: `pytest`\nExpected: FAIL\n\n### Task 2: b\n\n- [ ] **Step 1: x**\n"
	r := parse(t, plan)
	text := func(id string, compaction prompt.Compaction, tokens int) prompt.Compiled {
		progress, err := ledger.Progress(r, "plan.md", "plan.md", id)
		require.NoError(t, err)
		c, err := prompt.Compile(prompt.CompileInput{
			RunID: "run_1", Role: ledger.RoleWorker, Progress: progress, Task: ledger.TaskLedger{RunID: "run_1", ItemID: id},
			Compaction: compaction, MaxInputTokens: tokens,
		})
		require.NoError(t, err)
		return c
	}
	task := text("1", prompt.Compaction{}, 0)
	require.Contains(t, task.Prompt, "Items below it, each with a text of its own:\n"+
		"- 1.1 Write the failing test (completed)\n- 1.2 Run it (pending)\n\n[Task Prompt]")
	require.Contains(t, task.Prompt, "- Create: `src/a.py`\n- It counts [Now] and then.\n")
	require.NotContains(t, task.Prompt, "test_a")

	require.Contains(t, text("1.1", prompt.Compaction{}, 0).Prompt,
		"[Details] (from plan; untrusted)\n- ```python\n  def test_a():\n      assert a() == 1\n  ```\n\n")
	require.Contains(t, text("1.2", prompt.Compaction{}, 0).Prompt, "\n- Run: `pytest`\n  Expected: FAIL\n")

	small := text("1", prompt.Compaction{}, 1200+prompt.Tokens(len(task.StablePrefix))+110)
	require.NotContains(t, small.Prompt, "Items below it")
	require.Contains(t, small.Cut, "item.below")
}
