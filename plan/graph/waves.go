package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"waybill/plan"
	"waybill/plan/lex"
)

// This file reads waves of items in JSON: {"waves": [{"id": 0, "tasks": ["1"]}]}, {"waves": [["1"], ["2"]]},
// {"waves": {"0": ["1"]}}, and a single wave or a list of waves.

// wave is a group of items that can be worked on at the same time.
type wave struct {
	name  string // "" if it has none
	tasks []mention
	after []mention // the waves that it waits for, if it states any
	given bool
	at    int
}

// mention is a name in a drawing, with its offset in the plan.
type mention struct {
	name string
	at   int
}

// title returns the name of a wave for a message.
func (v *wave) title(k int) string {
	if v.name == "" {
		return "no. " + strconv.Itoa(k+1)
	}
	return lex.Clip(v.name)
}

// waveReader reads the JSON of one code fence.
type waveReader struct {
	waves []wave
	// fault is the first value that is not understood, and why.
	fault   string
	faultAt int
	depth   int
}

func (r *waveReader) refuse(v *lex.JSON, fault string) {
	if r.fault == "" {
		r.fault, r.faultAt = fault, v.From
	}
}

// readWaves adds all waves of a fence. After an error it adds none, because half of an order is a different order.
func (b *orders) readWaves(from, to int) {
	var r waveReader
	if at, err := lex.CheckJSON(b.rows.Text[from:to], true); err != nil {
		r.fault, r.faultAt = err.Error(), from+at
	} else {
		all := lex.JSON{Text: b.rows.Text, From: from, To: to}
		all.Values(func(v lex.JSON) {
			if v.Elements(func(one lex.JSON) { r.wave("", &one, true) }); !v.Is('[') {
				r.wave("", &v, true)
			}
		})
	}
	if r.fault == "" && len(r.waves) == 0 {
		r.fault, r.faultAt = `it has no waves such as {"waves": [{"id": 0, "tasks": ["1"]}]}`, from
	}
	if r.fault == "" {
		b.waves = append(b.waves, r.waves...)
		return
	}
	b.notes.Add(r.faultAt, plan.SeverityError, "graph_invalid", "this graph cannot be read, so it is ignored: "+lex.Clip(r.fault))
}

// wave reads a wave: an object, or a list of tasks. In an object at the top with a member "waves", that member is read
// instead.
func (r *waveReader) wave(name string, v *lex.JSON, top bool) {
	w := wave{name: name, at: v.From}
	is := name != "" || v.Is('[')
	switch {
	case v.Is('['):
		r.mentions(v, &w.tasks)
	case !v.Is('{'):
		r.refuse(v, "a wave must be an object or a list of ids")
	}
	v.Members(func(key, of lex.JSON) {
		switch key.Word() {
		case "waves":
			if top {
				r.nested(&of)
			}
		case "id", "wave", "number":
			var names []mention
			if r.mentions(&of, &names); len(names) == 1 {
				w.name, w.at = names[0].name, names[0].at
			}
			is = true
		case "tasks", "task_ids", "taskIds":
			r.mentions(&of, &w.tasks)
			is = true
		case "depends_on", "dependsOn", "dependencies":
			w.given = !of.Is('n')
			r.mentions(&of, &w.after)
		}
	})
	if is {
		r.waves = append(r.waves, w)
	}
}

// nested reads the member "waves": a list, or an object with one member per wave.
func (r *waveReader) nested(v *lex.JSON) {
	v.Elements(func(one lex.JSON) { r.wave("", &one, false) })
	v.Members(func(name, one lex.JSON) { r.wave(name.Word(), &one, false) })
	if !v.Is('[') && !v.Is('{') {
		r.refuse(v, "waves are a list")
	}
}

// mentions reads a name, a list of names, or a list of objects with ids. Numbers keep their spelling.
func (r *waveReader) mentions(v *lex.JSON, to *[]mention) {
	const deepest = 8
	if name := lex.Trim(v.Word()); name != "" {
		*to = append(*to, mention{name, v.From})
	} else if v.Is('t') || v.Is('f') || r.depth > deepest {
		r.refuse(v, "this is no id")
	}
	r.depth++
	v.Elements(func(one lex.JSON) { r.mentions(&one, to) })
	v.Members(func(key, of lex.JSON) {
		if key.Word() == "id" {
			r.mentions(&of, to)
		}
	})
	r.depth--
}

