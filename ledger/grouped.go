package ledger

// This file knows numbered plans in the groups of OpenSpec: the marks and fields are those of the one, and boxes
// without number are items as in the other.

// groupedGrammar is numberedGrammar with derived ids. No comment sets it, since it is no dialect of its own.
var groupedGrammar = grammar{
	dialects:   numberedGrammar.dialects,
	label:      func(_ *numbered, ln *line, b *box) (id, title string) { return b.label(ln.text) },
	decide:     numberedGrammar.decide,
	heading:    openSpecGrammar.heading,
	marks:      numberedGrammar.marks,
	usable:     numberedGrammar.usable,
	unnumbered: true,
	missing:    numberedGrammar.missing,
	wanted:     numberedGrammar.wanted,
}

// grouped reports whether a plan of numbers has the groups of OpenSpec, and boxes that would be lost without them.
func (n *numbered) grouped() bool {
	return n.seen.first[signalGroup] > 0 && n.unnumbered > 0
}

// inGroup reports whether a box without number stands in a group or below an item, and in no prompt.
func (n *numbered) inGroup(ln *line, m *marker) bool {
	if n.field.literal && n.takes(ln, m) {
		return false
	}
	return n.group != "" || n.parent(ln.indent) >= 0
}
