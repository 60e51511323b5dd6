package plan

import (
	"waybill/plan"
)

// This file computes the order and the branches in which a plan is drawn. Each item is drawn below its parent in any
// order of the file, and no item is left out.

// firstByID returns the index of the first item with each id. References mean that item.
func firstByID(items []plan.Item) map[string]int {
	first := make(map[string]int, len(items))
	for i, item := range items {
		if _, taken := first[item.ID]; !taken {
			first[item.ID] = i
		}
	}
	return first
}

// parents returns the index of each item's parent, -1 at the top. An item that would be its own ancestor is moved to
// the top, so that the tree has no cycle.
func parents(items []plan.Item, first map[string]int) []int {
	up := make([]int, len(items))
	for i, item := range items {
		up[i] = -1
		if p, known := first[item.ParentID]; known && item.ParentID != "" {
			up[i] = p
		}
	}
	seen := make([]int, len(items)) // the walk that came by, counted from 1
	for i := range items {
		for at := i; at >= 0 && seen[at] == 0; at = up[at] {
			seen[at] = i + 1
			if p := up[at]; p >= 0 && seen[p] == i+1 {
				up[at] = -1
			}
		}
	}
	return up
}

// walk visits every item after its parent, siblings in order. rails reports, from the top down, for each ancestor below
// the top and for the item, whether a sibling follows. It is valid only during the visit.
func walk(up []int, visit func(item int, rails []bool)) {
	top := len(up)
	child, next := make([]int, top+1), make([]int, top)
	for i := range child {
		child[i] = -1
	}
	for i := top - 1; i >= 0; i-- {
		p := up[i]
		if p < 0 {
			p = top
		}
		next[i], child[p] = child[p], i
	}
	var path []int
	var rails []bool
	for at := child[top]; ; {
		if at >= 0 {
			path, rails = append(path, at), append(rails, next[at] >= 0)
			visit(at, rails[1:])
			at = child[at]
			continue
		}
		last := len(path) - 1
		if last < 0 {
			return
		}
		at = next[path[last]]
		path, rails = path[:last], rails[:last]
	}
}

// branches draws the branch lines before an item and before the lines below it. It draws at most the last most levels.
func branches(rails []bool, most int) (before, below string) {
	if len(rails) == 0 {
		return "", ""
	}
	if skip := len(rails) - most; skip > 0 {
		before, rails = "… ", rails[skip:]
	}
	last := len(rails) - 1
	for _, more := range rails[:last] {
		before += choose(more, "│ ", "  ")
	}
	return before + choose(rails[last], "├ ", "└ "), before + choose(rails[last], "│ ", "  ")
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
