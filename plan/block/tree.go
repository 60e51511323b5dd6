// Package block splits the text of a plan into blocks: headings, checkboxes, list items with a sign, tables, fences,
// comments, and runs of other lines. The blocks cover the text after a byte order mark; their levels and indents say which one
// contains which. The package knows no tool and decides about no task.
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
	// Fence and Comment are the first line of a code fence or a comment. Blocks inside a fence have Place InFence.
	Fence
	Comment
)

// Traits are facts about the lines of a block, so that a reader can skip most runs.
type Traits uint8

// The traits of a block. Runs and tables record all traits; other blocks only Underscored.
const (
	Bracketed   Traits = 1 << iota // a line has a bracket or begins with \ or <, or the text has a wide bracket
	Underscored                    // a word begins with an underscore, and is not a quiet field
	Labelled                       // a line begins with a byte that the caller asks for
	Stating                        // as Labelled, for other bytes
	Symbolic                       // a line begins with a byte that is not ASCII
	Colon                          // a line ends with a colon
)

// Node is a block. It covers the bytes from Start to the start of the next node.
type Node struct {
	Kind   Kind
	Place  plan.Place
	Level  uint8 // of a heading, counted from 1
	Marker MarkerKind
	Traits Traits
	Quoted bool // it is in a block quote
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
}

// Field is a field that the caller asked for: its index in the names, and the offset and line of its underscore.
type Field struct {
	Name     uint8
	At, Line int32
}

// Tree holds the blocks of a text, in text order.
type Tree struct {
	Text  string
	Nodes []Node
	// Fields are in text order.
	Fields []Field
	// Checks is the number of checkboxes.
	Checks int
	// Override is the dialect that a comment sets.
	Override Override
	// Missing are the offsets of the lines with a fence or comment that has no end.
	Missing []int
	// Tops is the number of unnested level-1 headings in plain text without a checkbox.
	Tops int
}

// MostItems limits the checkboxes and signs of a plan, so that a small file cannot request much memory.
const MostItems = 100_000

// mostNodes limits the blocks of a text.
const mostNodes = 4 * MostItems

// Watch is what a caller wants to know about the lines of a text.
type Watch struct {
	// Fields are the names of fields such as "Prompt:", which an underscore precedes. The first Quiet of them do not make
	// a block Underscored.
	Fields []string
	Quiet  int
	begins [256]Traits // of a line by the first byte of its text
}

// NewWatch returns a watch for fields, and for lines that begin with a byte for which begins returns traits.
func NewWatch(fields []string, quiet int, begins func(c byte) Traits) *Watch {
	w := &Watch{Fields: fields, Quiet: quiet}
	for c := range w.begins {
		switch {
		case c >= utf8.RuneSelf:
			w.begins[c] = Symbolic
		case c == '\\' || c == '<':
			w.begins[c] = Bracketed
		}
		w.begins[c] |= begins(byte(c))
	}
	return w
}

// named returns the field at the beginning of a text, and whether it is quiet. A field in another spelling is not quiet.
func (w *Watch) named(text string) (name uint8, quiet, ok bool) {
	for i, name := range w.Fields {
		if strings.HasPrefix(text, name) {
			return uint8(i), i < w.Quiet, true
		}
	}
	for i, name := range w.Fields {
		if lex.BeginsWith(text, name) {
			return uint8(i), false, true
		}
	}
	return 0, false, false
}

// parser builds a tree.
type parser struct {
	Scanner
	t     *Tree
	watch *Watch
	run   int32 // the current run or table, -1 for none
	outer int32 // the least indent of the list items around a line, or noList
	shown int   // the end of the last fence or comment with a node
	// bracket and underscore are the next such bytes at or after the current line, searched on demand.
	bracket, underscore int
	items               int
	wide                bool // the text contains a wide bracket, as in ［ ］
}

const noList = 1 << 30

// Parse splits a text. ok is false for a text with too many blocks.
func Parse(text string, notes *plan.Remarks, watch *Watch) (t *Tree, ok bool) {
	const short = 48 // few blocks are shorter
	room := min(2*strings.Count(text, "[")+16, len(text)/short+16)
	t = &Tree{Text: text, Nodes: make([]Node, 0, room), Fields: make([]Field, 0, room/4)}
	p := parser{Scanner: NewScanner(text, notes), t: t, watch: watch, run: -1, outer: noList, bracket: -1, underscore: -1, wide: strings.Contains(text, "［")}
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
	if m.Kind != NoMarker && p.item(&m) {
		return
	}
	if ln.Place != plan.InText {
		if p.shown != p.mask && (ln.Edge || ln.Place == plan.InComment) {
			p.open()
			return
		}
	} else if p.ruled(&m) && p.table() {
		return
	}
	if p.run < 0 || p.t.Nodes[p.run].Place != ln.Place || p.t.Nodes[p.run].Kind == Table && !p.row() {
		p.begin()
	}
	p.look(&m)
}

