// Package block splits the text of a plan into a tree of blocks: headings, checkboxes, list items with a sign, tables,
// fences, comments, and runs of other lines. The blocks partition the bytes of the text. The package knows no tool and
// decides about no task.
package block

import (
	"strings"
	"unicode/utf8"

	"waybill/plan"
	"waybill/plan/lex"
)

// Kind is the kind of a block.
type Kind uint8

// The kinds of blocks.
const (
	// Run is a run of lines of text, with blank lines between them.
	Run Kind = iota
	// Heading is a heading of Markdown in one line.
	Heading
	// Check is a line with a checkbox, also in a fence or a comment, or in a heading.
	Check
	// Signed is a list item whose text begins with a symbol, or with a word in brackets, instead of a checkbox.
	Signed
	// Table is a header, a delimiter row and the rows below it.
	Table
	// Fence and Comment are the first line of a code fence or a comment. The blocks inside have its place.
	Fence
	Comment
)

// Traits are facts about the lines of a run, so that a reader can skip most runs.
type Traits uint8

// The traits of a run.
const (
	Bracketed   Traits = 1 << iota // a line contains an opening bracket
	Underscored                    // a word begins with an underscore
	Labelled                       // a line begins with one of the bytes that the caller asks for
	Symbolic                       // a line begins with a byte that is not ASCII
	Ruled                          // a line begins with a bar
)

// Node is a block. It covers the bytes from Start to the start of the next node.
type Node struct {
	Kind   Kind
	Place  plan.Place
	Level  uint8 // of a heading, counted from 1
	Marker MarkerKind
	Traits Traits // of a run
	Quoted bool   // it is in a block quote
	// Nested means that a heading is part of the list item above it, because it is indented more.
	Nested bool
	Line   int32 // of its first line
	Start  int32
	// End is the end of the text of a line without its line end, the end of the content of a fence or comment, or the
	// end of a run or a table.
	End    int32
	Indent int32 // columns of the first line
	// Body is the offset of the marker, and Next the offset of the text after it. In a table, Next is the offset of the
	// delimiter row.
	Body, Next int32
	// Close is the offset of the closing bracket of a checkbox.
	Close int32
	// Up is the index of the list item with less indent in the same section, else of the heading of the section, else -1.
	// A heading is below the nearest heading of a higher level.
	Up int32
}

// Tree is the tree of blocks of a text, in text order.
type Tree struct {
	Text  string
	Nodes []Node
	// Checks is the number of checkboxes.
	Checks int
	// Override is the dialect that a comment sets.
	Override Override
	// Missing are the offsets of the lines with a fence or comment that has no end.
	Missing []int
	// Tops is the number of headings of the first level.
	Tops int
}

// MostItems limits the checkboxes and signs of a plan, so that a small file cannot request much memory.
const MostItems = 100_000

// mostNodes limits the blocks of a text.
const mostNodes = 4 * MostItems

// parser builds a tree.
type parser struct {
	Scanner
	t     *Tree
	run   int32 // the current run, -1 for none
	heads [7]int32
	lists []int32 // the list items around a line, each indented more than the one before
	// bracket and underscore are the next such bytes at or after the current line, searched on demand.
	bracket, underscore int
	items               int
	labels              *[256]bool
}

// Parse splits a text. labels are the bytes of Labelled, nil for none. ok is false for a text with too many blocks.
func Parse(text string, notes *plan.Remarks, labels *[256]bool) (t *Tree, ok bool) {
	const short = 48 // few blocks are shorter
	room := min(2*strings.Count(text, "[")+16, len(text)/short+16)
	t = &Tree{Text: text, Nodes: make([]Node, 0, room)}
	p := parser{Scanner: NewScanner(text, notes), t: t, labels: labels, run: -1, bracket: -1, underscore: -1}
	p.heads = [...]int32{-1, -1, -1, -1, -1, -1, -1}
	for p.Scan() {
		if p.line(); len(t.Nodes) > mostNodes || p.items > MostItems {
			t.Override = p.Override
			return t, false
		}
	}
	p.end(len(text))
	t.Override, t.Missing = p.Override, p.missing
	return t, true
}

