// Package graph finds out in which order the items of a plan are worked on. It completes the tree of the items,
// resolves what they say that they wait for, finds circles, and computes which items are ready. It reads no file and
// knows no tool.
package graph

import (
	"fmt"
	"slices"

	"waybill/plan"
	"waybill/plan/lex"
)

// Input is what a reader found about the order of items. The zero value says nothing.
type Input struct {
	// Indent is the indent of each entry. An item without a parent becomes a child of the last item with less indent in
	// the same section, unless its indent is -1. Without Indent, the parents of the rows are complete.
	Indent  []int32
	Section []int32
	// Phases are the headings of the phases, and Phase is the number of the phase of each entry, 0 before the first.
	Phases []string
	Phase  []int32
	// Barriers means that a phase waits for the phases above it, unless the plan says otherwise.
	Barriers bool
	Phrases  []Phrase
	Orders   []Order
}

// Phrase is a text in which an item says what it waits for.
type Phrase struct {
	Item int32
	Kind PhraseKind
	Text string
}

// PhraseKind is the kind of a phrase.
type PhraseKind uint8

const (
	// Field is the value of a field or label with a Strong name.
	Field PhraseKind = iota
	// Loose is the value of one with a Weak name. It counts if it consists of ids.
	Loose
	// Title is a title, or a line that begins with words such as "Depends on".
	Title
)

// Settled is what Settle found besides the rows.
type Settled struct {
	// Totals count all items, without open work that is not an item.
	Totals plan.Totals
	// Unknown are names that the plan refers to and that no item has.
	Unknown []string
}

// Settle completes the rows: parents, levels, derived statuses, dependencies and groups.
func Settle(rows *plan.Rows, notes *plan.Remarks, in Input) Settled {
	b := builder{names: names{rows: rows}, notes: notes, in: in}
	if in.Indent != nil {
		b.parents()
	}
	b.tree()
	if len(in.Phases)+len(in.Phrases)+len(in.Orders)+len(rows.Waits) == 0 {
		return b.out
	}
	b.phases = phasesOf(rows, in)
	b.places = placesOf(b.phases)
	b.phrases()
	o := orders{builder: &b, stated: map[int32][]int32{}, alike: map[int32]int32{}}
	o.read()
	b.gather()
	b.check()
	return b.out
}

// builder is the state of one call of Settle.
type builder struct {
	names
	notes *plan.Remarks
	in    Input
	out   Settled
	own   [][]string // the ids that each item names, nil without any
	// prerequisite is the number of the prerequisite of each item, nil without any.
	prerequisite []int32
	full         bool // the excess of dependencies was already reported
}

// about reports a diagnostic at the mark of an item.
func (b *builder) about(i int32, severity plan.Severity, code, format string, args ...any) {
	e := &b.rows.Entries[i]
	at := e.Mark
	if e.MarkEnd == 0 {
		at = e.From
	}
	b.notes.Add(int(at), severity, code, fmt.Sprintf(format, args...))
}

// parents adds the parents that follow from indents. An item that is itself a parent stays at the top, because indents
// are unreliable in such a plan.
func (b *builder) parents() {
	entries := b.rows.Entries
	named := make([]bool, len(entries))
	for i := range entries {
		if p := entries[i].Parent; p >= 0 {
			named[p] = true
		}
	}
	var path []int32
	for i, indent := range b.in.Indent {
		if i > 0 && b.in.Section != nil && b.in.Section[i-1] != b.in.Section[i] {
			path = path[:0]
		}
		if indent < 0 {
			continue
		}
		for len(path) > 0 && b.in.Indent[path[len(path)-1]] >= indent {
			path = path[:len(path)-1]
		}
		if entries[i].Parent < 0 && !named[i] && len(path) > 0 {
			entries[i].Parent = path[len(path)-1]
		}
		path = append(path, int32(i))
	}
}

// kids is what the children of an item say about it.
type kids struct {
	statuses uint8 // one bit for each status
	any      bool
	open     int32 // the first child that delays the item, counted from 1
}

// tree sets levels, derived statuses and totals.
func (b *builder) tree() {
	entries := b.rows.Entries
	parent := make([]int32, len(entries))
	for i := range entries {
		parent[i] = entries[i].Parent
	}
	b.uncircle(parent)
	order, _ := upwards(parent)
	below := make([]kids, len(entries))
	for _, i := range order {
		e := &entries[i]
		status := e.Status
		if below[i].any {
			b.derive(i, &below[i])
			status = e.Derived
			b.out.Totals.Groups++
		} else {
			b.out.Totals.Add(status)
		}
		if e.Parent < 0 {
			continue
		}
		p := &below[e.Parent]
		p.any = true
		if e.Optional && status == plan.Pending {
			continue
		}
		p.statuses |= 1 << status
		if status.Open() && !e.Optional && (p.open == 0 || i+1 < p.open) {
			p.open = i + 1
		}
	}
	for _, i := range slices.Backward(order) {
		if entries[i].Level = 0; entries[i].Parent >= 0 {
			entries[i].Level = entries[entries[i].Parent].Level + 1
		}
	}
}

