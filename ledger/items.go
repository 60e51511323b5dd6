package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// This file makes items of the checkboxes of a numbered plan, and says why of those that are none.

func (n *numbered) label(ln *line, b *box) (id, title string) {
	if n.g.label == nil {
		return b.label(ln.text)
	}
	n.tags = tags{}
	own := *b // what a function value is handed goes to the heap, in plans of digits too
	id, title = n.g.label(n, ln, &own)
	*b = own
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
	if id == "" {
		n.nameless(ln, m, b, title)
		return
	}
	n.add(ln, m, b, id, title)
	if !n.underscored() {
		return
	}
	if at, key, value := firstField(title, 0); key != fieldNone {
		n.entitle(trimRight(title[:at]))
		n.fields(ln, title, key, value)
	}
}

// add makes the item of a checkbox; lines belong to it from now on.
func (n *numbered) add(ln *line, m *marker, b *box, id, title string) {
	n.closeItem()
	n.head = taskHeading{}
	n.ownerIndent = ln.indent
	if n.item != nil {
		n.owner = 0
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
	e.id, e.optional, e.line = id, b.optional, int32(ln.number)
	e.from, e.mark, e.markEnd = int32(ln.start), int32(ln.start+b.open+1), int32(ln.start+b.close)
	if e.place = ln.place; e.place != placeText {
		e.mask = int32(n.mask)
	}
	e.status = n.status(ln, b)
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
	}
	if n.g.remark != nil {
		n.g.remark(n, ln, *b)
	}
}

// descend enters the new item into the tree of a plan that has boxes without id.
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
			fmt.Sprintf("this task has no id of its own and is named %s, after what it stands below", e.id))
	} else if n.g.headed {
		n.below(ln, e, parent)
	}
	if e.parent < 0 {
		e.parent = n.lineage.leader(int32(n.owner))
	}
}

// takesNameless reports whether a box without id is an item with a derived one.
func (n *numbered) takesNameless(b *box) bool {
	// Only the item itself comes first when its lines are read again.
	return n.g.unnumbered && (n.item != nil && n.owner < 0 || n.sections.kind == sectionTasks)
}

// tags is what the label of a box says besides id and title.
type tags struct {
	parallel, withdrawn bool
	stories             []string
	waits               string
	details             []string
	// leads says that the item is the parent of what stands below it, named
	// after name. level is that of a heading, 0 for what stands above all.
	leads bool
	level int
	name  string
}

// tagged gives the item what its tags say.
func (n *numbered) tagged() {
	t := &n.tags
	if t.waits != "" {
		n.set(fieldDepends, t.waits)
	}
	if n.item != nil {
		n.item.Parallel = n.item.Parallel || t.parallel
		n.item.Requirements = append(n.item.Requirements, t.stories...)
		for _, detail := range t.details {
			n.note(detail, false)
		}
		n.notes.wrapping = false
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
			fmt.Sprintf("id %s stands in line %d and again in line %d: the first is meant when the id is named",
				id, n.r.entries[first].line, ln.number))
	}
}

