package run_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
)

func TestStartAndReread(t *testing.T) {
	want := run.Run{
		ID: "run_1", Plan: "tasks.md", ItemID: "2.1", State: run.Running, Policy: coretest.Policy(),
		PlanVersion: 1, Frontier: frontier, Revision: 1, CreatedAt: 100, UpdatedAt: 100,
	}
	r, effects := run.Start("run_1", "tasks.md", "2.1", frontier, coretest.Policy(), 100)
	require.Equal(t, want, r)
	require.Equal(t, []core.Effect{core.Record{Type: core.RunStarted}}, effects)

	want.Revision, want.UpdatedAt = 2, 200
	r, effects = r.Reread(200)
	require.Equal(t, want, r)
	require.Equal(t, []core.Effect{core.Record{Type: core.RunLedger}}, effects)
}

func TestSupersedeEndsALiveRunAndNoOther(t *testing.T) {
	for state, live := range map[run.State]bool{run.Running: true, run.Blocked: true, run.Done: false, run.Failed: false} {
		before := newRun(coretest.Policy())
		before.State = state
		want, records := before, []core.Effect(nil)
		if live {
			want.State, want.UpdatedAt, records = run.Failed, 200, []core.Effect{core.Record{Type: core.RunSuperseded}}
		}
		if state == run.Blocked {
			records = append(records, core.Withdraw{Kind: core.NoticeRunBlocked}, core.Withdraw{Kind: core.NoticeRunStalled})
		}
		after, effects := before.Supersede(200)
		require.Equal(t, want, after, state)
		require.Equal(t, records, effects, state)
		require.Equal(t, live, before.Live(), state)
	}
}

// A value that the package does not know is a bug of the caller and is never read as another one.
func TestUnknownEventsAndStatementsPanic(t *testing.T) {
	r := newRun(coretest.Policy())
	for _, role := range []core.Role{core.Worker, core.SpecReviewer, core.CodeQualityReviewer} {
		for _, said := range []run.Said{0, run.SaidInvalid + 1} {
			require.Panics(t, func() { _, _, _ = r.Step(run.TakeResult{Role: role, Said: said, Issues: "a"}) }, "%s %d", role, said)
		}
	}
	require.Panics(t, func() { _, _, _ = r.Step(nil) })
	require.Panics(t, func() { _, _, _ = r.Step(run.TakeResult{Role: core.SpecReviewer, Said: run.SaidGaps}) }, "a rejection without a digest")
}