// uncircle removes the parent of one item in each circle of parents.
func (b *builder) uncircle(parent []int32) {
	visited := make([]int32, len(parent)) // the walk that visited an item, counted from 1
	for i := range parent {
		at := int32(i)
		for at >= 0 && visited[at] == 0 {
			visited[at] = int32(i) + 1
			at = parent[at]
		}
		if at < 0 || visited[at] != int32(i)+1 {
			continue
		}
		e := &b.rows.Entries[at]
		b.about(at, plan.SeverityError, "parent_cycle", "%s is its own ancestor, so its parent %s does not count", e.ID, b.rows.Entries[e.Parent].ID)
		e.Parent, parent[at] = -1, -1
	}
}

// derive sets the status that follows from the children of an item, and reports a contradiction to its own. Pending
// optional children do not count.
func (b *builder) derive(i int32, k *kids) {
	e := &b.rows.Entries[i]
	has := func(s plan.Status) bool { return k.statuses&(1<<s) != 0 }
	switch {
	case k.statuses == 0:
		e.Derived = e.Status
	case has(plan.InProgress), has(plan.Pending) && has(plan.Completed):
		e.Derived = plan.InProgress
	case has(plan.Pending):
		e.Derived = plan.Pending
	case has(plan.Blocked):
		e.Derived = plan.Blocked
	case has(plan.Completed):
		e.Derived = plan.Completed
	default:
		e.Derived = plan.Skipped
	}
	if e.Follows {
		if e.Status = e.Derived; e.Status == plan.InProgress && (b.rows.Active < 0 || i < b.rows.Active) {
			b.rows.Active = i
		}
	}
	switch {
	case !e.Status.Open() && k.open > 0:
		child := &b.rows.Entries[k.open-1]
		b.about(i, plan.SeverityWarning, "parent_child_conflict", "%s (%s) is %s, but %s (%s) below it is still open",
			e.ID, b.rows.Where(i), e.Status, child.ID, b.rows.Where(k.open-1))
	case e.Status.Open() && e.Derived == plan.Completed:
		b.about(i, plan.SeverityInfo, "parent_child_conflict", "%s (%s) is %s, but everything below it is completed",
			e.ID, b.rows.Where(i), e.Status)
	}
}

// phrases resolves what the items say themselves.
func (b *builder) phrases() {
	for _, p := range b.in.Phrases {
		text := p.Text
		if p.Kind == Title {
			text = b.mention(text)
		}
		r := b.read(text)
		if p.Kind == Loose && len(r.strange) > 0 {
			continue
		}
		for _, name := range r.strange {
			b.unresolved(p.Item, name)
		}
		if r.either && len(r.ids) > 0 {
			b.about(p.Item, plan.SeverityInfo, "dependency_alternatives",
				"%s is said to wait for one item or another: it waits for both", b.rows.Entries[p.Item].ID)
		}
		if b.need(p.Item, r.ids...); r.all {
			b.needOthers(p.Item)
		}
	}
}

func (b *builder) unresolved(i int32, name string) {
	b.about(i, plan.SeverityWarning, "dependency_unresolved", "%s waits for %q, which is not an id in this plan, so the dependency is ignored",
		b.rows.Entries[i].ID, lex.Clip(name))
}

// need adds dependencies of an item.
func (b *builder) need(i int32, ids ...string) {
	if len(ids) == 0 {
		return
	}
	if b.own == nil {
		b.own = make([][]string, len(b.rows.Entries))
	}
	b.own[i] = append(b.own[i], ids...)
}

// needOthers makes an item wait for all others, but not for those around it in the tree.
func (b *builder) needOthers(i int32) {
	around := map[int32]bool{i: true}
	for p := b.rows.Entries[i].Parent; p >= 0 && !around[p]; p = b.rows.Entries[p].Parent {
		around[p] = true
	}
	if b.expanded += len(b.rows.Entries); b.expanded > mostExpanded {
		return
	}
	for k := range b.rows.Entries {
		e := &b.rows.Entries[k]
		if e.Parent == i || e.Parent >= 0 && around[e.Parent] && e.Parent != b.rows.Entries[i].Parent {
			around[int32(k)] = true
		}
		if !around[int32(k)] {
			b.need(i, e.ID)
		}
	}
}

// gather writes the waits of the rows, in item order.
func (b *builder) gather() {
	before, pairs := b.rows.Waits, 0
	b.rows.Waits = nil
	for i := range b.rows.Entries {
		w := plan.Wait{Item: int32(i)}
		if len(before) > 0 && before[0].Item == w.Item {
			w.IDs, before = before[0].IDs, before[1:]
		}
		if b.own != nil {
			w.IDs = append(w.IDs[:len(w.IDs):len(w.IDs)], b.own[i]...)
		}
		if b.prerequisite != nil && b.prerequisite[i] > 0 {
			w.Prerequisite = b.prerequisite[i]
			for _, g := range b.rows.Groups.Prerequisites[w.Prerequisite-1].Groups {
				pairs += len(b.rows.Groups.IDs[g])
			}
		}
		if len(w.IDs) > 0 || w.Prerequisite > 0 {
			b.rows.Waits = append(b.rows.Waits, w)
		}
	}
	if b.rows.Groups.Wide = pairs > mostExpanded; b.rows.Groups.Wide {
		b.about(0, plan.SeverityInfo, "barrier_too_wide",
			"the phases or waves of this plan imply more than %d dependencies: depends_on does not list them, but they count", mostExpanded)
	}
}
