package ledger

import (
	"fmt"
	"strings"
)

// This file checks that what items wait for is there and does not wait for them.

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

// resolve returns the graph. Behind the items stand the walls, each of which
// leads to its groups, and then the groups, each of which leads to its items.
func (n *numbered) resolve() edges {
	b := &n.r.barriers
	items := n.r.Len()
	e := edges{from: make([]int32, 1, items+len(b.walls)+len(b.groups)+1)}
	waits := n.r.waits
	last := make([]int32, items) // of each item, the last one that waits for it, counted from 1
	for i := range n.r.entries {
		if len(waits) > 0 && waits[0].item == int32(i) {
			for _, id := range waits[0].ids {
				if to := n.r.find(id); to >= 0 {
					if last[to] <= int32(i) {
						last[to] = int32(i) + 1
						e.to = append(e.to, to)
						n.checkSkipped(int32(i), to)
					}
					continue
				}
				n.about(int32(i), SeverityWarning, "dependency_unresolved",
					fmt.Sprintf("%s waits for %q, which is no id in this plan", n.r.entries[i].id, clip(id)))
			}
			if wall := waits[0].behind; wall > 0 && !b.walls[wall-1].circular {
				e.to = append(e.to, int32(items)+wall-1)
			}
			waits = waits[1:]
		}
		e.end()
	}
	n.resolveWalls(&e)
	return e
}

func (n *numbered) resolveWalls(e *edges) {
	b := &n.r.barriers
	for i := range b.walls {
		for _, g := range b.walls[i].groups {
			e.to = append(e.to, int32(n.r.Len()+len(b.walls))+g)
		}
		e.end()
	}
	for _, ids := range b.groups {
		for _, id := range ids {
			e.to = append(e.to, n.r.find(id))
		}
		e.end()
	}
}

// checkSkipped reports an item that waits for one that was closed without being done.
func (n *numbered) checkSkipped(i, to int32) {
	if e := &n.r.entries[to]; e.status == Skipped && n.r.entries[i].status.open() {
		n.about(i, SeverityWarning, "dependency_skipped",
			fmt.Sprintf("%s waits for %s (%s), which was skipped", n.r.entries[i].id, e.id, n.r.where(e)))
	}
}

// visit is an item on the path that the search for circles follows.
type visit struct{ item, next int32 }

// reportCycles walks the graph depth first, without recursion since a chain
// can be as long as the plan, and reports each step back to the path.
func (n *numbered) reportCycles(e edges) {
	const unseen, done = 0, -1
	// state is the place on the path, counted from 1, while an item is on it.
	state := make([]int32, len(e.from)-1)
	said := map[string]bool{}
	var path []visit
	for root := range n.r.entries {
		if state[root] != unseen {
			continue
		}
		path = append(path[:0], visit{int32(root), e.from[root]})
		state[root] = 1
		for len(path) > 0 {
			top := &path[len(path)-1]
			if top.next == e.from[top.item+1] {
				state[top.item] = done
				path = path[:len(path)-1]
				continue
			}
			to := e.to[top.next]
			top.next++
			switch {
			case state[to] == unseen:
				path = append(path, visit{to, e.from[to]})
				state[to] = int32(len(path))
			case state[to] > 0:
				n.reportCycle(path[state[to]-1:], said)
			}
		}
	}
}

// reportCycle names the items of a circle, the middle of a long one cut out, once however many ways lead
// around it: an item may wait for another by itself and for all of its phase.
func (n *numbered) reportCycle(path []visit, said map[string]bool) {
	const head, tail = 8, 4
	items := make([]visit, 0, len(path))
	for _, v := range path {
		if int(v.item) < n.r.Len() { // and no wall or group
			items = append(items, v)
		}
	}
	path = items
	first := path[0].item
	var b strings.Builder
	name := func(part []visit) {
		for _, v := range part {
			b.WriteString(n.r.entries[v.item].id)
			b.WriteString(" -> ")
		}
	}
	if cut := len(path) - head - tail; cut > 0 {
		name(path[:head])
		fmt.Fprintf(&b, "… %d more … -> ", cut)
		path = path[head+cut:]
	}
	name(path)
	b.WriteString(n.r.entries[first].id)
	circle := b.String()
	if said[circle] {
		return
	}
	said[circle] = true
	n.about(first, SeverityError, "dependency_cycle", "these items wait for each other: "+circle)
}
