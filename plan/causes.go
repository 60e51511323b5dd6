package plan

// This file finds the blocked items behind a dependency. It visits the blocked leaves in plan order and propagates
// each one to the items that wait for it. An item accepts and propagates at most mostCauses leaves, so that the cost
// is bounded even with circles.

// The search propagates blocked leaves through a graph with two nodes for each item. The first node holds the leaves
// that keep the item from being done. The second node holds the leaves that keep the leaves at and below it from
// starting.

// trace fills causes, if there is a blocked leaf.
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

// causesOf returns the blocked leaves that keep a dependency from being done, in plan order.
func (w *waits) causesOf(d int32) []int32 {
	if w.causes == nil || int(d) >= len(w.items) {
		return nil
	}
	return w.causes[d]
}

// ways returns the edges along which each node propagates.
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

// pass propagates a blocked leaf to all nodes that it holds up, including its own.
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
