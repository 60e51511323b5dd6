package plan

import (
	"fmt"
	"slices"
)

// This file creates items from checkboxes.

// labelOf parses the text after a checkbox.
func (n *numbered) labelOf(ln *line, b *box) (id, title string) {
	if n.g.label == nil {
		return b.label(ln.text)
	}
	n.tags = tags{}
	own := *b // a copy, because arguments of a function value escape to the heap
	id, title = n.g.label(n, ln, &own)
	*b = own
	if id != "" && n.tags.waits == "" {
		n.tags.waits = mentioned(title)
	}
	return id, title
}

func (n *numbered) checkbox(ln *line, m *marker, b *box) {
	n.r.Checkboxes++
	id, title := n.label(ln, b)
	if ln.place != placeText && !n.keep[id] {
		n.hiddenBox(ln, b, id, title)
		return
	}
	switch {
	case m.kind != markerHeading:
	case n.g.headed:
		n.boxedHeading(ln, m, b, id, title)
		return
	case n.g.tracked:
		n.track(m.after-ln.body, title)
	}
	if id == "" || n.item != nil && n.owner >= 0 {
		n.nameless(ln, m, b, title)
		return
	}
	n.add(ln, m, b, id, title)
	n.entitled(ln, title)
}

// entitled parses the title of the new item for fields and dependencies.
func (n *numbered) entitled(ln *line, title string) {
	key, value, name := fieldNone, 0, title
	if n.hasField() || n.joined(title) {
		var at int
		if at, key, value = firstField(title, 0); key != fieldNone {
			name = trimRight(title[:at])
			n.entitle(name)
		}
	}
	if n.g.label == nil && n.item == nil && n.says() {
		n.set(fieldDepends, mentioned(name))
	}
	if key != fieldNone {
		n.fields(ln, title, key, value)
	}
}

// joined reports whether a title may contain a field without white space before it.
func (n *numbered) joined(title string) bool {
	return n.g.label != nil || n.tags.withdrawn || title != "" && title[0] == '_'
}

// add creates the item of a checkbox. The following lines belong to it.
func (n *numbered) add(ln *line, m *marker, b *box, id, title string) {
	n.closeItem()
	if n.head.id != "" {
		n.head = taskHeading{}
	}
	n.ownerIndent = ln.indent
	if n.item != nil {
		n.own(ln)
		n.entitle(title)
		n.tagged()
		return
	}
	var parent int32
	if n.g.unnumbered {
		parent = n.parent(ln.indent)
	}
	e := n.newEntry(ln)
	e.derivedID = id == ""
	if e.derivedID && n.tags.leads {
		id, parent = n.lead(), -1
	} else if e.derivedID {
		id = n.derive(parent)
	}
	e.id = id
	n.boxed(e, ln, b)
	n.enter(ln, b.open+1, id)
	if n.g.label == nil {
		n.itemSignals(ln, id, title)
	}
	if b.optional || b.tight || b.close == b.open+1 || m.kind != markerBullet || ln.margin > 0 || ln.place != placeText {
		n.remark(ln, m, b, id, title)
	}
	if n.g.label != nil {
		n.tagged()
		n.descend(ln, b.open, parent)
	} else if n.tags.withdrawn {
		n.tagged()
	}
	if n.g.remark != nil {
		n.g.remark(n, ln, *b)
	}
}

// boxed sets the status and the mark of an item from its checkbox.
func (n *numbered) boxed(e *entry, ln *line, b *box) {
	e.optional, e.line = b.optional, int32(ln.number)
	e.from, e.mark, e.markEnd = int32(ln.start), int32(ln.start+b.open+1), int32(ln.start+b.close)
	if e.place = ln.place; e.place != placeText {
		e.mask = int32(n.mask)
	}
	e.status = n.status(ln, b)
}

