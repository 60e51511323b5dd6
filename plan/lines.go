package plan

import (
	"strings"
	"unicode/utf8"
)

// This file reads the lines below a task.

// textLine reads a line outside fences and comments without a checkbox.
func (n *numbered) textLine(ln *line, m *marker) {
	if m.kind == markerHeading && m.spaced(ln.text) && n.heading(ln, m) {
		return
	}
	n.mayExplain(ln)
	n.misdirected(ln, m)
	if m.next < len(ln.text) && ln.text[m.next] >= utf8.RuneSelf && (m.kind == markerNone || m.kind != markerHeading && m.spaced(ln.text)) {
		n.reportSign(ln, m)
	}
	if (n.grid.next == ln.number || ruled(ln, m)) && n.tabular(ln, m) {
		return
	}
	n.reportBox(ln, m)
	if n.g.text != nil && n.g.text(n, ln, *m) || n.owner < 0 || n.shadowed(ln) {
		n.belowBox(ln)
		if n.drawn != nil {
			n.drawn.text(ln, m)
		}
		return
	}
	if n.field.begun() {
		if n.takes(ln, m) {
			n.goOn(ln)
			return
		}
		n.closeField()
	}
	from, kind := ln.body, markerNone
	if m.spaced(ln.text) {
		kind = m.kind
		if kind == markerBullet {
			from = m.next
		}
	}
	n.describe(ln, from, kind)
}

// describe reads one line of a task's description. Its text begins at the index, after a bullet if there is one.
func (n *numbered) describe(ln *line, from int, kind markerKind) {
	text := ln.text[from:]
	if text == "" {
		return
	}
	if (text[0] == '_' || n.hasField()) && n.fieldsIn(ln, text) {
		return
	}
	bullet := kind == markerBullet || kind == markerOrdered
	if labelBegins[text[0]] {
		if n.labels(ln, text, kind) {
			return
		}
		if bullet || text[0] != 'd' { // the continuation of a sentence may begin with d
			n.remarked(text)
		}
	}
	if bullet && n.list.has(ln.indent) {
		n.set(n.list.key, text)
		return
	}
	n.list.key = fieldNone
	if bullet && strings.HasPrefix(text, "**Property ") {
		n.evidence.add(signalProperty, ln.number)
	}
	if n.item != nil {
		n.detailLine(ln, from, kind)
	}
}

// fieldsIn reads the fields of a line such as "_Requirements: 1.1_", and reports whether there are any.
func (n *numbered) fieldsIn(ln *line, text string) bool {
	at, key, value := firstField(text, 0)
	if key == fieldNone {
		if strings.HasPrefix(text, "_Boundary:") {
			n.evidence.add(signalBoundary, ln.number)
		}
		return false
	}
	if at > 0 {
		n.noteAlone(trimRight(text[:at]))
	}
	n.list.key = fieldNone
	n.fields(ln, text, key, value)
	return true
}

// labels reads a line such as "Files: a.go", and reports whether it is one.
func (n *numbered) labels(ln *line, text string, kind markerKind) bool {
	key, value, ok := labelled(text)
	if !ok {
		return false
	}
	n.endDetail()
	n.list.key = fieldNone
	n.set(key, value)
	indent := ln.indent
	if n.g.headed && kind == markerNone {
		indent-- // a list below a line of text may have the same indent
	}
	n.list.open(key, value, indent)
	return true
}

// heading ends the task above it, unless the heading is part of that task's text. It reports whether the line needs no
// further processing.
func (n *numbered) heading(ln *line, m *marker) bool {
	if n.item != nil && n.owner >= 0 {
		return false // every other line would have ended the item
	}
	if n.field.begun() && n.takes(ln, m) || n.owner >= 0 && ln.indent > n.ownerIndent && (!n.g.headed || ln.indent > mostIndented) {
		return false
	}
	n.closeItem()
	level, text := m.after-ln.body, headingText(ln, m)
	n.knownHeading(ln, level, text)
	n.headings++
	if n.g.headed {
		n.headHeading(ln, level, text)
		return true
	}
	n.head = readTaskHeading(text, ln)
	if n.item != nil && n.head.id == n.item.ID {
		n.owner, n.ownerIndent = 0, -1 // the checkbox with the id of this heading comes later
	}
	n.enterBoxless(ln, level, n.head)
	if n.g.label == nil {
		if level == 1 {
			n.evidence.tops++
		}
		n.sections.enter(level, text)
		n.titleSignals(ln, text)
		n.headSignals(ln, level, text)
		return true
	}
	if n.g.named != nil {
		text = n.g.named(text)
	}
	n.sections.enter(level, text)
	n.lineage.enter(level, text)
	if n.g.heading != nil {
		n.g.heading(n, ln, level, text)
	}
	return true
}

