package law

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

func taskQueryLaws() []Law {
	return []Law{
		law("queries of tasks select by every field", taskQueriesSelect),
		law("a task is ready exactly when it is claimable", readyIsClaimable),
		law("pages of tasks neither skip nor repeat", taskPages),
		law("tasks are listed from the newest on, too", tasksFromTheNewest),
		law("a count of tasks heeds neither page nor limit", taskCountIgnoresPages),
		law("a page of tasks is as long as its limit", taskPageLimit),
		law("the next retry is found", nextReadyIsFound),
	}
}

func selectedTasks(t T, tx store.Tx, q store.TaskQuery) []string {
	t.Helper()
	found, err := tx.Tasks(q)
	require.NoError(t, err)
	return taskIDs(found)
}

func taskIDs(all []task.Task) []string {
	names := []string{}
	for _, one := range all {
		names = append(names, one.ID)
	}
	return names
}

// team puts twelve tasks of two runs, roles and parents in all phases.
func team(t T, s store.Store) {
	with := func(one task.Task, change func(*task.Task)) task.Task {
		change(&one)
		return one
	}
	mine := func(t *task.Task) { t.Spec.RunID, t.Spec.Role, t.Spec.Parent = "run", "worker", "ses" }
	review := func(t *task.Task) { t.Spec.RunID, t.Spec.Role = "run", "reviewer" }
	waits := func(t *task.Task) { t.Waits = 1 }
	later := func(t *task.Task) { t.Phase = task.Queued{NotBefore: start + 1000} }
	other := func(t *task.Task) { t.Current.Model = task.Model{Provider: "openai", ID: "GPT-5.1"} }
	nameless := func(t *task.Task) { t.Current.Model = task.Model{} }
	stopped := func(t *task.Task) {
		t.Phase, t.Current = task.Cancelled{At: start}, over(t.Current, task.AttemptCancelled)
	}
	blocked := func(t *task.Task) {
		t.Phase, t.Current = task.Blocked{At: start}, over(t.Current, task.AttemptError)
	}
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx,
			with(newTask("q1", 10), mine), with(newTask("q2", 20), other), with(newTask("q3", 30), waits),
			with(newTask("q4", 40), later), with(newTask("q5", 50), nameless), with(begun(newTask("r1", 60)), mine),
			begun(newTask("r2", 70)), with(awaiting(newTask("a1", 80)), mine), with(completed(newTask("c1", 90)), review),
			with(errored(newTask("e1", 100)), mine), with(newTask("x1", 110), stopped), with(newTask("b1", 120), blocked),
		)
	})
}

func teamIDs() []string {
	return []string{"q1", "q2", "q3", "q4", "q5", "r1", "r2", "a1", "c1", "e1", "x1", "b1"}
}

// A selection is a query and the tasks of the team that it selects.
type selection struct {
	q    store.TaskQuery
	want []string
}

func taskQueriesSelect(t T, s store.Store) {
	team(t, s)
	view(t, s, func(tx store.Tx) {
		for _, rows := range []map[string]selection{selections(), readySelections()} {
			for name, row := range rows {
				require.Equal(t, row.want, selectedTasks(t, tx, row.q), name)
				n, err := tx.CountTasks(row.q)
				require.NoError(t, err)
				require.Equal(t, len(row.want), n, name)
			}
		}
	})
}

