package plan

import "fmt"

// This file stores dependencies on whole groups: a phase, or a wave of a graph. If ten thousand items wait for ten
// thousand others, it stores two lists instead of a hundred million pairs.

// dependencyGroups holds the groups of a plan and the prerequisites made of them.
type dependencyGroups struct {
	groups        [][]string // ids; all items that wait for a group share its list
	prerequisites []prerequisite
	// wide means that the prerequisites contain too many ids to repeat them for each item.
	wide bool
}

// prerequisite is a set of groups whose items must all be done first.
type prerequisite struct {
	groups []int32
	// circular reports that the prerequisite belongs to a reported circle of waves.
	circular bool
}

// addGroup adds a group and returns its index.
func (b *dependencyGroups) addGroup(ids []string) int32 {
	b.groups = append(b.groups, ids)
	return int32(len(b.groups)) - 1
}

// addPrerequisite adds a prerequisite and returns its number, counted from 1, or 0 for no groups.
func (b *dependencyGroups) addPrerequisite(groups []int32, circular bool) int32 {
	if len(groups) == 0 {
		return 0
	}
	b.prerequisites = append(b.prerequisites, prerequisite{groups, circular})
	return int32(len(b.prerequisites))
}

// width returns the number of ids in a prerequisite.
func (b *dependencyGroups) width(name int32) int {
	n := 0
	for _, g := range b.prerequisites[name-1].groups {
		n += len(b.groups[g])
	}
	return n
}

// before returns the ids that a wait names, then those of its prerequisite, each once. Items that name no ids usually
// share one list.
func (b *dependencyGroups) before(w *wait) []string {
	if w.prerequisite == 0 || b.wide {
		return w.ids
	}
	groups := b.prerequisites[w.prerequisite-1].groups
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

// behind returns the lists of a prerequisite that is too wide for before.
func (b *dependencyGroups) behind(w *wait) [][]string {
	if w.prerequisite == 0 || !b.wide {
		return nil
	}
	groups := b.prerequisites[w.prerequisite-1].groups
	lists := make([][]string, len(groups))
	for i, g := range groups {
		lists[i] = b.groups[g]
	}
	return lists
}

// need is a dependency of one item on another.
type need struct {
	item int32
	id   string
}

// gather adds the prerequisites and the needs, which are known only at the end of the file. The needs are in item
// order.
func (n *numbered) gather(needs []need) {
	if n.prerequisite == nil && len(needs) == 0 {
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
		if n.prerequisite != nil && n.prerequisite[i] > 0 {
			w.prerequisite = n.prerequisite[i]
			pairs += n.r.dependencyGroups.width(w.prerequisite)
		}
		if w.prerequisite > 0 || len(w.ids) > 0 {
			n.r.waits = append(n.r.waits, w)
		}
	}
	if n.r.dependencyGroups.wide = pairs > mostExpanded; n.r.dependencyGroups.wide {
		n.about(0, SeverityInfo, "barrier_too_wide",
			fmt.Sprintf("the phases or waves of this plan imply more than %d dependencies: depends_on does not list them, but they count", mostExpanded))
	}
}

// needed adds needs to the ids that an item names, without duplicates.
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