// addBare makes an item of a line without checkbox.
func (n *numbered) addBare(ln *line, id, title string, status Status) {
	n.closeItem()
	n.head = taskHeading{}
	n.ownerIndent = ln.indent
	if n.item != nil {
		n.owner = 0
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

// worded notes which part of the line says the status of the new item, which has no box.
func (n *numbered) worded(ln *line, from, to int) {
	if n.item != nil {
		return
	}
	e := &n.r.entries[n.owner]
	e.mark, e.markEnd, e.worded = int32(ln.start+from), int32(ln.start+to), true
}

// newEntry returns the entry of the next item, which is the owner of the lines
// to come. Mostly there is room for it, and what lies there is zero.
func (n *numbered) newEntry(ln *line) *entry {
	n.owner = n.r.Len()
	if n.owner == cap(n.r.entries) {
		n.r.entries = slices.Grow(n.r.entries, n.owner+16)
	}
	n.r.entries = n.r.entries[:n.owner+1]
	n.nodes = append(n.nodes, node{indent: int32(ln.indent)})
	return &n.r.entries[n.owner]
}

// status reads the mark in the box; some marks wait for the dialect.
func (n *numbered) status(ln *line, b *box) Status {
	mark := b.mark(ln.text)
	if len(mark) == 1 {
		if status := n.g.usual(mark[0]); status == InProgress {
			return n.means(ln, b, InProgress, "")
		} else if status != 0 {
			return status
		}
	}
	if m, ok := n.unusual(mark); ok {
		return n.means(ln, b, m.status, m.warning)
	}
	if mark != "" && blankAt(mark, 0) == 0 {
		n.report(ln, b.open+1, SeverityWarning, "unknown_mark",
			fmt.Sprintf("the mark %q has no meaning here, so the item is open: use %s", mark, n.g.usable))
	}
	return Pending
}

// unusual is what a mark means that not every plan has.
func (n *numbered) unusual(mark string) (m meaning, ok bool) {
	if status, ok := n.explained(mark); ok {
		return meaning{mark: mark, status: status}, true
	}
	for _, m := range n.g.marks {
		if mark == m.mark {
			return m, true
		}
	}
	return meaning{}, false
}

func (n *numbered) means(ln *line, b *box, status Status, warning string) Status {
	if warning != "" {
		n.report(ln, b.open+1, SeverityWarning, "ambiguous_mark", warning)
	}
	switch {
	case status == 0:
		n.tildes = append(n.tildes, int32(n.owner))
		return Pending
	case status == InProgress && n.r.active < 0:
		n.r.active = int32(n.owner)
	}
	return status
}

// remark reports what is odd about a checkbox that is an item all the same.
func (n *numbered) remark(ln *line, m *marker, b *box, id, title string) {
	if b.optional {
		n.seen.see(signalStar, ln.number)
	}
	if rest := b.rest(ln.text); n.g.label != nil && !strings.HasPrefix(rest, id) || n.r.entries[n.owner].derivedID {
		id, title = "", rest
	} else {
		id += n.g.stop()
	}
	if b.tight || b.mark(ln.text) == "" {
		n.report(ln, b.open, SeverityWarning, "malformed_checkbox",
			fmt.Sprintf("write %q, with one space between the parts", "- [ ] "+id+clip(title)))
	}
	if ln.quoted() {
		n.report(ln, b.open, SeverityInfo, "quoted_checkbox", "this task stands in a block quote")
	}
	if m.kind == markerHeading && !n.g.headed && !n.g.tracked {
		n.report(ln, b.open, SeverityInfo, "dialect_drift", "this task is a heading: a list item is usual")
	}
	if ln.place != placeText {
		n.report(ln, b.open, SeverityWarning, ln.place.code(),
			fmt.Sprintf("this checkbox stands in %s and counts only because the plan refers to %s", ln.place, n.r.entries[n.owner].id))
	}
}

func (p place) code() string {
	if p == placeComment {
		return "checkbox_in_comment"
	}
	return "checkbox_in_fence"
}

// String names the place in a message.
func (p place) String() string {
	if p == placeComment {
		return "a comment"
	}
	return "a code fence"
}

// hiddenBox is no task, but it may be a line of a prompt.
func (n *numbered) hiddenBox(ln *line, b *box, id, title string) {
	n.refuse(ln, b, SeverityInfo, ln.place.code(),
		fmt.Sprintf("a checkbox in %s is no task: %q", ln.place, clip(title)))
	if id != "" {
		if n.hidden == nil {
			n.hidden = map[string]bool{}
		}
		n.hidden[id] = true
	}
	if ln.place == placeFence {
		n.fenced(ln)
	}
}

// nameless is a checkbox without id. The heading above may have the id, where
// the box stands before the first field of the task.
func (n *numbered) nameless(ln *line, m *marker, b *box, title string) {
	if _, _, ok := labelled(title); ok && n.head.id != "" {
		n.adopt(ln, m, b, len(ln.text)-len(title))
		return
	}
	if !explains(title) && n.takesNameless(b) {
		n.add(ln, m, b, "", title)
		return
	}
	n.namelessSignals(ln, b)
	n.refuseNameless(ln, b, title)
	if n.field.literal && n.takes(ln, m) {
		n.goOn(ln)
		return
	}
	if n.owner >= 0 && ln.indent > n.ownerIndent {
		n.closeField()
		n.notes.wrapping = false
		if !n.shadowed(ln) {
			n.shadow = ln.indent
		}
		return
	}
	n.closeItem()
}

// refuseNameless says why a checkbox without id is no task.
func (n *numbered) refuseNameless(ln *line, b *box, title string) {
	switch mark := b.mark(ln.text); {
	case n.sections.kind == sectionAcceptance:
		n.refuse(ln, b, SeverityInfo, "not_a_task_section",
			fmt.Sprintf("%q stands below %q, where boxes are no tasks", clip(title), clip(n.sections.name)))
	case n.sections.kind == sectionOther:
		n.refuse(ln, b, SeverityInfo, "not_a_task_section",
			fmt.Sprintf("%q stands outside the section %q: elsewhere boxes are no tasks", clip(title), subtasksHeading))
	case n.sections.kind == sectionLegend, explains(title), n.g.label != nil && (mark == "P" || mark == "p"):
		n.refuse(ln, b, SeverityInfo, "legend_line", fmt.Sprintf("this line explains a mark or a tag: %q", clip(title)))
	default:
		n.refuse(ln, b, SeverityWarning, "checkbox_without_id", fmt.Sprintf("no id: %q: %s", clip(title), n.g.wanted))
	}
}

// adopt makes an item of a box with a field behind it and the heading above.
// The field begins at the index.
func (n *numbered) adopt(ln *line, m *marker, b *box, from int) {
	head := n.head
	n.adopted = true
	n.add(ln, m, b, head.id, head.title)
	if n.item == nil {
		n.r.entries[n.owner].from = int32(head.start)
	}
	n.report(ln, b.open, SeverityInfo, "dialect_drift",
		fmt.Sprintf("id %s was taken from the heading in line %d: it belongs behind the box", head.id, head.line))
	n.describe(ln, from, markerBullet)
}

// shadowed reports whether the line is about a checkbox without id.
func (n *numbered) shadowed(ln *line) bool {
	if n.shadow >= 0 && ln.indent <= n.shadow {
		n.shadow = -1
	}
	return n.shadow >= 0
}

// lost returns the ids that the plan waits for and that only a fence or a comment has.
func (n *numbered) lost() map[string]bool {
	var lost map[string]bool
	if n.hidden == nil {
		return nil
	}
	look := func(ids []string) {
		for _, id := range ids {
			if !n.hidden[id] || n.r.find(id) >= 0 {
				continue
			}
			if lost == nil {
				lost = map[string]bool{}
			}
			lost[id] = true
		}
	}
	for i := range n.r.waits {
		look(n.r.waits[i].ids)
	}
	look(n.strangers)
	return lost
}

// settleTildes gives the items with the mark "~" the meaning of the dialect.
func (n *numbered) settleTildes() {
	status, warning := tilde(n.r.Dialect)
	for _, i := range n.tildes {
		n.r.entries[i].status = status
		if warning != "" {
			n.about(i, SeverityWarning, "ambiguous_mark", warning)
		}
	}
}