// item adds a block if the marked line is a checkbox, sign or heading.
func (p *parser) item(m *Marker) bool {
	ln := &p.Line
	text := ln.Text[m.Next:]
	if text != "" && (text[0] == '[' || text[0] >= utf8.RuneSelf) {
		if b, ok := BoxAt(ln.Text, *m); ok {
			p.check(m, &b)
			return true
		}
		if ln.Place == plan.InText && m.Listed(ln.Text) && (lex.WordBoxWidth(text) > 0 || text[0] != '[' && lex.IsSymbol(text)) {
			p.list(p.leaf(Signed, m))
			return true
		}
	}
	if m.Kind == Hashes && ln.Indent <= MostIndented && m.Spaced(ln.Text) {
		p.heading(m)
		return true
	}
	return false
}

// MostIndented is the largest indent of a heading in columns. A deeper line is code.
const MostIndented = 3

// end ends the current run or table.
func (p *parser) end(at int) {
	if p.run >= 0 {
		p.t.Nodes[p.run].End = int32(at)
		p.run = -1
	}
}

// add appends a node that begins with the current line.
func (p *parser) add(kind Kind, end int) *Node {
	p.end(p.Start)
	p.t.Nodes = append(p.t.Nodes, Node{
		Kind: kind, Place: p.Place, Quoted: p.Margin > 0, Line: int32(p.Number), Start: int32(p.Start), End: int32(end), Indent: int32(p.Indent),
		Body: int32(p.Start + p.Body),
	})
	p.leave(int32(p.Indent))
	return &p.t.Nodes[len(p.t.Nodes)-1]
}

// leave ends the list items around a block with an indent.
func (p *parser) leave(indent int32) {
	if indent <= p.outer {
		p.outer = noList
	}
}

// begin begins a run.
func (p *parser) begin() {
	p.add(Run, 0)
	p.run = int32(len(p.t.Nodes) - 1)
}

// leaf adds a block of one line.
func (p *parser) leaf(kind Kind, m *Marker) *Node {
	n := p.add(kind, p.Start+len(p.Text))
	n.Marker, n.Next = m.Kind, int32(p.Start+m.Next)
	p.fields(n)
	return n
}

func (p *parser) open() {
	kind := Fence
	if p.Place == plan.InComment {
		kind = Comment
	}
	p.add(kind, p.mask)
	p.shown = p.mask
}

func (p *parser) check(m *Marker, b *Box) {
	n := p.leaf(Check, m)
	n.Close = int32(p.Start + b.Close)
	p.t.Checks++
	p.items++
	switch {
	case p.Place != plan.InText:
	case m.Kind == Hashes:
		n.Level, p.outer = uint8(m.After-p.Body), noList
	default:
		p.outer = min(p.outer, n.Indent)
	}
}

func (p *parser) heading(m *Marker) {
	n := p.leaf(Heading, m)
	n.Level = uint8(m.After - p.Body)
	if p.Place != plan.InText {
		return
	}
	if n.Nested = n.Indent > p.outer; n.Nested {
		return
	}
	if p.outer = noList; n.Level == 1 {
		p.t.Tops++
	}
}

// list makes a list item with a sign the parent of the lines that are indented more.
func (p *parser) list(n *Node) {
	p.items++
	p.outer = min(p.outer, n.Indent)
}

// look records the traits of the current line.
func (p *parser) look(m *Marker) {
	n := &p.t.Nodes[p.run]
	if p.bracket < p.Start {
		p.bracket = lex.IndexFrom(p.src, '[', p.Start)
	}
	if p.wide || p.bracket < p.Start+len(p.Text) {
		n.Traits |= Bracketed
	}
	at := p.Body
	if m.Next < len(p.Text) && m.Listed(p.Text) {
		at = m.Next
	}
	if n.Traits |= p.watch.begins[p.Text[at]]; p.Text[len(p.Text)-1] == ':' {
		n.Traits |= Colon
	}
	p.fields(n)
}

// fields records the fields of the current line.
func (p *parser) fields(n *Node) {
	if p.underscore < p.Start {
		p.underscore = wordFrom(p.src, p.Start)
	}
	for end := p.Start + len(p.Text); p.underscore < end; p.underscore = wordFrom(p.src, p.underscore+1) {
		name, quiet, ok := p.watch.named(p.src[p.underscore+1 : end])
		if ok {
			p.t.Fields = append(p.t.Fields, Field{name, int32(p.underscore), int32(p.Number)})
		}
		if !quiet {
			n.Traits |= Underscored
		}
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

// LineOf returns the line of a block of one line, or the first line of another one.
func (t *Tree) LineOf(n *Node) Line {
	text := t.Text[n.Start:n.End]
	if n.Kind != Heading && n.Kind != Check && n.Kind != Signed {
		c := cursor{src: t.Text, pos: int(n.Start), lf: -1, cr: -1}
		_, end, _ := c.next()
		text = lex.TrimRight(t.Text[n.Start:end])
	}
	ln := Line{Text: text, Start: int(n.Start), Number: int(n.Line), Place: n.Place, Indent: int(n.Indent), Body: int(n.Body - n.Start)}
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
	return Box{Open: int(n.Next - n.Start), Close: int(n.Close - n.Start), Tight: lex.Solid(t.Text[n.Next-1])}
}
