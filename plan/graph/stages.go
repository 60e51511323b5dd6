package graph

import (
	"slices"

	"waybill/plan"
)

// This file makes items wait for all items of other stages: a phase, or a wave of a graph.

// stage is a group of items, and the stages that come before it. at is its offset in the text.
type stage struct {
	ids   []string
	after []int32
	at    int
}

// wall creates the prerequisites of the stages, those of earlier stages first, and assigns them to the items. It
// returns the circles of stages.
func (b *builder) wall(all []stage, of []int32) (circles [][]int32) {
	g := &b.rows.Groups
	group := make([]int32, len(all)) // of each stage, -1 without items
	for k := range all {
		if group[k] = -1; len(all[k].ids) > 0 {
			group[k] = int32(len(g.IDs))
			g.IDs = append(g.IDs, all[k].ids)
		}
	}
	order, circles := sorted(all)
	circular := make([]bool, len(all))
	for _, k := range slices.Concat(circles...) {
		circular[k] = true
	}
	ends, walls := make([][]int32, len(all)), make([]int32, len(all))
	for _, k := range order {
		var groups []int32
		for _, d := range all[k].after {
			end := ends[d] // a stage without items stands for the stages before it
			if end == nil && group[d] >= 0 {
				end = []int32{group[d]} // a circle: this stage comes later
			}
			if len(all[k].after) == 1 {
				groups = end
				break
			}
			if b.expanded += len(end); b.expanded <= mostExpanded {
				groups = append(groups, end...)
			} else {
				b.tooMuch(all[k].at)
			}
		}
		if len(all[k].after) > 1 {
			slices.Sort(groups)
			groups = slices.Compact(groups)
		}
		if ends[k] = groups; group[k] >= 0 {
			ends[k] = []int32{group[k]}
		}
		if len(groups) > 0 {
			g.Prerequisites = append(g.Prerequisites, plan.Prerequisite{Groups: groups, Circular: circular[k]})
			walls[k] = int32(len(g.Prerequisites))
		}
	}
	b.prerequisite = make([]int32, len(of))
	for i, k := range of {
		if k >= 0 {
			b.prerequisite[i] = walls[k]
		}
	}
	return circles
}

// sorted returns the stages in the order of their dependencies, and the circles among those that come last.
func sorted(all []stage) (order []int32, circles [][]int32) {
	left, next := make([]int, len(all)), make([][]int32, len(all))
	for k, s := range all {
		left[k] = len(s.after)
		for _, d := range s.after {
			next[d] = append(next[d], int32(k))
		}
		if left[k] == 0 {
			order = append(order, int32(k))
		}
	}
	for at := 0; at < len(order); at++ {
		for _, k := range next[order[at]] {
			if left[k]--; left[k] == 0 {
				order = append(order, k)
			}
		}
	}
	walk := make([]int, len(all)) // the walk that visited a stage, counted from 1
	for root := range all {
		var path []int32
		for k := int32(root); left[k] > 0; k = all[k].after[slices.IndexFunc(all[k].after, func(d int32) bool { return left[d] > 0 })] {
			if walk[k] == root+1 {
				circles = append(circles, path[slices.Index(path, k):])
			}
			if walk[k] > 0 {
				break
			}
			walk[k], path = root+1, append(path, k)
		}
		if left[root] > 0 {
			order = append(order, int32(root))
		}
	}
	return order, circles
}
