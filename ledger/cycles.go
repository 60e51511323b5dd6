package ledger

import "fmt"

// This file builds the graph of what items wait for, and checks that all of it is there.

// edges holds what each item waits for: the edges of item i are
// to[from[i]:from[i+1]].
type edges struct{ from, to []int32 }

// end ends the edges of one item, or of what stands for several.
func (e *edges) end() { e.from = append(e.from, int32(len(e.to))) }

// checkDependencies reports ids that the plan does not have, and circles.
func (n *numbered) checkDependencies() {
	if len(n.r.waits) > 0 {
		n.reportCycles(n.resolve())
	}
}

// The nodes of the graph are, one behind the other: for each item that it is
// done, for each item that it may be begun, the walls, and the groups.
//
// A leaf is done once it may be begun, and a parent once its children are. An
// item may be begun once everything is done that it waits for itself, and what
// its parent waits for. That is what Ready goes by, so what is a circle here
// never gets ready there; and since parents and walls are nodes, there are as
// many edges as there are items and dependencies.

// resolve returns the graph.
func (n *numbered) resolve() edges {
	b := &n.r.barriers
	items := int32(n.r.Len())
	walls := 2 * items
	groups := walls + int32(len(b.walls))
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
	last := make([]int32, items) // of each item, the last one that waits for it, counted from 1
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
	for i := range b.walls {
		for _, g := range b.walls[i].groups {
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

// awaited adds what an item waits for itself, and reports what of that will never be.
func (n *numbered) awaited(to []int32, w *wait, walls int32, last []int32) []int32 {
	for _, id := range w.ids {
		d := n.r.find(id)
		if d < 0 {
			n.about(w.item, SeverityWarning, "dependency_unresolved",
				fmt.Sprintf("%s waits for %q, which is no id in this plan", n.r.entries[w.item].id, clip(id)))
			continue
		}
		if last[d] > w.item {
			continue // it was named before
		}
		last[d] = w.item + 1
		to = append(to, d)
		n.checkSkipped(w.item, d)
	}
	if w.behind > 0 && !n.r.barriers.walls[w.behind-1].circular {
		to = append(to, walls+w.behind-1)
	}
	return to
}

// family is the tree as Ready sees it, by the place of each item. There is -1 where nothing is.
type family struct {
	parent      []int32
	first, next []int32 // the children that a parent waits for: not the optional and the skipped ones
	group       []bool  // has children, of whatever kind
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
	w.upwards() // takes apart what is its own ancestor
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

// checkSkipped reports an item that waits for one that was closed without being done.
func (n *numbered) checkSkipped(i, to int32) {
	if e := &n.r.entries[to]; e.status == Skipped && n.r.entries[i].status.open() {
		n.about(i, SeverityWarning, "dependency_skipped",
			fmt.Sprintf("%s waits for %s (%s), which was skipped", n.r.entries[i].id, e.id, n.r.where(e)))
	}
}