func selections() map[string]selection {
	type query = store.TaskQuery
	opus := task.Model{Provider: "anthropic", ID: "opus-4-1"}.Key()
	return map[string]selection{
		"all":                   {query{}, teamIDs()},
		"queued":                {query{Status: task.StatusQueued}, []string{"q1", "q2", "q3", "q4", "q5"}},
		"running":               {query{Status: task.StatusRunning}, []string{"r1", "r2"}},
		"awaiting":              {query{Status: task.StatusAwaiting}, []string{"a1"}},
		"complete":              {query{Status: task.StatusComplete}, []string{"c1"}},
		"error":                 {query{Status: task.StatusError}, []string{"e1"}},
		"cancelled":             {query{Status: task.StatusCancelled}, []string{"x1"}},
		"blocked":               {query{Status: task.StatusBlocked}, []string{"b1"}},
		"no such status":        {query{Status: "GONE"}, []string{}},
		"live":                  {query{Live: true}, []string{"q1", "q2", "q3", "q4", "q5", "r1", "r2", "a1"}},
		"live and a status":     {query{Live: true, Status: task.StatusRunning}, []string{"r1", "r2"}},
		"live and an end":       {query{Live: true, Status: task.StatusError}, []string{}},
		"live of a role":        {query{Live: true, Role: "worker"}, []string{"q1", "r1", "a1"}},
		"live, not every model": {query{Live: true, Except: []string{opus}}, []string{"q2", "q5"}},
		"run":                   {query{RunID: "run"}, []string{"q1", "r1", "a1", "c1", "e1"}},
		"no such run":           {query{RunID: "other"}, []string{}},
		"role":                  {query{Role: "reviewer"}, []string{"c1"}},
		"run and role":          {query{RunID: "run", Role: "worker"}, []string{"q1", "r1", "a1", "e1"}},
		"parent":                {query{Parent: "ses"}, []string{"q1", "r1", "a1", "e1"}},
		"live of a parent":      {query{Parent: "ses", Live: true}, []string{"q1", "r1", "a1"}},
		"and of a status":       {query{Parent: "ses", Live: true, Status: task.StatusQueued}, []string{"q1"}},
		"and of no status":      {query{Parent: "ses", Live: true, Status: "GONE"}, []string{}},
		"and of a run":          {query{Parent: "ses", Live: true, RunID: "run"}, []string{"q1", "r1", "a1"}},
		"status of a run":       {query{RunID: "run", Status: task.StatusError}, []string{"e1"}},
		"default not due":       {query{DefaultBy: start + 29}, []string{}},
		"default due":           {query{DefaultBy: start + 30}, []string{"a1"}},
	}
}

func readySelections() map[string]selection {
	type query = store.TaskQuery
	opus, gpt := task.Model{Provider: "anthropic", ID: "opus-4-1"}.Key(), task.Model{Provider: "openai", ID: "gpt-5-1"}.Key()
	return map[string]selection{
		"ready":                 {query{ReadyAt: start}, []string{"q1", "q2", "q5"}},
		"ready later":           {query{ReadyAt: start + 1000}, []string{"q1", "q2", "q4", "q5"}},
		"ready in a run":        {query{ReadyAt: start, RunID: "run"}, []string{"q1"}},
		"ready in a role":       {query{ReadyAt: start, Role: "reviewer"}, []string{}},
		"ready and running":     {query{ReadyAt: start, Status: task.StatusRunning}, []string{}},
		"ready, no status":      {query{ReadyAt: start, Status: "GONE"}, []string{}},
		"ready and live":        {query{ReadyAt: start, Live: true, Parent: "ses"}, []string{"q1"}},
		"except one model":      {query{ReadyAt: start, Except: []string{opus}}, []string{"q2", "q5"}},
		"except two models":     {query{ReadyAt: start, Except: []string{gpt, opus}}, []string{"q5"}},
		"except no model":       {query{ReadyAt: start, Except: []string{""}}, []string{"q1", "q2"}},
		"except an unknown one": {query{ReadyAt: start, Except: []string{"x/y"}}, []string{"q1", "q2", "q5"}},
	}
}

// readyIsClaimable holds the query against core, around the moments at which its answer turns.
func readyIsClaimable(t T, s store.Store) {
	const longest = 60_000_000
	var all []task.Task
	for i, before := range []core.Instant{0, start - 1, start, start + 1, start + longest - 1, start + longest, start + longest + 1} {
		one := newTask(fmt.Sprint("t", i), int64(i)+1)
		one.Phase = task.Queued{NotBefore: before}
		all = append(all, one)
	}
	waiting := newTask("waits", 100)
	waiting.Waits = 2
	all = append(all, waiting, begun(newTask("runs", 101)), errored(newTask("over", 102)))
	update(t, s, func(tx store.Tx) { putTasks(t, tx, all...) })
	view(t, s, func(tx store.Tx) {
		for _, at := range []core.Instant{1, start - 2, start - 1, start, start + 1, start + 2, start + longest, start + 2*longest} {
			want := []string{}
			for _, one := range all {
				if one.Claimable(at) {
					want = append(want, one.ID)
				}
			}
			require.Equal(t, want, selectedTasks(t, tx, store.TaskQuery{ReadyAt: at}), "at start%+d", at-start)
		}
	})
}