func (p *parser) line() {
	ln := &p.Line
	if ln.Blank() {
		if p.run < 0 || p.t.Nodes[p.run].Place != ln.Place || p.t.Nodes[p.run].Kind == Table {
			p.begin()
		}
		return
	}
	m := MarkerAt(ln.Text, ln.Body)
	if m.Kind != NoMarker && m.Next < len(ln.Text) && ln.Text[m.Next] == '[' {
		if b, ok := BoxAt(ln.Text, m); ok {
			p.check(&m, &b)
			return
		}
		if ln.Place == plan.InText && m.Listed(ln.Text) && lex.WordBoxWidth(ln.Text[m.Next:]) > 0 {
			p.list(p.leaf(Signed, &m))
			return
		}
	}
	switch {
	case m.Kind == Hashes && m.Spaced(ln.Text) && ln.Indent <= MostIndented:
		p.heading(&m)
		return
	case ln.Place == plan.InText && m.Next < len(ln.Text) && ln.Text[m.Next] >= utf8.RuneSelf && m.Listed(ln.Text) && lex.IsSymbol(ln.Text[m.Next:]):
		p.list(p.leaf(Signed, &m))
		return
	}
	if ln.Place != plan.InText && (ln.Edge || ln.Place == plan.InComment) && p.opens() {
		p.open()
		return
	}
	if ln.Place == plan.InText && p.ruled(&m) && p.table() {
		return
	}
	if p.run < 0 || p.t.Nodes[p.run].Place != ln.Place || p.t.Nodes[p.run].Kind == Table && !p.row() {
		p.begin()
	}
	p.look(&m)
}

// MostIndented is the largest indent of a heading in columns. A deeper line is code.
const MostIndented = 3

// opens reports whether the current line is the first line of its fence or comment.
func (p *parser) opens() bool {
	last := len(p.t.Nodes) - 1
	return last < 0 || p.t.Nodes[last].Place != p.Place || p.t.Nodes[p.opener(last)].End <= int32(p.Start)
}

// opener returns the fence or comment that contains a node.
func (p *parser) opener(at int) int {
	for at > 0 && p.t.Nodes[at].Kind != Fence && p.t.Nodes[at].Kind != Comment {
		at--
	}
	return at
}

// end ends the current run or table.
func (p *parser) end(at int) {
	if p.run >= 0 {
		p.t.Nodes[p.run].End = int32(at)
		p.run = -1
	}
}

// add appends a node that begins with the current line.
func (p *parser) add(n Node) int32 {
	p.end(p.Start)
	at := int32(len(p.t.Nodes))
	n.Place, n.Line, n.Start, n.Indent, n.Quoted, n.Up = p.Place, int32(p.Number), int32(p.Start), int32(p.Indent), p.Margin > 0, p.above(int32(p.Indent))
	p.t.Nodes = append(p.t.Nodes, n)
	return at
}

// begin begins a run.
func (p *parser) begin() {
	p.run = p.add(Node{Kind: Run, Body: int32(p.Start + p.Body)})
}

// leaf adds a block of one line.
func (p *parser) leaf(kind Kind, m *Marker) int32 {
	return p.add(Node{Kind: kind, Marker: m.Kind, End: int32(p.Start + len(p.Text)), Body: int32(p.Start + p.Body), Next: int32(p.Start + m.Next)})
}

func (p *parser) open() {
	kind := Fence
	if p.Place == plan.InComment {
		kind = Comment
	}
	p.add(Node{Kind: kind, End: int32(p.mask), Body: int32(p.Start + p.Body)})
}

func (p *parser) check(m *Marker, b *Box) {
	at := p.leaf(Check, m)
	n := &p.t.Nodes[at]
	n.Close = int32(p.Start + b.Close)
	p.t.Checks++
	if p.items++; p.Place != plan.InText {
		return
	}
	if m.Kind == Hashes {
		p.section(at, m.After-p.Body)
	} else {
		p.list(at)
	}
}

func (p *parser) heading(m *Marker) {
	at := p.leaf(Heading, m)
	n := &p.t.Nodes[at]
	n.Level = uint8(m.After - p.Body)
	if p.Place != plan.InText {
		return
	}
	if n.Nested = n.Indent > 0 && len(p.lists) > 0 && n.Indent > p.t.Nodes[p.lists[len(p.lists)-1]].Indent; n.Nested {
		return
	}
	if n.Level == 1 {
		p.t.Tops++
	}
	p.section(at, int(n.Level))
}

