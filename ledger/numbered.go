package ledger

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// This file reads the plans of spec-context, spec-workflow and Kiro: checkboxes
// with a number behind them, and below each the lines that describe it.

// numbered is one pass over a numbered plan, or over the lines of one item of
// it. Both follow the same rules, so the second finds in them what the first
// passed by.
type numbered struct {
	scanner
	r *Reading
	// item is the item that is being described, nil in a pass over the plan.
	item *Item
	// keep holds the ids that count even in fences and comments.
	keep map[string]bool
	// hidden holds the ids seen in fences and comments.
	hidden      map[string]bool
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
	nodes  []node // beside r.entries
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
	id, title   string
	line, start int // of the line: its number and its offset
}

// readNumbered reads text twice at most: the second time when the plan refers
// to ids that stand only in a fence or a comment, which then count.
func readNumbered(text string) (r *Reading, none string) {
	n := newNumbered(text)
	n.read()
	if lost := n.lost(); lost != nil {
		n = newNumbered(text)
		n.keep, n.r.keep = lost, lost
		n.read()
	}
	switch {
	case n.r.Len() > 0:
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
		r:       &Reading{entries: make([]entry, 0, hint), index: newIndex(hint), active: -1},
		nodes:   make([]node, 0, hint),
		owner:   -1, shadow: -1,
	}
}

// describeNumbered reads the lines of an item once more.
func describeNumbered(r *Reading, i int32, it *Item) {
	e := &r.entries[i]
	n := numbered{
		scanner: r.scannerOf(e),
		r:       &Reading{}, keep: r.keep, item: it,
		owner: -1, shadow: -1,
	}
	n.lines()
}

func (n *numbered) read() {
	n.lines()
	if n.r.Len() < cap(n.r.entries)/2 {
		n.r.entries = slices.Clip(slices.Clone(n.r.entries)) // a reading is kept, so what was made too much goes
	}
	n.finish()
}

// lines reads line by line.
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
}

// finish settles what can only be known at the end of the file.
func (n *numbered) finish() {
	if n.r.Len() > 0 {
		n.r.Dialect, n.r.Evidence = n.seen.decide(int(n.r.entries[0].line))
	}
	n.settleTildes()
	n.plant()
	n.checkDependencies()
	n.r.Diagnostics, n.r.endings = append(n.r.Diagnostics, n.unclosed...), n.missing
	slices.SortStableFunc(n.r.Diagnostics, func(a, b Diagnostic) int { return a.Line - b.Line })
}

func (n *numbered) report(ln *line, index int, severity Severity, code, message string) {
	n.r.Diagnostics = append(n.r.Diagnostics, diagnose(ln, index, severity, code, message))
}

// about reports something about an item, at its mark.
func (n *numbered) about(i int32, severity Severity, code, message string) {
	e := &n.r.entries[i]
	start := int(e.mark)
	for start > 0 && n.src[start-1] != '\n' && n.src[start-1] != '\r' {
		start--
	}
	before := strings.TrimPrefix(n.src[start:e.mark], byteOrderMark)
	n.r.Diagnostics = append(n.r.Diagnostics, Diagnostic{
		Line: int(e.line), Column: utf8.RuneCountInString(before) + 1,
		Severity: severity, Code: code, Message: message,
	})
}

// refuse reports a checkbox that is no item.
func (n *numbered) refuse(ln *line, b *box, severity Severity, code, message string) {
	d := diagnose(ln, b.open, severity, code, message)
	d.NotATask = true
	n.r.Diagnostics = append(n.r.Diagnostics, d)
}
