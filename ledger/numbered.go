package ledger

import (
	"fmt"
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
	g *grammar
	r *Reading
	// item is the item that is being described, nil in a pass over the plan.
	item *Item
	// quotes is how many block quotes it stands in, and within the end of what hides it.
	quotes, within int
	// keep holds the ids that count even in fences and comments.
	keep map[string]bool
	// hidden holds the ids seen in fences and comments.
	hidden      map[string]bool
	owner       int // the item that lines belong to, -1 for none
	ownerIndent int
	// again is where the owner went on behind other items, 0 if it did not.
	again int
	// shadow is the indent of a checkbox without id below the owner: deeper
	// lines are about that one. -1 for none.
	shadow int
	head   taskHeading
	idle   []idleHead
	field  openField
	list   openList
	notes  notes           // of the item that is being described
	waits  map[string]bool // the words of what it waits for, nil before somebody asks
	lists  arena
	nodes  []node // beside r.entries
	// late holds the items whose parent by id did not stand above them, stem
	// and stemItem the last parent that did.
	late     []int32
	stem     string
	stemItem int32
	tildes   []int32
	marks    [256]Status // of one byte that have been looked up and mean the same everywhere, 0 for others
	// either says that the ids that were read last had an "or" between them.
	either bool
	// expanded counts the ids that ranges stood for.
	expanded int
	seen     sightings
	tags     tags
	sections sections
	lineage  lineage
	group    string // number of the heading above, "" for none
	tasked   int    // the level of the heading above such as "Task 1", 0 for none; its number is the group
	adopted  bool   // boxes have their ids from headings
	// unnumbered counts the boxes without number that could be tasks, beside those of them that stand below no item.
	unnumbered, beside int
	untold             int // boxes without number below headings such as "Task 1"
	// countable says that the heading above is one such as "1.1 Model", and uncounted is how many boxes without
	// number stand below such headings.
	countable bool
	uncounted int
	heads     headStack
	fielded   bool // there are fields that only numbered plans have
	phase     int32
	phases    []string // their headings
	// phaseLevel is that of the first phase; a deeper heading is a part of one.
	phaseLevel int
	headings   int      // how many there were
	drawn      *drawing // nil without a section about the order of the items
	behind     []int32  // the wall of each item, nil without phases and waves
	// strangers are ids that a graph names and the plan does not have.
	strangers []string
	grid      grid
	summaries []summary // the tables that are none of tasks
	// remarks takes what is said about items where a line does not tell their
	// place, nil where it does.
	remarks func(offset int, severity Severity, code, message string)
}

// taskHeading is a heading such as "#### Task 4: Label the drawers".
type taskHeading struct {
	id, title   string
	line, start int // of the line: its number and its offset
}

// readAs reads text twice at most: the second time when the plan refers to ids
// that stand only in a fence or a comment, which then count. What an earlier
// pass has seen is handed in.
func readAs(text string, g *grammar, seen *sightings) *numbered {
	n := newNumbered(text, g, seen)
	n.read()
	if lost := n.lost(); lost != nil {
		n = newNumbered(text, g, seen)
		n.keep, n.r.keep = lost, lost
		n.read()
	}
	return n
}

func newNumbered(text string, g *grammar, seen *sightings) *numbered {
	// Few items are shorter than this, and then the slices grow.
	const short = 32
	hint := min(strings.Count(text, "["), len(text)/short+1)
	n := &numbered{
		scanner: newScanner(text), g: g,
		r:     &Reading{entries: make([]entry, 0, hint), index: newIndex(hint), active: -1},
		nodes: make([]node, 0, hint),
		owner: -1, shadow: -1,
		sections: sections{kind: g.begins},
	}
	if seen != nil {
		n.seen = *seen
		n.lineage.parts = seen.tops > 1
	}
	return n
}

