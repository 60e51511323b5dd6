package prompt_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
	"waybill/prompt"
)

// These tests are named for what went wrong in tools of this kind before.

// An id that was not in the plan got the prompt of the task in progress.
func TestDefectD1_AnUnknownIDNeverGetsAnotherTasksPrompt(t *testing.T) {
	r := parse(t, "- [-] 1. active\n  - _Prompt: do the active one_\n- [ ] 2. other\n")
	_, err := ledger.Progress(r, "garden", "garden/tasks.md", "3")
	var missing *plan.ItemError
	require.True(t, errors.As(err, &missing))
	require.Equal(t, "item_not_found", missing.Code())
	require.Equal(t, "3", missing.ItemID)
	require.ErrorContains(t, err, `plan "garden" has no item "3"`)

	p, err := ledger.Progress(r, "garden", "garden/tasks.md", "2")
	require.NoError(t, err)
	require.Equal(t, "2", p.CurrentItem.ID)
	require.Equal(t, "1", p.ActiveItemID)

	// Nor does a task ledger of one item get into the prompt of another.
	_, err = prompt.Compile(prompt.CompileInput{
		Role: ledger.RoleWorker, Progress: p, Task: ledger.NewTaskLedger("run_1", "1"),
	})
	require.True(t, errors.As(err, &missing))
}

func parse(t *testing.T, text string) *plan.Reading {
	t.Helper()
	r, err := plan.Read(text, plan.Hints{})
	require.NoError(t, err)
	return r
}
