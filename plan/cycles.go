package plan

import "fmt"

// This file builds the graph of dependencies, and checks that all named items exist.

// edges are the edges of a graph. Those of node i are to[from[i]:from[i+1]].
type edges struct{ from, to []int32 }

// end completes the edges of the current node.
func (e *edges) end() { e.from = append(e.from, int32(len(e.to))) }

// checkDependencies reports circles, and ids that do not exist in the plan.
func (n *numbered) checkDependencies() {
	if len(n.r.waits) > 0 {
		n.reportCycles(n.resolve())
	}
}

// The nodes of the graph are, in this order: "item is done" for each item, "item may start" for each item, the
// prerequisites, and the groups.
//
// A leaf is done after it may start, and a parent after its children. An item may start after its own dependencies and
// those of its parent are done. Ready follows the same rules, so an item in a circle here never becomes ready there.
// Parents and prerequisites are nodes, so that the number of edges stays proportional to items and dependencies.

// resolve returns the dependency graph.
func (n *numbered) resolve() edges {
	b := &n.r.dependencyGroups
	items := int32(n.r.Len())
	walls := 2 * items
	groups := walls + int32(len(b.prerequisites))
	tree := n.grown()
	e := edges{from: make([]int32, 1, int(groups)+len(b.groups)+1)}
	for i := range items {
		if tree.first[i] < 0 && !tree.group[i] {
			e.to = append(e.to, items+i)
		}
		for kid := tree.first[i]; kid >= 0; kid = tree.next[kid] {
			e.to = append(e.to, kid)
		}
		e.end()
	}
	waits := n.r.waits
	last := make([]int32, items) // for each item, the last item that waits for it, counted from 1
	for i := range items {
		if len(waits) > 0 && waits[0].item == i {
			e.to = n.awaited(e.to, &waits[0], walls, last)
			waits = waits[1:]
		}
		if p := tree.parent[i]; p >= 0 {
			e.to = append(e.to, items+p)
		}
		e.end()
	}
	for i := range b.prerequisites {
		for _, g := range b.prerequisites[i].groups {
			e.to = append(e.to, groups+g)
		}
		e.end()
	}
	for _, ids := range b.groups {
		for _, id := range ids {
			e.to = append(e.to, n.r.find(id))
		}
		e.end()
	}
	return e
}

// awaited adds an item's own dependencies, and reports those that can never be satisfied.
func (n *numbered) awaited(to []int32, w *wait, walls int32, last []int32) []int32 {
	for _, id := range w.ids {
		d := n.r.find(id)
		if d < 0 {
			n.about(w.item, SeverityWarning, "dependency_unresolved",
				fmt.Sprintf("%s waits for %q, which is not an id in this plan, so the dependency is ignored", n.r.entries[w.item].id, clip(id)))
			continue
		}
		if last[d] > w.item {
			continue // it was named before
		}
		last[d] = w.item + 1
		to = append(to, d)
		n.checkSkipped(w.item, d)
	}
	if w.prerequisite > 0 && !n.r.dependencyGroups.prerequisites[w.prerequisite-1].circular {
		to = append(to, walls+w.prerequisite-1)
	}
	return to
}

// family is the tree that Ready uses, by item index. -1 means none.
type family struct {
	parent      []int32
	first, next []int32 // the children that a parent waits for: not the optional and the skipped ones
	group       []bool  // it has children of any kind
}

// grown returns the tree.
func (n *numbered) grown() family {
	items := n.r.Len()
	w := waits{parent: make([]int32, items), kids: make([]int32, items)}
	for i := range n.r.entries {
		w.parent[i] = -1
		if p := n.r.entries[i].parent; p >= 0 {
			w.parent[i] = n.r.find(n.r.entries[p].id)
		}
	}
	w.upwards() // breaks circles of parents
	f := family{parent: w.parent, first: make([]int32, items), next: make([]int32, items), group: make([]bool, items)}
	for i := range f.first {
		f.first[i], f.next[i], f.group[i] = -1, -1, w.kids[i] > 0
	}
	for i := items - 1; i >= 0; i-- { // so that the first child comes first
		e, p := &n.r.entries[i], f.parent[i]
		if p >= 0 && !e.optional && e.status != Skipped {
			f.next[i], f.first[p] = f.first[p], int32(i)
		}
	}
	return f
}

// checkSkipped reports an item that waits for a skipped item.
func (n *numbered) checkSkipped(i, to int32) {
	if e := &n.r.entries[to]; e.status == Skipped && n.r.entries[i].status.open() {
		n.about(i, SeverityWarning, "dependency_skipped",
			fmt.Sprintf("%s waits for %s (%s), which was skipped", n.r.entries[i].id, e.id, n.r.where(e)))
	}
}
