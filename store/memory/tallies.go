package memory

import (
	"fmt"
	"iter"
	"slices"

	"waybill/store"
)

func (t *tx) AddTallies(runID string, counts []store.Tally) error {
	if err := t.putting(); err != nil {
		return err
	}
	if _, ok := t.state.runOrder.get(runID); !ok {
		return fmt.Errorf("add tallies: there is no run %q", runID)
	}
	for _, c := range counts {
		if err := c.Check(); err != nil {
			return fmt.Errorf("add tallies of run %q: %w", runID, err)
		}
	}
	if len(counts) == 0 {
		return nil
	}
	of, _ := t.state.tallies.get(runID)
	for _, c := range counts {
		old, _ := of.get(c.Name)
		of = of.put(c.Name, c.Plus(old.N))
	}
	t.state.tallies = t.state.tallies.put(runID, of)
	t.writes++
	return nil
}

func (t *tx) Tallies(runID string) ([]store.Tally, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	if runID != "" {
		of, _ := t.state.tallies.get(runID)
		return slices.Collect(values(of)), nil
	}
	var all []store.Tally
	for _, of := range t.state.tallies.all() {
		all = slices.AppendSeq(all, values(of))
	}
	return store.SumTallies(all), nil
}

// values gives the tallies of a run by name in ascending order.
func values(of *node[string, store.Tally]) iter.Seq[store.Tally] {
	return func(yield func(store.Tally) bool) {
		for _, c := range of.all() {
			if !yield(c) {
				return
			}
		}
	}
}
