package law

import (
	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/run"
	"waybill/store"
)

func runLaws() []Law {
	return []Law{
		law("a run comes back", runComesBack),
		law("the latest run is the one first put last", latestRun),
		law("the latest runs of a plan are those of its items, in order", latestRuns),
		law("runs are listed by plan and state, the last first, page by page", runsListed),
		law("how a run stands comes back", standingComesBack),
		law("counts of runs agree", runCounts),
		law("facts are replaced as a whole", factsReplaced),
		law("facts belong to a run and have one value", factsRefused),
	}
}

func runComesBack(t T, s store.Store) {
	want := newRun("r", "2.1")
	want.Policy = run.Policy{
		InvalidRetries: 11, ReviewerFreshRuns: 12, WorkerFailures: 13,
		ReviewRejections: 14, StalledThreshold: 15, ReviewLoopThreshold: 16,
	}
	update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutRun(want)) })
	view(t, s, func(tx store.Tx) { requireRun(t, tx, want) })

	want.State, want.Halt = run.Blocked, run.HaltRejections
	want.Counters = run.Counters{
		InvalidResults: [core.Roles]int{1, 2, 3}, WorkerFailures: 4, ReviewRejections: 5, Stalled: 6, ReviewLoop: 7,
	}
	want.PlanVersion, want.Revision, want.UpdatedAt = 8, 9, start+day
	update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutRun(want)) })
	view(t, s, func(tx store.Tx) {
		requireRun(t, tx, want)
		_, ok, err := tx.Run("no such run")
		require.NoError(t, err)
		require.False(t, ok)
	})
}

func requireRun(t T, tx store.Tx, want run.Run) {
	t.Helper()
	got, ok, err := tx.Run(want.ID)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)
}

func latestRun(t T, s store.Store) {
	first, second, other := newRun("z", "1"), newRun("a", "1"), newRun("m", "2")
	for _, r := range []run.Run{first, second, other} {
		update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutRun(r)) })
	}
	first.State, first.UpdatedAt = run.Failed, start+9*day
	update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutRun(first)) })
	view(t, s, func(tx store.Tx) {
		got, ok, err := tx.LatestRun("tasks.md", "1")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, second, got)
		_, ok, err = tx.LatestRun("tasks.md", "3")
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = tx.LatestRun("other.md", "1")
		require.NoError(t, err)
		require.False(t, ok)
	})
}

func runCounts(t T, s store.Store) {
	view(t, s, func(tx store.Tx) {
		counts, err := tx.RunCounts()
		require.NoError(t, err)
		require.Equal(t, map[run.State]int{
			run.Running: 0, run.Blocked: 0, run.Done: 0, run.Failed: 0,
		}, counts)
	})
	done := newRun("b", "2")
	done.State = run.Done
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(newRun("a", "1")))
		require.NoError(t, tx.PutRun(newRun("b", "2")))
		require.NoError(t, tx.PutRun(newRun("c", "3")))
		require.NoError(t, tx.PutRun(done))
		counts, err := tx.RunCounts()
		require.NoError(t, err)
		require.Equal(t, map[run.State]int{
			run.Running: 2, run.Blocked: 0, run.Done: 1, run.Failed: 0,
		}, counts)
	})
}

func factsReplaced(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(newRun("r", "1")))
		require.NoError(t, tx.PutRun(newRun("other", "2")))
		require.NoError(t, tx.PutFacts("other", []store.Fact{{Key: "k", Value: "kept"}}))
		require.NoError(t, tx.PutFacts("r", facts("b", "2", "Z", "0", "a", "1")))
		requireFacts(t, tx, "r", facts("Z", "0", "a", "1", "b", "2"))
	})
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutFacts("r", facts("b", "3", "c", "")))
	})
	view(t, s, func(tx store.Tx) {
		requireFacts(t, tx, "r", facts("b", "3", "c", ""))
		requireFacts(t, tx, "other", facts("k", "kept"))
		requireFacts(t, tx, "no such run", nil)
	})
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutFacts("r", nil))
		requireFacts(t, tx, "r", nil)
	})
}

func requireFacts(t T, tx store.Tx, runID string, want []store.Fact) {
	t.Helper()
	got, err := tx.Facts(runID)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
}

func factsRefused(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(newRun("r", "1")))
		require.NoError(t, tx.PutFacts("r", facts("a", "1")))
		require.Error(t, tx.PutFacts("no such run", facts("a", "1")))
		require.Error(t, tx.PutFacts("no such run", nil))
		require.Error(t, tx.PutFacts("r", facts("b", "1", "a", "2", "b", "3")))
		requireFacts(t, tx, "r", facts("a", "1"))
	})
	view(t, s, func(tx store.Tx) { requireFacts(t, tx, "r", facts("a", "1")) })
}
