package output

import (
	"cmp"
	"slices"
	"strings"

	"waybill/internal/safetext"
	"waybill/plan"
	"waybill/schema"
)

// A PlanLine is what a list shows about a plan.
type PlanLine struct {
	Path     string
	Progress plan.PlanProgress
	Problem  string // why the plan cannot be read
	Dialect  string
}

// LineOf returns the line about a plan of the wire.
func LineOf(p schema.PlanSummary) PlanLine {
	line := PlanLine{Path: p.Path, Progress: ProgressOf(p.Totals.Completed, p.Totals.Total, p.Runs), Dialect: p.Dialect}
	if p.Error != nil {
		line.Problem = p.Error.Message
	}
	return line
}

// Finished reports whether nothing is left to do.
func (l PlanLine) Finished() bool {
	return l.Problem == "" && l.Progress.Completed == l.Progress.Total && l.Progress.Unapproved == 0
}

func (l PlanLine) summary() string {
	if l.Problem != "" {
		return safetext.Printable(l.Problem)
	}
	return strings.TrimRight(Bar(l.Progress.Completed, l.Progress.Total, BarWidth)+" "+HowFar(l.Progress)+gap+safetext.Printable(l.Dialect), " ")
}

// Plans returns a list of plans as lines of at most room columns: open ones first, with their bars below one another. The
// paths have at most half of a line of width columns. A summary that does not fit behind its path is below it.
func Plans(plans []PlanLine, width, room int) (lines []string) {
	sorted := slices.Clone(plans)
	slices.SortStableFunc(sorted, func(a, b PlanLine) int { return cmp.Compare(rank(a), rank(b)) })
	longest := 0
	for _, l := range sorted {
		longest = max(longest, Columns(safetext.Printable(l.Path)))
	}
	for _, l := range sorted {
		path, summary := safetext.Printable(l.Path), l.summary()
		if line := Left(path, min(longest, width/2)) + gap + summary; Columns(line) <= room {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, Fit(path, room)) // a long path must not cut off the numbers
		for piece := range Wrap(strings.Join(strings.Fields(summary), " "), min(room, width)-len(gap)) {
			lines = append(lines, gap+piece)
		}
	}
	return lines
}

func rank(l PlanLine) int {
	if l.Finished() {
		return 1
	}
	return 0
}
