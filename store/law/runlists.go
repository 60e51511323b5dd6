package law

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core/run"
	"waybill/store"
)

// manyRuns is more than a query without a limit returns.
const manyRuns = store.DefaultLimit + 20

// runsListed puts runs of two plans in all states, some of them again with another state, under ids that are
// in no order.
func runsListed(t T, s store.Store) {
	states := run.States()
	var want []run.Run
	update(t, s, func(tx store.Tx) {
		want = want[:0]
		for n := range manyRuns {
			r := newRun(fmt.Sprintf("run_%03d_%d", n*37%100, n), fmt.Sprint(n%7))
			if n%3 == 0 {
				r.Plan = "docs/tasks.md"
			}
			require.NoError(t, tx.PutRun(r))
			want = append(want, r)
		}
	})
	update(t, s, func(tx store.Tx) {
		for n := range want {
			want[n].State = states[n%len(states)]
			if want[n].State == run.Blocked {
				want[n].Halt = run.HaltStalled
			}
			require.NoError(t, tx.PutRun(want[n]))
		}
	})
	slices.Reverse(want)
	for _, plan := range []string{"", "tasks.md", "docs/tasks.md", "none.md"} {
		for _, state := range append(states, "") { // each in its own View, because the time of one is limited
			view(t, s, func(tx store.Tx) { requireRuns(t, tx, store.RunQuery{Plan: plan, State: state}, want) })
		}
	}
	view(t, s, func(tx store.Tx) {
		got, err := tx.Runs(store.RunQuery{Behind: "no such run"})
		require.NoError(t, err)
		require.Empty(t, got)
	})
}

// requireRuns checks what a query selects of all runs, at once and page by page.
func requireRuns(t T, tx store.Tx, q store.RunQuery, all []run.Run) {
	t.Helper()
	want := slices.DeleteFunc(slices.Clone(all), func(r run.Run) bool {
		return q.Plan != "" && r.Plan != q.Plan || q.State != "" && r.State != q.State
	})
	got, err := tx.Runs(q)
	require.NoError(t, err)
	requireEqualRuns(t, want[:min(len(want), store.DefaultLimit)], got)
	q.Limit = 1 + len(want)/3
	for len(want) > 0 {
		got, err := tx.Runs(q)
		require.NoError(t, err)
		requireEqualRuns(t, want[:min(len(want), q.Limit)], got)
		want, q.Behind = want[len(got):], got[len(got)-1].ID
	}
	got, err = tx.Runs(q)
	require.NoError(t, err)
	require.Empty(t, got, "behind the last")
}

func requireEqualRuns(t T, want, got []run.Run) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
}

// drawRunQuery draws a list of runs.
func drawRunQuery(t *rapid.T) verb {
	q := store.RunQuery{
		Plan:  rapid.SampledFrom([]string{"", "tasks.md", "other.md"}).Draw(t, "plan"),
		State: rapid.SampledFrom(append(run.States(), "")).Draw(t, "state"),
		Limit: rapid.IntRange(0, 5).Draw(t, "limit"),
	}
	if drawSome(t, "behind") {
		q.Behind = drawID(t, "run")
	}
	return verb{fmt.Sprintf("Runs %+v", q), func(tx store.Tx) string {
		page, err := tx.Runs(q)
		return answer(err, page)
	}}
}
