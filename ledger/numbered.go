package ledger

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// This file reads the plans of spec-context, spec-workflow and Kiro: checkboxes
// with a number behind them, and below each the lines that describe it.

// numbered is one pass over a numbered plan.
type numbered struct {
	scanner
	r *Reading
	// keep holds the ids that count even in fences and comments.
	keep map[string]bool
	// hidden holds the ids seen in fences and comments.
	hidden      map[string]bool
	items       int // how many of r.Items are made
	owner       int // the item that lines belong to, -1 for none
	ownerIndent int
	// shadow is the indent of a checkbox without id below the owner: deeper
	// lines are about that one. -1 for none.
	shadow int
	head   taskHeading
	field  openField
	list   openList
	notes  notes
	lists  arena
	nodes  []node // beside r.Items
	// late holds the items whose parent by id did not stand above them, stem
	// and stemItem the last parent that did.
	late     []int32
	stem     string
	stemItem int32
	tildes   []int32
	// expanded counts the ids that ranges stood for.
	expanded int
	seen     sightings
}

// taskHeading is a heading such as "#### Task 4: Label the drawers".
type taskHeading struct {
	id, title string
	line      int
}

// readNumbered reads text twice at most: the second time when the plan refers
// to ids that stand only in a fence or a comment, which then count.
func readNumbered(text string) (r *Reading, none string) {
	n := newNumbered(text)
	n.read()
	if lost := n.lost(); lost != nil {
		n = newNumbered(text)
		n.keep = lost
		n.read()
	}
	switch {
	case len(n.r.Items) > 0:
	case n.r.Checkboxes == 0:
		none = "no checkbox"
	default:
		none = "no checkbox outside fences and comments has a number behind it"
	}
	return n.r, none
}

func newNumbered(text string) *numbered {
	// Few items are shorter than this, and then the slices grow.
	const short = 32
	hint := min(strings.Count(text, "["), len(text)/short+1)
	return &numbered{
		scanner: newScanner(text),
		r:       &Reading{Items: make([]Item, hint), index: newIndex(hint), active: -1},
		nodes:   make([]node, hint),
		owner:   -1, shadow: -1,
	}
}

func (n *numbered) read() {
	n.lines()
	n.finish()
}

// lines reads the file line by line.
func (n *numbered) lines() {
	for n.scan() {
		ln := &n.line
		if ln.blank() {
			n.blankLine()
			continue
		}
		m := markerAt(ln.text, ln.body)
		if m.kind != markerNone && m.next < len(ln.text) && ln.text[m.next] == '[' {
			if b, ok := boxAt(ln.text, m); ok {
				n.checkbox(ln, &m, &b)
				continue
			}
		}
		switch ln.place {
		case placeComment:
		case placeFence:
			n.fenced(ln)
		case placeText:
			n.textLine(ln, &m)
		}
	}
	n.closeItem()
	if items := n.r.Items[:n.items:n.items]; 2*n.items < len(n.r.Items) {
		n.r.Items = slices.Clone(items) // a reading is kept, so what was made too much goes
	} else {
		n.r.Items = items
	}
	n.nodes = n.nodes[:n.items]
}

// finish settles what can only be known at the end of the file.
func (n *numbered) finish() {
	if len(n.r.Items) > 0 {
		n.r.Dialect, n.r.Evidence = n.seen.decide(n.r.Items[0].Line)
	}
	n.settleTildes()
	n.plant()
	n.checkDependencies()
	n.r.Diagnostics = append(n.r.Diagnostics, n.unclosed...)
	slices.SortStableFunc(n.r.Diagnostics, func(a, b Diagnostic) int { return a.Line - b.Line })
}

func (n *numbered) report(ln *line, index int, severity Severity, code, message string) {
	n.r.Diagnostics = append(n.r.Diagnostics, diagnose(ln, index, severity, code, message))
}

// about reports something about an item, at its mark.
func (n *numbered) about(i int32, severity Severity, code, message string) {
	it := &n.r.Items[i]
	start := it.Mark.Start
	for start > 0 && n.src[start-1] != '\n' && n.src[start-1] != '\r' {
		start--
	}
	before := strings.TrimPrefix(n.src[start:it.Mark.Start], byteOrderMark)
	n.r.Diagnostics = append(n.r.Diagnostics, Diagnostic{
		Line: it.Line, Column: utf8.RuneCountInString(before) + 1,
		Severity: severity, Code: code, Message: message,
	})
}

// refuse reports a checkbox that is no item.
func (n *numbered) refuse(ln *line, b *box, severity Severity, code, message string) {
	d := diagnose(ln, b.open, severity, code, message)
	d.NotATask = true
	n.r.Diagnostics = append(n.r.Diagnostics, d)
}
