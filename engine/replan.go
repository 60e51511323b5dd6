package engine

import (
	"waybill/core/run"
	"waybill/ledger"
	"waybill/plan"
)

// Replan records a new version of the plan for the item of a run. Empty items keep those of the former version.
// changed reports whether the next step is another one.
func (tx *Tx) Replan(id, summary string, items []string, current *plan.Item, plan *plan.Reading) (after Standing, changed bool, err error) {
	before, err := tx.Standing(id, plan)
	if err != nil {
		return before, false, err
	}
	if len(items) == 0 {
		items = before.Ledger.PlanItems
	}
	frontier := ledger.Frontier(current, items)
	changed = frontier != before.Run.Frontier
	event := run.Replan{At: tx.now, Frontier: frontier}
	before.Ledger = before.Ledger.Replanned(before.Run.PlanVersion+1, summary, items)
	after, _, err = tx.moveRun(before, plan, event, nil, RunRecord{PlanVersion: before.Run.PlanVersion + 1})
	return after, changed, err
}
