package ledger

import (
	"cmp"
	"fmt"
)

// ProgressLedger is what a plan says about itself and one of its items.
type ProgressLedger struct {
	// Plan names the plan, ItemID the item that was asked for; "" asked for the active one.
	Plan, ItemID string
	SourcePath   string
	Fingerprint  Fingerprint
	// Dialect is that of the plan; "" if it was stored by a version that did not say.
	Dialect string
	Totals  Totals
	// ActiveItemID is "" when no item is in progress.
	ActiveItemID string
	// CurrentItem is the item asked for, else the active one, else nil.
	CurrentItem *Item
}

// Progress takes from a reading what a prompt for the item needs. An id that
// the reading does not have is an *ItemError: another item never stands in.
// With an empty id the active item is current.
func Progress(r *Reading, plan, sourcePath, itemID string) (ProgressLedger, error) {
	current := r.firstActive()
	if itemID != "" {
		if current = r.find(itemID); current < 0 {
			return ProgressLedger{}, &ItemError{Plan: plan, ItemID: itemID}
		}
	}
	p := ProgressLedger{
		Plan: plan, ItemID: itemID, SourcePath: sourcePath,
		Fingerprint: r.Fingerprint, Dialect: r.Dialect, Totals: r.Totals, ActiveItemID: r.Active(),
	}
	if current >= 0 {
		it := r.item(current)
		it.Below = r.below(current)
		p.CurrentItem = &it
	}
	return p, nil
}

// below names the children of an item, which have their own text in their own prompts.
func (r *Reading) below(i int32) (names []string) {
	if r.entries[i].derived == 0 {
		return nil
	}
	for j := range r.entries {
		if r.entries[j].parent == i {
			child := r.item(int32(j))
			names = append(names, fmt.Sprintf("%s %s (%s)", child.ID, child.Title, cmp.Or(child.DerivedStatus, child.Status)))
		}
	}
	return names
}
