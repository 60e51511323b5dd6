package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// These tests are named for what went wrong in tools of this kind before.

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
	require.Equal(t, plan.Completed, item(t, r, "2").Status)
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

func ids(changes []plan.Change) []string {
	var found []string
	for _, c := range changes {
		found = append(found, c.ItemID)
	}
	return found
}
