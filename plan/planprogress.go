package plan

import (
	"cmp"
	"fmt"
)

// Current returns the item with an id, or the active item if the id is empty, with its children in Below. The item is
// nil if the id is empty and no item is active. ok is false if no item has the id.
func (r *Reading) Current(itemID string) (it *Item, ok bool) {
	rows := r.Rows()
	at := rows.Active
	if itemID != "" {
		if at = rows.Find(itemID); at < 0 {
			return nil, false
		}
	}
	if at < 0 {
		return nil, true
	}
	current := r.At(at)
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
	for i := range r.Rows().Entries {
		e := &r.rows.Entries[i]
		switch state := run(e.ID); {
		case state == NoRun || e.Derived != 0 || r.rows.Find(e.ID) != int32(i): // a parent counts through its children
		case state == RunProven:
			p.Approved++
			p.Proven++
		case state == RunDone:
			p.Approved++
		case e.Status == Completed:
			p.Unapproved++
		}
	}
	return p
}

// below returns the titles and statuses of an item's children. Each child has a prompt of its own.
func (r *Reading) below(i int32) (names []string) {
	if r.rows.Entries[i].Derived == 0 {
		return nil
	}
	for j := range r.rows.Entries {
		if r.rows.Entries[j].Parent == i {
			child := r.At(int32(j))
			names = append(names, fmt.Sprintf("%s %s (%s)", child.ID, child.Title, cmp.Or(child.DerivedStatus, child.Status)))
		}
	}
	return names
}
