package read

import (
	"strings"

	"waybill/plan/block"
	"waybill/plan/dialect"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

// drawing finds statements about the order of items outside the items: the fences below "Task Dependency Graph", and the
// sentences below "Dependencies" in plans with phases.
type drawing struct {
	level int  // of its heading, 0 outside such a section
	prose bool // the section consists of sentences
}

// heading begins and ends sections.
func (w *drawing) heading(d *dialect.Dialect, level int, text string) {
	if level <= w.level {
		w.level = 0
	}
	switch {
	case !d.Phased && lex.BeginsWith(text, "Task Dependency Graph"):
		w.level, w.prose = level, false
	case d.Phased && lex.BeginsWith(text, "Dependencies"):
		w.level, w.prose = level, true
	}
}

// sketch adds the inside of a code fence.
func (w *drawing) sketch(r *reader, n *block.Node) {
	from := int(n.Start) + strings.IndexByte(r.t.Text[n.Start:n.End], '\n') + 1
	if from == int(n.Start) { // lines that end with CR only
		from = int(n.Start) + strings.IndexByte(r.t.Text[n.Start:n.End], '\r') + 1
	}
	to := strings.LastIndexAny(strings.TrimRight(r.t.Text[:n.End], "\r\n"), "\r\n") + 1
	if from > int(n.Start) && to >= from {
		r.in.Orders = append(r.in.Orders, graph.Order{Kind: graph.Sketch, From: int32(from), To: int32(to)})
	}
}

// text adds a line outside fences and items: a list item in a section of sentences, or any line in other sections.
func (w *drawing) text(r *reader, ln *block.Line, m *block.Marker) {
	if w.level == 0 {
		if r.d.Phased && strings.Contains(ln.Text, "arallel") {
			r.in.Orders = append(r.in.Orders, graph.Order{Kind: graph.Remark, From: int32(ln.Start + ln.Body), To: int32(ln.Start + len(ln.Text))})
		}
		return
	}
	from, kind := ln.Body, graph.Line
	listed := m.Listed(ln.Text)
	if listed {
		from = m.Next
	}
	switch {
	case w.prose && listed:
		kind = graph.Sentence
	case w.prose:
		kind = graph.Remark
	}
	r.in.Orders = append(r.in.Orders, graph.Order{Kind: kind, From: int32(ln.Start + from), To: int32(ln.Start + len(ln.Text))})
}
