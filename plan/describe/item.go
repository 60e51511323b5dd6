package describe

import (
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/criteria"
	"waybill/plan/lex"
)

// Read reads the lines of an item. first processes lines until the item begins, and reports whether a line needs no
// further processing.
func (n *Lines) Read(s *block.Scanner, first func(ln *block.Line, m *block.Marker) bool) {
	n.scan = s
	for s.Scan() {
		ln := &s.Line
		if ln.Blank() {
			n.Blank(ln)
			continue
		}
		m := block.MarkerAt(ln.Text, ln.Body)
		if adopts := n.adopt > ln.Start && n.adopt <= ln.Start+len(ln.Text); (!n.Owned || adopts) && first(ln, &m) {
			continue
		}
		_, isBox := block.BoxAt(ln.Text, m)
		switch {
		case ln.Place == plan.InFence:
			n.Fenced(ln)
		case ln.Place == plan.InComment && !isBox:
			detailer{n}.commentLine(ln)
		case ln.Place == plan.InComment:
		case isBox:
			n.Box(ln, &m)
		case n.Owned && n.Shadowed(ln):
			detailer{n}.below(ln)
		case n.Owned:
			n.Text(ln, &m)
		}
	}
	n.End()
}

// Within says that the item itself is in a code fence or a comment that ends at an offset.
func (n *Lines) Within(end int) { n.within = end }

// Note adds a detail without continuation.
func (n *Lines) Note(text string) { detailer{n}.noteAlone(text) }

// SetDepends keeps what a list of dependencies says besides ids.
func (n *Lines) SetDepends(list string) { fielder{n}.set(fieldDepends, list) }

// SetFiles sets the files of an item from a list.
func (n *Lines) SetFiles(list string) { fielder{n}.set(fieldFiles, list) }

// Prose adds a text without tasks and fields to the details of an item.
func Prose(it *plan.Item, text string) {
	n, s := newProse(it, text)
	for s.Scan() {
		n.proseLine(&s.Line)
	}
	it.Details = append(it.Details, n.notes.take()...)
}

func newProse(it *plan.Item, text string) (*Lines, *block.Scanner) {
	s := block.NewScanner(text, nil)
	return &Lines{Item: it, Indent: -1, Owned: true, around: around{scan: &s}}, &s
}

// proseLine reads a line as text, even if it begins like a field.
func (n *Lines) proseLine(ln *block.Line) {
	switch {
	case ln.Blank():
		n.Blank(ln)
	case ln.Place == plan.InComment:
		detailer{n}.commentLine(ln)
	case ln.Place == plan.InFence:
		detailer{n}.fenceLine(ln)
	default:
		from, m := ln.Body, block.MarkerAt(ln.Text, ln.Body)
		kind := block.NoMarker
		if m.Spaced(ln.Text) {
			kind = m.Kind
		}
		if kind == block.Bullet {
			from = m.Next
		}
		if from < len(ln.Text) {
			detailer{n}.detailLine(ln, from, kind)
		}
	}
}

// Sections adds the sections of a file to an item. Checkboxes are criteria. Each other section keeps its heading,
// except the description and the section of the title.
func Sections(it *plan.Item, text string) {
	n, s := newProse(it, text)
	heading, told := "", true
	for s.Scan() {
		ln := &s.Line
		if ln.Place == plan.InText && !ln.Blank() {
			m := block.MarkerAt(ln.Text, ln.Body)
			if m.Kind == block.Hashes && m.Spaced(ln.Text) {
				n.notes.end()
				heading = block.HeadingText(ln.Text[m.Next:])
				told = heading == "" || lex.EqualWord(heading, "description") || strings.HasSuffix(heading, it.Title) || criteria.IsHeading(heading)
				continue
			}
			if b, ok := block.BoxAt(ln.Text, m); ok {
				detailer{n}.note(criterionName(heading)+": "+b.Rest(ln.Text), ln.Indent+m.Next-ln.Body)
				continue
			}
		}
		if !told && !ln.Blank() && ln.Place != plan.InComment {
			detailer{n}.noteAlone(heading + ":")
			told = true
		}
		n.proseLine(ln)
	}
	it.Details = append(it.Details, n.notes.take()...)
}

// criterionName says what a checkbox below a heading is.
func criterionName(heading string) string {
	switch part := strings.ToLower(heading); {
	case strings.HasPrefix(part, "definition of done"):
		return "Definition of done"
	case heading == "" || strings.HasPrefix(part, "acceptance"):
		return "Criterion"
	}
	return lex.Clip(heading)
}
