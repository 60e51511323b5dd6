package sqlstore

import (
	"waybill/store"
)

var (
	tallyNames    = []string{"run_id", "name", "n"}
	tallyColumns  = text{Of: func() string { return qualified("tallies", tallyNames) }}
	selectTallies = text{Of: func() string { return "SELECT " + tallyColumns.Get() + " FROM tallies WHERE tallies.workspace = :w" }}
	putTally      = text{Of: func() string { return replacing("tallies", 2, tallyNames) }}
)

// tallyOf is a tally of a run.
type tallyOf struct {
	runID string
	tally store.Tally
}

// takeTally takes tallyColumns and checks them against their sum.
func takeTally(r *Row, buf *encoder) (of tallyOf, err error) {
	sound := r.sound(kindTally, len(tallyNames), buf)
	of = tallyOf{r.Text(), store.Tally{Name: r.Text(), N: r.Integer()}}
	if !sound || r.err != nil {
		return of, Damaged("the tally " + of.tally.Name + " of run " + of.runID)
	}
	return of, nil
}

func talliesTable() Table {
	return Table{
		Name: "tallies", columns: tallyColumns.Get(), keys: 2,
		take:   func(r *Row, buf *encoder) (any, error) { return takeTally(r, buf) },
		Insert: func(t *Tx, item any) error { return t.putTally(item.(tallyOf)) },
	}
}

func (t *Tx) putTally(of tallyOf) error {
	_, err := t.c.Exec(putTally.Get(), t.summed(kindTally, []any{of.runID, of.tally.Name, of.tally.N})...)
	return err
}

func (t *Tx) AddTallies(runID string, counts []store.Tally) error {
	return t.put(func() error {
		if err := t.talliesAllowed(runID, counts); err != nil {
			return err
		}
		for _, c := range store.SumTallies(counts) {
			if err := t.addTally(runID, c); err != nil {
				return err
			}
		}
		if len(counts) > 0 {
			t.writes++
		}
		return nil
	})
}

// talliesAllowed looks before anything is added, so that a refusal leaves all counters as they are.
func (t *Tx) talliesAllowed(runID string, counts []store.Tally) error {
	for _, c := range counts {
		if err := c.Check(); err != nil {
			return refuse("add tallies of run %s: %v", runID, err)
		}
	}
	n, err := Number(t.c, "SELECT count(*) FROM runs WHERE runs.workspace = :w AND id = ?", runID)
	if err == nil && n == 0 {
		return refuse("add tallies: there is no run %q", runID)
	}
	return err
}

// addTally adds to one counter. A damaged counter stays as it is: its value is unknown, and a restarted counter would
// silently be too low.
func (t *Tx) addTally(runID string, c store.Tally) error {
	spoilt := false
	if err := t.c.Query(func(r *Row) error {
		old, err := takeTally(r, &t.buf)
		if err != nil {
			spoilt = true
			return t.leaveOut(err)
		}
		c = c.Plus(old.tally.N)
		return nil
	}, selectTallies.Get()+" AND run_id = ? AND name = ?", runID, c.Name); err != nil || spoilt {
		return err
	}
	return t.putTally(tallyOf{runID, c})
}

func (t *Tx) Tallies(runID string) (found []store.Tally, err error) {
	text, args := selectTallies.Get()+" AND run_id = ? ORDER BY name", []any{runID}
	if runID == "" {
		text, args = selectTallies.Get(), nil
	}
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
			of, err := takeTally(r, &t.buf)
			if err != nil {
				return t.leaveOut(err)
			}
			found = append(found, of.tally)
			return nil
		}, text, args...)
	})
	if err != nil {
		return nil, err
	}
	return store.SumTallies(found), nil
}
