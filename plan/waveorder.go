package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file orders the waves of a graph and assigns the items to them.

// waveOrder is the set of waves of a plan, each name once.
type waveOrder struct {
	*orders
	waves []wave
	place map[string]int32 // index of the wave with a name
	deps  [][]int32        // the dependencies of each wave
	of    []int32          // the wave of each item, -1 for none
	group []int32          // the group of each wave, -1 for a wave without items to wait for
}

// settle sets the prerequisite of each item in a wave.
func (o *orders) settle() {
	if len(o.waves) == 0 {
		return
	}
	w := waveOrder{orders: o, place: map[string]int32{}}
	w.merge()
	w.enlist()
	w.rank()
	w.connect()
	w.build()
}

// merge joins all waves with the same name.
func (w *waveOrder) merge() {
	for _, one := range w.orders.waves {
		at, again := w.place[one.name]
		if one.name == "" || !again {
			if one.name != "" {
				w.place[one.name] = int32(len(w.waves))
			}
			w.waves = append(w.waves, one)
			continue
		}
		first := &w.waves[at]
		w.report(one.at, SeverityWarning, "graph_repeats",
			fmt.Sprintf("wave %s is on line %d and again on line %d: they are read as one wave", clip(one.name), first.at.line, one.at.line))
		first.tasks, first.after = append(first.tasks, one.tasks...), append(first.after, one.after...)
		first.given = first.given || one.given
	}
}

// enlist assigns items to waves. The first wave that names an item counts.
func (w *waveOrder) enlist() {
	w.of = make([]int32, w.n.r.Len())
	for i := range w.of {
		w.of[i] = -1
	}
	named := make(map[int32]spot)
	for k := range w.waves {
		for _, task := range w.waves[k].tasks {
			i := w.find(task.name)
			if i < 0 {
				w.reportUnknown(task.name, task.at)
				continue
			}
			if first, again := named[i]; again {
				w.report(task.at, SeverityWarning, "graph_repeats",
					fmt.Sprintf("%s is in a wave on line %d and again on line %d: the first one counts", w.n.r.entries[i].id, first.line, task.at.line))
				continue
			}
			named[i], w.of[i] = task.at, int32(k)
		}
	}
	w.free(named)
}

// mixed means that the items below an item are in several waves.
const mixed = -2

// free removes a parent from its wave if an item below it is in another wave. Otherwise each of the two would wait for
// the other.
func (w *waveOrder) free(named map[int32]spot) {
	entries := w.n.r.entries
	deepest := make([]int32, len(entries))
	below := make([]int32, len(entries)) // the wave of all items below an item, or mixed
	for i := range deepest {
		deepest[i], below[i] = int32(i), -1
	}
	slices.SortStableFunc(deepest, func(a, b int32) int { return int(entries[b].level - entries[a].level) })
	for _, i := range deepest {
		whole := below[i]
		switch own := w.of[i]; {
		case own < 0 || whole == own:
		case whole == -1:
			whole = own
		default:
			w.report(named[i], SeverityWarning, "graph_contradicts",
				fmt.Sprintf("%s is in one wave and items below it are in another: only the items below it count", entries[i].id))
			w.of[i] = -1
		}
		if p := entries[i].parent; p >= 0 && whole != -1 {
			if below[p] != -1 && below[p] != whole {
				whole = mixed
			}
			below[p] = whole
		}
	}
}

// rank sorts waves by number, if all have one.
func (w *waveOrder) rank() {
	numbers := make([]int, len(w.waves))
	for k := range w.waves {
		number, err := strconv.Atoi(w.waves[k].name)
		if err != nil {
			return
		}
		numbers[k] = number
	}
	order := make([]int32, len(w.waves))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return numbers[a] - numbers[b] })
	waves, moved := make([]wave, len(order)), make([]int32, len(order))
	for to, from := range order {
		waves[to], moved[from] = w.waves[from], int32(to)
		w.place[waves[to].name] = int32(to)
	}
	for i, k := range w.of {
		if k >= 0 {
			w.of[i] = moved[k]
		}
	}
	w.waves = waves
}

