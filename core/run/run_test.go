package run_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/run"
)

func started(t *testing.T) run.Run {
	t.Helper()
	run, effects := run.Start("run_1", "tasks.md", "2.1", frontier, run.DefaultPolicy(), 100)
	require.Equal(t, []core.Effect{core.Record{Type: core.RunStarted}}, effects)
	return run
}

func TestStartedRunIsAtItsBeginning(t *testing.T) {
	require.Equal(t, run.Run{
		ID: "run_1", Plan: "tasks.md", ItemID: "2.1", State: run.Running, Policy: run.DefaultPolicy(),
		PlanVersion: 1, Frontier: frontier, Revision: 1, CreatedAt: 100, UpdatedAt: 100,
	}, started(t))
}

// A later change of the defaults must not move a run that is under way.
func TestRunKeepsThePolicyItStartedWith(t *testing.T) {
	strict := run.Policy{ReviewRejections: 1, StalledThreshold: 1, ReviewLoopThreshold: 1}
	run, _ := run.Start("run_1", "tasks.md", "2.1", frontier, strict, 100)
	run, _ = run.Reread(200)
	run, _ = run.Supersede(300)
	require.Equal(t, strict, run.Policy)
}

func TestRereadingMovesTheRevisionAndNothingElse(t *testing.T) {
	before := started(t)
	run, effects := before.Reread(200)
	require.Equal(t, []core.Effect{core.Record{Type: core.RunLedger}}, effects)
	require.Equal(t, int64(2), run.Revision)
	require.Equal(t, core.Instant(200), run.UpdatedAt)
	run.Revision, run.UpdatedAt = before.Revision, before.UpdatedAt
	require.True(t, run == before)
}

func TestSupersedeEndsALiveRunAndLeavesAnEndedOneAlone(t *testing.T) {
	for _, state := range run.States() {
		before := started(t)
		before.State = state
		r, effects := before.Supersede(200)
		if !before.Live() {
			require.True(t, r == before, state)
			require.Empty(t, effects, state)
			continue
		}
		require.Equal(t, run.Failed, r.State, state)
		require.Equal(t, core.Instant(200), r.UpdatedAt, state)
		require.Equal(t, []core.Effect{core.Record{Type: core.RunSuperseded}}, effects, state)
		require.False(t, r.Live(), state)
	}
}

func TestLiveRunsAreThoseThatCanStillEnd(t *testing.T) {
	live := map[run.State]bool{
		run.Running: true, run.Blocked: true, run.Done: false, run.Failed: false,
	}
	require.Len(t, live, len(run.States()))
	for state, want := range live {
		require.Equal(t, want, run.Run{State: state}.Live(), state)
	}
}
