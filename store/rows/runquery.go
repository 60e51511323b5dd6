package rows

import (
	"strings"

	"waybill/core"
	"waybill/store"
)

func (t *Tx) Runs(q store.RunQuery) ([]core.Run, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = store.DefaultLimit
	}
	text, args := selectingRuns(q)
	return listed(t, limit, func(r *Row) (core.Run, error) {
		_, run, err := takeRun(r, &t.buf)
		return run, err
	}, text, args...)
}

// selectingRuns gives the statement that lists what a query selects. The runs of a plan are listed state by
// state, which SQLite merges in the order of their index.
func selectingRuns(q store.RunQuery) (text string, args []any) {
	states := []core.RunState{q.State}
	if q.Plan != "" && q.State == "" {
		states = core.RunStates()
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

// runConditions gives the WHERE of a query, with the index that it is to be looked up in: SQLite, which knows
// nothing of how many rows there are, would take another one.
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
