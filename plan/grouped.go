package plan

// This file reads numbered plans in the groups of OpenSpec. Marks and fields are those of numbered plans. Checkboxes
// without number are items, as in OpenSpec.

// groupedGrammar is numberedGrammar with derived ids. No comment can set it, because it is not a dialect of its own.
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

// grouped reports whether a numbered plan has the groups of OpenSpec, and checkboxes that only groupedGrammar reads.
func (n *numbered) grouped() bool {
	return n.evidence.first[signalGroup] > 0 && n.unnumbered > 0
}

// inGroup reports whether a checkbox without number is in a group or below an item, and not in a prompt.
func (n *numbered) inGroup(ln *line, m *marker) bool {
	if n.field.literal && n.takes(ln, m) {
		return false
	}
	return n.group != "" || n.parent(ln.indent) >= 0
}
