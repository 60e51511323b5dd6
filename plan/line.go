package plan

import "strings"

// This file splits a text into lines.

// cursor iterates over the lines of src. A line ends with LF, CRLF or a single CR. A copy of a cursor can look ahead
// without moving the original.
type cursor struct {
	src string
	pos int
	// The next line feed and carriage return. They are valid at or after pos, and -1 before the first search.
	lf, cr int
}

func newCursor(src string) cursor {
	c := cursor{src: src, lf: -1, cr: -1}
	if strings.HasPrefix(src, byteOrderMark) {
		c.pos = len(byteOrderMark)
	}
	return c
}

// next returns the bounds of the next line without its line end.
func (c *cursor) next() (start, end int, ok bool) {
	if c.pos >= len(c.src) {
		return 0, 0, false
	}
	start = c.pos
	if c.lf < start {
		// This is indexFrom, inlined by hand.
		if c.lf = strings.IndexByte(c.src[start:], '\n') + start; c.lf < start {
			c.lf = len(c.src)
		}
	}
	if c.cr < start {
		c.cr = indexFrom(c.src, '\r', start)
	}
	end = min(c.lf, c.cr)
	c.pos = end + 1
	if end == c.cr && c.lf == end+1 {
		c.pos++
	}
	return start, end, true
}

// indexFrom returns the index of the first b in s at or after from, or len(s).
func indexFrom(s string, b byte, from int) int {
	if i := strings.IndexByte(s[from:], b); i >= 0 {
		return from + i
	}
	return len(s)
}

// place is the context of a line: ordinary text, a code fence or a comment.
type place uint8

const (
	placeText place = iota
	placeFence
	placeComment
)

// line is one line of the source.
type line struct {
	text   string // without the line end and trailing white space
	start  int    // offset of text in the source
	number int    // counted from 1
	margin int    // index in text after block-quote marks
	indent int    // columns of white space after the margin; a tab extends to the next multiple of 4
	body   int    // index in text of the first content, len(text) for a blank line
	place  place
	edge   bool // the line opens or closes a fence
}

// content returns the text after the indent.
func (ln *line) content() string { return ln.text[ln.body:] }

func (ln *line) blank() bool { return ln.body == len(ln.text) }

func (ln *line) quoted() bool { return ln.margin > 0 }

// measure sets margin, indent and body.
func (ln *line) measure() {
	s, i := ln.text, 0
	for i < len(s) && s[i] == ' ' {
		i++
	}
	ln.margin, ln.indent, ln.body = 0, i, i
	if i < len(s) && (!solid(s[i]) || s[i] == '>') {
		ln.measureAny()
	}
}

// measureAny continues measure at the first character that is not a space.
func (ln *line) measureAny() {
	s, i, width := ln.text, ln.body, ln.indent
	for i < len(s) {
		switch s[i] {
		case '>':
			width, i = 0, pastSpace(s, i+1)
			ln.margin = i
			continue
		case '\t':
			width = tabStop(width) - 1
		}
		n := blankAt(s, i)
		if n == 0 {
			break
		}
		width++
		i += n
	}
	ln.indent, ln.body = width, i
}

func tabStop(width int) int { return width/4*4 + 4 }

// dedent returns the line without its margin and the first width columns of its indent.
func (ln *line) dedent(width int) string {
	i, have := ln.margin, 0
	for i < ln.body && have < width {
		if ln.text[i] == '\t' {
			have = tabStop(have)
			i++
			continue
		}
		have++
		i += blankAt(ln.text, i)
	}
	if have > width { // a tab that is wider than the removed columns
		return strings.Repeat(" ", have-width) + ln.text[i:]
	}
	return ln.text[i:]
}
