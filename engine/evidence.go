package engine

import (
	"errors"

	"waybill/core"
	"waybill/ledger"
	"waybill/store"
)

// An ItemOutcome is how an item of a plan came to its end. Run and Ledger are zero if the plan alone says
// that it is done.
type ItemOutcome struct {
	Item   ledger.Item
	Run    core.Run
	Ledger ledger.TaskLedger
	// Fault, if not nil, says why there is no Ledger. That the item is done is known all the same.
	Fault error
}

// Outcomes gives the items of a plan that are done, in the order of the plan.
func Outcomes(tx store.Tx, plan *ledger.Reading, path string) ([]ItemOutcome, error) {
	runs, err := tx.LatestRuns(path)
	if err != nil {
		return nil, err
	}
	items, groups := plan.Items(), map[string]bool{}
	byItem := ofItems(runs, items)
	for _, item := range items {
		groups[item.ParentID] = true
	}
	var list []ItemOutcome
	for _, item := range items {
		if groups[item.ID] {
			continue // it is done through its children
		}
		run := byItem[item.ID]
		o := ItemOutcome{Item: item}
		switch {
		case run.Live():
			continue // whatever the plan says, nobody has approved it
		case run.State == core.RunDone:
			o.Run = run
			o.Ledger, o.Fault = taskLedger(tx, o.Run)
			if o.Fault != nil && !unreadable(o.Fault) {
				return nil, o.Fault
			}
		case item.Status != ledger.Completed:
			continue
		}
		list = append(list, o)
	}
	return list, nil
}

func taskLedger(tx store.Tx, run core.Run) (ledger.TaskLedger, error) {
	facts, err := tx.Facts(run.ID)
	if err != nil {
		return ledger.TaskLedger{}, err
	}
	return ledger.ParseTaskFacts(run.ID, run.ItemID, loaded(facts))
}

// unreadable reports whether an error says that what is stored of one thing is not what was written, while
// everything else can go on.
func unreadable(err error) bool {
	_, unread := errors.AsType[*ledger.FactError](err)
	return unread || damaged(err)
}
