package plan

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// This file reads the plans of spec-context, spec-workflow and Kiro: checkboxes with a number after them, and their
// description in the lines below.

// numbered is one pass over a numbered plan, or over the lines of one item of it. Both use the same rules, so that the
// second pass finds the description that the first one skipped.
type numbered struct {
	scanner
	g *grammar
	r *Reading
	// item is the item that is described, or nil in a pass over the plan.
	item *Item
	// quotes is the number of block quotes around the item, and within the end of the fence or comment around it.
	quotes, within int
	// keep are the ids of items that count even in fences and comments.
	keep map[string]bool
	// hidden are the ids in fences and comments.
	hidden      map[string]bool
	owner       int // the item that lines belong to, -1 for none
	ownerIndent int
	// again is the offset at which the owner continued after other items, or 0.
	again int
	// shadow is the indent of a checkbox without id below the owner. Deeper lines belong to that checkbox. -1 means
	// none.
	shadow  int
	head    taskHeading
	boxless []boxlessHead
	// directed are the directives of the items, nil before the first.
	directed map[int]Directives
	field    openField
	list     openList
	notes    notes           // of the described item
	waits    map[string]bool // the words of its dependencies, read on demand
	lists    arena
	nodes    []node // parallel to r.entries
	// late are the items whose parent by id was not above them. stem and stemItem are the last parent that was.
	late     []int32
	stem     string
	stemItem int32
	tildes   []int32
	marks    [256]Status // cached status of one-byte marks, 0 for others
	// either means that the last ids had an "or" between them.
	either bool
	// expanded is the number of ids from ranges.
	expanded int
	evidence dialectEvidence
	tags     tags
	sections sections
	lineage  lineage
	group    string // number of the current heading, "" for none
	tasked   int    // the level of the current heading such as "Task 1", 0 for none; its number is the group
	adopted  bool   // some checkboxes have their ids from headings
	// unnumbered counts the checkboxes without number that could be tasks, and beside those of them outside items.
	unnumbered, beside int
	unnumberedInTasks  int // checkboxes without number below headings such as "Task 1"
	// countable means that the current heading is one such as "1.1 Model". uncounted is the number of checkboxes
	// without number below such headings.
	countable bool
	uncounted int
	heads     headStack
	fielded   bool // some field belongs to numbered plans only
	phase     int32
	phases    []string // their headings
	// phaseLevel is the heading level of the first phase. A deeper heading is part of a phase.
	phaseLevel   int
	headings     int      // the number of headings
	drawn        *drawing // nil without a section about the order of the items
	prerequisite []int32  // of each item; nil without phases and waves
	// unknownIDs are ids in a graph that do not exist in the plan.
	unknownIDs []string
	grid       grid
	summaries  []summary // tables that are not tables of tasks
	// remarks receives diagnostics whose position is not a line number. It is nil if lines have positions.
	remarks func(offset int, severity Severity, code, message string)
}

// taskHeading is a heading such as "#### Task 4: Label the drawers".
type taskHeading struct {
	id, title   string
	line, start int // of the line: its number and its offset
}

// readAs reads a text. If the plan refers to ids that occur only in a fence or comment, it reads the text again and
// counts them. seen is the evidence of an earlier pass.
func readAs(text string, g *grammar, seen *dialectEvidence) *numbered {
	n := newNumbered(text, g, seen)
	n.read()
	if lost := n.lost(); lost != nil {
		n = newNumbered(text, g, seen)
		n.keep, n.r.keep = lost, lost
		n.read()
	}
	return n
}

func newNumbered(text string, g *grammar, seen *dialectEvidence) *numbered {
	// Few items are shorter than this number of bytes. Otherwise the slices grow.
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
		n.evidence = *seen
		n.lineage.parts = seen.tops > 1
	}
	return n
}

// describe reads the lines of one item again.
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
		n.r.entries = slices.Clip(slices.Clone(n.r.entries)) // a reading is long-lived, so unused capacity is released
	}
	n.finish()
}

// lines reads all lines.
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

// finish resolves everything that depends on the end of the file.
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
	n.reportBoxless()
	n.r.Diagnostics, n.r.endings = append(n.r.Diagnostics, n.unclosed...), n.missing
	slices.SortStableFunc(n.r.Diagnostics, func(a, b Diagnostic) int { return a.Line - b.Line })
}

// name determines the dialect and the evidence for it.
func (n *numbered) name() {
	set, placed := n.override, n.evidence.hints
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
	n.r.Evidence = n.evidence.evidence(Evidence{Line: int(first.line), Dialect: n.r.Dialect, Signal: n.form(first)})
}

func unknownDialect(set override) Diagnostic {
	return Diagnostic{
		Line: set.line, Column: set.column, Severity: SeverityError, Code: "unknown_dialect", Message: UnknownDialect(set.dialect),
	}
}

// named sets the dialect to the one of a comment or a setting.
func (n *numbered) named(why Evidence) {
	if n.r.Len() > 0 {
		n.r.Dialect, n.r.Evidence = why.Dialect, n.evidence.evidence(why)
	}
}

func (n *numbered) report(ln *line, index int, severity Severity, code, message string) {
	n.r.Diagnostics = append(n.r.Diagnostics, diagnose(ln, index, severity, code, message))
}

// about reports a diagnostic at the mark of an item.
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

// refuse reports a checkbox that is not an item. An open checkbox counts as open work, unless it is withdrawn, a
// sample in a fence or comment, or a line of the legend.
func (n *numbered) refuse(ln *line, b *box, severity Severity, code, message string) {
	d := diagnose(ln, b.open, severity, code, message)
	d.NotATask = true
	d.Open = ln.place == placeText && code != "legend_line" && !n.tags.withdrawn && n.opens(b.mark(ln.text))
	n.r.Diagnostics = append(n.r.Diagnostics, d)
}