func taskPages(t T, s store.Store) {
	team(t, s)
	view(t, s, func(tx store.Tx) {
		for size := 1; size <= 13; size++ {
			requireTaskPages(t, tx, store.TaskQuery{Limit: size}, teamIDs())
			requireTaskPages(t, tx, store.TaskQuery{Limit: size, Live: true}, teamIDs()[:8])
			requireTaskPages(t, tx, store.TaskQuery{Limit: size, Status: task.StatusQueued}, teamIDs()[:5])
			requireTaskPages(t, tx, store.TaskQuery{Limit: size, RunID: "run"}, []string{"q1", "r1", "a1", "c1", "e1"})
			requireTaskPages(t, tx, store.TaskQuery{Limit: size, Parent: "ses"}, []string{"q1", "r1", "a1", "e1"})
			requireTaskPages(t, tx, store.TaskQuery{Limit: size, ReadyAt: start}, []string{"q1", "q2", "q5"})
		}
	})
}

// tasksFromTheNewest holds each query against the same one from the oldest on, at once and page by page.
func tasksFromTheNewest(t T, s store.Store) {
	team(t, s)
	view(t, s, func(tx store.Tx) {
		for name, row := range selections() {
			want := slices.Clone(row.want)
			slices.Reverse(want)
			row.q.Newest = true
			require.Equal(t, want, selectedTasks(t, tx, row.q), name)
			for size := 1; size <= len(want)+1; size++ {
				row.q.Limit = size
				requireTaskPages(t, tx, row.q, want)
			}
		}
		require.Equal(t, []string{"q1"}, selectedTasks(t, tx, store.TaskQuery{Newest: true, After: 11}))
		require.Empty(t, selectedTasks(t, tx, store.TaskQuery{Newest: true, After: 10}), "nothing is behind the oldest")
	})
}

// requireTaskPages walks through all pages of q.
func requireTaskPages(t T, tx store.Tx, q store.TaskQuery, want []string) {
	t.Helper()
	got := []string{}
	for len(got) <= len(want) {
		page, err := tx.Tasks(q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), q.Limit)
		if len(page) == 0 {
			break
		}
		got = append(got, taskIDs(page)...)
		q.After = page[len(page)-1].Position
	}
	require.Equal(t, want, got, "pages of %d", q.Limit)
}

func taskCountIgnoresPages(t T, s store.Store) {
	team(t, s)
	view(t, s, func(tx store.Tx) {
		for _, q := range []store.TaskQuery{{Limit: 1}, {After: 60}, {After: 60, Limit: 2}, {After: 60, Newest: true}} {
			n, err := tx.CountTasks(q)
			require.NoError(t, err)
			require.Equal(t, 12, n)
		}
	})
}

func taskPageLimit(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		for i := range store.DefaultLimit + 2 {
			putTasks(t, tx, newTask(fmt.Sprint("t", i), int64(i)+1))
		}
	})
	view(t, s, func(tx store.Tx) {
		for limit, want := range map[int]int{
			0: store.DefaultLimit, 1: 1, store.DefaultLimit + 1: store.DefaultLimit + 1, 10_000: store.DefaultLimit + 2,
		} {
			for _, live := range []bool{false, true} {
				require.Len(t, selectedTasks(t, tx, store.TaskQuery{Limit: limit, Live: live}), want)
			}
		}
	})
}

func nextReadyIsFound(t T, s store.Store) {
	waiting := newTask("waits", 4)
	waiting.Waits, waiting.Phase = 1, task.Queued{NotBefore: start + 1}
	next := func(after, want core.Instant) {
		t.Helper()
		view(t, s, func(tx store.Tx) {
			got, err := tx.NextReady(after)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
	next(0, 0)
	update(t, s, func(tx store.Tx) {
		for i, before := range []core.Instant{0, start + 20, start + 10} {
			one := newTask(fmt.Sprint("t", i), int64(i)+1)
			one.Phase = task.Queued{NotBefore: before}
			putTasks(t, tx, one)
		}
		putTasks(t, tx, waiting, awaiting(newTask("asks", 5)))
	})
	next(0, start+10)
	next(start+9, start+10)
	next(start+10, start+20)
	next(start+20, start+30) // the default of the question
	next(start+30, 0)
}
