package law

import (
	"fmt"
	"math"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core/run"
	"waybill/store"
)

func tallyLaws() []Law {
	return []Law{
		law("tallies add up, by run and over all runs", talliesAddUp),
		law("tallies belong to a run, and have a plain name and no sign", talliesRefused),
		law("a tally stops at the largest number", talliesStop),
		law("prune leaves tallies alone", pruneLeavesTallies),
	}
}

// tallies returns a tally.
func tallies(name string, n int64) []store.Tally { return []store.Tally{{Name: name, N: n}} }

func requireTallies(t T, tx store.Tx, runID string, want ...store.Tally) {
	t.Helper()
	got, err := tx.Tallies(runID)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
}

func talliesAddUp(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		requireTallies(t, tx, "")
		require.NoError(t, tx.PutRun(newRun("r", "1")))
		require.NoError(t, tx.PutRun(newRun("other", "2")))
		require.NoError(t, tx.AddTallies("r", []store.Tally{{Name: "b", N: 2}, {Name: "a", N: 1}, {Name: "b", N: 5}, {Name: "none", N: 0}}))
		requireTallies(t, tx, "r", store.Tally{Name: "a", N: 1}, store.Tally{Name: "b", N: 7}, store.Tally{Name: "none", N: 0})
		require.NoError(t, tx.AddTallies("other", tallies("b", 100)))
		require.NoError(t, tx.AddTallies("other", nil))
	})
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(standing(newRun("r", "1"), run.HaltStalled)), "it keeps its tallies")
		require.NoError(t, tx.AddTallies("r", []store.Tally{{Name: "b", N: 0}, {Name: "a", N: 10}}))
	})
	view(t, s, func(tx store.Tx) {
		requireTallies(t, tx, "r", store.Tally{Name: "a", N: 11}, store.Tally{Name: "b", N: 7}, store.Tally{Name: "none", N: 0})
		requireTallies(t, tx, "other", store.Tally{Name: "b", N: 100})
		requireTallies(t, tx, "no such run")
		requireTallies(t, tx, "", store.Tally{Name: "a", N: 11}, store.Tally{Name: "b", N: 107}, store.Tally{Name: "none", N: 0})
	})
}

func talliesRefused(t T, s store.Store) {
	longest := strings.Repeat("x", 64)
	update(t, s, func(tx store.Tx) {
		require.Error(t, tx.AddTallies("r", tallies("a", 1)))
		require.Error(t, tx.AddTallies("r", nil))
		require.NoError(t, tx.PutRun(newRun("r", "1")))
		for _, name := range []string{"az09_.:-", longest} {
			require.NoError(t, tx.AddTallies("r", tallies(name, 1)))
		}
		for _, name := range []string{"", longest + "x", "A", "a b", "ä", "a\x00", "a\n", "*", "a,b", "a/b", "\xff", "`", "{"} {
			require.Error(t, tx.AddTallies("r", tallies(name, 1)), "%q", name)
		}
		require.Error(t, tx.AddTallies("r", tallies("a", -1)))
		require.Error(t, tx.AddTallies("r", tallies("a", math.MinInt64)))
		require.Error(t, tx.AddTallies("r", []store.Tally{{Name: "a", N: 1}, {Name: "b", N: -1}}), "nothing of it is added")
	})
	view(t, s, func(tx store.Tx) {
		requireTallies(t, tx, "r", store.Tally{Name: "az09_.:-", N: 1}, store.Tally{Name: longest, N: 1})
	})
}

func talliesStop(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(newRun("r", "1")))
		require.NoError(t, tx.PutRun(newRun("other", "2")))
		require.NoError(t, tx.AddTallies("r", tallies("n", math.MaxInt64-1)))
		require.NoError(t, tx.AddTallies("other", tallies("n", 2)))
		requireTallies(t, tx, "r", store.Tally{Name: "n", N: math.MaxInt64 - 1})
		requireTallies(t, tx, "", store.Tally{Name: "n", N: math.MaxInt64})
		require.NoError(t, tx.AddTallies("r", tallies("n", 1)))
		require.NoError(t, tx.AddTallies("r", tallies("n", math.MaxInt64)))
	})
	view(t, s, func(tx store.Tx) {
		requireTallies(t, tx, "r", store.Tally{Name: "n", N: math.MaxInt64})
		requireTallies(t, tx, "", store.Tally{Name: "n", N: math.MaxInt64})
	})
}

func pruneLeavesTallies(t T, s store.Store) {
	update(t, s, func(tx store.Tx) { everything(t, tx) })
	update(t, s, func(tx store.Tx) {
		_, err := tx.Prune(start+900*day, 1000)
		require.NoError(t, err)
	})
	view(t, s, func(tx store.Tx) {
		require.Zero(t, census(t, tx)["events"], "something was pruned")
		requireTallies(t, tx, "r", tallies("results", 1)...)
		requireTallies(t, tx, "", tallies("results", 1)...)
	})
}

func drawAddTallies(t *rapid.T) verb {
	id := drawID(t, "run")
	tally := rapid.Custom(func(t *rapid.T) store.Tally {
		return store.Tally{
			Name: rapid.SampledFrom([]string{"results", "results:worker", "b.c-d_1", "a", "No"}).Draw(t, "name"),
			N:    rapid.OneOf(rapid.Int64Range(-1, 50), rapid.Just(int64(math.MaxInt64))).Draw(t, "n"),
		}
	})
	some := rapid.SliceOfN(tally, 0, 4).Draw(t, "tallies")
	return verb{fmt.Sprintf("AddTallies %s %v", id, some), func(tx store.Tx) string {
		return answer(tx.AddTallies(id, some))
	}}
}
