package block

import (
	"strings"

	"waybill/plan/lex"
)

// This file splits the rows of a table into cells.

// Cell is the text between two bars of a row, without surrounding white space, as a range of its line.
type Cell struct{ From, To int }

// Empty reports whether a cell has no text.
func (c Cell) Empty() bool { return c.From == c.To }

// Cells appends the cells of the row whose content begins at the index. It appends none if the line has no bar. The
// outer bars are optional, and an escaped bar is text.
func Cells(s string, at int, into []Cell) []Cell {
	bars := 0
	if s[at] == '|' {
		at++
		bars++
	}
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			into = append(into, cellOf(s, at, i))
			at = i + 1
			bars++
		}
	}
	if at < len(s) {
		into = append(into, cellOf(s, at, len(s)))
	}
	if bars == 0 {
		return into[:0]
	}
	return into
}

// cellOf returns a range without surrounding white space. For an empty cell it returns the position where a word would
// begin.
func cellOf(s string, from, to int) Cell {
	at := lex.SkipBlanks(s[:to], from)
	if at == to {
		at = min(lex.PastSpace(s, from), to)
		return Cell{at, at}
	}
	return Cell{at, at + len(lex.TrimRight(s[at:to]))}
}

// Plain returns the text of a cell with unescaped bars.
func (c Cell) Plain(s string) string {
	return strings.ReplaceAll(s[c.From:c.To], `\|`, "|")
}

// isRule reports whether the cells are those of the delimiter row below a header.
func isRule(s string, rule []Cell) bool {
	for _, c := range rule {
		dashes := strings.TrimSuffix(strings.TrimPrefix(s[c.From:c.To], ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return false
		}
	}
	return len(rule) > 0
}

// ruled reports whether the current line may be a delimiter row. Few lines may.
func (p *parser) ruled(m *Marker) bool {
	c := p.Text[p.Body]
	return c == '|' || c == ':' || c == '-' && m.Next == m.After
}

// table begins a table if the current line is a delimiter row below a header with as many cells.
func (p *parser) table() bool {
	if p.run < 0 || p.t.Nodes[p.run].Kind != Run || p.t.Nodes[p.run].Place != p.Place {
		return false
	}
	var few, some [16]Cell
	rule := Cells(p.Text, p.Body, few[:0])
	if !isRule(p.Text, rule) {
		return false
	}
	head, ok := p.lineAbove()
	if !ok || len(Cells(head.Text, head.Body, some[:0])) != len(rule) {
		return false
	}
	run := &p.t.Nodes[p.run]
	if head.Start < int(run.Start) {
		return false
	}
	if head.Start > int(run.Start) {
		run.End = int32(head.Start)
		p.run = int32(len(p.t.Nodes))
		p.t.Nodes = append(p.t.Nodes, Node{})
		run = &p.t.Nodes[p.run]
	}
	*run = Node{
		Kind: Table, Place: p.Place, Quoted: head.Margin > 0, Line: int32(head.Number), Start: int32(head.Start), Indent: int32(head.Indent),
		Body: int32(head.Start + head.Body), Next: int32(p.Start),
	}
	p.leave(run.Indent)
	return true
}

// row reports whether the current line is a row of the current table: it has a bar that is not escaped, and text.
func (p *parser) row() bool {
	s := p.Content()
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			return len(s) > 1
		}
	}
	return false
}

// lineAbove returns the line before the current one.
func (p *parser) lineAbove() (Line, bool) {
	end := strings.TrimSuffix(strings.TrimSuffix(p.src[:p.Start], "\n"), "\r")
	if len(end) == p.Start {
		return Line{}, false
	}
	if p.src[p.Start-1] == '\r' {
		end = p.src[:p.Start-1]
	}
	start := strings.LastIndexAny(end, "\r\n") + 1
	if start == 0 && strings.HasPrefix(end, lex.BOM) {
		start = len(lex.BOM)
	}
	above := Line{Start: start, Text: lex.TrimAnyRight(end[start:]), Number: p.Number - 1}
	above.Measure()
	return above, !above.Blank()
}
