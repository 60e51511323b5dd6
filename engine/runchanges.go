package engine

import (
	"waybill/core"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/ledger"
	"waybill/plan"
)

// Unblock ends the block of a run and records why. It refuses a run that is not blocked.
func (tx *Tx) Unblock(id, why string, plan *plan.Reading) (Standing, error) {
	before, err := tx.Standing(id, plan)
	if err != nil {
		return before, err
	}
	after, _, err := tx.moveRun(before, plan, run.Unblock{At: tx.now}, nil, RunRecord{Why: why})
	return after, err
}

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

// TakeReceipt records a receipt and moves its run accordingly. record is the receipt as callers see it; the log keeps
// it. demand says what a worker must do if the check is red. seq is the number of the event with the receipt.
func (tx *Tx) TakeReceipt(id string, r proof.Receipt, record any, demand string, plan *plan.Reading) (after Standing, why *run.Decision, seq int64, err error) {
	before, err := tx.Standing(id, plan)
	if err != nil {
		return before, nil, 0, err
	}
	if err := tx.record(core.ReceiptRecorded, id, record); err != nil {
		return before, nil, 0, err
	}
	if seq, err = tx.Seq(); err != nil {
		return before, nil, 0, err
	}
	if judged, _, err := before.Run.Proof.Step(proof.Take{Receipt: r}); err != nil || !judged.Red.Has(r.Check) {
		demand = ""
	}
	before.Ledger = before.Ledger.Checked(r.Check, demand)
	event := run.TakeReceipt{At: tx.now, Receipt: r, Frontier: before.frontier(plan)}
	after, why, err = tx.moveRun(before, plan, event, nil, RunRecord{Check: r.Check})
	return after, why, seq, err
}
