package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/graph"
	"waybill/plan/read"
)

// runs answers from a table: an item that is not in it has no run.
func runs(table map[string]plan.ItemRun) func(string) plan.ItemRun {
	return func(id string) plan.ItemRun { return table[id] }
}

// tell writes a readiness, one item a line.
func tell(r plan.Readiness) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ready %s\n", strings.Join(r.Ready, " "))
	for _, w := range r.Waiting {
		fmt.Fprintf(&b, "%s:", w.ItemID)
		for _, h := range w.Because {
			b.WriteString(" " + strings.TrimSuffix(string(h.Kind)+"="+h.ItemID, "="))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "left %d, under way %d, complete %t\n", r.Left, r.UnderWay, r.Complete)
	return b.String()
}

// A tick in the file and an approval by a run are two facts, and neither stands in for the other.
func TestPlanProgressTellsTicksFromApprovals(t *testing.T) {
	r, err := read.Read("- [x] 1. a\n- [x] 2. b\n- [ ] 3. c\n- [x] 4. d\n- [x] 5. e\n- [ ] 6. f\n- [ ] 7. g\n  - [x] 7.1 h\n  - [ ] 7.2 i\n\t- [ ] no item\n- [ ] 3. c\n- [x] 4. d\n", plan.Hints{})
	require.NoError(t, err)
	require.Equal(t, 1, r.Totals.Unread)
	file := plan.PlanProgress{Completed: 6, Total: 11}
	require.Equal(t, file, r.PlanProgress(runs(nil)))
	require.False(t, file.ByRuns())
	by := runs(map[string]plan.ItemRun{
		"2": plan.RunDone, "3": plan.RunProven, "4": plan.RunLive, "5": plan.RunBlocked, "6": plan.RunLive,
		"7": plan.RunDone, "7.2": plan.RunDone, "gone": plan.RunDone,
	})
	want := plan.PlanProgress{Completed: 6, Total: 11, Approved: 3, Proven: 1, Unapproved: 2}
	require.Equal(t, want, r.PlanProgress(by), "a group counts through its children, and of two items with one id the first counts")
	require.Equal(t, want, graph.ReadyIn(r, r.Items(), by).Progress)
	require.True(t, want.ByRuns())
	require.True(t, plan.PlanProgress{Unapproved: 1}.ByRuns())
}

func TestCausesAreTheFirstOfThePlan(t *testing.T) {
	var items []plan.Item
	var all []string
	for i := range 40 {
		items = append(items, plan.Item{ID: fmt.Sprint(i), Status: plan.Blocked})
		all = append(all, fmt.Sprint(i))
	}
	slices.Reverse(all)
	items = append(items,
		plan.Item{ID: "sum", Status: plan.Pending, DependsOn: all},
		plan.Item{ID: "end", Status: plan.Pending, DependsOn: []string{"sum"}},
	)
	waiting := graph.Ready(items, runs(nil)).Waiting
	require.Len(t, waiting[40].Because, 80, "its own dependencies are named, all of them")
	require.Len(t, waiting[41].Because, 17)
	for i, h := range waiting[41].Because[1:] {
		require.Equal(t, plan.Hold{Kind: plan.HeldByBlock, ItemID: fmt.Sprint(i)}, h)
	}
}

// No plan that was parsed has such items, and they must not hang anybody.
func TestItemsThatAreTheirOwnAncestorsStandForThemselves(t *testing.T) {
	items := []plan.Item{
		{ID: "1", ParentID: "2", Status: plan.Pending},
		{ID: "2", ParentID: "1", Status: plan.Completed},
		{ID: "3", ParentID: "3", Status: plan.Pending},
		{ID: "4", ParentID: "5", Status: plan.Pending},
		{ID: "5", ParentID: "5", Status: plan.Pending},
	}
	require.Equal(t, "ready 1 3 4\n2: done\n5: parent\nleft 3, under way 0, complete false\n", tell(graph.Ready(items, runs(nil))))
}
