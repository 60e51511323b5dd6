package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
	"waybill/plan/graph"
)

// naive is Ready said once more, without any care for time.
type naive struct {
	items []plan.Item
	runs  map[string]plan.ItemRun
}

func (n naive) find(id string) *plan.Item {
	for i := range n.items {
		if n.items[i].ID == id {
			return &n.items[i]
		}
	}
	return nil
}

func (n naive) children(id string) []*plan.Item {
	var list []*plan.Item
	for i := range n.items {
		if n.items[i].ParentID == id {
			list = append(list, &n.items[i])
		}
	}
	return list
}

func (n naive) childrenDone(it *plan.Item) bool {
	for _, child := range n.children(it.ID) {
		if !child.Optional && !n.done(child) {
			return false
		}
	}
	return true
}

func (n naive) running(it *plan.Item) bool {
	return n.runs[it.ID] == plan.RunLive || n.runs[it.ID] == plan.RunBlocked
}

func (n naive) done(it *plan.Item) bool {
	if !n.childrenDone(it) || n.running(it) {
		return false
	}
	return len(n.children(it.ID)) > 0 || it.Status == plan.Completed || it.Status == plan.Skipped || n.runs[it.ID] == plan.RunDone || n.runs[it.ID] == plan.RunProven
}

// leaf reports whether an item stands for itself.
func (n naive) leaf(it *plan.Item) bool {
	return len(n.children(it.ID)) == 0 || n.childrenDone(it) && n.running(it)
}

// said is what the plan says where no run does.
func (n naive) said(it *plan.Item, status plan.Status) bool {
	return it.Status == status && !n.running(it)
}

func (n naive) blocked(it *plan.Item) bool {
	return n.said(it, plan.Blocked) || n.runs[it.ID] == plan.RunBlocked
}

// unmet returns the dependencies of an item itself that are not done, each once.
func (n naive) unmet(it *plan.Item) []string {
	var list []string
	for _, id := range it.DependsOn {
		if d := n.find(id); d != nil && !n.done(d) && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// causes returns the blocked leaves that keep an item from being done.
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

func (n naive) because(it *plan.Item) (list []plan.Hold) {
	switch {
	case n.done(it):
		return []plan.Hold{{Kind: "done"}}
	case !n.leaf(it):
		return []plan.Hold{{Kind: "parent"}}
	}
	if n.said(it, plan.InProgress) || n.runs[it.ID] == plan.RunLive {
		list = append(list, plan.Hold{Kind: "in_progress"})
	}
	once := func(h plan.Hold) {
		if !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	if n.blocked(it) {
		once(plan.Hold{Kind: "blocked", ItemID: it.ID})
	}
	for a := it; a != nil; a = n.find(a.ParentID) {
		before := len(list)
		for _, d := range n.unmet(a) {
			if slices.Contains(list, plan.Hold{Kind: "depends_on", ItemID: d}) {
				continue
			}
			once(plan.Hold{Kind: "depends_on", ItemID: d})
			for _, cause := range n.causes(d) {
				once(plan.Hold{Kind: "blocked", ItemID: cause})
			}
		}
		if a != it && len(list) > before {
			once(plan.Hold{Kind: "parent", ItemID: a.ID})
		}
	}
	return list
}

func (n naive) required(it *plan.Item) bool {
	for a := it; a != nil; a = n.find(a.ParentID) {
		if a.Optional {
			return false
		}
	}
	return true
}

func (n naive) ready() plan.Readiness {
	var r plan.Readiness
	for i := range n.items {
		it := &n.items[i]
		if n.leaf(it) && !n.done(it) && n.required(it) {
			r.Left++
		}
		if n.runs[it.ID] == plan.RunLive {
			r.UnderWay++
		}
		if because := n.because(it); because != nil {
			r.Waiting = append(r.Waiting, plan.Waiting{ItemID: it.ID, Because: because})
		} else {
			r.Ready = append(r.Ready, it.ID)
		}
	}
	r.Complete = r.Left == 0 && len(n.items) > 0
	return r
}

// drawPlan returns a tree of items with dependencies; they may form circles unless they must not.
func drawPlan(t *rapid.T, circles bool) naive {
	n := naive{runs: map[string]plan.ItemRun{}}
	statuses := []plan.Status{plan.Pending, plan.Pending, plan.Pending, plan.InProgress, plan.Completed, plan.Blocked, plan.Skipped}
	size := rapid.IntRange(0, 14).Draw(t, "size")
	id := func(i int) string { return fmt.Sprint("t", i) }
	for i := range size {
		it := plan.Item{
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
		n.runs[it.ID] = rapid.SampledFrom([]plan.ItemRun{plan.NoRun, plan.NoRun, plan.RunLive, plan.RunBlocked, plan.RunDone, plan.RunProven}).Draw(t, "run")
	}
	if rapid.Bool().Draw(t, "backwards") {
		slices.Reverse(n.items)
	}
	return n
}

func TestReadyIsWhatASlowModelSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawPlan(t, rapid.Bool().Draw(t, "circles"))
		require.Equal(t, tell(n.ready()), tell(graph.Ready(n.items, runs(n.runs))))
	})
}
