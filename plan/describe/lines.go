// Package describe reads the lines of an item: its fields, such as _Requirements: 1.1_, and its details. Plans are
// read without descriptions, because callers mostly need only one item of a changed file.
package describe

import (
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

// Lines reads the lines below an item. The same rules read a whole plan, where only dependencies count, and the lines
// of one item, so that the second pass finds the description that the first one skipped.
type Lines struct {
	// Item is the item that is described, or nil in a pass over a whole plan.
	Item *plan.Item
	// Notes receives diagnostics in a pass over a whole plan.
	Notes *plan.Remarks
	// Depends receives the dependencies of the item in a pass over a whole plan.
	Depends func(kind graph.PhraseKind, text string)
	// Headed means that headings are tasks.
	Headed bool
	// Owned means that the lines belong to an item, and Indent is its indent. Again means that they come after other
	// items.
	Owned, Again bool
	Indent       int

	around
	// shadow is the indent of a checkbox without id below the item, plus 1. Deeper lines belong to that checkbox.
	shadow int
	adopt  int // 1 + the offset of the mark of a checkbox that belongs to the heading above it, or 0
	field  openField
	list   openList
	notes  notes
	waits  map[string]bool // the words of its dependencies, read on demand
}

// around is what contains the described item: the number of block quotes, and the end of a fence or comment.
type around struct {
	scan           *block.Scanner // of the described lines
	quotes, within int
}

// Text reads a line of text of the item.
func (n *Lines) Text(ln *block.Line, m *block.Marker) {
	if n.field.begun() {
		if (fielder{n}).takes(ln, m) {
			fielder{n}.goOn(ln)
			return
		}
		fielder{n}.closeField()
	}
	from, kind := ln.Body, block.NoMarker
	if m.Spaced(ln.Text) {
		kind = m.Kind
		if kind == block.Bullet {
			from = m.Next
		}
	}
	n.Describe(ln, from, kind)
}

// Describe reads one line of a task's description. Its text begins at the index, after a bullet if there is one.
func (n *Lines) Describe(ln *block.Line, from int, kind block.MarkerKind) {
	text := ln.Text[from:]
	if text == "" {
		return
	}
	if strings.IndexByte(text, '_') >= 0 && n.fieldsIn(ln, text) {
		return
	}
	bullet := kind == block.Bullet || kind == block.Ordered
	if labelBegins.Get()[text[0]] {
		if n.labels(ln, text, kind) {
			return
		}
		if bullet || text[0] != 'd' { // the continuation of a sentence may begin with d
			n.remarked(text)
		}
	}
	if bullet && n.list.has(ln.Indent) {
		fielder{n}.set(n.list.key, text)
		return
	}
	n.list.key = fieldNone
	if n.Item != nil {
		detailer{n}.detailLine(ln, from, kind)
	}
}

// fieldsIn reads the fields of a line such as "_Requirements: 1.1_", and reports whether there are any.
func (n *Lines) fieldsIn(ln *block.Line, text string) bool {
	at, key, value := firstField(text, 0)
	if key == fieldNone {
		return false
	}
	if at > 0 {
		detailer{n}.noteAlone(lex.TrimRight(text[:at]))
	}
	n.list.key = fieldNone
	fielder{n}.fields(ln, text, key, value)
	return true
}

// labels reads a line such as "Files: a.go", and reports whether it is one.
func (n *Lines) labels(ln *block.Line, text string, kind block.MarkerKind) bool {
	key, value, ok := labelled(text)
	if !ok {
		return false
	}
	detailer{n}.endDetail()
	n.list.key = fieldNone
	fielder{n}.set(key, value)
	indent := ln.Indent
	if n.Headed && kind == block.NoMarker {
		indent-- // a list below a line of text may have the same indent
	}
	n.list.open(key, value, indent)
	return true
}

// Fenced reads a line in a code fence. It can continue a prompt, and some plans have a whole prompt in a fence.
func (n *Lines) Fenced(ln *block.Line) {
	if !n.Owned {
		return
	}
	if n.shadow > 0 && n.notes.fence.open || n.Shadowed(ln) {
		detailer{n}.fenceLine(ln)
		return
	}
	if n.field.begun() {
		if (fielder{n}).takes(ln, &block.Marker{}) {
			fielder{n}.goOn(ln)
			return
		}
		fielder{n}.closeField()
	}
	text := ln.Content()
	key, value := fieldAt(text, 0)
	if key != fieldPrompt || ln.Edge || n.Headed {
		detailer{n}.fenceLine(ln)
		return
	}
	n.notes.dropFence()
	n.report(ln, plan.SeverityInfo, "dialect_drift", "this prompt is inside a fence: move it below its task")
	fielder{n}.fields(ln, text, key, value)
	n.field.fenced = n.field.begun()
}

// Blank reads a blank line.
func (n *Lines) Blank(ln *block.Line) {
	if len(n.notes.lines) > 0 && (detailer{n}).blankQuote(ln) {
		return
	}
	n.notes.wrapping = false
	n.notes.blanks++
	switch {
	case n.field.key == fieldPrompt:
		n.field.blanks++
	case n.field.begun():
		fielder{n}.closeField()
	}
}

// Shadowed reports whether the line belongs to a checkbox without id.
func (n *Lines) Shadowed(ln *block.Line) bool {
	if n.shadow > 0 && ln.Indent < n.shadow {
		n.shadow = 0
	}
	return n.shadow > 0
}

// Box reads a checkbox that is not an item: it may be part of a prompt, or a detail of the item. It reports whether it
// is either.
func (n *Lines) Box(ln *block.Line, m *block.Marker) bool {
	if n.field.literal && (fielder{n}).takes(ln, m) {
		fielder{n}.goOn(ln)
		return true
	}
	if !n.Owned || ln.Indent <= n.Indent {
		return false
	}
	fielder{n}.closeField()
	if n.Shadowed(ln) {
		detailer{n}.below(ln)
	} else {
		n.shadow = ln.Indent + 1
		detailer{n}.note(ln.Text[m.Next:], ln.Indent+m.Next-ln.Body)
	}
	return true
}

// Takes reports whether a line continues an open field.
func (n *Lines) Takes(ln *block.Line, m *block.Marker) bool {
	return n.field.begun() && fielder{n}.takes(ln, m)
}

// Literal reports whether an open prompt keeps a line as it is.
func (n *Lines) Literal(ln *block.Line, m *block.Marker) bool {
	return n.field.literal && fielder{n}.takes(ln, m)
}

// Begin begins an item with an indent.
func (n *Lines) Begin(indent int) { n.Owned, n.Again, n.Indent = true, false, indent }

// End ends the item.
func (n *Lines) End() {
	if !n.Owned {
		return
	}
	fielder{n}.closeField()
	if n.Item != nil {
		n.Item.Details = append(n.Item.Details, n.notes.take()...)
	}
	n.list.key, n.Owned, n.Again, n.shadow = fieldNone, false, false, 0
}

// Title reads the title of an item: the text before its first field, and its fields.
func (n *Lines) Title(ln *block.Line, title string) {
	at, key, value := firstField(title, 0)
	if n.Item != nil {
		n.Item.Title = lex.TrimRight(title[:at])
	}
	if key != fieldNone {
		fielder{n}.fields(ln, title, key, value)
	}
}

func (n *Lines) report(ln *block.Line, severity plan.Severity, code, message string) {
	if n.Notes != nil {
		n.Notes.Add(ln.Start+ln.Body, severity, code, message)
	}
}

// remarked reads a line that may begin with "Depends on 1.2". The line also stays a detail, because more text may
// follow the ids.
func (n *Lines) remarked(text string) {
	text = strings.TrimLeft(text, "(*")
	if n.Item == nil && !n.Again && text != "" && graph.Begins(text[0]) {
		n.Depends(graph.Title, text)
	}
}

// Open reports whether a field has begun whose end was not yet read.
func (n *Lines) Open() bool { return n.field.begun() }

// Shadowing reports whether the last checkbox was a detail of the item.
func (n *Lines) Shadowing() bool { return n.shadow > 0 }

// BeforeField returns the part of a title before its first field.
func BeforeField(title string) string {
	at, _, _ := firstField(title, 0)
	return lex.TrimRight(title[:at])
}

// AdoptAt says that the checkbox at an offset is that of the item, although its id is in the heading above.
func (n *Lines) AdoptAt(mark int) { n.adopt = mark + 1 }

// Own records the context of the first line of the described item.
func (n *Lines) Own(ln *block.Line) {
	n.quotes = quoteDepth(ln)
	if n.notes.base = 0; ln.Text[ln.Body] != '#' {
		const bullet = len("- ")
		n.notes.base = ln.Indent + bullet
	}
}
