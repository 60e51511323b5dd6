package engine

import (
	"errors"

	"waybill/core/run"
	"waybill/ledger"
	"waybill/plan"
	"waybill/store"
)

// An ItemOutcome is the result of a finished item. Run and Ledger are zero if only the plan says that it is done.
type ItemOutcome struct {
	Item   plan.Item
	Run    run.Run
	Ledger ledger.TaskLedger
	// Fault says why Ledger is missing, or is nil.
	Fault error
}

// Outcomes returns the finished items of a plan in plan order.
func Outcomes(tx store.Tx, p *plan.Reading, path string) ([]ItemOutcome, error) {
	runs, err := tx.LatestRuns(path)
	if err != nil {
		return nil, err
	}
	items, groups := p.Items(), map[string]bool{}
	byItem := ofItems(runs, items)
	for _, item := range items {
		groups[item.ParentID] = true
	}
	var list []ItemOutcome
	for _, item := range items {
		if groups[item.ID] {
			continue // it is done through its children
		}
		r := byItem[item.ID]
		o := ItemOutcome{Item: item}
		switch {
		case r.Live():
			continue // no reviewer has approved it, even if the plan says done
		case r.State == run.Done:
			o.Run = r
			o.Ledger, o.Fault = taskLedger(tx, o.Run)
			if o.Fault != nil && !unreadable(o.Fault) {
				return nil, o.Fault
			}
		case item.Status != plan.Completed:
			continue
		}
		list = append(list, o)
	}
	return list, nil
}

func taskLedger(tx store.RunContents, run run.Run) (ledger.TaskLedger, error) {
	facts, err := tx.Facts(run.ID)
	if err != nil {
		return ledger.TaskLedger{}, err
	}
	return ledger.ParseTaskFacts(run.ID, run.ItemID, facts)
}

// unreadable reports whether an error concerns the stored data of one record only. Other records can still be used.
func unreadable(err error) bool {
	_, unread := errors.AsType[*ledger.FactError](err)
	return unread || damaged(err)
}
