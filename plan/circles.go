package plan

import (
	"fmt"
	"strings"
)

// This file finds the items that wait for each other.

// visit is a node on the current path of the search for circles.
type visit struct {
	node, next int32
	// asked is the last position on the path that the search reached through a dependency instead of the tree.
	asked    int32
	reported bool // a circle through this edge was already reported
}

// search walks a graph depth first and reports each edge back to the path. It does not recurse, because a chain can be
// as long as the plan. Many paths through the tree can connect two items; search reports only one circle for each
// dependency.
type search struct {
	n     *numbered
	e     edges
	items int32
	path  []visit
	// place is the position of a node on the path, counted from 1; afterwards it is left.
	place []int32
	// credit limits how many nodes of long circles are still read for their names.
	credit int
	said   map[string]bool // reported circles, because several paths lead around one
}

// left marks a node that the path has left.
const left = -1

func (n *numbered) reportCycles(e edges) {
	s := search{n: n, e: e, items: int32(n.r.Len()), place: make([]int32, len(e.from)-1), credit: 4 * len(e.from), said: map[string]bool{}}
	for root := range s.items {
		if s.place[root] == 0 {
			s.walk(root)
		}
	}
}

func (s *search) walk(root int32) {
	s.path = append(s.path[:0], visit{node: root, next: s.e.from[root]})
	s.place[root] = 1
	for len(s.path) > 0 {
		top := &s.path[len(s.path)-1]
		if top.next == s.e.from[top.node+1] {
			s.place[top.node] = left
			s.path = s.path[:len(s.path)-1]
			continue
		}
		to := s.e.to[top.next]
		top.next++
		switch at := s.place[to]; {
		case at == 0:
			s.enter(*top, to)
		case at > 0:
			s.close(*top, to, at)
		}
	}
}

func (s *search) enter(from visit, to int32) {
	v := visit{node: to, next: s.e.from[to], asked: from.asked}
	if s.asks(from.node, to) {
		v.asked = int32(len(s.path)) + 1
	}
	s.path = append(s.path, v)
	s.place[to] = int32(len(s.path))
}

// close reports the circle that one more step closes with the path from a position on.
func (s *search) close(from visit, to, at int32) {
	if !s.asks(from.node, to) && from.asked > at {
		by := &s.path[from.asked-1]
		if by.reported {
			return
		}
		by.reported = true
	}
	s.report(s.path[at-1:])
}

// item returns the item of a node, -1 for a prerequisite or a group.
func (s *search) item(node int32) int32 {
	if node >= 2*s.items {
		return -1
	}
	return node % s.items
}

// begins reports whether a node represents the beginning of an item.
func (s *search) begins(node int32) bool { return node >= s.items && node < 2*s.items }

// asks reports whether an edge comes from a dependency that an item states.
func (s *search) asks(from, to int32) bool {
	return from >= 2*s.items || s.begins(from) && !s.begins(to)
}

// report names the items of a circle, without the middle of a long one. It reads long circles completely only within
// the limit credit.
func (s *search) report(circle []visit) {
	const head, tail = 8, 4
	const short = 256 // nodes
	var items []int32
	var grouped bool
	middle := ""
	if len(circle) <= short || len(circle) <= s.credit {
		s.credit -= len(circle)
		items, grouped = s.names(s.turned(circle))
		if cut := len(items) - head - tail; cut > 0 {
			middle = fmt.Sprintf("… %d more … -> ", cut)
		}
	} else {
		items, grouped = s.names(circle[:short])
		end, _ := s.names(circle[len(circle)-short:])
		items, middle = append(items, end...), "… -> "
	}
	var b strings.Builder
	for k, i := range items {
		if middle != "" && k >= head && k < len(items)-tail {
			if k == head {
				b.WriteString(middle)
			}
			continue
		}
		b.WriteString(s.n.r.entries[i].id + " -> ")
	}
	b.WriteString(s.n.r.entries[items[0]].id)
	if grouped {
		b.WriteString(" (an item waits for what its parent waits for, and a parent for its children)")
	}
	if text := b.String(); !s.said[text] {
		s.said[text] = true
		s.n.about(items[0], SeverityError, "dependency_cycle", "these items wait for each other: "+text)
	}
}

// turned rotates a circle so that it begins with an item that states its dependency.
func (s *search) turned(circle []visit) []visit {
	for k, v := range circle {
		if s.begins(v.node) && s.asks(v.node, circle[(k+1)%len(circle)].node) {
			return append(circle[k:len(circle):len(circle)], circle[:k]...)
		}
	}
	return circle
}

// names returns the items of a circle that state a dependency, and the items that they name. It also reports whether
// the tree connects one to the other.
func (s *search) names(circle []visit) (items []int32, grouped bool) {
	for k, v := range circle {
		to := circle[(k+1)%len(circle)].node
		if !s.asks(v.node, to) {
			continue
		}
		for _, item := range [...]int32{s.item(v.node), s.item(to)} {
			if item < 0 || len(items) > 0 && items[len(items)-1] == item {
				continue
			}
			grouped = grouped || len(items) > 0 && item == s.item(v.node)
			items = append(items, item)
		}
	}
	switch last := len(items) - 1; {
	case last > 0 && items[last] == items[0]:
		items = items[:last]
	case last > 0:
		grouped = true
	}
	return items, grouped
}
