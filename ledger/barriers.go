package ledger

import "fmt"

// This file holds what many items wait for together: a phase, or a wave of a
// graph. Ten thousand items that wait for ten thousand are two lists here, and
// not a hundred million pairs.

// barriers are the groups of items that are waited for as a whole.
type barriers struct {
	groups [][]string // ids; all who wait for a group share its list
	walls  []wall
	// wide says that what the walls stand for is too much to be repeated item by item.
	wide bool
}

// wall is what the items behind it wait for: all items of some groups.
type wall struct {
	groups []int32
	// circular says that it stands in a circle of waves that was reported as such.
	circular bool
}

// group adds a group and returns its place.
func (b *barriers) group(ids []string) int32 {
	b.groups = append(b.groups, ids)
	return int32(len(b.groups)) - 1
}

// wall adds a wall and returns its name, which is 0 for one of nothing.
func (b *barriers) wall(groups []int32, circular bool) int32 {
	if len(groups) == 0 {
		return 0
	}
	b.walls = append(b.walls, wall{groups, circular})
	return int32(len(b.walls))
}

// width is how many ids stand behind a wall.
func (b *barriers) width(name int32) int {
	n := 0
	for _, g := range b.walls[name-1].groups {
		n += len(b.groups[g])
	}
	return n
}

// before returns the ids that a wait names and then those of its wall, each
// once. Items that name none themselves mostly share one list.
func (b *barriers) before(w *wait) []string {
	if w.behind == 0 || b.wide {
		return w.ids
	}
	groups := b.walls[w.behind-1].groups
	if len(w.ids) == 0 && len(groups) == 1 {
		shared := b.groups[groups[0]]
		return shared[:len(shared):len(shared)]
	}
	all := w.ids[:len(w.ids):len(w.ids)]
	seen := make(map[string]bool, len(w.ids))
	for _, id := range w.ids {
		seen[id] = true
	}
	for _, g := range groups {
		for _, id := range b.groups[g] {
			if !seen[id] {
				seen[id] = true
				all = append(all, id)
			}
		}
	}
	return all
}

// behind returns the lists of a wall that is too wide for before.
func (b *barriers) behind(w *wait) [][]string {
	if w.behind == 0 || !b.wide {
		return nil
	}
	groups := b.walls[w.behind-1].groups
	lists := make([][]string, len(groups))
	for i, g := range groups {
		lists[i] = b.groups[g]
	}
	return lists
}

// need says that an item waits for another one.
type need struct {
	item int32
	id   string
}

// gather adds to what the items say themselves what is known at the end of the
// file: the walls, and the needs, which are in the order of their items.
func (n *numbered) gather(needs []need) {
	if n.behind == nil && len(needs) == 0 {
		return
	}
	var own []wait
	own, n.r.waits = n.r.waits, nil
	pairs := 0
	for i := range n.r.entries {
		w := wait{item: int32(i)}
		if len(own) > 0 && own[0].item == w.item {
			w.ids, own = own[0].ids, own[1:]
		}
		more := 0
		for more < len(needs) && needs[more].item == w.item {
			more++
		}
		w.ids, needs = needed(w.ids, needs[:more]), needs[more:]
		if n.behind != nil && n.behind[i] > 0 {
			w.behind = n.behind[i]
			pairs += n.r.barriers.width(w.behind)
		}
		if w.behind > 0 || len(w.ids) > 0 {
			n.r.waits = append(n.r.waits, w)
		}
	}
	if n.r.barriers.wide = pairs > mostExpanded; n.r.barriers.wide {
		n.about(0, SeverityInfo, "barrier_too_wide",
			fmt.Sprintf("the phases or waves of this plan stand for more than %d dependencies: depends_on does not repeat them, but they count", mostExpanded))
	}
}

// needed adds needs to the ids that an item names, each once.
func needed(ids []string, needs []need) []string {
	if len(needs) == 0 {
		return ids
	}
	seen := make(map[string]bool, len(ids)+len(needs))
	for _, id := range ids {
		seen[id] = true
	}
	ids = ids[:len(ids):len(ids)]
	for _, more := range needs {
		if !seen[more.id] {
			seen[more.id] = true
			ids = append(ids, more.id)
		}
	}
	return ids
}