// settleWaves makes the items of each wave wait for earlier waves.
func (b *orders) settleWaves() {
	if len(b.waves) == 0 {
		return
	}
	place := b.merge()
	of := b.enlist()
	all := make([]stage, len(b.waves))
	for k := range b.waves {
		all[k] = stage{after: b.waveAfter(k, place), at: b.waves[k].at}
	}
	for i, k := range of {
		// An optional or skipped item does not hold up other items.
		if e := &b.rows.Entries[i]; k >= 0 && e.Status != plan.Skipped && !e.Optional {
			all[k].ids = append(all[k].ids, e.ID)
		}
	}
	for _, circle := range b.wall(all, of) {
		const most = 12
		var text strings.Builder
		for at, k := range circle[:min(len(circle), most)] {
			text.WriteString(b.waves[k].title(int(circle[at])) + " -> ")
		}
		if len(circle) > most {
			fmt.Fprintf(&text, "… %d more … -> ", len(circle)-most)
		}
		first := &b.waves[circle[0]]
		b.notes.Add(first.at, plan.SeverityError, "dependency_cycle",
			"these waves wait for each other: "+text.String()+first.title(int(circle[0])))
	}
}

// merge joins the waves with the same name, and sorts them by number if all have one. It returns the place of each
// name.
func (b *orders) merge() map[string]int32 {
	place := map[string]int32{}
	var waves []wave
	for _, one := range b.waves {
		at, again := place[one.name]
		if one.name == "" || !again {
			place[one.name] = int32(len(waves))
			waves = append(waves, one)
			continue
		}
		first := &waves[at]
		b.notes.Add(one.at, plan.SeverityWarning, "graph_repeats",
			fmt.Sprintf("wave %s is on line %d and again on line %d: they are read as one wave", lex.Clip(one.name), b.line(first.at), b.line(one.at)))
		first.tasks, first.after = append(first.tasks, one.tasks...), append(first.after, one.after...)
		first.given = first.given || one.given
	}
	delete(place, "")
	if !slices.ContainsFunc(waves, func(v wave) bool { _, err := strconv.Atoi(v.name); return err != nil }) {
		slices.SortStableFunc(waves, func(a, b wave) int {
			x, _ := strconv.Atoi(a.name)
			y, _ := strconv.Atoi(b.name)
			return x - y
		})
		for k := range waves {
			place[waves[k].name] = int32(k)
		}
	}
	b.waves = waves
	return place
}

// line returns the number of the line of an offset.
func (b *orders) line(at int) int {
	before := strings.ReplaceAll(b.rows.Text[:at], "\r\n", "\n")
	return 1 + strings.Count(before, "\n") + strings.Count(before, "\r")
}

// enlist assigns items to waves. The first wave that names an item counts. A parent is in no wave if an item below it
// is in another one, because each of the two would wait for the other.
func (b *orders) enlist() []int32 {
	entries := b.rows.Entries
	of, named := make([]int32, len(entries)), make([]int, len(entries))
	for i := range of {
		of[i] = -1
	}
	for k := range b.waves {
		for _, task := range b.waves[k].tasks {
			i := b.drawn(task.name)
			switch {
			case i < 0:
				b.reportUnknown(task.name, task.at)
			case of[i] >= 0:
				b.notes.Add(task.at, plan.SeverityWarning, "graph_repeats",
					fmt.Sprintf("%s is in a wave on line %d and again on line %d: the first one counts", entries[i].ID, b.line(named[i]), b.line(task.at)))
			default:
				of[i], named[i] = int32(k), task.at
			}
		}
	}
	const mixed = -2 // the items below an item are in several waves
	below := make([]int32, len(entries))
	parent := make([]int32, len(entries))
	for i := range entries {
		below[i], parent[i] = -1, entries[i].Parent
	}
	order, _ := upwards(parent)
	for _, i := range order {
		whole := below[i]
		if own := of[i]; own >= 0 && whole == -1 {
			whole = own
		} else if own >= 0 && whole != own {
			b.notes.Add(named[i], plan.SeverityWarning, "graph_contradicts",
				fmt.Sprintf("%s is in one wave and items below it are in another: only the items below it count", entries[i].ID))
			of[i] = -1
		}
		if p := parent[i]; p >= 0 && whole != -1 {
			if below[p] != -1 && below[p] != whole {
				whole = mixed
			}
			below[p] = whole
		}
	}
	return of
}

// waveAfter returns the waves before a wave: those that it states, or else the previous one. It may state items instead.
func (b *orders) waveAfter(k int, place map[string]int32) (after []int32) {
	w := &b.waves[k]
	if !w.given && k > 0 {
		after = []int32{int32(k) - 1}
	}
	for _, name := range w.after {
		if at, known := place[name.name]; known {
			after = append(after, at)
			continue
		}
		if first := b.drawn(name.name); first >= 0 { // the dependencies are items
			for _, task := range w.tasks {
				if second := b.drawn(task.name); second >= 0 {
					b.cross([]int32{first}, []int32{second}, name.at)
				}
			}
			continue
		}
		b.notes.Add(name.at, plan.SeverityWarning, "dependency_unresolved",
			fmt.Sprintf("wave %s waits for wave %q, which does not exist", w.title(k), lex.Clip(name.name)))
	}
	slices.Sort(after)
	return slices.Compact(after)
}
