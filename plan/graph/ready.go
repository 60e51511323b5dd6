package graph

import "waybill/plan"

// mostCauses limits the blocked items named for one dependency, and the ancestors and dependencies named for one item.
// Without a limit, a plan in which every item waits for all others would have quadratic cost.
const mostCauses = 16

// Ready returns the items that are ready, and the reasons why the others are not. It calls run once for each item.
//
// A live or blocked run takes precedence over the plan, because an agent that ticks its own checkbox is not approved.
// A leaf is done if its run is done, or if it has no run and is completed or skipped in the plan. An item with
// children is done when all leaves below it are done, except optional ones and those below an optional child. If only
// its own run is left then, the item counts as a leaf.
//
// A leaf is ready if it is pending and not blocked, and all its dependencies and those of its ancestors are done. A
// blocked item therefore holds back only the items that depend on it. A dependency on an unknown id has no effect.
// Items that depend on each other are never done.
//
// The reasons of an item are in this order: done, as the only reason; in_progress; blocked; and each unmet dependency
// of the item with the new blocked items behind it. The same dependencies of each ancestor follow, nearest ancestor
// first, each group ended by parent.
func Ready(items []plan.Item, run func(itemID string) plan.ItemRun) plan.Readiness {
	w := newWaits(items, run)
	out := plan.Readiness{Left: w.left, Complete: w.left == 0 && len(items) > 0}
	ends := make([]int, 0, len(items))
	for i := range items {
		if w.runs[i] == plan.RunLive {
			out.UnderWay++
		}
		before := len(w.holds)
		if w.explain(int32(i)); len(w.holds) == before {
			out.Ready = append(out.Ready, items[i].ID)
			continue
		}
		out.Waiting = append(out.Waiting, plan.Waiting{ItemID: items[i].ID})
		ends = append(ends, len(w.holds))
	}
	// The reasons of all items share one array, which no longer moves from here on.
	from := 0
	for i, end := range ends {
		out.Waiting[i].Because = w.holds[from:end:end]
		from = end
	}
	return out
}

// waits is the state of one call of Ready. Items are identified by their index. Plans are untrusted: no function
// recurses, and the cost is proportional to items and dependencies, even with circles.
type waits struct {
	items  []plan.Item
	runs   []plan.ItemRun
	parent []int32   // -1 at the top
	leaf   []bool    // it is worked on itself, not through its children
	open   []int32   // the number of required leaves at and below an item that are not done
	unmet  [][]int32 // each item's own dependencies that are not done, each once
	held   []int32   // the item or nearest ancestor with an unmet dependency, -1 for none
	causes [][]int32 // see trace
	left   int

	// Scratch space of explain. An entry of reported or named that equals asked belongs to the current item.
	holds           []plan.Hold
	reported, named []int32
	asked           int32
}

func newWaits(items []plan.Item, run func(itemID string) plan.ItemRun) *waits {
	n := len(items)
	w := &waits{
		items: items, runs: make([]plan.ItemRun, n), parent: make([]int32, n), leaf: make([]bool, n), open: make([]int32, n),
		unmet: make([][]int32, n), held: make([]int32, n), named: make([]int32, n), reported: make([]int32, n),
	}
	places := make(map[string]int32, n)
	for i := range items {
		if _, taken := places[items[i].ID]; !taken {
			places[items[i].ID] = int32(i)
		}
	}
	for i := range items {
		w.runs[i], w.parent[i] = run(items[i].ID), -1
		if p, ok := places[items[i].ParentID]; ok && items[i].ParentID != "" {
			w.parent[i] = p
		}
	}
	order, kids := upwards(w.parent)
	w.count(order, kids)
	w.depend(places)
	for k := n - 1; k >= 0; k-- { // parents before their children
		i := order[k]
		switch p := w.parent[i]; {
		case len(w.unmet[i]) > 0:
			w.held[i] = i
		case p >= 0:
			w.held[i] = w.held[p]
		default:
			w.held[i] = -1
		}
	}
	w.trace()
	return w
}

// upwards returns an order of a tree with all children before their parents, and the number of children of each node.
// Nodes that are their own ancestors become single nodes at the top of the tree.
func upwards(parent []int32) (order, kids []int32) {
	kids = make([]int32, len(parent))
	for _, p := range parent {
		if p >= 0 {
			kids[p]++
		}
	}
	left := append([]int32(nil), kids...)
	order = make([]int32, 0, len(parent))
	for i := range left {
		if left[i] == 0 {
			order = append(order, int32(i))
		}
	}
	for k := 0; k < len(order); k++ {
		if p := parent[order[k]]; p >= 0 {
			if left[p]--; left[p] == 0 {
				order = append(order, p)
			}
		}
	}
	for i := range left {
		if left[i] > 0 { // only nodes on a circle still wait for a child
			kids[parent[i]]--
			parent[i] = -1
			order = append(order, int32(i))
		}
	}
	return order, kids
}

// count counts the open leaves from the bottom up. A group with no open work except a run of its own becomes a leaf,
// so that other items can wait for it.
func (w *waits) count(order, kids []int32) {
	for _, i := range order {
		running := w.runs[i] == plan.RunLive || w.runs[i] == plan.RunBlocked
		w.leaf[i] = kids[i] == 0 || w.open[i] == 0 && running
		status := w.items[i].Status
		if w.leaf[i] && (running || w.runs[i] == plan.NoRun && status != plan.Completed && status != plan.Skipped) {
			w.open[i] = 1
		}
		switch p := w.parent[i]; {
		case w.items[i].Optional:
		case p >= 0:
			w.open[p] += w.open[i]
		default:
			w.left += int(w.open[i])
		}
	}
}

