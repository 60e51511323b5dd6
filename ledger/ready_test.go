package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

// naive is Ready said once more, without any care for time.
type naive struct {
	items []ledger.Item
	runs  map[string]ledger.ItemRun
}

func (n naive) find(id string) *ledger.Item {
	for i := range n.items {
		if n.items[i].ID == id {
			return &n.items[i]
		}
	}
	return nil
}

func (n naive) children(id string) []*ledger.Item {
	var list []*ledger.Item
	for i := range n.items {
		if n.items[i].ParentID == id {
			list = append(list, &n.items[i])
		}
	}
	return list
}

func (n naive) childrenDone(it *ledger.Item) bool {
	for _, child := range n.children(it.ID) {
		if !child.Optional && !n.done(child) {
			return false
		}
	}
	return true
}

func (n naive) running(it *ledger.Item) bool {
	return n.runs[it.ID] == ledger.RunLive || n.runs[it.ID] == ledger.RunBlocked
}

func (n naive) done(it *ledger.Item) bool {
	if !n.childrenDone(it) || n.running(it) {
		return false
	}
	return len(n.children(it.ID)) > 0 || it.Status == ledger.Completed || it.Status == ledger.Skipped || n.runs[it.ID] == ledger.RunDone
}

// leaf reports whether an item stands for itself.
func (n naive) leaf(it *ledger.Item) bool {
	return len(n.children(it.ID)) == 0 || n.childrenDone(it) && n.running(it)
}

// said is what the plan says where no run does.
func (n naive) said(it *ledger.Item, status ledger.Status) bool {
	return it.Status == status && !n.running(it)
}

func (n naive) blocked(it *ledger.Item) bool {
	return n.said(it, ledger.Blocked) || n.runs[it.ID] == ledger.RunBlocked
}

// unmet gives the dependencies of an item itself that are not done, each once.
func (n naive) unmet(it *ledger.Item) []string {
	var list []string
	for _, id := range it.DependsOn {
		if d := n.find(id); (d == nil || !n.done(d)) && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// causes gives the blocked leaves that keep an item from being done.
func (n naive) causes(id string) []string {
	seen, found := map[string]bool{}, map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		it := n.find(id)
		if it == nil || seen[id] || n.done(it) {
			return
		}
		seen[id] = true
		for _, child := range n.children(id) {
			if !child.Optional {
				visit(child.ID)
			}
		}
		if !n.leaf(it) {
			return
		}
		if n.blocked(it) {
			found[id] = true
		}
		for a := it; a != nil; a = n.find(a.ParentID) {
			for _, d := range n.unmet(a) {
				visit(d)
			}
		}
	}
	visit(id)
	var list []string
	for _, it := range n.items {
		if found[it.ID] {
			list = append(list, it.ID)
		}
	}
	return list[:min(16, len(list))]
}

func (n naive) because(it *ledger.Item) (list []ledger.Hold) {
	switch {
	case n.done(it):
		return []ledger.Hold{{Kind: "done"}}
	case !n.leaf(it):
		return []ledger.Hold{{Kind: "parent"}}
	}
	if n.said(it, ledger.InProgress) || n.runs[it.ID] == ledger.RunLive {
		list = append(list, ledger.Hold{Kind: "in_progress"})
	}
	once := func(h ledger.Hold) {
		if !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	if n.blocked(it) {
		once(ledger.Hold{Kind: "blocked", ItemID: it.ID})
	}
	for a := it; a != nil; a = n.find(a.ParentID) {
		before := len(list)
		for _, d := range n.unmet(a) {
			if slices.Contains(list, ledger.Hold{Kind: "depends_on", ItemID: d}) {
				continue
			}
			once(ledger.Hold{Kind: "depends_on", ItemID: d})
			for _, cause := range n.causes(d) {
				once(ledger.Hold{Kind: "blocked", ItemID: cause})
			}
		}
		if a != it && len(list) > before {
			once(ledger.Hold{Kind: "parent", ItemID: a.ID})
		}
	}
	return list
}

func (n naive) required(it *ledger.Item) bool {
	for a := it; a != nil; a = n.find(a.ParentID) {
		if a.Optional {
			return false
		}
	}
	return true
}

func (n naive) ready() ledger.Readiness {
	var r ledger.Readiness
	for i := range n.items {
		it := &n.items[i]
		if n.leaf(it) && !n.done(it) && n.required(it) {
			r.Left++
		}
		if n.runs[it.ID] == ledger.RunLive {
			r.UnderWay++
		}
		if because := n.because(it); because != nil {
			r.Waiting = append(r.Waiting, ledger.Waiting{ItemID: it.ID, Because: because})
		} else {
			r.Ready = append(r.Ready, it.ID)
		}
	}
	r.Complete = r.Left == 0
	return r
}

// drawPlan gives a tree of items with dependencies; they may form circles unless they must not.
func drawPlan(t *rapid.T, circles bool) naive {
	n := naive{runs: map[string]ledger.ItemRun{}}
	statuses := []ledger.Status{ledger.Pending, ledger.Pending, ledger.Pending, ledger.InProgress, ledger.Completed, ledger.Blocked, ledger.Skipped}
	size := rapid.IntRange(0, 14).Draw(t, "size")
	id := func(i int) string { return fmt.Sprint("t", i) }
	for i := range size {
		it := ledger.Item{
			ID: id(i), Status: rapid.SampledFrom(statuses).Draw(t, "status"), Optional: rapid.IntRange(0, 4).Draw(t, "optional") == 0,
		}
		if p := rapid.IntRange(-size, i-1).Draw(t, "parent"); p >= 0 {
			it.ParentID = id(p)
		}
		last := i
		if circles {
			last = size + 1 // and ids that nobody has
		}
		for range rapid.IntRange(0, 3).Draw(t, "dependencies") {
			if last > 0 {
				it.DependsOn = append(it.DependsOn, id(rapid.IntRange(0, last-1).Draw(t, "dependency")))
			}
		}
		n.items = append(n.items, it)
		n.runs[it.ID] = rapid.SampledFrom([]ledger.ItemRun{ledger.NoRun, ledger.NoRun, ledger.RunLive, ledger.RunBlocked, ledger.RunDone}).Draw(t, "run")
	}
	if rapid.Bool().Draw(t, "backwards") {
		slices.Reverse(n.items)
	}
	return n
}

func TestReadyIsWhatASlowModelSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawPlan(t, rapid.Bool().Draw(t, "circles"))
		require.Equal(t, tell(n.ready()), tell(ledger.Ready(n.items, runs(n.runs))))
	})
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

