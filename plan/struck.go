package plan

import "strings"

// This file reads text that is struck through: "~~1.2 Fax output~~". Such an item is withdrawn in every dialect,
// whatever its mark.

const struck = "~~"

// cutStruck removes the strokes from a text that is struck through as a whole. A partly struck text is ordinary text.
func cutStruck(s string) (inside string, ok bool) {
	inside, ok = strings.CutPrefix(s, struck)
	if inside, found := strings.CutSuffix(inside, struck); ok && found && trim(inside) != "" && !strings.Contains(inside, struck) {
		return trim(inside), true
	}
	return s, false
}

// withdrawn reports whether a text is struck through.
func withdrawn(s string) bool {
	_, ok := cutStruck(s)
	return ok
}

// label reads the text after a box. It removes strokes through all of it, through the title, or through the id and some
// following words.
func (n *numbered) label(ln *line, b *box) (id, title string) {
	n.tags.withdrawn = false
	if !n.hasStrokes() {
		return n.labelOf(ln, b)
	}
	own := *b
	id, title = n.labelOf(ln, &own)
	bare, whole, ok := unstroked(ln, b)
	if !ok {
		*b = own
		return id, title
	}
	said, again := n.tags, *b
	if bareID, bareTitle := n.labelOf(&bare, &again); withdrawn(title) || id == "" && (whole || bareID != "") {
		n.tags.withdrawn, *b = true, again
		return bareID, bareTitle
	}
	n.tags, *b = said, own
	return id, title
}

// unstroked removes the first pair of strikethrough marks after the checkbox. whole means that the pair enclosed all
// of the text.
func unstroked(ln *line, b *box) (bare line, whole, ok bool) {
	own := *b
	rest := own.rest(ln.text)
	from := strings.Index(rest, struck)
	if from < 0 {
		return line{}, false, false
	}
	inside, after, ok := strings.Cut(rest[from+len(struck):], struck)
	if !ok || trim(inside) == "" {
		return line{}, false, false
	}
	bare = *ln
	bare.text = ln.text[:len(ln.text)-len(rest)] + rest[:from] + trim(inside) + after
	return bare, strings.Trim(rest[:from]+after, "*_ ") == "", true
}
