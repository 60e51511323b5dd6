package ledger_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
)

// These tests are named for what went wrong in tools of this kind before.

// An id that was not in the plan got the prompt of the task in progress.
func TestDefectD1_AnUnknownIDNeverGetsAnotherTasksPrompt(t *testing.T) {
	r := parse(t, "- [-] 1. active\n  - _Prompt: do the active one_\n- [ ] 2. other\n")
	_, err := ledger.Progress(r, "garden", "garden/tasks.md", "3")
	var missing *ledger.ItemError
	require.True(t, errors.As(err, &missing))
	require.Equal(t, "item_not_found", missing.Code())
	require.Equal(t, "3", missing.ItemID)
	require.ErrorContains(t, err, `plan "garden" has no item "3"`)

	p, err := ledger.Progress(r, "garden", "garden/tasks.md", "2")
	require.NoError(t, err)
	require.Equal(t, "2", p.CurrentItem.ID)
	require.Equal(t, "1", p.ActiveItemID)

	// Nor does a task ledger of one item get into the prompt of another.
	_, err = ledger.Compile(ledger.CompileInput{
		Role: ledger.RoleWorker, Progress: p, Task: ledger.NewTaskLedger("run_1", "1"),
	})
	require.True(t, errors.As(err, &missing))
}

// A task that was removed from the plan came back with the second try, out of
// facts that nobody had deleted.
func TestDefectD2_ARemovedTaskStaysRemoved(t *testing.T) {
	before := parse(t, "- [-] 1. kept\n- [ ] 2. removed\n")
	old, err := ledger.Progress(before, "garden", "garden/tasks.md", "2")
	require.NoError(t, err)
	facts := ledger.ProgressFacts(old)

	after := parse(t, "- [-] 1. kept\n")
	for range 2 {
		_, err = ledger.Progress(after, "garden", "garden/tasks.md", "2")
		var missing *ledger.ItemError
		require.True(t, errors.As(err, &missing))
	}
	require.Equal(t, []string{"2"}, ids(ledger.Diff(before, after)))

	// Newer facts replace all older ones: the keys are the same even where
	// there is nothing to say.
	none, err := ledger.Progress(parse(t, "- [x] 1. kept\n"), "garden", "garden/tasks.md", "")
	require.NoError(t, err)
	read, err := ledger.ParseProgressFacts(append(facts, ledger.ProgressFacts(none)...))
	require.NoError(t, err)
	require.Nil(t, read.CurrentItem)
	require.Empty(t, read.ActiveItemID)
	require.Empty(t, read.ItemID)
}

func ids(changes []ledger.Change) []string {
	var found []string
	for _, c := range changes {
		found = append(found, c.ItemID)
	}
	return found
}

// The same for the task ledger: an advice that was withdrawn was still given.
func TestDefectD2_WithdrawnTaskFactsStayWithdrawn(t *testing.T) {
	task := ledger.NewTaskLedger("run_1", "2")
	task.ReplanHint = "make the task smaller"
	task.Reviews[0] = ledger.Review{
		Assessment: "needs_changes", RequiredFixes: []string{"round up"},
		Issues: []ledger.ReviewIssue{{Severity: "minor", Message: "m", Fix: "f"}},
	}
	facts := append(ledger.TaskFacts(task), ledger.TaskFacts(ledger.NewTaskLedger("run_1", "2"))...)
	read, err := ledger.ParseTaskFacts("run_1", "2", facts)
	require.NoError(t, err)
	require.Equal(t, ledger.NewTaskLedger("run_1", "2"), read)
}

// Boxes in fences were read as tasks, and eight ways to write a box or an id
// were dropped without a word.
func TestDefectD8_NoBoxIsDroppedAndNoSampleIsATask(t *testing.T) {
	r := parse(t, "```\n- [ ] 1. sample\n```\n"+
		"- [X] 2. upper case\n"+
		"- [~] 3. tilde\n"+
		"+ [ ] 4. plus\n"+
		"3) [ ] 5. ordered\n"+
		"- [ ] T4 another id\n"+
		"- [ ] 6.No space\n"+
		"- [ ] no id\n")
	require.Equal(t, 8, r.Checkboxes)
	require.Len(t, r.Items(), 5)
	require.Equal(t, ledger.Completed, item(t, r, "2").Status)
	require.Len(t, diagnostics(r, "checkbox_in_fence"), 1)
	require.Len(t, diagnostics(r, "checkbox_without_id"), 2)
	require.Len(t, diagnostics(r, "ambiguous_mark"), 1)
	require.Len(t, diagnostics(r, "malformed_checkbox"), 1)
}

// A prompt in block form was cut at its first blank line.
func TestDefectD22_ABlockPromptKeepsItsBlankLines(t *testing.T) {
	const want = "Role: gardener\n\nTask: prune\n  - the old\n\n  - the dead\n\nSuccess: light comes in"
	for name, text := range map[string]string{
		"closed by an underscore":     "- [ ] 1. x\n  - _Prompt: |\n    Role: gardener\n\n    Task: prune\n      - the old\n\n      - the dead\n\n    Success: light comes in_\n  - more\n",
		"closed by a lower indent":    "- [ ] 1. x\n  - _Prompt: |\n    Role: gardener\n\n    Task: prune\n      - the old\n\n      - the dead\n\n    Success: light comes in\n  - more\n",
		"closed by the next task":     "- [ ] 1. x\n  _Prompt: |\n  Role: gardener\n\n  Task: prune\n    - the old\n\n    - the dead\n\n  Success: light comes in\n- [ ] 2. y\n",
		"closed by the end":           "- [ ] 1. x\n  _Prompt:\n    Role: gardener\n\n    Task: prune\n      - the old\n\n      - the dead\n\n    Success: light comes in",
		"with tabs and carriage ends": "- [ ] 1. x\r\n\t_Prompt: |\r\n\tRole: gardener\r\n\r\n\tTask: prune\r\n\t  - the old\r\n\r\n\t  - the dead\r\n\r\n\tSuccess: light comes in_\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, want, item(t, parse(t, text), "1").Prompt)
		})
	}
}

// A box with a mark that nobody knows did not end the lines of the task above,
// which got the requirements and the prompt of the next one.
func TestDefectD25_FieldsStayWithTheirBox(t *testing.T) {
	for name, box := range map[string]string{
		"unknown mark": "- [?] 2. second",
		"no id":        "- [ ] second",
		"no mark":      "- [] 2. second",
		"no space":     "-[ ] 2. second",
		"plus":         "+ [ ] 2. second",
		"ordered":      "2) [ ] 2. second",
	} {
		t.Run(name, func(t *testing.T) {
			r := parse(t, "- [ ] 1. first\n  - _Requirements: 1.1_\n  - _Prompt: the first_\n"+
				box+"\n  - _Requirements: 2.1_\n  - _Prompt: the second_\n")
			first := item(t, r, "1")
			require.Equal(t, []string{"1.1"}, first.Requirements)
			require.Equal(t, "the first", first.Prompt)
			if second, ok := r.Item("2"); ok {
				require.Equal(t, []string{"2.1"}, second.Requirements)
				require.Equal(t, "the second", second.Prompt)
			}
		})
	}
}