// depend finds the unmet dependencies of each item. A shared list is read once, up to mostCauses unmet items, which is
// enough to hold an item.
func (w *waits) depend(places map[string]int32) {
	last := make([]int32, len(w.items)) // of each dependency, the last item that has it, counted from 1
	shared := map[*string][]int32{}
	var all []int32
	for i := range w.items {
		from := len(all)
		add := func(d int32) {
			if w.open[d] > 0 && last[d] != int32(i)+1 {
				last[d] = int32(i) + 1
				all = append(all, d)
			}
		}
		for _, id := range w.items[i].DependsOn {
			if d, ok := places[id]; ok {
				add(d)
			}
		}
		for _, ids := range w.items[i].Behind {
			if len(ids) == 0 {
				continue
			}
			unmet, known := shared[&ids[0]]
			for k := 0; !known && k < len(ids) && len(unmet) < mostCauses; k++ {
				if d, ok := places[ids[k]]; ok && w.open[d] > 0 {
					unmet = append(unmet, d)
				}
			}
			shared[&ids[0]] = unmet
			for _, d := range unmet {
				add(d)
			}
		}
		w.unmet[i] = all[from:len(all):len(all)]
	}
	w.holds = make([]plan.Hold, 0, len(w.items)+len(all)) // usually enough
}

// blocked reports whether a person has to act before a leaf can go on. A run takes precedence over the plan.
func (w *waits) blocked(i int32) bool {
	return w.runs[i] == plan.RunBlocked || w.runs[i] == plan.NoRun && w.items[i].Status == plan.Blocked
}

// trace finds the blocked leaves behind each dependency. It propagates each blocked leaf, in plan order, to the items
// that wait for it. A node accepts at most mostCauses leaves, so that the cost is bounded even with circles.
//
// Node i holds the leaves that keep item i from being done. Node n+i holds the leaves that keep the leaves at and below
// item i from starting.
func (w *waits) trace() {
	n := int32(len(w.items))
	var ways [][]int32
	for leaf := range n {
		if !w.leaf[leaf] || w.open[leaf] == 0 || !w.blocked(leaf) {
			continue
		}
		if ways == nil {
			w.causes, ways = make([][]int32, 2*n), w.ways()
		}
		for queue := []int32{leaf}; len(queue) > 0; {
			at := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			known := w.causes[at]
			if len(known) == mostCauses || len(known) > 0 && known[len(known)-1] == leaf {
				continue
			}
			w.causes[at] = append(known, leaf)
			queue = append(queue, ways[at]...)
		}
	}
}

// ways returns the nodes to which each node propagates.
func (w *waits) ways() [][]int32 {
	n := int32(len(w.items))
	ways := make([][]int32, 2*n)
	way := func(from, to int32) { ways[from] = append(ways[from], to) }
	for i := range n {
		if w.leaf[i] && w.open[i] == 0 {
			continue
		}
		for _, d := range w.unmet[i] {
			way(d, n+i)
		}
		if p := w.parent[i]; p >= 0 {
			way(n+p, n+i)
			if !w.items[i].Optional {
				way(i, p)
			}
		}
		if w.leaf[i] {
			way(n+i, i)
		}
	}
	return ways
}

// explain adds the reasons why an item is not ready, or none if it is.
func (w *waits) explain(i int32) {
	switch {
	case w.open[i] == 0:
		w.hold(plan.HeldByEnd, "")
		return
	case !w.leaf[i]:
		w.hold(plan.HeldByParent, "")
		return
	case w.runs[i] == plan.RunLive || w.runs[i] == plan.NoRun && w.items[i].Status == plan.InProgress:
		w.hold(plan.HeldByWork, "")
	}
	if w.asked++; w.blocked(i) {
		w.hold(plan.HeldByBlock, w.items[i].ID)
		w.named[i] = w.asked
	}
	for _, d := range w.unmet[i] {
		w.dependsOn(d)
	}
	inherited := 0
	for range mostCauses {
		if i = w.parent[i]; i >= 0 {
			i = w.held[i]
		}
		if i < 0 || inherited == mostCauses {
			return
		}
		before := inherited
		for _, d := range w.unmet[i] {
			if w.reported[d] != w.asked && inherited < mostCauses {
				inherited++
				w.dependsOn(d)
			}
		}
		if inherited > before {
			w.hold(plan.HeldByParent, w.items[i].ID)
		}
	}
}

func (w *waits) dependsOn(d int32) {
	w.reported[d] = w.asked
	w.hold(plan.HeldByDependency, w.items[d].ID)
	if w.causes == nil {
		return
	}
	for _, cause := range w.causes[d] {
		if w.named[cause] != w.asked {
			w.named[cause] = w.asked
			w.hold(plan.HeldByBlock, w.items[cause].ID)
		}
	}
}

func (w *waits) hold(kind plan.HoldKind, id string) {
	w.holds = append(w.holds, plan.Hold{Kind: kind, ItemID: id})
}

// ReadyIn returns the readiness of the items of a reading, which must be the result of Items. A plan with open work
// outside its items is not complete. A plan without items is not complete either, because an editor may just have
// truncated the file.
func ReadyIn(r *plan.Reading, items []plan.Item, run func(itemID string) plan.ItemRun) plan.Readiness {
	out := Ready(items, run)
	out.Unread = r.Totals.Unread
	out.Left += out.Unread
	out.Complete = out.Complete && out.Unread == 0
	out.Progress = r.PlanProgress(run)
	return out
}
