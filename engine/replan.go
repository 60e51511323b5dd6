package engine

import (
	"waybill/core"
	"waybill/ledger"
)

// Replan records a new version of the plan for the item of a run. Without items, those of the version
// before stay. changed reports whether something else is to be done next.
func (tx *Tx) Replan(id, summary string, items []string, current *ledger.Item, plan *ledger.Reading) (after Standing, changed bool, err error) {
	before, err := tx.Standing(id, plan)
	if err != nil {
		return before, false, err
	}
	if len(items) == 0 {
		items = before.Ledger.PlanItems
	}
	frontier := ledger.Frontier(current, items)
	if before.Run.Frontier == "" { // the run is older than frontiers
		before.Run.Frontier = ledger.Frontier(current, before.Ledger.PlanItems)
	}
	changed = frontier != before.Run.Frontier
	event := core.Replan{At: tx.now, Frontier: frontier}
	before.Ledger = before.Ledger.Replanned(before.Run.PlanVersion+1, summary, items)
	after, _, err = tx.moveRun(before, plan, event, nil, RunRecord{PlanVersion: before.Run.PlanVersion + 1})
	return after, changed, err
}
