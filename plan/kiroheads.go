package plan

import "strings"

// This file reads the plans of Kiro with numbered headings, "### 1.1 Model", and checkboxes without number below them.
// They are read like other plans of headings, with the marks of Kiro.

var kiroHeadGrammar = grammar{
	dialects:   []string{kiro},
	label:      kiroHeadLabel,
	text:       headLine,
	head:       readNumberHead,
	marks:      numberedGrammar.marks,
	usable:     numberedGrammar.usable,
	unnumbered: true,
	headed:     true,
	missing:    "no heading such as \"### 1.1 Model\" with boxes below it",
}

// kiroHeaded reports whether a plan with other evidence of Kiro has numbered headings with unnumbered boxes below them.
// The evidence is needed because any document may have numbered headings.
func (n *numbered) kiroHeaded() bool {
	s := &n.evidence
	hint, _ := s.hints.folderDialect()
	said := s.hints.Dialect == kiro || s.hints.Dialect == "" && n.override.dialect == kiro
	switch {
	case n.r.Len() > 0 || n.uncounted == 0:
		return false
	case n.configured() != nil:
		return said
	case s.first[signalBlocked]+s.first[signalPrompt]+s.first[signalLeverage] > 0:
		return hint == kiro
	}
	return hint == kiro || s.first[signalGraph]+s.first[signalHeading] > 0
}

// readNumberHead reads the text of a heading such as "1.1 Model" or "1. Model". A number alone may count something:
// "3 columns".
func readNumberHead(text string) (h head, ok bool) { return headAs(text, numberNamed) }

func numberNamed(h head, text string) (named head, rest string, ok bool) {
	id, end, _ := readID(text)
	if end == len(id) && strings.IndexByte(id, '.') < 0 {
		return h, "", false
	}
	h.id, rest = id, trim(text[end:])
	return h, rest, rest != ""
}

// kiroHeadLabel parses the text after a checkbox: a title without an id.
func kiroHeadLabel(n *numbered, ln *line, b *box) (id, title string) {
	n.leaveCriteria(ln)
	title = b.rest(ln.text)
	n.tags.waits = mentioned(title)
	if n.item != nil && n.owner < 0 {
		return n.item.ID, title // the headings above are not available here
	}
	return "", title
}
