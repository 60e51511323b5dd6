package read

import (
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/describe"
	"waybill/plan/dialect"
	"waybill/plan/lex"
	"waybill/plan/table"
)

// describer reads the descriptions of items from the text of a plan.
type describer struct {
	text    string
	d       *dialect.Dialect
	rows    *plan.Rows
	found   []table.Table
	missing []int
	coded   bool
	head    string // the title of the heading with the id of a checkbox below it
}

// describe fills in the description of an item.
func (f describer) describe(i int32, it *plan.Item) {
	e := &f.rows.Entries[i]
	f.head = ""
	lines := describe.Lines{Item: it, Headed: f.d.Head != nil}
	lines.Within(int(e.Mask))
	s := block.Part(f.text, int(e.From), int(e.To), f.missing, int(e.Mask), e.Place)
	lines.Read(&s, func(ln *block.Line, m *block.Marker) bool { return f.first(e, &lines, ln, m) })
	for _, more := range f.rows.RestsOf(i) {
		s = block.Part(f.text, int(more.From), int(more.To), f.missing, 0, plan.InText)
		lines.Begin(-1)
		lines.Read(&s, nil)
	}
}

// first reads the first line of an item.
func (f *describer) first(e *plan.Entry, lines *describe.Lines, ln *block.Line, m *block.Marker) bool {
	at := int(e.Mark) - ln.Start
	switch b, isBox := block.BoxAt(ln.Text, *m); {
	case f.d.Rows && e.Worded || f.d.Rows && e.MarkEnd == 0:
		lines.Begin(0)
		describeRow(lines, tableOf(f.found, e), ln)
		return true
	case isBox && e.MarkEnd > 0 && at == b.Open+1 && f.head != "":
		lines.End()
		f.own(lines, ln, ln.Indent)
		lines.Item.Title, f.head = f.head, ""
		lines.Describe(ln, len(ln.Text)-len(b.Rest(ln.Text)), block.Bullet)
	case isBox && e.MarkEnd > 0 && at == b.Open+1:
		f.box(lines, ln, m, &b)
	case e.Worded && m.Next < len(ln.Text) && ln.Text[m.Next] == '[' && m.Kind != block.Hashes:
		l := dialect.Label{Full: true}
		f.d.Parse(lex.Trim(ln.Text[min(len(ln.Text), int(e.MarkEnd)-ln.Start+1):]), &l)
		f.own(lines, ln, ln.Indent)
		lines.Title(ln, l.Title)
	case e.Worded && f.d.Head == nil:
		title := strings.TrimPrefix(ln.Text[min(len(ln.Text), int(e.MarkEnd)-ln.Start):], lex.Selector)
		f.own(lines, ln, ln.Indent)
		lines.Item.Title, _ = lex.CutStruck(lex.Trim(title))
	case m.Kind != block.Hashes || !m.Spaced(ln.Text):
		return false
	case f.d.Head != nil:
		h, _ := f.d.Head(block.HeadingText(ln.Text[m.Next:]))
		f.own(lines, ln, -1)
		lines.Title(ln, h.Title)
	default: // the checkbox with the id of this heading comes later
		f.head = readTaskHeading(block.HeadingText(ln.Text[m.Next:]), &block.Node{}).title
		lines.Begin(-1)
		lines.AdoptAt(int(e.Mark))
	}
	return true
}

func (f *describer) own(lines *describe.Lines, ln *block.Line, indent int) {
	lines.Begin(indent)
	lines.Own(ln)
}

// box reads the checkbox of the item.
func (f *describer) box(lines *describe.Lines, ln *block.Line, m *block.Marker, b *block.Box) {
	l := dialect.Label{InHead: m.Kind == block.Hashes, Full: true}
	r := reader{sheet: sheet{d: f.d}, mode: mode{full: true, coded: f.coded}, at: where{d: f.d}}
	r.parse(ln, b, l.InHead)
	l = r.label
	indent := ln.Indent
	if l.InHead && f.d.Head != nil {
		indent = -1
	}
	f.own(lines, ln, indent)
	lines.Title(ln, l.Title)
	it := lines.Item
	it.Parallel = it.Parallel || l.Parallel
	if l.Waits != "" {
		lines.SetDepends(l.Waits)
	}
	it.Files = append(it.Files, l.Files...)
	it.Requirements = append(it.Requirements, l.Stories...)
	for _, detail := range l.Details {
		lines.Note(detail)
	}
}