// knownHeading processes the headings with a meaning in several dialects.
func (n *numbered) knownHeading(ln *line, level int, text string) {
	if n.drawn != nil {
		n.drawn.leave(level)
	}
	switch {
	case beginsWith(text, "Task Dependency Graph"):
		n.evidence.add(signalGraph, ln.number)
		if n.g != &specKitGrammar {
			n.draw(level, false)
		}
	case equalWord(text, "Relevant Files"):
		n.evidence.add(signalRelevant, ln.number)
	case equalWord(text, "Implementation Plan"):
		n.evidence.add(signalHeading, ln.number)
	}
}

// masked reads a line in a code fence or a comment.
func (n *numbered) masked(ln *line, m *marker) {
	if n.g.headed && (n.item == nil || n.owner < 0) && n.hiddenHeading(ln, m) {
		return
	}
	if ln.place == placeFence {
		n.fenced(ln)
	} else {
		n.commentLine(ln)
	}
}

// fenced reads a line in a code fence. It can continue a prompt, and some plans have a whole prompt in a fence.
func (n *numbered) fenced(ln *line) {
	if n.drawn != nil && n.drawn.fenced(ln) {
		return
	}
	if n.owner < 0 {
		return
	}
	if n.shadow >= 0 && n.notes.fence.open || n.shadowed(ln) {
		n.fenceLine(ln)
		return
	}
	if n.field.begun() {
		if n.takes(ln, &marker{}) {
			n.goOn(ln)
			return
		}
		n.closeField()
	}
	text := ln.content()
	key, value := fieldAt(text, 0)
	if key != fieldPrompt || ln.edge || n.g.headed {
		n.fenceLine(ln)
		return
	}
	n.notes.dropFence()
	n.report(ln, ln.body, SeverityInfo, "dialect_drift", "this prompt is inside a fence: move it below its task")
	n.fields(ln, text, key, value)
	n.field.fenced = n.field.begun()
}

func (n *numbered) blankLine() {
	if len(n.notes.lines) > 0 && n.blankQuote() {
		return
	}
	n.notes.wrapping = false
	n.notes.blanks++
	switch {
	case n.field.key == fieldPrompt:
		n.field.blanks++
	case n.field.begun():
		n.closeField()
	}
}

// closeItem ends the description of the current task.
func (n *numbered) closeItem() {
	if n.owner < 0 {
		return
	}
	if n.field.begun() {
		n.closeField()
	}
	switch {
	case n.item != nil:
		n.item.Details = append(n.item.Details, n.notes.take()...)
	case n.again > 0:
		n.r.rests = append(n.r.rests, rest{int32(n.owner), int32(n.again), int32(n.start)})
		n.again = 0
	default:
		n.r.entries[n.owner].to = int32(n.start)
	}
	n.list.key = fieldNone
	n.owner, n.shadow = -1, -1
}

// goBack makes the task above the owner of the following lines, which come after its steps.
func (n *numbered) goBack(ln *line) {
	top := n.heads.top().item
	if n.item == nil && top >= 0 && (n.drawn == nil || n.drawn.level == 0) {
		n.owner, n.ownerIndent, n.again = int(top), -1, ln.start
	}
}

// openList is a label such as "Files:" whose values are in bullets below it.
type openList struct {
	key    fieldKey
	indent int
}

func (l *openList) open(key fieldKey, value string, indent int) {
	*l = openList{}
	if value == "" && key != fieldPurpose {
		*l = openList{key: key, indent: indent}
	}
}

func (l *openList) has(indent int) bool {
	return l.key != fieldNone && indent > l.indent
}