// section begins the section of a heading.
func (p *parser) section(at int32, level int) {
	p.lists = p.lists[:0]
	p.t.Nodes[at].Level = uint8(level)
	p.t.Nodes[at].Up = -1
	for above := level - 1; above > 0; above-- {
		if p.heads[above] >= 0 {
			p.t.Nodes[at].Up = p.heads[above]
			break
		}
	}
	p.heads[level] = at
	for below := level + 1; below < len(p.heads); below++ {
		p.heads[below] = -1
	}
}

// list makes a list item the parent of those that are indented more.
func (p *parser) list(at int32) {
	if n := &p.t.Nodes[at]; n.Kind == Signed {
		p.items++
	}
	p.lists = append(p.lists, at)
}

// above returns the block that contains a block with an indent.
func (p *parser) above(indent int32) int32 {
	for len(p.lists) > 0 && p.t.Nodes[p.lists[len(p.lists)-1]].Indent >= indent {
		p.lists = p.lists[:len(p.lists)-1]
	}
	if len(p.lists) > 0 {
		return p.lists[len(p.lists)-1]
	}
	for level := len(p.heads) - 1; level > 0; level-- {
		if p.heads[level] >= 0 {
			return p.heads[level]
		}
	}
	return -1
}

// look records the traits of the current line.
func (p *parser) look(m *Marker) {
	n := &p.t.Nodes[p.run]
	end := p.Start + len(p.Text)
	if p.bracket < p.Start {
		p.bracket = lex.IndexFrom(p.src, '[', p.Start)
	}
	if p.bracket < end {
		n.Traits |= Bracketed
	}
	if p.underscore < p.Start {
		p.underscore = wordFrom(p.src, p.Start)
	}
	if p.underscore < end {
		n.Traits |= Underscored
	}
	at := p.Body
	if m.Next < len(p.Text) && m.Listed(p.Text) {
		at = m.Next
	}
	c := p.Text[at]
	if n.Traits |= traitOf[c]; p.labels != nil && p.labels[c] {
		n.Traits |= Labelled
	}
}

// wordFrom returns the offset of the next underscore at the beginning of a word.
func wordFrom(s string, from int) int {
	at := lex.IndexFrom(s, '_', from)
	for at < len(s) && at > 0 && s[at-1] > ' ' {
		at = lex.IndexFrom(s, '_', at+1)
	}
	return at
}

// traitOf is the trait of a line by the first byte of its text.
var traitOf = func() (all [256]Traits) {
	for c := range all {
		switch {
		case c >= utf8.RuneSelf:
			all[c] = Symbolic
		case c == '|':
			all[c] = Ruled
		case c == '\\' || c == '<':
			all[c] = Bracketed
		}
	}
	return all
}()

// LineOf returns the line of a block of one line, or the first line of another one.
func (t *Tree) LineOf(n *Node) Line {
	end := n.End
	if n.Kind != Heading && n.Kind != Check && n.Kind != Signed {
		c := cursor{src: t.Text, pos: int(n.Start), lf: -1, cr: -1}
		_, stop, _ := c.next()
		end = int32(stop)
	}
	ln := Line{Text: lex.TrimRight(t.Text[n.Start:end]), Start: int(n.Start), Number: int(n.Line), Place: n.Place, Indent: int(n.Indent), Body: int(n.Body - n.Start)}
	if n.Quoted {
		ln.Measure()
	}
	return ln
}

// Lines returns a scanner for the lines of a run or a table.
func (t *Tree) Lines(n *Node) Scanner {
	s := Part(t.Text, int(n.Start), int(n.End), t.Missing, int(n.End), n.Place)
	s.Number = int(n.Line) - 1
	return s
}

// BoxOf returns the checkbox of a block.
func (t *Tree) BoxOf(n *Node) Box {
	tight := strings.IndexByte("-*+.)#", t.Text[n.Next-1]) >= 0
	return Box{Open: int(n.Next - n.Start), Close: int(n.Close - n.Start), Tight: tight}
}