// descend adds the new item to the tree of a plan with checkboxes without ids.
func (n *numbered) descend(ln *line, index int, parent int32) {
	e := &n.r.entries[n.owner]
	n.nodes[n.owner].section = int32(n.headings)
	if !n.g.unnumbered {
		return
	}
	n.lineage.above = append(n.lineage.above, int32(n.owner))
	if e.derivedID {
		e.parent = parent
		n.report(ln, index, SeverityInfo, "derived_id",
			fmt.Sprintf("this task has no id of its own: its id is %s", e.id))
	} else if n.g.headed {
		n.below(ln, e, parent)
	}
	if e.parent < 0 {
		e.parent = n.lineage.leader(int32(n.owner))
	}
}

// takesNameless reports whether a box without id is an item with a derived one.
func (n *numbered) takesNameless(ln *line, m *marker) bool {
	switch {
	case !n.g.unnumbered:
		return false
	case n.item != nil:
		return n.owner < 0 // when its lines are read again, only the item itself comes first
	case n.g == &groupedGrammar && !n.inGroup(ln, m):
		return false
	}
	return n.sections.kind == sectionTasks || n.sections.kind == sectionLegend
}

// tags are the parts of a checkbox label other than id and title.
type tags struct {
	parallel, withdrawn bool
	stories             []string
	waits               string
	details             []string
	// leads makes the item the parent of the lines below it, named after name. level is the level of its heading, or 0
	// for the top of the file.
	leads bool
	level int
	name  string
}

// tagged sets the fields of the item from its tags.
func (n *numbered) tagged() {
	t := &n.tags
	if t.waits != "" {
		n.set(fieldDepends, t.waits)
	}
	if n.item != nil {
		n.item.Parallel = n.item.Parallel || t.parallel
		n.item.Requirements = append(n.item.Requirements, t.stories...)
		for _, detail := range t.details {
			n.noteAlone(detail)
		}
		return
	}
	if t.withdrawn {
		n.r.entries[n.owner].status = Skipped
		n.r.entries[n.owner].withdrawn = true
		if n.r.active == int32(n.owner) {
			n.r.active = -1
		}
	}
}

// enter puts the new item where it belongs.
func (n *numbered) enter(ln *line, index int, id string) {
	if first := n.place(int32(n.owner), id); first != int32(n.owner) {
		n.report(ln, index, SeverityError, "duplicate_id",
			fmt.Sprintf("id %s is on line %d and again on line %d: the id refers to the first one",
				id, n.r.entries[first].line, ln.number))
	}
}

// addBare creates an item from a line without a checkbox.
func (n *numbered) addBare(ln *line, id, title string, status Status) {
	n.closeItem()
	n.head = taskHeading{}
	n.ownerIndent = ln.indent
	if n.item != nil {
		n.own(ln)
		n.entitle(title)
		return
	}
	parent := n.parent(ln.indent)
	e := n.newEntry(ln)
	if e.derivedID = id == ""; e.derivedID {
		id = n.derive(parent)
	}
	e.id, e.line, e.from, e.status = id, int32(ln.number), int32(ln.start), status
	if status == InProgress && n.r.active < 0 {
		n.r.active = int32(n.owner)
	}
	n.enter(ln, ln.body, id)
	n.descend(ln, ln.body, parent)
}

// worded records the position of the status text of the new item, which has no checkbox.
func (n *numbered) worded(ln *line, from, to int) {
	if n.item != nil {
		return
	}
	e := &n.r.entries[n.owner]
	e.mark, e.markEnd, e.worded = int32(ln.start+from), int32(ln.start+to), true
}

// newEntry returns the entry of the next item, and makes it the owner of the following lines. Unused capacity of the
// slice is already zero.
func (n *numbered) newEntry(ln *line) *entry {
	n.owner = n.r.Len()
	if n.owner == cap(n.r.entries) {
		n.r.entries = slices.Grow(n.r.entries, n.owner+16)
	}
	n.r.entries = n.r.entries[:n.owner+1]
	n.nodes = append(n.nodes, node{indent: int32(ln.indent)})
	return &n.r.entries[n.owner]
}
