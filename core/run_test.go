package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

func started(t *testing.T) core.Run {
	t.Helper()
	run, effects := core.StartRun("run_1", "tasks.md", "2.1", frontier, core.DefaultPolicy(), 100)
	require.Equal(t, []core.Effect{core.Record{Type: core.RunStarted}}, effects)
	return run
}

func TestStartedRunIsAtItsBeginning(t *testing.T) {
	require.Equal(t, core.Run{
		ID: "run_1", Plan: "tasks.md", ItemID: "2.1", State: core.RunRunning, Policy: core.DefaultPolicy(),
		PlanVersion: 1, Frontier: frontier, Revision: 1, CreatedAt: 100, UpdatedAt: 100,
	}, started(t))
}

// A later change of the defaults must not move a run that is under way.
func TestRunKeepsThePolicyItStartedWith(t *testing.T) {
	strict := core.Policy{ReviewRejections: 1, StalledThreshold: 1, ReviewLoopThreshold: 1}
	run, _ := core.StartRun("run_1", "tasks.md", "2.1", frontier, strict, 100)
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
	for _, state := range core.RunStates() {
		before := started(t)
		before.State = state
		run, effects := before.Supersede(200)
		if !before.Live() {
			require.True(t, run == before, state)
			require.Empty(t, effects, state)
			continue
		}
		require.Equal(t, core.RunFailed, run.State, state)
		require.Equal(t, core.Instant(200), run.UpdatedAt, state)
		require.Equal(t, []core.Effect{core.Record{Type: core.RunSuperseded}}, effects, state)
		require.False(t, run.Live(), state)
	}
}

func TestLiveRunsAreThoseThatCanStillEnd(t *testing.T) {
	live := map[core.RunState]bool{
		core.RunRunning: true, core.RunBlocked: true, core.RunDone: false, core.RunFailed: false,
	}
	require.Len(t, live, len(core.RunStates()))
	for state, want := range live {
		require.Equal(t, want, core.Run{State: state}.Live(), state)
	}
}
