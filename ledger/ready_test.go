package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/ledger"
)

// runs answers from a table: an item that is not in it has no run.
func runs(table map[string]ledger.ItemRun) func(string) ledger.ItemRun {
	return func(id string) ledger.ItemRun { return table[id] }
}

// tell writes a readiness, one item a line.
func tell(r ledger.Readiness) string {
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

func TestReadyReadsAsTheGoldenFileSays(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct {
		name, plan string
		runs       map[string]ledger.ItemRun
	}{
		{"an empty file", "", nil},
		{"in the order of the plan", "- [x] 2 a\n- [ ] 10 b\n- [ ] 1 c\n- [-] 3 d\n", nil},
		{
			"runs count as the file does", "- [ ] 1 a\n- [ ] 2 b\n- [ ] 3 c\n- [ ] 4 d\n  _Depends: 1_\n- [ ] 5 e\n  _Depends: 2, 3_\n",
			map[string]ledger.ItemRun{"1": ledger.RunDone, "2": ledger.RunLive, "3": ledger.RunBlocked},
		},
		{
			"a ticked box does not end a run", "- [x] 1 a\n- [x] 2 b\n- [x] 3 c\n- [ ] 4 d\n  _Depends: 1, 2, 3_\n",
			map[string]ledger.ItemRun{"1": ledger.RunBlocked, "2": ledger.RunLive, "3": ledger.RunDone},
		},
		{
			"nor do the boxes below an item with a run", "- [x] 1 a\n  - [x] 1.1 b\n- [x] 2 c\n  - [x] 2.1 d\n- [ ] 3 e\n  _Depends: 1, 2_\n",
			map[string]ledger.ItemRun{"1": ledger.RunBlocked, "2": ledger.RunLive},
		},
		{"nobody is at an item whose run is blocked", "- [-] 1 a\n", map[string]ledger.ItemRun{"1": ledger.RunBlocked}},
		{"an item that somebody is at is not blocked", "- [~] 1 a\n- [ ] 2 b\n  _Depends: 1_\n", map[string]ledger.ItemRun{"1": ledger.RunLive}},
		{"groups", "- [ ] 1 a\n  - [x] 1.1 b\n  - [ ] 1.2 c\n- [ ] 2 d\n  _Depends: 1_\n  - [ ] 2.1 e\n  - [ ] 2.2 f\n    _Depends: 2.1_\n- [ ] 3 g\n  _Depends: 2_\n- [x] 4 h\n  - [x] 4.1 i\n", nil},
		{"a group is done when its leaves are", "- [ ] 1 a\n  - [x] 1.1 b\n  - [ ]* 1.2 c\n- [ ] 2 d\n  _Depends: 1_\n", nil},
		{"a group that is marked done and is not", "- [x] 1 a\n  - [ ] 1.1 b\n- [ ] 2 c\n  _Depends: 1_\n", nil},
		{"blocked items behind a dependency", "- [~] 1 a\n  _Blocked: no permit_\n- [ ] 2 b\n  _Depends: 1_\n- [ ] 3 c\n  _Depends: 2_\n- [ ] 4 d\n  - [ ] 4.1 e\n    _Depends: 3, 1_\n- [ ] 5 f\n  _Depends: 4_\n- [ ] 6 g\n", nil},
		{"dependencies of ancestors", "- [ ] 1 a\n- [ ] 2 b\n  _Depends: 1_\n  - [ ] 2.1 c\n    _Depends: 9, 1_\n    - [ ] 2.1.1 d\n      _Depends: 1_\n    - [x] 2.1.2 e\n", nil},
		{"optional items are ready and do not count", "- [x] 1 a\n- [ ]* 2 b\n- [ ]* 3 c\n  - [ ] 3.1 d\n- [ ] 4 e\n  _Depends: 2, 3_\n", nil},
		{"what a done group waits for holds up its optional leaves", "- [ ] 1 a\n- [ ] 2 b\n  _Depends: 1_\n  - [ ]* 2.1 c\n- [ ] 3 d\n  _Depends: 2.1_\n", map[string]ledger.ItemRun{"1": ledger.RunBlocked}},
		{"only optional items are left", "- [x] 1 a\n- [ ]* 2 b\n- [-]* 3 c\n", nil},
		{"circles", "- [ ] 1 a\n  _Depends: 2_\n- [ ] 2 b\n  _Depends: 1_\n- [ ] 3 c\n  _Depends: 3_\n- [ ] 4 d\n  _Depends: 1_\n- [ ] 5 e\n  _Depends: 5.1_\n  - [ ] 5.1 f\n- [ ] 6 g\n", nil},
		{"two items of one id", "- [x] 1 a\n- [ ] 1 b\n- [ ] 2 c\n  _Depends: 1, 1_\n", nil},
	} {
		plan := ledger.Reading{}
		if c.plan != "" {
			plan = *parse(t, c.plan)
		}
		fmt.Fprintf(&b, "# %s\n%s\n", c.name, tell(ledger.Ready(plan.Items(), runs(c.runs))))
	}
	golden(t, "ready/plans.golden", b.String())
}

// An agent that ticked its own box skipped the review of its work.
func TestATickedBoxDoesNotEndARunThatGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawPlan(t, rapid.Bool().Draw(t, "circles"))
		before := tell(ledger.Ready(n.items, runs(n.runs)))
		for i := range n.items {
			if n.running(&n.items[i]) {
				n.items[i].Status = rapid.SampledFrom([]ledger.Status{ledger.Pending, ledger.InProgress, ledger.Completed, ledger.Blocked, ledger.Skipped}).Draw(t, "marked")
			}
		}
		require.Equal(t, before, tell(ledger.Ready(n.items, runs(n.runs))))
	})
}

