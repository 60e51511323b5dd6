package graph

import (
	"fmt"
	"slices"
	"strings"

	"waybill/plan"
)

// This file checks dependencies: it reports those on unknown or skipped items, and circles.
//
// The nodes of the graph are, in this order: "item is done" for each item, "item may start" for each item, the
// prerequisites, and the groups. A leaf is done after it may start, and a parent after its children. An item may start
// after its own dependencies and those of its parent are done. Ready follows the same rules, so an item in a circle here
// never becomes ready there. Parents and prerequisites are nodes, so that the number of edges stays proportional to
// items and dependencies.

// edge leads to a node that has to come first.
type edge struct {
	to int32
	// asked means that an item states this dependency, and that it does not follow from the tree.
	asked, cut bool
}

// knots finds circles by removing all nodes that wait for no other. When only circles and nodes that wait for them are
// left, it follows any edges to a circle, reports it, cuts it at one stated dependency, and goes on.
type knots struct {
	b     *builder
	items int32
	edges [][]edge
	left  []int32      // the number of edges of each node to nodes that are not removed
	back  [][][2]int32 // the edges to each node: a node, and the index of its edge
	next  []int32      // of each node, the first edge that may not be removed
	place []int32      // of each node, its place on the path, counted from 1
	path  []int32
}

// check reports dependencies on unknown and skipped items, and circles.
func (b *builder) check() {
	if len(b.rows.Waits) == 0 {
		return
	}
	deps := b.resolve()
	parent := make([]int32, len(b.rows.Entries))
	for i := range b.rows.Entries {
		if parent[i] = b.rows.Entries[i].Parent; parent[i] >= 0 {
			parent[i] = b.rows.Find(b.rows.Entries[parent[i]].ID) // the item that Ready takes for the parent
		}
	}
	if b.inOrder(parent, deps) {
		return
	}
	k := knots{b: b, items: int32(len(b.rows.Entries)), edges: b.edges(parent, deps)}
	n := len(k.edges)
	k.left, k.back, k.next, k.place = make([]int32, n), make([][][2]int32, n), make([]int32, n), make([]int32, n)
	var free []int32
	for from, edges := range k.edges {
		if k.left[from] = int32(len(edges)); len(edges) == 0 {
			free = append(free, int32(from))
		}
		for at, e := range edges {
			k.back[e.to] = append(k.back[e.to], [2]int32{int32(from), int32(at)})
		}
	}
	k.remove(free)
	credit := 16 * n // further circles are not named, which would take quadratic time in a hostile plan
	for root := int32(0); int(root) < n && credit > 0; {
		if k.left[root] == 0 && len(k.path) == 0 {
			root++
			continue
		}
		credit -= k.follow(root)
	}
}

// remove removes nodes, and all that wait only for removed ones.
func (k *knots) remove(free []int32) {
	for len(free) > 0 {
		at := free[len(free)-1]
		free = free[:len(free)-1]
		for _, e := range k.back[at] {
			if from := e[0]; !k.edges[from][e[1]].cut {
				if k.left[from]--; k.left[from] == 0 {
					free = append(free, from)
				}
			}
		}
		k.back[at] = nil
	}
}

// follow goes on along the path until it closes a circle, and returns the number of nodes in it.
func (k *knots) follow(root int32) int {
	for len(k.path) > 0 && k.left[k.path[len(k.path)-1]] == 0 { // removed with the last circle
		k.place[k.path[len(k.path)-1]] = 0
		k.path = k.path[:len(k.path)-1]
	}
	at := root
	if len(k.path) > 0 {
		at = k.step(k.path[len(k.path)-1])
	} else if k.left[root] == 0 {
		return 0
	}
	for k.place[at] == 0 {
		k.path = append(k.path, at)
		k.place[at] = int32(len(k.path))
		at = k.step(at)
	}
	circle := k.turned(k.path[k.place[at]-1:])
	k.report(circle)
	k.path = k.path[:len(k.path)-len(circle)]
	for _, node := range circle {
		k.place[node] = 0
	}
	k.edges[circle[0]][k.next[circle[0]]].cut = true
	if k.left[circle[0]]--; k.left[circle[0]] == 0 {
		k.remove(circle[:1])
	}
	return len(circle)
}

// turned rotates a circle so that it begins with an item that states its dependency.
func (k *knots) turned(circle []int32) []int32 {
	begin := -1
	for at, node := range circle {
		if !k.edges[node][k.next[node]].asked {
			continue
		}
		if begin < 0 || node < 2*k.items {
			begin = at
		}
		if node < 2*k.items {
			break
		}
	}
	return append(slices.Clone(circle[begin:]), circle[:begin]...)
}

// step returns the node behind the first edge of a node that is left.
func (k *knots) step(from int32) int32 {
	for e := k.edges[from]; e[k.next[from]].cut || k.left[e[k.next[from]].to] == 0; {
		k.next[from]++
	}
	return k.edges[from][k.next[from]].to
}

