package ledger

import "strings"

// This file knows what a line is.

// cursor walks over the lines of src. A line ends with LF, CRLF or a lone CR.
// It is a value: a copy looks ahead without moving the original.
type cursor struct {
	src string
	pos int
	// The next line feed and carriage return: valid while at or after pos, and
	// -1 before the first search.
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
		// This is indexFrom, once a line, without the call.
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

// indexFrom returns the index of the first b in s at or after from, len(s) for none.
func indexFrom(s string, b byte, from int) int {
	if i := strings.IndexByte(s[from:], b); i >= 0 {
		return from + i
	}
	return len(s)
}

// place is where a line stands.
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
	number int    // from 1
	margin int    // index in text after block-quote marks
	indent int    // width of the white space after the margin, a tab to the next multiple of 4
	body   int    // index in text of the first content, len(text) for a blank line
	place  place
	edge   bool // the line opens or closes a fence
}

// content returns what stands after the indent.
func (ln *line) content() string { return ln.text[ln.body:] }

func (ln *line) blank() bool { return ln.body == len(ln.text) }

func (ln *line) quoted() bool { return ln.margin > 0 }

// measure finds margin, indent and body.
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

// measureAny goes on from where measure met something else than a space.
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
	if have > width { // a tab that is wider than what is cut off
		return strings.Repeat(" ", have-width) + ln.text[i:]
	}
	return ln.text[i:]
}
