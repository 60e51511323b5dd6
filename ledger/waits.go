package ledger

// This file finds out what the items of a plan wait for. Nothing here recurses, and whatever a reading says,
// circles included, costs in proportion to its items and dependencies: a plan is somebody's text.

// waits is what is known about the items while Ready looks at them. An item is known by its place; the ids
// that the plan does not have are counted on behind the last item.
type waits struct {
	items   []Item
	runs    []ItemRun
	parent  []int32             // -1 at the top
	kids    []int32             // how many children an item has that it is worked on through
	open    []int32             // how many required leaves at and below an item are not done
	unmet   edges               // the own dependencies of each item that are not done, each once
	unknown []string            // the ids that the plan does not have
	walls   map[*string][]int32 // of lists that many items wait for, the first items that are not done
	held    []int32             // the nearest of the item and its ancestors with an unmet dependency, -1 for none
	causes  [][]int32
	left    int

	// What explain writes. An entry of told or named that equals asked means: for this item, already.
	holds       []Hold
	told, named []int32
	asked       int32
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
	w.told = make([]int32, n+len(w.unknown))
	w.holds = make([]Hold, 0, n+len(w.unmet.to)) // often enough
	w.trace()
	return w
}

// placesOf gives the place of the first item with each id.
func placesOf(items []Item) map[string]int32 {
	places := make(map[string]int32, len(items))
	for i := range items {
		if _, taken := places[items[i].ID]; !taken {
			places[items[i].ID] = int32(i)
		}
	}
	return places
}

// placeOf gives the place of an id, -1 for one that the plan does not have.
func placeOf(places map[string]int32, id string) int32 {
	if i, ok := places[id]; ok {
		return i
	}
	return -1
}

// of gives the edges that leave an item.
func (e *edges) of(i int32) []int32 { return e.to[e.from[i]:e.from[i+1]] }

func (w *waits) leaf(i int32) bool { return w.kids[i] == 0 }

func (w *waits) done(i int32) bool { return w.open[i] == 0 }

// begun and blocked are asked of leaves only: a group is worked on through its children. What the plan says
// counts where no run does.
func (w *waits) begun(i int32) bool {
	return w.runs[i] == RunLive || w.runs[i] == NoRun && w.items[i].Status == InProgress
}

func (w *waits) blocked(i int32) bool {
	return w.runs[i] == RunBlocked || w.runs[i] == NoRun && w.items[i].Status == Blocked
}

// unfinished reports whether a leaf is still to be done.
func (w *waits) unfinished(i int32) bool {
	switch w.runs[i] {
	case RunDone:
		return false
	case RunLive, RunBlocked:
		return true
	case NoRun:
	}
	return w.items[i].Status != Completed && w.items[i].Status != Skipped
}

func (w *waits) name(d int32) string {
	if n := int32(len(w.items)); d >= n {
		return w.unknown[d-n]
	}
	return w.items[d].ID
}

// heldAncestor gives the nearest ancestor that has an unmet dependency, -1 for none.
func (w *waits) heldAncestor(i int32) int32 {
	if w.parent[i] < 0 {
		return -1
	}
	return w.held[w.parent[i]]
}

// upwards counts the children of each item and gives an order in which all stand before their parents. Items
// that are their own ancestors stand at the top, each for itself.
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
		if waiting[i] > 0 { // only those on a circle are still waiting for a child
			w.kids[w.parent[i]]--
			w.parent[i] = -1
			order = append(order, int32(i))
		}
	}
	return order
}

// count counts what is left, from the leaves up. A group of which nothing is left but a run of its own becomes
// a leaf, so that it can be waited for.
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
	strangers := map[string]int32{}
	w.unmet.from = make([]int32, 1, len(w.items)+1)
	for i := range w.items {
		for _, id := range w.items[i].DependsOn {
			d := placeOf(places, id)
			if d < 0 {
				if d = strangers[id]; d == 0 {
					d = int32(len(last))
					strangers[id], last = d, append(last, 0)
					w.unknown = append(w.unknown, id)
				}
			}
			w.depends(int32(i), d, last)
		}
		for _, ids := range w.items[i].Behind {
			for _, d := range w.firstUnmet(places, ids) {
				w.depends(int32(i), d, last)
			}
		}
		w.unmet.end()
	}
}

// depends notes that an item waits for another one, once, unless that is done.
func (w *waits) depends(i, d int32, last []int32) {
	if int(d) < len(w.items) && w.done(d) || last[d] > i {
		return
	}
	last[d] = i + 1
	w.unmet.to = append(w.unmet.to, d)
}

// firstUnmet gives the first items of a list that are not done, at most mostCauses: the others behind
// them hold nobody up who is not held up already. It looks at each list once, however many items share it.
func (w *waits) firstUnmet(places map[string]int32, ids []string) []int32 {
	if len(ids) == 0 {
		return nil
	}
	if known, ok := w.walls[&ids[0]]; ok {
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
	if w.walls == nil {
		w.walls = map[*string][]int32{}
	}
	w.walls[&ids[0]] = unmet
	return unmet
}
