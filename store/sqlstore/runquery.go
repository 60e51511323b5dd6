package sqlstore

import (
	"strings"

	"waybill/core/run"
	"waybill/store"
)

func (t *Tx) Runs(q store.RunQuery) ([]run.Run, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = store.DefaultLimit
	}
	text, args := selectingRuns(q)
	return listed(t, limit, func(r *Row) (run.Run, error) {
		_, run, err := takeRun(r, &t.buf)
		return run, err
	}, text, args...)
}

// selectingRuns returns the statement that lists what a query selects. The runs of a plan are listed state by
// state, which SQLite merges in the order of their index.
func selectingRuns(q store.RunQuery) (text string, args []any) {
	states := []run.State{q.State}
	if q.Plan != "" && q.State == "" {
		states = run.States()
	}
	var texts []string
	for _, state := range states {
		q.State = state
		where, more := runConditions(q)
		texts = append(texts, "SELECT "+runColumns+" FROM runs"+where)
		args = append(args, more...)
	}
	return strings.Join(texts, " UNION ALL ") + " ORDER BY number DESC", args
}

// runConditions returns the WHERE clause of a query with its index. SQLite has no row counts and would choose another
// index.
func runConditions(q store.RunQuery) (text string, args []any) {
	terms := []string{"runs.workspace = :w"}
	index := ""
	add := func(term string, arg any) {
		terms = append(terms, term)
		args = append(args, arg)
	}
	if q.State != "" {
		index = " INDEXED BY runs_state"
		add("state = ?", string(q.State))
	}
	if q.Plan != "" {
		index = " INDEXED BY runs_plan"
		add("plan = ?", q.Plan)
	}
	if q.Behind != "" {
		add("number < (SELECT number FROM runs WHERE runs.workspace = :w AND id = ?)", q.Behind)
	}
	return index + " WHERE " + strings.Join(terms, " AND "), args
}