// resolve returns the dependencies that each wait names, each once.
func (b *builder) resolve() [][]int32 {
	last := make([]int32, len(b.rows.Entries)) // for each item, the last item that waits for it, counted from 1
	deps := make([][]int32, len(b.rows.Waits))
	for k, w := range b.rows.Waits {
		for _, id := range w.IDs {
			d := b.rows.Find(id)
			switch {
			case d < 0:
				b.unresolved(w.Item, id)
				b.out.Unknown = append(b.out.Unknown, id)
			case last[d] <= w.Item:
				last[d] = w.Item + 1
				deps[k] = append(deps[k], d)
				b.checkSkipped(w.Item, d)
			}
		}
	}
	return deps
}

// inOrder reports whether all items come after their parents and after the items that they and their groups wait for.
// Such a plan has no circle. Most plans are in order.
func (b *builder) inOrder(parent []int32, deps [][]int32) bool {
	last := make([]int32, len(parent)) // the last item at and below each item
	for i := len(parent) - 1; i >= 0; i-- {
		last[i] = max(last[i], int32(i))
		if p := parent[i]; p >= int32(i) {
			return false
		} else if p >= 0 {
			last[p] = max(last[p], last[i])
		}
	}
	g := &b.rows.Groups
	ends := make([]int32, len(g.IDs))
	for k, ids := range g.IDs {
		for _, id := range ids {
			ends[k] = max(ends[k], last[b.rows.Find(id)])
		}
	}
	for k, w := range b.rows.Waits {
		for _, d := range deps[k] {
			if last[d] >= w.Item {
				return false
			}
		}
		if w.Prerequisite > 0 {
			for _, group := range g.Prerequisites[w.Prerequisite-1].Groups {
				if ends[group] >= w.Item {
					return false
				}
			}
		}
	}
	return true
}

// edges returns the dependency graph.
func (b *builder) edges(parent []int32, deps [][]int32) [][]edge {
	items, g := int32(len(b.rows.Entries)), &b.rows.Groups
	walls := 2 * items
	groups := walls + int32(len(g.Prerequisites))
	edges := make([][]edge, int(groups)+len(g.IDs))
	for k, w := range b.rows.Waits {
		for _, d := range deps[k] {
			edges[items+w.Item] = append(edges[items+w.Item], edge{to: d, asked: true})
		}
		if w.Prerequisite > 0 && !g.Prerequisites[w.Prerequisite-1].Circular {
			edges[items+w.Item] = append(edges[items+w.Item], edge{to: walls + w.Prerequisite - 1, asked: true})
		}
	}
	_, kids := upwards(parent)
	for i := range items {
		e, p := &b.rows.Entries[i], parent[i]
		if p >= 0 {
			edges[items+i] = append(edges[items+i], edge{to: items + p})
		}
		if p >= 0 && !e.Optional && e.Status != plan.Skipped {
			edges[p] = append(edges[p], edge{to: i})
		}
		if kids[i] == 0 {
			edges[i] = append(edges[i], edge{to: items + i})
		}
	}
	for i, p := range g.Prerequisites {
		for _, k := range p.Groups {
			edges[walls+int32(i)] = append(edges[walls+int32(i)], edge{to: groups + k, asked: true})
		}
	}
	for k, ids := range g.IDs {
		for _, id := range ids {
			edges[groups+int32(k)] = append(edges[groups+int32(k)], edge{to: b.rows.Find(id), asked: true})
		}
	}
	return edges
}

// checkSkipped reports an item that waits for a skipped item.
func (b *builder) checkSkipped(i, to int32) {
	if e := &b.rows.Entries[to]; e.Status == plan.Skipped && b.rows.Entries[i].Status.Open() {
		b.about(i, plan.SeverityWarning, "dependency_skipped", "%s waits for %s (%s), which was skipped", b.rows.Entries[i].ID, e.ID, b.rows.Where(to))
	}
}

// report names the items of a circle, without the middle of a long one.
func (k *knots) report(circle []int32) {
	const head, tail = 8, 4
	var names []int32
	grouped := false
	for _, node := range circle {
		e := k.edges[node][k.next[node]]
		if !e.asked {
			continue
		}
		for _, one := range [...]int32{node, e.to} {
			if one >= 2*k.items {
				continue
			}
			if item := one % k.items; len(names) == 0 || names[len(names)-1] != item {
				grouped = grouped || one == node && len(names) > 0
				names = append(names, item)
			}
		}
	}
	if last := len(names) - 1; last > 0 && names[last] == names[0] {
		names = names[:last]
	} else {
		grouped = grouped || last > 0
	}
	var text strings.Builder
	for at, i := range names {
		switch cut := len(names) - head - tail; {
		case cut > 0 && at == head:
			fmt.Fprintf(&text, "… %d more … -> ", cut)
		case cut > 0 && at > head && at < head+cut:
		default:
			text.WriteString(k.b.rows.Entries[i].ID + " -> ")
		}
	}
	text.WriteString(k.b.rows.Entries[names[0]].ID)
	if grouped {
		text.WriteString(" (an item waits for what its parent waits for, and a parent for its children)")
	}
	k.b.about(names[0], plan.SeverityError, "dependency_cycle", "these items wait for each other: %s", text.String())
}