// connect resolves the dependencies of each wave: those it states, or else the previous wave.
func (w *waveOrder) connect() {
	w.deps = make([][]int32, len(w.waves))
	for k := range w.waves {
		one := &w.waves[k]
		if !one.given && k > 0 {
			w.deps[k] = []int32{int32(k) - 1}
		}
		for _, after := range one.after {
			if at, known := w.place[after.name]; known {
				w.deps[k] = append(w.deps[k], at)
				continue
			}
			w.report(after.at, SeverityWarning, "dependency_unresolved",
				fmt.Sprintf("wave %s waits for wave %q, which does not exist", one.title(k), clip(after.name)))
		}
		slices.Sort(w.deps[k])
		w.deps[k] = slices.Compact(w.deps[k])
	}
}

// title returns the name of a wave for a message.
func (v *wave) title(k int) string {
	if v.name == "" {
		return "no. " + strconv.Itoa(k+1)
	}
	return clip(v.name)
}

// build creates the prerequisites, those of earlier waves first.
func (w *waveOrder) build() {
	b := &w.n.r.dependencyGroups
	members := make([][]string, len(w.waves))
	for i, k := range w.of {
		// An optional or skipped item does not hold up other items.
		if e := &w.n.r.entries[i]; k >= 0 && e.status != Skipped && !e.optional {
			members[k] = append(members[k], e.id)
		}
	}
	w.group = make([]int32, len(w.waves))
	for k := range members {
		if w.group[k] = -1; len(members[k]) > 0 {
			w.group[k] = b.addGroup(members[k])
		}
	}
	order, circular := w.sorted()
	ends, walls := make([][]int32, len(w.waves)), make([]int32, len(w.waves))
	for _, k := range order {
		groups := w.begin(k, ends)
		walls[k] = b.addPrerequisite(groups, circular[k])
		if ends[k] = groups; w.group[k] >= 0 {
			ends[k] = []int32{w.group[k]}
		}
	}
	w.n.prerequisite = make([]int32, len(w.of))
	for i, k := range w.of {
		if k >= 0 {
			w.n.prerequisite[i] = walls[k]
		}
	}
}

// begin returns the groups that must be done before a wave. It replaces a wave without items by the dependencies of
// that wave.
func (w *waveOrder) begin(k int32, ends [][]int32) []int32 {
	var groups []int32
	for _, d := range w.deps[k] {
		end := ends[d]
		if end == nil && w.group[d] >= 0 { // a circle: this wave comes later
			end = []int32{w.group[d]}
		}
		if len(w.deps[k]) == 1 {
			return end
		}
		if w.n.expanded += len(end); w.n.expanded > mostExpanded {
			w.tooMuch(w.waves[k].at)
			break
		}
		groups = append(groups, end...)
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// sorted returns the waves in dependency order, and which of them are in a circle. Those come last.
func (w *waveOrder) sorted() (order []int32, circular []bool) {
	left := make([]int, len(w.waves))
	next := make([][]int32, len(w.waves))
	for k := range w.waves {
		left[k] = len(w.deps[k])
		for _, d := range w.deps[k] {
			next[d] = append(next[d], int32(k))
		}
	}
	for k := range w.waves {
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
	circular = make([]bool, len(w.waves))
	w.circles(left, circular)
	for k := range w.waves {
		if left[k] > 0 {
			order = append(order, int32(k))
		}
	}
	return order, circular
}

// circles marks circles: from each remaining wave it follows one dependency, until it reaches a visited wave.
func (w *waveOrder) circles(left []int, circular []bool) {
	walk := make([]int, len(w.waves)) // the walk that visited a wave, counted from 1
	for root := range w.waves {
		var path []int32
		for k := int32(root); left[k] > 0; {
			if walk[k] > 0 {
				if walk[k] == root+1 {
					w.circle(path[slices.Index(path, k):], circular)
				}
				break
			}
			walk[k], path = root+1, append(path, k)
			k = w.deps[k][slices.IndexFunc(w.deps[k], func(d int32) bool { return left[d] > 0 })]
		}
	}
}

func (w *waveOrder) circle(path []int32, circular []bool) {
	const most = 12
	var b strings.Builder
	for i, k := range path {
		circular[k] = true
		if i < most {
			b.WriteString(w.waves[k].title(int(k)) + " -> ")
		}
	}
	if len(path) > most {
		fmt.Fprintf(&b, "… %d more … -> ", len(path)-most)
	}
	w.report(w.waves[path[0]].at, SeverityError, "dependency_cycle",
		"these waves wait for each other: "+b.String()+w.waves[path[0]].title(int(path[0])))
}