// describe reads the lines of an item once more.
func describe(r *Reading, i int32, it *Item) {
	e := &r.entries[i]
	if r.grammar.describe != nil {
		describeRecord(r, e, it)
		return
	}
	n := numbered{
		scanner: r.scannerOf(e.from, e.to), g: r.grammar,
		r: &Reading{}, keep: r.keep, item: it, within: int(e.mask),
		owner: -1, shadow: -1,
	}
	n.mask, n.maskAs = int(e.mask), e.place
	if r.grammar == &tableGrammar {
		n.grid = grid{table: r.tableOf(e), next: 1}
	}
	n.lines()
	for _, more := range r.restOf(i) {
		n.scanner = r.scannerOf(more.from, more.to)
		n.owner, n.ownerIndent = 0, -1
		n.lines()
	}
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
		case placeComment, placeFence:
			n.masked(ln, &m)
		case placeText:
			n.textLine(ln, &m)
		}
	}
	n.closeItem()
}

// finish settles what can only be known at the end of the file.
func (n *numbered) finish() {
	n.endTable()
	n.name()
	n.settleTildes()
	if n.g.settle != nil {
		n.g.settle(n)
	}
	slices.SortStableFunc(n.r.rests, func(a, b rest) int { return int(a.item - b.item) })
	n.plant()
	n.gather(n.order())
	n.checkDependencies()
	n.reportSummaries()
	n.tellLegend()
	n.reportIdle()
	n.r.Diagnostics, n.r.endings = append(n.r.Diagnostics, n.unclosed...), n.missing
	slices.SortStableFunc(n.r.Diagnostics, func(a, b Diagnostic) int { return a.Line - b.Line })
}

// name finds the dialect and the reasons for it.
func (n *numbered) name() {
	set, placed := n.override, n.seen.placing
	if set.line > 0 && grammarOf(set.dialect) == nil {
		n.r.Diagnostics = append(n.r.Diagnostics, unknownDialect(set))
	}
	said := Evidence{Line: set.line, Dialect: set.dialect, Signal: "comment that sets the dialect"}
	switch {
	case slices.Contains(n.g.dialects, placed.Dialect):
		n.named(Evidence{Dialect: placed.Dialect, Signal: placed.signal()})
		if set.line > 0 && n.r.Len() > 0 {
			n.r.Evidence = append(n.r.Evidence, said)
		}
		return
	case slices.Contains(n.g.dialects, set.dialect):
		n.named(said)
		return
	}
	if n.r.Len() == 0 {
		return
	}
	n.r.Dialect = n.g.dialects[0]
	if n.g.decide != nil {
		n.r.Dialect = n.g.decide(n)
	}
	first := &n.r.entries[0]
	n.r.Evidence = n.seen.evidence(Evidence{Line: int(first.line), Dialect: n.r.Dialect, Signal: n.form(first)})
}

func unknownDialect(set override) Diagnostic {
	return Diagnostic{
		Line: set.line, Column: set.column, Severity: SeverityError, Code: "unknown_dialect",
		Message: fmt.Sprintf("no dialect is named %q: use one of %s", clip(set.dialect), strings.Join(Dialects(), ", ")),
	}
}

// named gives the plan the dialect that somebody has set.
func (n *numbered) named(why Evidence) {
	if n.r.Len() > 0 {
		n.r.Dialect, n.r.Evidence = why.Dialect, n.seen.evidence(why)
	}
}

func (n *numbered) report(ln *line, index int, severity Severity, code, message string) {
	n.r.Diagnostics = append(n.r.Diagnostics, diagnose(ln, index, severity, code, message))
}

// about reports something about an item, at its mark.
func (n *numbered) about(i int32, severity Severity, code, message string) {
	e := &n.r.entries[i]
	start, at := int(e.mark), e.mark
	if e.markEnd == 0 {
		start, at = int(e.from), e.from
	}
	if n.remarks != nil {
		n.remarks(start, severity, code, message)
		return
	}
	for start > 0 && n.src[start-1] != '\n' && n.src[start-1] != '\r' {
		start--
	}
	before := strings.TrimPrefix(n.src[start:at], byteOrderMark)
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
