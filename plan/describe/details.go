package describe

import (
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/lex"
)

// detailer reads the details of the described item.
type detailer struct{ *Lines }

// notes gathers the details of the current item.
type notes struct {
	all      []string
	lines    []string // of the current detail
	base     int      // the least indent of its continuation lines
	blanks   int      // blank lines after its last line
	wrapping bool     // the next line may continue it
	fence    openFence
}

// note begins a detail whose continuation lines are indented by at least base.
func (n detailer) note(text string, base int) {
	if text == "" || n.Item == nil {
		return
	}
	n.notes.end()
	n.notes.base = base
	n.notes.add(text)
}

// noteAlone adds a detail without continuation.
func (n detailer) noteAlone(text string) {
	n.note(text, 0)
	n.notes.end()
}

// block adds a line below the last detail. Without a last detail, the line becomes one.
func (n detailer) block(text string, base int) {
	if len(n.notes.lines) == 0 {
		n.note(text, base)
		return
	}
	n.notes.add(text)
}

// add adds a line to the current detail, after its pending blank lines.
func (ns *notes) add(text string) {
	for ; len(ns.lines) > 0 && ns.blanks > 0; ns.blanks-- {
		ns.lines = append(ns.lines, "")
	}
	ns.lines, ns.blanks, ns.wrapping = append(ns.lines, text), 0, true
}

// endDetail ends the current detail. A pass over a plan has none.
func (n detailer) endDetail() {
	if n.Item != nil {
		n.notes.end()
	}
}

// end ends the current detail, if any.
func (ns *notes) end() {
	switch len(ns.lines) {
	case 0:
	case 1:
		ns.all = append(ns.all, ns.lines[0])
	default:
		ns.all = append(ns.all, strings.Join(ns.lines, "\n"))
	}
	ns.lines, ns.blanks, ns.wrapping, ns.fence = ns.lines[:0], 0, false, openFence{}
}

// take returns the details and resets the list.
func (ns *notes) take() []string {
	ns.end()
	all := ns.all
	ns.all = nil
	return all
}

// detailLine reads a line that is not a field. It begins a detail or continues the last one. Its text begins at the
// index.
func (n detailer) detailLine(ln *block.Line, from int, kind block.MarkerKind) {
	text, ns := ln.Text[from:], &n.notes
	ns.blanks = min(ns.blanks, 1) // further blank lines only separate code
	if quote, ok := n.quotation(ln); ok {
		n.block(quote, ln.Indent)
		return
	}
	const code = 4 // after a blank line, Markdown reads this indentation as code
	switch {
	case kind == block.Bullet:
		n.note(text, ln.Indent+from-ln.Body)
	case kind != block.NoMarker:
		n.note(text, ln.Indent)
	case ln.Indent <= max(n.Indent, 0) && rule(text):
		ns.end() // a rule separates the item from the following text
	case text[0] == '|':
		n.block(text, ln.Indent)
	case !ns.wrapping && ln.Indent >= ns.base+code:
		n.block(ln.Dedent(ns.base), ns.base)
	case ns.wrapping && !(n.Headed && strings.HasPrefix(text, lex.Bold)): // bold type begins a label there
		ns.add(ln.Dedent(ns.base))
	default:
		n.note(text, ln.Indent)
	}
}

// rule reports whether a line is a horizontal rule.
func rule(text string) bool {
	bare := strings.ReplaceAll(text, " ", "")
	return len(bare) > 2 && strings.IndexByte("-*_", bare[0]) >= 0 && strings.Trim(bare, bare[:1]) == ""
}

// quotation returns a line with its block-quote marks, if the item itself is not in that block quote.
func (n detailer) quotation(ln *block.Line) (text string, ok bool) {
	if ln.Margin == 0 || quoteDepth(ln) <= n.quotes {
		return "", false
	}
	text = ln.Text
	for range n.quotes {
		_, text, _ = strings.Cut(text, ">")
	}
	return lex.Trim(text), true
}

// blankQuote adds a line that has only block-quote marks.
func (n detailer) blankQuote(ln *block.Line) bool {
	quote, ok := n.quotation(ln)
	if ok = ok && !n.field.begun(); ok {
		n.notes.add(quote)
	}
	return ok
}

func quoteDepth(ln *block.Line) int { return strings.Count(ln.Text[:ln.Margin], ">") }

// Below adds a line about such a checkbox unchanged. Its fields do not belong to the item.
func (n detailer) below(ln *block.Line) {
	if n.Item != nil && n.shadow > 0 {
		n.block(ln.Dedent(n.notes.base), n.notes.base)
	}
}

// openFence is a code fence inside the current detail.
type openFence struct {
	open   bool
	indent int // of its first line
	first  int // the number of lines of the detail before it
}

// fenceLine adds a line of a fence.
func (n detailer) fenceLine(ln *block.Line) {
	f := &n.notes.fence
	quote, quoted := n.quotation(ln)
	switch {
	case n.Item == nil:
	case ln.Start < n.within:
		n.hiddenLine(ln)
	case quoted:
		n.block(quote, ln.Indent)
	case ln.Edge && n.scan.Pos() <= n.scan.Mask():
		n.beginFence(ln)
	case !ln.Edge:
		n.block(ln.Dedent(f.indent), ln.Indent)
	case f.open:
		n.block(ln.Content(), ln.Indent)
		f.open = false
	}
}

// beginFence begins a code fence. The bullet of a detail may precede it.
func (n detailer) beginFence(ln *block.Line) {
	m := block.MarkerAt(ln.Text, ln.Body)
	n.notes.blanks = min(n.notes.blanks, 1)
	if m.Kind == block.Bullet && m.Spaced(ln.Text) {
		indent := ln.Indent + m.Next - ln.Body
		n.note(ln.Text[m.Next:], indent)
		n.notes.fence = openFence{open: true, indent: indent}
		return
	}
	first := len(n.notes.lines)
	n.block(ln.Content(), ln.Indent)
	n.notes.fence = openFence{open: true, indent: ln.Indent, first: first}
}

// dropFence removes a code fence that contains only a field.
func (ns *notes) dropFence() {
	if ns.fence.open {
		ns.lines, ns.fence = ns.lines[:ns.fence.first], openFence{}
	}
}

// commentLine adds the text after a comment on its last line. The comment itself is not part of the item, unless the
// item is inside it.
func (n detailer) commentLine(ln *block.Line) {
	if n.Item == nil || !n.Owned {
		return
	}
	if ln.Start < n.within {
		n.hiddenLine(ln)
	}
	if end := ln.Start + len(ln.Text); n.scan.Mask() < end {
		n.noteAlone(lex.Trim(n.scan.Source()[n.scan.Mask():end]))
	}
}

// hiddenLine reads a line of the code fence or the comment that contains the item itself.
func (n detailer) hiddenLine(ln *block.Line) {
	shown := *ln
	if ln.Place == plan.InComment {
		shown.Text = lex.TrimRight(strings.TrimSuffix(n.scan.Source()[ln.Start:min(n.scan.Mask(), ln.Start+len(ln.Text))], "-->"))
	}
	if ln.Edge || len(shown.Text) <= ln.Body {
		return
	}
	from, m := ln.Body, block.MarkerAt(shown.Text, ln.Body)
	if m.Kind == block.Bullet && m.Spaced(shown.Text) {
		from = m.Next
	}
	if from < len(shown.Text) {
		n.detailLine(&shown, from, m.Kind)
	}
}
