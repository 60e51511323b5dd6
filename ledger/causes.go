package ledger

// This file finds the blocked items behind a dependency. What a blocked leaf holds up is found from the leaf
// on, one leaf after the other in the order of the plan. An item that has heard of mostCauses of them hears
// of no more and passes no more on, and that loses nothing: whatever it would pass on to has heard of as many.
// So each item is passed at most so often, circles or not.

// A blocked leaf is passed on between two kinds of places: the place of an item, for what keeps the item from
// being done, and behind the places of all items a second row, for what keeps the leaves at and below an item
// from being begun.

// trace fills causes, if there is a blocked leaf at all.
func (w *waits) trace() {
	var ways edges
	for i := range w.items {
		if !w.leaf(int32(i)) || w.done(int32(i)) || !w.blocked(int32(i)) {
			continue
		}
		if w.causes == nil {
			w.causes = make([][]int32, 2*len(w.items))
			ways = w.ways()
		}
		w.pass(int32(i), &ways)
	}
}

// causesOf gives the blocked leaves that keep a dependency from being done, in the order of the plan.
func (w *waits) causesOf(d int32) []int32 {
	if w.causes == nil || int(d) >= len(w.items) {
		return nil
	}
	return w.causes[d]
}

// ways tells where each place passes on to.
func (w *waits) ways() edges {
	n := int32(len(w.items))
	var e edges
	e.from = make([]int32, 2*n+1)
	w.eachWay(func(from, _ int32) { e.from[from+1]++ })
	for i := range 2 * n {
		e.from[i+1] += e.from[i]
	}
	e.to = make([]int32, e.from[2*n])
	next := append([]int32(nil), e.from...)
	w.eachWay(func(from, to int32) {
		e.to[next[from]] = to
		next[from]++
	})
	return e
}

func (w *waits) eachWay(way func(from, to int32)) {
	n := int32(len(w.items))
	for i := range n {
		if w.leaf(i) && w.done(i) {
			continue
		}
		for _, d := range w.unmet.of(i) {
			if d < n {
				way(d, n+i)
			}
		}
		if p := w.parent[i]; p >= 0 {
			way(n+p, n+i)
			if !w.items[i].Optional {
				way(i, p)
			}
		}
		if w.leaf(i) {
			way(n+i, i)
		}
	}
}

// pass tells all that a blocked leaf holds up, and itself.
func (w *waits) pass(leaf int32, ways *edges) {
	var queue []int32
	hear := func(place int32) {
		heard := w.causes[place]
		if len(heard) == mostCauses || (len(heard) > 0 && heard[len(heard)-1] == leaf) {
			return
		}
		w.causes[place] = append(heard, leaf)
		queue = append(queue, place)
	}
	hear(leaf)
	for len(queue) > 0 {
		place := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, to := range ways.of(place) {
			hear(to)
		}
	}
}
