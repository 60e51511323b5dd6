package block

import (
	"strings"

	"waybill/plan/lex"
)

// Marker is the Markdown marker at the beginning of a line.
type Marker struct {
	Kind  MarkerKind
	After int // index in the line after the marker
	Next  int // index of what follows it and the white space behind it
}

// MarkerKind is the kind of a marker.
type MarkerKind uint8

// The kinds of markers.
const (
	NoMarker MarkerKind = iota
	Bullet              // - * +
	Ordered             // 1. 1)
	Hashes              // # to ######
)

// MarkerAt reads the marker at s[i].
func MarkerAt(s string, i int) Marker {
	m := Marker{After: i + 1}
	switch c := s[i]; {
	case c == '-' || c == '*' || c == '+':
		m.Kind = Bullet
	case c == '#':
		for m.After < len(s) && s[m.After] == '#' {
			m.After++
		}
		if m.After-i <= 6 {
			m.Kind = Hashes
		}
	case lex.IsDigit(c):
		for m.After < len(s) && lex.IsDigit(s[m.After]) {
			m.After++
		}
		if m.After < len(s) && (s[m.After] == '.' || s[m.After] == ')') {
			m.Kind = Ordered
			m.After++
		}
	}
	if m.Kind == NoMarker {
		return Marker{After: i, Next: i}
	}
	m.Next = lex.SkipBlanks(s, lex.PastSpace(s, m.After))
	return m
}

// Spaced reports whether the marker is valid in Markdown: white space or the line end follows it.
func (m *Marker) Spaced(s string) bool {
	return m.Next > m.After || m.Kind != NoMarker && m.After == len(s)
}

// Listed reports whether the marker is a valid one of a list item.
func (m *Marker) Listed(s string) bool { return (m.Kind == Bullet || m.Kind == Ordered) && m.Spaced(s) }

// HeadingText returns the text after the marks of a heading.
func HeadingText(s string) string { return lex.Trim(strings.TrimRight(s, "#")) }

// Box is a checkbox in a line.
type Box struct {
	Open, Close int  // indices of the brackets
	Optional    bool // a star follows it
	Tight       bool // white space is missing before or behind the box
}

// BoxAt parses the checkbox after the marker.
func BoxAt(s string, m Marker) (Box, bool) {
	width := lex.BoxWidth(s[m.Next:])
	if width == 0 || m.Kind == NoMarker {
		return Box{}, false
	}
	return Box{Open: m.Next, Close: m.Next + width - 1, Tight: m.Next == m.After}, true
}

// Mark returns the text between the brackets.
func (b *Box) Mark(s string) string { return s[b.Open+1 : b.Close] }

// Rest returns the text after the checkbox and its star, and records both.
func (b *Box) Rest(s string) string {
	i := b.Close + 1
	if i == len(s) {
		return ""
	}
	if s[i] == '*' && !strings.HasPrefix(s[i:], lex.Bold) {
		b.Optional = true
		i++
	}
	from := lex.SkipBlanks(s, lex.PastSpace(s, i))
	if from == i && from < len(s) {
		b.Tight = true
	}
	return s[from:]
}
