package law

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/store"
)

// standing returns the run, blocked, with a distinct value in every field of its standing.
func standing(r run.Run, halt run.Halt) run.Run {
	r.State, r.Halt = run.Blocked, halt
	r.Policy.Reviewers = core.RolesOf(core.SpecReviewer)
	r.Policy.ResultForm, r.Policy.RequireKey = run.ResultJSON, true
	r.Standing = [core.Roles]run.Standing{run.Stuck, run.Approved, run.Rejected}
	r.Naming = run.OwnNames
	r.Findings = [...]run.Findings{
		{Last: "the newest", Before: `"the" one before`, Same: 1, Swaps: 2},
		{Last: "the other's", Before: "the other's before\n", Same: 3},
	}
	r.Frontier = "2.2, 2.3"
	r.Policy.RequireChecks, r.Policy.CheckFailures, r.Counters.CheckFailures = "lint,test", 7, 5
	r.Proof = proof.Proof{
		Required: "lint,test", Green: "lint", Red: "test", Stale: "test", Protected: "lint", Untrusted: "test",
		Tree: "tree \"A\"", Unbound: true, Round: 3, Counted: true,
	}
	return r
}

// standingComesBack puts each field in turn, and takes everything away again in the end.
func standingComesBack(t T, s store.Store) {
	again := func(want run.Run) {
		t.Helper()
		update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutRun(want)) })
		view(t, s, func(tx store.Tx) { requireRun(t, tx, want) })
	}
	for _, halt := range coretest.Halts() {
		again(standing(newRun("r", "2.1"), halt))
	}
	bare := newRun("r", "2.1")
	bare.Frontier = ""
	again(bare)
	asks := bare
	asks.Policy.ResultForm = run.ResultJSON
	again(asks)
	asks.Policy.ResultForm, asks.Policy.RequireKey = run.ResultHeaders, true
	again(asks)
	again(bare)
	for role := range bare.Standing {
		for at := run.Awaited; at <= run.Broken; at++ {
			one := bare
			one.Standing[role] = at
			again(one)
		}
	}
	for i := range bare.Findings {
		for _, f := range []run.Findings{{Last: "some"}, {Before: "some"}, {Same: 1}, {Swaps: 1}, {Last: "\x00 \xff' \""}} {
			one := bare
			one.Findings[i] = f
			again(one)
		}
	}
	for roles := core.RoleSet(0); roles < 1<<core.Roles; roles++ {
		one := bare
		one.Policy.Reviewers, one.Naming = roles, run.Naming(roles%3)
		again(one)
	}
	again(bare)
}

func latestRuns(t T, s store.Store) {
	elsewhere := newRun("x", "1")
	elsewhere.Plan = "other.md"
	first, second := newRun("z", "10"), standing(newRun("a", "10"), run.HaltStalled)
	for _, r := range []run.Run{newRun("m", "2"), first, elsewhere, second, newRun("k", "B"), newRun("l", "a"), newRun("n", "1")} {
		update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutRun(r)) })
	}
	first.State, first.UpdatedAt = run.Failed, start+9*day
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(first))
		requireLatest(t, tx, "tasks.md", newRun("n", "1"), second, newRun("m", "2"), newRun("k", "B"), newRun("l", "a"))
	})
	view(t, s, func(tx store.Tx) {
		requireLatest(t, tx, "tasks.md", newRun("n", "1"), second, newRun("m", "2"), newRun("k", "B"), newRun("l", "a"))
		requireLatest(t, tx, "other.md", elsewhere)
		requireLatest(t, tx, "none.md")
		requireLatest(t, tx, "")
	})
}

// requireLatest checks the latest runs of a plan, and that LatestRun returns the same.
func requireLatest(t T, tx store.Tx, plan string, want ...run.Run) {
	t.Helper()
	got, err := tx.LatestRuns(plan)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
		one, ok, err := tx.LatestRun(plan, want[i].ItemID)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, want[i], one)
	}
}

// drawStanding draws the standing of a run, often that of a new run.
func drawStanding(t *rapid.T, r *run.Run) {
	if drawSome(t, "bare") {
		r.Frontier = ""
		return
	}
	r.Plan = rapid.SampledFrom([]string{"tasks.md", "other.md"}).Draw(t, "plan")
	r.Policy.Reviewers = core.RoleSet(rapid.IntRange(0, 1<<core.Roles-1).Draw(t, "reviewers"))
	r.Policy.ResultForm = run.ResultForm(rapid.IntRange(0, run.ResultForms-1).Draw(t, "form"))
	r.Policy.RequireKey = drawSome(t, "requires the key")
	r.Policy.RequireChecks = rapid.SampledFrom([]proof.Names{"", "test", "lint,test"}).Draw(t, "checks")
	r.Proof = proof.Proof{Required: r.Policy.RequireChecks, Round: rapid.IntRange(0, 3).Draw(t, "round"), Counted: drawSome(t, "counted")}
	for i := range r.Standing {
		r.Standing[i] = run.Standing(rapid.IntRange(int(run.Awaited), int(run.Broken)).Draw(t, "standing"))
	}
	r.Naming = run.Naming(rapid.IntRange(0, 2).Draw(t, "naming"))
	for i := range r.Findings {
		r.Findings[i] = run.Findings{
			Last: drawText(t, "last"), Before: drawText(t, "before"),
			Same: rapid.IntRange(0, 9).Draw(t, "same"), Swaps: rapid.IntRange(0, 9).Draw(t, "swaps"),
		}
	}
	r.Frontier = drawText(t, "frontier")
}
