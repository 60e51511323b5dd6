package plan

import "strings"

// This file converts the text of records to details. Such a text has no tasks and no fields.

// prose adds a text to the details of an item.
func prose(it *Item, text string) {
	n := newProse(it, text)
	for n.scan() {
		n.proseLine()
	}
	it.Details = append(it.Details, n.notes.take()...)
}

func newProse(it *Item, text string) *numbered {
	return &numbered{scanner: newScanner(text), g: &looseGrammar, item: it, ownerIndent: -1, shadow: -1}
}

// proseLine reads the current line as text, whatever its beginning.
func (n *numbered) proseLine() {
	ln := &n.line
	switch {
	case ln.blank():
		n.blankLine()
	case ln.place == placeComment:
		n.commentLine(ln)
	case ln.place == placeFence:
		n.fenceLine(ln)
	default:
		from, m := ln.body, markerAt(ln.text, ln.body)
		kind := markerNone
		if m.spaced(ln.text) {
			kind = m.kind
		}
		if kind == markerBullet {
			from = m.next
		}
		if from < len(ln.text) {
			n.detailLine(ln, from, kind)
		}
	}
}

// describeText adds the sections of a file to an item. Checkboxes are criteria. Each other section keeps its heading,
// except the description.
func describeText(text string, it *Item) {
	n := newProse(it, text)
	heading, told := "", true
	for n.scan() {
		ln := &n.line
		if ln.place == placeText && !ln.blank() {
			m := markerAt(ln.text, ln.body)
			if m.kind == markerHeading && m.spaced(ln.text) {
				n.notes.end()
				heading = headingText(ln, &m)
				told = plainPart(heading, it)
				continue
			}
			if b, ok := boxAt(ln.text, m); m.kind != markerNone && m.next < len(ln.text) && ln.text[m.next] == '[' && ok {
				n.note(criterionName(heading)+": "+b.rest(ln.text), ln.indent+m.next-ln.body)
				continue
			}
		}
		if !told && !ln.blank() && ln.place != placeComment {
			n.noteAlone(heading + ":")
			told = true
		}
		n.proseLine()
	}
	it.Details = append(it.Details, n.notes.take()...)
}

// plainPart reports whether the section of a heading needs no heading in the details: the description, and the section
// of the title.
func plainPart(heading string, it *Item) bool {
	return heading == "" || equalWord(heading, "description") || strings.HasSuffix(heading, it.Title) ||
		sectionOf(heading) == sectionAcceptance
}
