package sqlstore

import (
	"slices"
	"strings"

	"waybill/core/run"
	"waybill/store"
	"waybill/store/record"
)

func (t runRecords) Run(id string) (run run.Run, ok bool, err error) {
	err = t.get(func() error {
		found, there, err := one(t.c, &runRows, " AND id = ?", id)
		run, ok = found.Run, there
		return err
	})
	return run, ok, err
}

func (t runRecords) LatestRun(plan, itemID string) (run run.Run, ok bool, err error) {
	err = t.get(func() error {
		found, there, err := one(t.c, &runRows, " AND plan = ? AND item_id = ? ORDER BY number DESC LIMIT 1", plan, itemID)
		run, ok = found.Run, there
		return err
	})
	return run, ok, err
}

func (t runRecords) PutRun(run run.Run) error {
	return t.put(func() error {
		old, ok, err := one(t.c, &runRows, " AND id = ?", run.ID)
		if err != nil {
			return err
		}
		if err := t.putRun(old, ok, run); err != nil {
			return err
		}
		t.writes++
		return nil
	})
}

func (t runRecords) putRun(old record.Run, ok bool, run run.Run) error {
	if ok {
		text, args := runRows.update(old, record.Run{Number: old.Number, Run: run})
		return t.run(text, args)
	}
	last, err := Number(t.c, "SELECT coalesce(max(number), 0) FROM runs WHERE runs.workspace = :w")
	if err != nil {
		return err
	}
	text, args := runRows.insert(record.Run{Number: last + 1, Run: run})
	return t.run(text, args)
}

func (t runRecords) RunCounts() (counts map[run.State]int, err error) {
	err = t.get(func() error {
		counts = make(map[run.State]int)
		for _, state := range run.States() {
			counts[state] = 0
		}
		return t.c.Query(func(r *Row) error {
			state := run.State(r.Text())
			counts[state] = int(r.Integer())
			return r.err
		}, "SELECT state, count(*) FROM runs WHERE runs.workspace = :w GROUP BY state")
	})
	return counts, err
}

func (t runRecords) LatestRuns(plan string) (runs []run.Run, err error) {
	// The latest runs are looked for in the index alone. They come in its order; told to order them, SQLite would sort
	// them again, with all their columns.
	text := "SELECT " + runRows.columns() + ` FROM (
			SELECT max(number) AS latest FROM runs WHERE runs.workspace = :w AND plan = ? GROUP BY item_id
		) AS newest CROSS JOIN runs ON runs.workspace = :w AND number = latest`
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
			found, err := runRows.take(r)
			if err != nil {
				return t.leaveOut(err)
			}
			runs = append(runs, found.Run)
			return nil
		}, text, plan)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b run.Run) int { return strings.Compare(a.ItemID, b.ItemID) })
	return runs, nil
}

func (t runRecords) Runs(q store.RunQuery) ([]run.Run, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = store.DefaultLimit
	}
	text, args := selectingRuns(q)
	return listed(t.Tx, limit, func(r *Row) (run.Run, error) {
		found, err := runRows.take(r)
		return found.Run, err
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
		texts = append(texts, "SELECT "+runRows.columns()+" FROM runs"+where)
		args = append(args, more...)
	}
	return strings.Join(texts, " UNION ALL ") + " ORDER BY 1 DESC", args
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