// A plan waited for ever for somebody who marked an item and went away.
func TestAnItemThatIsMarkedAndHasNoRunIsNotUnderWay(t *testing.T) {
	r := ledger.Ready(parse(t, "- [-] 1 a\n- [ ] 2 b\n  _Depends: 1_\n").Items(), runs(nil))
	require.Equal(t, "ready \n1: in_progress\n2: depends_on=1\nleft 2, under way 0, complete false\n", tell(r))
}

// One blocked item is no reason to stop a plan.
func TestABlockedItemHoldsUpItsDependentsOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawPlan(t, false)
		before := ledger.Ready(n.items, runs(n.runs))
		if len(before.Ready) == 0 {
			t.Skip("nothing to block")
		}
		id := rapid.SampledFrom(before.Ready).Draw(t, "blocked")
		n.runs[id] = ledger.RunBlocked
		after := ledger.Ready(n.items, runs(n.runs))
		require.Equal(t, slices.DeleteFunc(slices.Clone(before.Ready), func(s string) bool { return s == id }), append([]string{}, after.Ready...))
		for i, w := range after.Waiting {
			if w.ItemID == id {
				after.Waiting = slices.Delete(after.Waiting, i, i+1)
				break
			}
		}
		for i, w := range after.Waiting {
			if !slices.Equal(w.Because, before.Waiting[i].Because) {
				require.Contains(t, w.Because, ledger.Hold{Kind: ledger.HeldByBlock, ItemID: id}, "only who waits for it hears of it")
				require.True(t, slices.ContainsFunc(w.Because, func(h ledger.Hold) bool { return h.Kind == ledger.HeldByDependency }))
			}
		}
	})
}

func TestCausesAreTheFirstOfThePlan(t *testing.T) {
	var items []ledger.Item
	var all []string
	for i := range 40 {
		items = append(items, ledger.Item{ID: fmt.Sprint(i), Status: ledger.Blocked})
		all = append(all, fmt.Sprint(i))
	}
	slices.Reverse(all)
	items = append(items,
		ledger.Item{ID: "sum", Status: ledger.Pending, DependsOn: all},
		ledger.Item{ID: "end", Status: ledger.Pending, DependsOn: []string{"sum"}},
	)
	waiting := ledger.Ready(items, runs(nil)).Waiting
	require.Len(t, waiting[40].Because, 80, "its own dependencies are named, all of them")
	require.Len(t, waiting[41].Because, 17)
	for i, h := range waiting[41].Because[1:] {
		require.Equal(t, ledger.Hold{Kind: ledger.HeldByBlock, ItemID: fmt.Sprint(i)}, h)
	}
}

// No plan that was parsed has such items, and they must not hang anybody.
func TestItemsThatAreTheirOwnAncestorsStandForThemselves(t *testing.T) {
	items := []ledger.Item{
		{ID: "1", ParentID: "2", Status: ledger.Pending},
		{ID: "2", ParentID: "1", Status: ledger.Completed},
		{ID: "3", ParentID: "3", Status: ledger.Pending},
		{ID: "4", ParentID: "5", Status: ledger.Pending},
		{ID: "5", ParentID: "5", Status: ledger.Pending},
	}
	require.Equal(t, "ready 1 3 4\n2: done\n5: parent\nleft 3, under way 0, complete false\n", tell(ledger.Ready(items, runs(nil))))
}

// A plan was complete with boxes in it that are no items: in each dialect that has such boxes, the open ones count.
func TestAPlanWithUnreadBoxesIsNotComplete(t *testing.T) {
	for name, text := range map[string]string{
		"numbers":   "# Implementation Plan\n- [x] 1. a\n- [ ] b\n- [x] c\n- [-] d\n",
		"spec-kit":  "- [x] T001 a\n- [ ] b\n- [?] c\n- [-] d\n- [X] e\n",
		"zeros":     "- [x] 1.0 a\n- [x] 2.0 b\n- [ ] c\n- [~] d\n",
		"a table":   "<!-- waybill: dialect=table -->\n| ID | Status |\n|--|--|\n| 1 | done |\n\n- [ ] a\n- [S] b\n- [!] c\n\n[S] = skipped\n",
		"an indent": "# Implementation Plan\n- [x] 1. a\n  - [ ] b\n  - [ ] c\n",
	} {
		r := parse(t, text)
		ready := r.Ready(r.Items(), runs(nil))
		require.Equal(t, 2, ready.Unread, name)
		require.Equal(t, 2, ready.Left, name)
		require.False(t, ready.Complete, name)
	}
	r := parse(t, "- [x] T001 a\n- [x] b\n## Acceptance\n- [ ] c\n```\n- [ ] d\n```\n")
	require.True(t, r.Ready(r.Items(), runs(nil)).Complete, "criteria and samples are no work")
}