// Each of these would take minutes, or the whole stack, if the work were more than in proportion.
func TestReadyCostsInProportion(t *testing.T) {
	many := scaled(100_000)
	shape := func(item func(i int, it *ledger.Item)) []ledger.Item {
		items := make([]ledger.Item, many)
		for i := range items {
			items[i] = ledger.Item{ID: fmt.Sprint(i), Status: ledger.Pending}
			item(i, &items[i])
		}
		return items
	}
	half := make([]string, many/2)
	for i := range half {
		half[i] = fmt.Sprint(i)
	}
	id := func(i int) string { return fmt.Sprint((i + many) % many) }
	for _, c := range []struct {
		name string
		plan []ledger.Item
	}{
		{"chain", shape(func(i int, it *ledger.Item) { it.DependsOn = []string{fmt.Sprint(i - 1)} })},
		{"chain against the order", shape(func(i int, it *ledger.Item) { it.DependsOn = []string{fmt.Sprint(i + 1)} })},
		{"circle", shape(func(i int, it *ledger.Item) { it.DependsOn = []string{id(i + 1)} })},
		{"chain of blocked items", shape(func(i int, it *ledger.Item) {
			it.DependsOn, it.Status = []string{fmt.Sprint(i - 1)}, ledger.Blocked
		})},
		{"circle of blocked items", shape(func(i int, it *ledger.Item) {
			it.DependsOn, it.Status = []string{id(i + 1), id(i + 7)}, ledger.Blocked
		})},
		{"nested", shape(func(i int, it *ledger.Item) { it.ParentID = fmt.Sprint(i - 1); it.DependsOn = []string{"x"} })},
		{"nested against the order", shape(func(i int, it *ledger.Item) { it.ParentID = fmt.Sprint(i + 1) })},
		{"ring of parents", shape(func(i int, it *ledger.Item) { it.ParentID = id(i + 1) })},
		{"its own parent", shape(func(i int, it *ledger.Item) { it.ParentID = it.ID })},
		{"all wait for half", shape(func(i int, it *ledger.Item) {
			if it.ParentID = id(-1); i == many-1 {
				it.ParentID, it.DependsOn = "", half
			}
		})},
		{"strangers", shape(func(i int, it *ledger.Item) { it.DependsOn = []string{fmt.Sprint("x", i), fmt.Sprint("y", i%9)} })},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ledger.Ready(c.plan, runs(nil))
			require.Equal(t, many, len(r.Ready)+len(r.Waiting))
		})
	}
}

// BenchmarkReady2000 has one pass over the items that copies their ids for a probe. The large array is what
// it is for BenchmarkParse2000.
func BenchmarkReady2000(b *testing.B) {
	var plan strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&plan, "- [%c] %d x\n", "x  "[min(2, i/700)], i+1)
		if i%2 == 1 {
			fmt.Fprintf(&plan, "  _Depends: %d, %d_\n", i, i/2+1)
		}
	}
	r, err := ledger.Parse([]byte(plan.String()))
	require.NoError(b, err)
	items := r.Items()
	table := map[string]ledger.ItemRun{"900": ledger.RunBlocked, "1000": ledger.RunLive}
	heap := make([]byte, 16<<20)
	var probe, ready time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		ids := make([]string, 0, len(items))
		for i := range items {
			ids = append(ids, items[i].ID)
		}
		middle := time.Now()
		found := ledger.Ready(items, runs(table))
		ready += time.Since(middle)
		probe += middle.Sub(start)
		if len(ids) != len(found.Ready)+len(found.Waiting) {
			b.Fatal(len(ids))
		}
	}
	b.ReportMetric(probe.Seconds()*1e6/float64(b.N), "µs-probe/op")
	b.ReportMetric(ready.Seconds()*1e6/float64(b.N), "µs-ready/op")
	b.ReportMetric(ready.Seconds()/probe.Seconds(), "x-probe")
	require.NotEmpty(b, heap)
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
