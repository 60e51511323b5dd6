package ledger

import "waybill/plan"

// ProgressLedger describes a plan and one of its items.
type ProgressLedger struct {
	// Plan is the name of the plan, and ItemID the requested item; "" requests the active one.
	Plan, ItemID string
	SourcePath   string
	Fingerprint  plan.Fingerprint
	Dialect      string
	Totals       plan.Totals
	// ActiveItemID is "" when no item is in progress.
	ActiveItemID string
	// CurrentItem is the requested item, else the active one, else nil.
	CurrentItem *plan.Item
}

// Progress returns the part of a reading that a prompt for the item needs. An empty id selects the active item. An
// unknown id is an *ItemError, so that the prompt never describes another item.
func Progress(r *plan.Reading, p, sourcePath, itemID string) (ProgressLedger, error) {
	current, ok := r.Current(itemID)
	if !ok {
		return ProgressLedger{}, &plan.ItemError{Plan: p, ItemID: itemID}
	}
	return ProgressLedger{
		Plan: p, ItemID: itemID, SourcePath: sourcePath,
		Fingerprint: r.Fingerprint, Dialect: r.Dialect, Totals: r.Totals, ActiveItemID: r.Active(),
		CurrentItem: current,
	}, nil
}
