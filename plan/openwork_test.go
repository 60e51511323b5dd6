package plan_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
	"waybill/plan/graph"
	"waybill/plan/read"
)

// openBoxLine matches a checkbox without a mark. Like checkboxLine, it is independent of the package's own reader.
var openBoxLine = regexp.MustCompile(`^(?:` + space + `|>)*(?:[-*+]|[0-9]+[.)]|#{1,6})` + space + `*\[` + space + `?\](.?)`)

// requireOpenWorkCounts checks that no open box is counted as done: every box without a mark is an open item, a group,
// which its children answer for, a withdrawn item, or a diagnostic that counts as open. Samples in fences and comments,
// legends, and lists that repeat other files are no work.
func requireOpenWorkCounts(t require.TestingT, src string) {
	r, err := read.Read(src, plan.Hints{})
	if err != nil || r.Len() == 0 {
		return
	}
	items, ready := r.Items(), graph.ReadyIn(r, r.Items(), runs(nil))
	open := 0
	for _, it := range items {
		if it.DerivedStatus == 0 && it.Status != plan.Completed && it.Status != plan.Skipped {
			open++
		}
	}
	require.Equal(t, open, r.Totals.Pending+r.Totals.InProgress+r.Totals.Blocked-r.Totals.Unread)
	loose := 0
	for _, d := range r.Diagnostics {
		if d.Open {
			loose++
		}
		if !d.NotATask || d.Open || isNoWork(d) {
			continue
		}
		line := lineOf(src, d)
		open := openBoxLine.MatchString(line) && !strings.Contains(line, "~~")
		require.False(t, open, "line %d is an open box, and nothing counts it: %s\n%s", d.Line, d.Message, src)
	}
	require.Equal(t, loose, r.Totals.Unread)
	require.Equal(t, loose, ready.Unread)
	if open+loose > 0 {
		require.Less(t, r.Totals.Completed, r.Totals.Total, src)
	}
	if loose > 0 {
		require.False(t, ready.Complete, src)
	}
	require.Equal(t, ready.Left == 0, ready.Complete, src)
}

func isNoWork(d plan.Diagnostic) bool {
	switch d.Code {
	case "checkbox_in_fence", "checkbox_in_comment", "legend_line", "list_contradicts_file":
		return true
	}
	return strings.Contains(d.Message, "this line lists ")
}

// lineOf returns the line that a diagnostic is about.
func lineOf(src string, d plan.Diagnostic) string {
	if files, ok := plan.SplitFiles(src); ok {
		for _, f := range files {
			if f.Name == d.Source {
				src = f.Text
			}
		}
	}
	lines := lineEnd.Split(strings.TrimPrefix(src, "\ufeff"), -1)
	return lines[d.Line-1]
}

// Plans with open boxes showed 100 % and completed, because criteria, notes and other boxes that are no items were not
// counted. The fixtures and all cases are looked at where they are read.
func TestNoOpenBoxCountsAsDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { requireOpenWorkCounts(t, drawText(t)) })
}
