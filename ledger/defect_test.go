package ledger_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/read"
)

// These tests are named for what went wrong in tools of this kind before.

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
		var missing *plan.ItemError
		require.True(t, errors.As(err, &missing))
	}
	changes := plan.Diff(before, after)
	require.Len(t, changes, 1)
	require.Equal(t, "2", changes[0].ItemID)

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

func parse(t *testing.T, text string) *plan.Reading {
	t.Helper()
	r, err := read.Read(text, plan.Hints{})
	require.NoError(t, err)
	r.Hash = plan.Hash(text)
	return r
}
