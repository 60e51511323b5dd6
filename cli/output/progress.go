package output

import (
	"fmt"
	"strings"

	"waybill/plan"
	"waybill/schema"
)

// ProgressOf joins the counts of a plan file with those of its runs; runs may be nil.
func ProgressOf(completed, total int, runs *schema.PlanRuns) plan.PlanProgress {
	far := plan.PlanProgress{Completed: completed, Total: total}
	if runs != nil {
		far.Approved, far.Proven, far.Unapproved = runs.Approved, runs.Proven, runs.Unapproved
	}
	return far
}

// HowFar returns the progress of a plan by its file, and by its runs if they add to it.
func HowFar(p plan.PlanProgress) string {
	said := fmt.Sprintf("%d/%d", p.Completed, p.Total)
	if p.ByRuns() {
		said += fmt.Sprintf(" in the file, %d approved (%d proven)", p.Approved, p.Proven)
	}
	if p.Unapproved > 0 {
		said += fmt.Sprintf(", %d not yet approved", p.Unapproved)
	}
	return said
}

// BarWidth is how many characters wide a bar is drawn.
const BarWidth = 20

// Bar draws how much of a whole is done.
func Bar(done, total, width int) string {
	filled := 0
	if total > 0 {
		filled = min(width, done*width/total)
	}
	return strings.Repeat("█", filled) + strings.Repeat("░", width-filled)
}
