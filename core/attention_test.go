package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/run"
	"waybill/core/task"
)

// TestAllIsWellOnlyWhereNothingNeedsAttention: the page said that everything is as it should be beside a blocked run, a
// failed instruction and 40 failed tasks.
func TestAllIsWellOnlyWhereNothingNeedsAttention(t *testing.T) {
	require.Empty(t, core.Attention(core.Workload{}, nil))
	var w core.Workload
	w.Questions.Add("tsk_q")
	w.BlockedRuns.Add("run_b")
	w.FailedInstructions.Add("ins_f")
	for range 40 {
		w.FailedTasks.Add("tsk_f")
	}
	found := core.Attention(w, []string{"the disk hums"})
	kinds, texts := []core.ConcernKind{}, []string{}
	for _, c := range found {
		kinds, texts = append(kinds, c.Kind), append(texts, c.Text)
	}
	require.Equal(t, []core.ConcernKind{
		core.ConcernFault, core.ConcernQuestions, core.ConcernRuns, core.ConcernTasks, core.ConcernInstructions,
	}, kinds)
	require.Equal(t, []string{
		"the disk hums",
		"1 task waits for an answer: tsk_q",
		"1 run is blocked: run_b",
		"40 tasks failed: tsk_f, tsk_f, tsk_f, tsk_f, tsk_f and 35 more",
		"1 instruction was never acknowledged: ins_f",
	}, texts)
	require.Equal(t, []string{"task", "reply", "tsk_q", "-m", "…"}, found[1].Next)
}

func TestFailedTaskNeedsNoAttentionOnceItsRunMovedOn(t *testing.T) {
	failed := task.Task{ID: "tsk_1", Phase: task.Errored{Reason: task.ReasonFailed}}
	require.True(t, failed.Unsettled(false, ""), "it has no run")
	retried := task.Task{ID: "tsk_1", Phase: task.Queued{}}
	require.False(t, retried.Unsettled(false, ""))
	failed.Spec.RunID = "run_1"
	for state, want := range map[run.State]bool{
		run.Running: true, run.Blocked: false, run.Done: false, run.Failed: false,
	} {
		require.Equal(t, want, failed.Unsettled(state == run.Running, "tsk_1"), "%s", state)
		require.False(t, failed.Unsettled(state == run.Running, "tsk_2"), "%s, with a newer task", state)
	}
}
