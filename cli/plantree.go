package cli

import "waybill/ledger"

// This file finds the order and the branches in which a plan is drawn: each item below its parent, whatever
// the order of the file is, and no item left out, whatever the parents say.

// firstByID gives where the first item with each id is, which is the one that the others mean.
func firstByID(items []ledger.Item) map[string]int {
	first := make(map[string]int, len(items))
	for i, item := range items {
		if _, taken := first[item.ID]; !taken {
			first[item.ID] = i
		}
	}
	return first
}

// parents gives the index of each item's parent, -1 at the top. Every way up comes to an end: an item that
// would be above itself is put at the top.
func parents(items []ledger.Item, first map[string]int) []int {
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

// walk visits every item behind its parent, siblings in their order. rails says for the item and for each of
// its ancestors below the top, from there down, whether a sibling follows; it is valid during the visit only.
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

// branches draws the way from the top to an item: before the item itself, and before what else is said about
// it below. Of a way of more than most steps it draws the last ones.
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
