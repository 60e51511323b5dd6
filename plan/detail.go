package plan

import (
	"strings"
	"unicode"
)

// This file converts the lines of an item to details. It runs only when an item is described; a pass over a plan skips
// details.

// detailLine reads a line that is not a field. It begins a detail or continues the last one. Its text begins at the
// index.
func (n *numbered) detailLine(ln *line, from int, kind markerKind) {
	text, ns := ln.text[from:], &n.notes
	ns.blanks = min(ns.blanks, 1) // further blank lines only separate code
	if quote, ok := n.quotation(ln); ok {
		n.block(quote, ln.indent)
		return
	}
	const code = 4 // after a blank line, Markdown reads this indentation as code
	switch {
	case kind == markerBullet:
		n.note(text, ln.indent+from-ln.body)
	case kind != markerNone:
		n.note(text, ln.indent)
	case ln.indent <= max(n.ownerIndent, 0) && rule(text):
		ns.end() // a rule separates the item from the following text
	case text[0] == '|':
		n.block(text, ln.indent)
	case !ns.wrapping && ln.indent >= ns.base+code:
		n.block(ln.dedent(ns.base), ns.base)
	case ns.wrapping && !(n.g.headed && strings.HasPrefix(text, bold)): // bold type begins a label there
		ns.add(ln.dedent(ns.base))
	default:
		n.note(text, ln.indent)
	}
}

// rule reports whether a line is a horizontal rule.
func rule(text string) bool {
	bare := strings.ReplaceAll(text, " ", "")
	return len(bare) > 2 && strings.IndexByte("-*_", bare[0]) >= 0 && strings.Trim(bare, bare[:1]) == ""
}

// quotation returns a line with its block-quote marks, if the item itself is not in that block quote.
func (n *numbered) quotation(ln *line) (text string, ok bool) {
	if ln.margin == 0 || quoteDepth(ln) <= n.quotes {
		return "", false
	}
	text = ln.text
	for range n.quotes {
		_, text, _ = strings.Cut(text, ">")
	}
	return trim(text), true
}

// blankQuote adds a line that has only block-quote marks.
func (n *numbered) blankQuote() bool {
	quote, ok := n.quotation(&n.line)
	if ok = ok && !n.field.begun(); ok {
		n.notes.add(quote)
	}
	return ok
}

func quoteDepth(ln *line) int { return strings.Count(ln.text[:ln.margin], ">") }

// own records the context of the first line of the described item.
func (n *numbered) own(ln *line) {
	n.owner, n.quotes = 0, quoteDepth(ln)
	if n.notes.base = 0; ln.text[ln.body] != '#' {
		const bullet = len("- ")
		n.notes.base = ln.indent + bullet
	}
}

// boxNote adds a checkbox without id, which is not a task, as a detail of the item above.
func (n *numbered) boxNote(ln *line, m *marker) {
	n.note(ln.text[m.next:], ln.indent+m.next-ln.body)
}

// belowBox adds a line about such a checkbox unchanged. Its fields do not belong to the item.
func (n *numbered) belowBox(ln *line) {
	if n.item != nil && n.shadow >= 0 {
		n.block(ln.dedent(n.notes.base), n.notes.base)
	}
}

// openFence is a code fence inside the current detail.
type openFence struct {
	open   bool
	indent int // of its first line
	first  int // the number of lines of the detail before it
}

// fenceLine adds a line of a fence.
func (n *numbered) fenceLine(ln *line) {
	f := &n.notes.fence
	quote, quoted := n.quotation(ln)
	switch {
	case n.item == nil:
	case ln.start < n.within:
		n.hiddenLine(ln)
	case quoted:
		n.block(quote, ln.indent)
	case ln.edge && n.pos <= n.mask:
		n.beginFence(ln)
	case !ln.edge:
		n.block(ln.dedent(f.indent), ln.indent)
	case f.open:
		n.block(ln.content(), ln.indent)
		f.open = false
	}
}

// beginFence begins a code fence. The bullet of a detail may precede it.
func (n *numbered) beginFence(ln *line) {
	m := markerAt(ln.text, ln.body)
	n.notes.blanks = min(n.notes.blanks, 1)
	if m.kind == markerBullet && m.spaced(ln.text) {
		indent := ln.indent + m.next - ln.body
		n.note(ln.text[m.next:], indent)
		n.notes.fence = openFence{open: true, indent: indent}
		return
	}
	first := len(n.notes.lines)
	n.block(ln.content(), ln.indent)
	n.notes.fence = openFence{open: true, indent: ln.indent, first: first}
}

// dropFence removes a code fence that contains only a field.
func (ns *notes) dropFence() {
	if ns.fence.open {
		ns.lines, ns.fence = ns.lines[:ns.fence.first], openFence{}
	}
}

// commentLine adds the text after a comment on its last line. The comment itself is not part of the item, unless the
// item is inside it.
func (n *numbered) commentLine(ln *line) {
	if n.item == nil || n.owner < 0 {
		return
	}
	if ln.start < n.within {
		n.hiddenLine(ln)
	}
	if end := ln.start + len(ln.text); n.mask < end {
		n.noteAlone(trim(n.src[n.mask:end]))
	}
}

// hiddenLine reads a line of the code fence or the comment that contains the item itself.
func (n *numbered) hiddenLine(ln *line) {
	shown := *ln
	if ln.place == placeComment {
		shown.text = trimRight(strings.TrimSuffix(n.src[ln.start:min(n.mask, ln.start+len(ln.text))], "-->"))
	}
	if ln.edge || len(shown.text) <= ln.body {
		return
	}
	from, m := ln.body, markerAt(shown.text, ln.body)
	if m.kind == markerBullet && m.spaced(shown.text) {
		from = m.next
	}
	if from < len(shown.text) {
		n.detailLine(&shown, from, m.kind)
	}
}

// spare keeps the part of a value that its field does not store: the purpose of a file, or the reason for a
// dependency. files is the previous number of files of the item.
func (n *numbered) spare(key fieldKey, value string, files int) {
	name, kept := "", n.waits
	switch key {
	case fieldFiles:
		name, kept = "Files: ", wordsOf(n.item.Files[files:])
	case fieldDepends:
		if name = "Depends on: "; kept == nil {
			kept = wordsOf(n.item.DependsOn)
			n.waits = kept
		}
	case fieldNone, fieldRequirements, fieldLeverage, fieldPrompt, fieldBlocked, fieldPurpose:
		return
	}
	if n.list.key == key {
		name = "" // its value is a list below the label
	}
	if !covers(kept, value, key == fieldDepends) {
		n.noteAlone(name + value)
	}
}

// wordsOf returns the set of words in a list.
func wordsOf(list []string) map[string]bool {
	words := map[string]bool{}
	for _, entry := range list {
		for word := range strings.FieldsFuncSeq(entry, notInWord) {
			words[word] = true
		}
	}
	return words
}

// covers reports whether each word of a text is in words, or is a usual word next to ids if ids is true.
func covers(words map[string]bool, text string, ids bool) bool {
	const around = " task tasks group groups and or to through none n a "
	for word := range strings.FieldsFuncSeq(text, notInWord) {
		if !words[word] && !(ids && isOneOf(word, around)) {
			return false
		}
	}
	return true
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// replace sets the value of a field. The previous value becomes a detail.
func (n *numbered) replace(name string, field *string, value string) {
	if old := *field; old != "" && old != value {
		n.noteAlone(name + ": " + old)
	}
	*field = value
}
