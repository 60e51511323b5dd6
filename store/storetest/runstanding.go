package storetest

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/store"
)

// standing gives the run, blocked, with something of its own in everything that says how it stands.
func standing(r core.Run, halt core.Halt) core.Run {
	r.State, r.Halt = core.RunBlocked, halt
	r.Policy.Reviewers = core.RolesOf(core.SpecReviewer)
	r.Standing = [core.Roles]core.Standing{core.Stuck, core.Approved, core.Rejected}
	r.Sole, r.Named = true, true
	r.Findings = [...]core.Findings{
		{Last: "the newest", Before: `"the" one before`, Same: 1, Swaps: 2},
		{Last: "the other's", Before: "the other's before\n", Same: 3},
	}
	r.Frontier = "2.2, 2.3"
	return r
}

// standingComesBack puts each field in turn, and takes everything away again in the end.
func standingComesBack(t T, s store.Store) {
	again := func(want core.Run) {
		t.Helper()
		update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutRun(want)) })
		view(t, s, func(tx store.Tx) { requireRun(t, tx, want) })
	}
	for _, halt := range core.Halts() {
		again(standing(run("r", "2.1"), halt))
	}
	bare := run("r", "2.1")
	bare.Frontier = ""
	again(bare)
	for role := range bare.Standing {
		for at := core.Awaited; at <= core.Broken; at++ {
			one := bare
			one.Standing[role] = at
			again(one)
		}
	}
	for i := range bare.Findings {
		for _, f := range []core.Findings{{Last: "some"}, {Before: "some"}, {Same: 1}, {Swaps: 1}, {Last: "\x00 \xff' \""}} {
			one := bare
			one.Findings[i] = f
			again(one)
		}
	}
	for roles := core.RoleSet(0); roles < 1<<core.Roles; roles++ {
		one := bare
		one.Policy.Reviewers, one.Sole, one.Named = roles, roles == 0, roles == 1
		again(one)
	}
	again(bare)
}

func latestRuns(t T, s store.Store) {
	elsewhere := run("x", "1")
	elsewhere.Plan = "other.md"
	first, second := run("z", "10"), standing(run("a", "10"), core.HaltStalled)
	for _, r := range []core.Run{run("m", "2"), first, elsewhere, second, run("k", "B"), run("l", "a"), run("n", "1")} {
		update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutRun(r)) })
	}
	first.State, first.UpdatedAt = core.RunFailed, start+9*day
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(first))
		requireLatest(t, tx, "tasks.md", run("n", "1"), second, run("m", "2"), run("k", "B"), run("l", "a"))
	})
	view(t, s, func(tx store.Tx) {
		requireLatest(t, tx, "tasks.md", run("n", "1"), second, run("m", "2"), run("k", "B"), run("l", "a"))
		requireLatest(t, tx, "other.md", elsewhere)
		requireLatest(t, tx, "none.md")
		requireLatest(t, tx, "")
	})
}

// requireLatest checks the latest runs of a plan, and that they are those that LatestRun gives.
func requireLatest(t T, tx store.Tx, plan string, want ...core.Run) {
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

// drawStanding draws how a run stands, often as one stands that has just begun.
func drawStanding(t *rapid.T, r *core.Run) {
	if drawSome(t, "bare") {
		r.Frontier = ""
		return
	}
	r.Plan = rapid.SampledFrom([]string{"tasks.md", "other.md"}).Draw(t, "plan")
	r.Policy.Reviewers = core.RoleSet(rapid.IntRange(0, 1<<core.Roles-1).Draw(t, "reviewers"))
	for i := range r.Standing {
		r.Standing[i] = core.Standing(rapid.IntRange(int(core.Awaited), int(core.Broken)).Draw(t, "standing"))
	}
	r.Sole, r.Named = drawSome(t, "sole"), drawSome(t, "named")
	for i := range r.Findings {
		r.Findings[i] = core.Findings{
			Last: drawText(t, "last"), Before: drawText(t, "before"),
			Same: rapid.IntRange(0, 9).Draw(t, "same"), Swaps: rapid.IntRange(0, 9).Draw(t, "swaps"),
		}
	}
	r.Frontier = drawText(t, "frontier")
}
