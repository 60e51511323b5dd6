package engine

import (
	"waybill/core/run"
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
