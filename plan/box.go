package plan

import (
	"strings"
	"unicode/utf8"
)

// marker is the Markdown marker at the beginning of a line.
type marker struct {
	kind  markerKind
	after int // index in the line after the marker
	next  int // index of what follows it and the white space behind it
}

type markerKind uint8

const (
	markerNone    markerKind = iota
	markerBullet             // - * +
	markerOrdered            // 1. 1)
	markerHeading            // # to ######
)

// markerAt reads the marker at s[i].
func markerAt(s string, i int) marker {
	m := marker{after: i + 1}
	switch c := s[i]; {
	case c == '-' || c == '*' || c == '+':
		m.kind = markerBullet
	case c == '#':
		for m.after < len(s) && s[m.after] == '#' {
			m.after++
		}
		if m.after-i <= 6 {
			m.kind = markerHeading
		}
	case isDigit(c):
		for m.after < len(s) && isDigit(s[m.after]) {
			m.after++
		}
		if m.after < len(s) && (s[m.after] == '.' || s[m.after] == ')') {
			m.kind = markerOrdered
			m.after++
		}
	}
	if m.kind == markerNone {
		return marker{after: i, next: i}
	}
	m.next = skipBlanks(s, pastSpace(s, m.after))
	return m
}

// spaced reports whether the marker is valid in Markdown: white space or the line end follows it.
func (m *marker) spaced(s string) bool {
	return m.next > m.after || m.kind != markerNone && m.after == len(s)
}

// box is a checkbox in a line.
type box struct {
	open, close int // indices of the brackets
	optional    bool
	tight       bool // white space is missing before or behind the box, or behind the id
}

// boxAt parses the checkbox after the marker. A checkbox contains at most one character and is not the beginning of a
// link.
func boxAt(s string, m marker) (box, bool) {
	i := m.next
	if i+1 >= len(s) {
		return box{}, false
	}
	end := i + 1
	switch {
	case s[end] == ']':
	case end+1 < len(s) && s[end+1] == ']':
		end++
	default:
		end += markWidth(s[end:])
	}
	if end >= len(s) || s[end] != ']' {
		return box{}, false
	}
	if end+1 < len(s) && (s[end+1] == '(' || s[end+1] == '[') {
		return box{}, false
	}
	return box{open: i, close: end, tight: i == m.after}, true
}

// selector is the emoji variation selector, which has no width of its own.
const selector = "\ufe0f"

// markWidth returns the width of the character that s begins with.
func markWidth(s string) int {
	_, width := utf8.DecodeRuneInString(s)
	if strings.HasPrefix(s[width:], selector) {
		width += len(selector)
	}
	return width
}

// mark returns the text between the brackets.
func (b *box) mark(s string) string { return s[b.open+1 : b.close] }

// label parses the text after the checkbox: an optional star, an id and a title. The id is "" if there is none.
func (b *box) label(s string) (id, title string) {
	from := b.close + 2 // mostly one space stands there
	if from >= len(s) || s[from-1] != ' ' || !solid(s[from]) {
		from = b.starred(s)
	}
	id, title, tight := readLabel(s[from:])
	if tight {
		b.tight = true
	}
	return id, title
}

// readLabel reads an id and a title.
func readLabel(s string) (id, title string, tight bool) {
	if strings.HasPrefix(s, bold) {
		if id, title, tight = boldID(s[len(bold):]); id != "" {
			return id, title, tight
		}
	}
	id, end, tight := readID(s)
	if title = trim(s[pastSpace(s, end):]); id != "" && title != "" && title[0] >= utf8.RuneSelf {
		// Scripts without a space after an id use their own punctuation there.
		title = trim(strings.TrimLeft(title, "、．。：）"))
	}
	if id != "" && title != "" && (title[0] == '-' || title[0] >= utf8.RuneSelf) {
		title = withoutDash(title)
	}
	return id, title, tight
}

// withoutDash removes the dash between an id and a title.
func withoutDash(title string) string {
	for _, dash := range [...]string{"-", "–", "—"} {
		if rest, ok := strings.CutPrefix(title, dash); ok && rest != "" && blankAt(rest, 0) > 0 {
			return trim(rest)
		}
	}
	return title
}

// starred skips the star directly after the checkbox and returns the next index.
func (b *box) starred(s string) int {
	i := b.close + 1
	if i == len(s) {
		return i
	}
	if s[i] == '*' && !strings.HasPrefix(s[i:], bold) {
		b.optional = true
		i++
	}
	from := skipBlanks(s, pastSpace(s, i))
	if from == i && from < len(s) {
		b.tight = true
	}
	return from
}

// rest returns the text after the checkbox and its star.
func (b *box) rest(s string) string { return s[b.starred(s):] }

const bold = "**"

// boldID parses the text after the opening marks of "**1.2** title", "**1.2 title**" and "**1.2 title** more".
func boldID(s string) (id, title string, tight bool) {
	inside, after, ok := strings.Cut(s, bold)
	if !ok {
		return "", "", false
	}
	id, end, tight := readID(inside)
	head := trim(inside[end:])
	if head != "" && trim(after) != "" {
		return id, head + after, tight
	}
	return id, head + trim(after), tight
}
