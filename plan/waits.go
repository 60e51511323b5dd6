package plan

// This file computes the dependencies of items. Plans are untrusted: no function recurses, and the cost is
// proportional to items and dependencies, even with circles.

// waits is the state of one call of Ready. Items are identified by their index. A dependency on an unknown id has no
// effect, because it may be prose. A diagnostic reports it.
type waits struct {
	items         []Item
	runs          []ItemRun
	parent        []int32             // -1 at the top
	kids          []int32             // the number of children through which an item is worked on
	open          []int32             // the number of required leaves at and below an item that are not done
	unmet         edges               // each item's own dependencies that are not done, each once
	prerequisites map[*string][]int32 // for each shared list of ids, its first items that are not done
	held          []int32             // the item or nearest ancestor with an unmet dependency, -1 for none
	causes        [][]int32
	left          int

	// Scratch space of explain. An entry of reported or named that equals asked belongs to the current item.
	holds           []Hold
	reported, named []int32
	asked           int32
}

func newWaits(items []Item, run func(itemID string) ItemRun) *waits {
	n := len(items)
	w := &waits{
		items: items, runs: make([]ItemRun, n), parent: make([]int32, n), kids: make([]int32, n),
		open: make([]int32, n), held: make([]int32, n), named: make([]int32, n),
	}
	places := placesOf(items)
	for i := range w.items {
		w.runs[i] = run(w.items[i].ID)
		w.parent[i] = -1
		if id := w.items[i].ParentID; id != "" {
			w.parent[i] = placeOf(places, id)
		}
	}
	order := w.upwards()
	w.count(order)
	w.depend(places)
	for k := n - 1; k >= 0; k-- { // parents before their children
		i := order[k]
		w.held[i] = -1
		if len(w.unmet.of(i)) > 0 {
			w.held[i] = i
		} else if w.parent[i] >= 0 {
			w.held[i] = w.held[w.parent[i]]
		}
	}
	w.reported = make([]int32, n)
	w.holds = make([]Hold, 0, n+len(w.unmet.to)) // usually enough
	w.trace()
	return w
}

// placesOf returns the index of the first item with each id.
func placesOf(items []Item) map[string]int32 {
	places := make(map[string]int32, len(items))
	for i := range items {
		if _, taken := places[items[i].ID]; !taken {
			places[items[i].ID] = int32(i)
		}
	}
	return places
}

// placeOf returns the index for an id, or -1 for an unknown id.
func placeOf(places map[string]int32, id string) int32 {
	if i, ok := places[id]; ok {
		return i
	}
	return -1
}

// of returns the edges from an item.
func (e *edges) of(i int32) []int32 { return e.to[e.from[i]:e.from[i+1]] }

func (w *waits) leaf(i int32) bool { return w.kids[i] == 0 }

func (w *waits) done(i int32) bool { return w.open[i] == 0 }

// begun and blocked apply only to leaves, because groups are worked on through their children. A run takes precedence
// over the plan.
func (w *waits) begun(i int32) bool {
	return w.runs[i] == RunLive || w.runs[i] == NoRun && w.items[i].Status == InProgress
}

func (w *waits) blocked(i int32) bool {
	return w.runs[i] == RunBlocked || w.runs[i] == NoRun && w.items[i].Status == Blocked
}

// unfinished reports whether a leaf is not done.
func (w *waits) unfinished(i int32) bool {
	switch w.runs[i] {
	case RunDone, RunProven:
		return false
	case RunLive, RunBlocked:
		return true
	case NoRun:
	}
	return w.items[i].Status != Completed && w.items[i].Status != Skipped
}

// heldAncestor returns the nearest ancestor with an unmet dependency, or -1.
func (w *waits) heldAncestor(i int32) int32 {
	if w.parent[i] < 0 {
		return -1
	}
	return w.held[w.parent[i]]
}

// upwards counts the children of each item, and returns an order with all children before their parents. Items that
// are their own ancestors become single items at the top.
func (w *waits) upwards() []int32 {
	n := len(w.items)
	for _, p := range w.parent {
		if p >= 0 {
			w.kids[p]++
		}
	}
	waiting := append([]int32(nil), w.kids...)
	order := make([]int32, 0, n)
	for i := range waiting {
		if waiting[i] == 0 {
			order = append(order, int32(i))
		}
	}
	for k := 0; k < len(order); k++ {
		if p := w.parent[order[k]]; p >= 0 {
			if waiting[p]--; waiting[p] == 0 {
				order = append(order, p)
			}
		}
	}
	for i := range waiting {
		if waiting[i] > 0 { // only items on a circle still wait for a child
			w.kids[w.parent[i]]--
			w.parent[i] = -1
			order = append(order, int32(i))
		}
	}
	return order
}

// count counts the open leaves from the bottom up. A group with no open work except a run of its own becomes a leaf,
// so that other items can wait for it.
func (w *waits) count(order []int32) {
	for _, i := range order {
		if w.open[i] == 0 && (w.runs[i] == RunLive || w.runs[i] == RunBlocked) {
			w.kids[i] = 0
		}
		if w.leaf(i) && w.unfinished(i) {
			w.open[i] = 1
		}
		switch p := w.parent[i]; {
		case w.items[i].Optional:
		case p >= 0:
			w.open[p] += w.open[i]
		default:
			w.left += int(w.open[i])
		}
	}
}

// depend finds the unmet dependencies of each item.
func (w *waits) depend(places map[string]int32) {
	last := make([]int32, len(w.items)) // of each dependency, the last item that has it, counted from 1
	w.unmet.from = make([]int32, 1, len(w.items)+1)
	for i := range w.items {
		for _, id := range w.items[i].DependsOn {
			if d := placeOf(places, id); d >= 0 {
				w.depends(int32(i), d, last)
			}
		}
		for _, ids := range w.items[i].Behind {
			for _, d := range w.firstUnmet(places, ids) {
				w.depends(int32(i), d, last)
			}
		}
		w.unmet.end()
	}
}

// depends records that an item waits for another one that is not done, each once.
func (w *waits) depends(i, d int32, last []int32) {
	if w.done(d) || last[d] > i {
		return
	}
	last[d] = i + 1
	w.unmet.to = append(w.unmet.to, d)
}

// firstUnmet returns the first unfinished items of a list, at most mostCauses, which is enough to hold an item. It
// reads a shared list only once.
func (w *waits) firstUnmet(places map[string]int32, ids []string) []int32 {
	if len(ids) == 0 {
		return nil
	}
	if known, ok := w.prerequisites[&ids[0]]; ok {
		return known
	}
	var unmet []int32
	for _, id := range ids {
		if d := placeOf(places, id); d >= 0 && !w.done(d) {
			unmet = append(unmet, d)
		}
		if len(unmet) == mostCauses {
			break
		}
	}
	if w.prerequisites == nil {
		w.prerequisites = map[*string][]int32{}
	}
	w.prerequisites[&ids[0]] = unmet
	return unmet
}
