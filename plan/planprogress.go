package plan

import (
	"cmp"
	"fmt"
)

// Current returns the item with an id, or the active item if the id is empty, with its children in Below. The item is
// nil if the id is empty and no item is active. ok is false if no item has the id.
func (r *Reading) Current(itemID string) (it *Item, ok bool) {
	at := r.firstActive()
	if itemID != "" {
		if at = r.find(itemID); at < 0 {
			return nil, false
		}
	}
	if at < 0 {
		return nil, true
	}
	current := r.item(at)
	current.Below = r.below(at)
	return &current, true
}

// PlanProgress is the progress of a plan according to its file and to the runs of its items. It counts the same items
// as Totals.
type PlanProgress struct {
	// Completed and Total are the counts of the file.
	Completed, Total int
	// Approved counts the items whose newest run was approved, whatever their status in the file.
	Approved int
	// Proven counts those of them that their required checks prove.
	Proven int
	// Unapproved counts the items that are completed in the file while their newest run is live or blocked.
	Unapproved int
}

// ByRuns reports whether the runs add information to the file.
func (p PlanProgress) ByRuns() bool { return p.Approved+p.Unapproved > 0 }

// PlanProgress returns the progress of the plan. run returns the state of the newest run of an item. If several items
// have the same id, the run belongs to the first.
func (r *Reading) PlanProgress(run func(itemID string) ItemRun) PlanProgress {
	p := PlanProgress{Completed: r.Totals.Completed, Total: r.Totals.Total}
	for i := range r.entries {
		e := &r.entries[i]
		switch state := run(e.id); {
		case state == NoRun || e.derived != 0 || r.find(e.id) != int32(i): // a parent counts through its children
		case state == RunProven:
			p.Approved++
			p.Proven++
		case state == RunDone:
			p.Approved++
		case e.status == Completed:
			p.Unapproved++
		}
	}
	return p
}

// below returns the titles and statuses of an item's children. Each child has a prompt of its own.
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
