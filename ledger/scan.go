package ledger

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// This file knows lines, fences and comments, and nothing of tasks: every
// dialect reads what the scanner gives.

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
	return ln.text[i:]
}

// scanner gives the lines of a text one by one and says which of them stand in
// a fence or a comment. A fence or comment that never ends hides nothing.
type scanner struct {
	cursor
	line
	mask     int // lines that start before this offset are hidden
	maskAs   place
	unclosed []Diagnostic
	// What is known to have no end further down, so that many openings in one
	// file cost one search each kind: per fence character the shortest run, and
	// the comment.
	endless        [2]int
	endlessComment bool
	// missing holds the offsets of the lines where one begins that has no end.
	missing []int
	// cut says that the text goes on behind src, where what is not missing is.
	cut bool
	// nextUnder is the next underscore, valid while at or after the current line.
	nextUnder int
	override  override
}

func newScanner(src string) scanner {
	return scanner{cursor: newCursor(src), nextUnder: -1}
}

// scannerOf returns a scanner of the lines of an item. It does not number them.
func (r *Reading) scannerOf(e *entry) scanner {
	return scanner{
		cursor: cursor{src: r.text[:e.to], pos: int(e.from), lf: -1, cr: -1}, nextUnder: -1,
		mask: int(e.mask), maskAs: e.place, cut: true, missing: r.endings,
	}
}

// scan moves to the next line and reports whether there is one.
func (s *scanner) scan() bool {
	start, end, ok := s.next()
	ln := &s.line
	if !ok {
		ln.start = len(s.src)
		return false
	}
	ln.number++
	text := s.src[start:end]
	if start < end && !solid(text[end-start-1]) {
		text = trimAnyRight(text)
	}
	ln.start, ln.text, ln.edge = start, text, false
	ln.measure()
	if start < s.mask {
		ln.place = s.maskAs
		ln.edge = s.maskAs == placeFence && end >= s.mask
		return true
	}
	ln.place = placeText
	if at := ln.opening(); at >= 0 {
		s.open(at)
	}
	return true
}

// opening returns the index where a fence or a comment may begin: with the
// line, or with the list item that does. It is -1 for most lines.
func (ln *line) opening() int {
	at := ln.body
	if at+2 >= len(ln.text) {
		return -1
	}
	if ln.text[at+1] == ' ' && (ln.text[at] == '-' || ln.text[at] == '*' || ln.text[at] == '+') {
		at += 2
	}
	if c := ln.text[at]; c != '`' && c != '~' && c != '<' {
		return -1
	}
	return at
}

func (s *scanner) open(at int) {
	if _, endless := slices.BinarySearch(s.missing, s.start); endless {
		return // it was looked for when the item was found
	}
	if s.text[at] == '<' {
		s.openComment(at)
	} else {
		s.openFence(at)
	}
}

// longestRun is where counting fence characters stops: a longer run is not
// told apart from it, which bounds the searches for an end.
const longestRun = 16

// fenceRun returns the length of the run of fence characters that s begins with, and what follows.
func fenceRun(s string) (n int, rest string) {
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return min(n, longestRun), s[n:]
}

func (s *scanner) openFence(at int) {
	n, info := fenceRun(s.text[at:])
	mark, kind := s.text[at], 0
	if mark == '~' {
		kind = 1
	}
	if n < 3 || mark == '`' && strings.IndexByte(info, '`') >= 0 {
		return
	}
	end, ok := 0, false
	if s.endless[kind] == 0 || n < s.endless[kind] {
		if end, ok = s.fenceEnd(mark, n); !ok {
			s.endless[kind] = n
		}
	}
	if !ok && s.cut {
		end, ok = len(s.src), true
	}
	if !ok {
		s.report("unclosed_fence", "this fence is never closed, so it hides nothing: close it or remove it")
		return
	}
	s.mask, s.maskAs = end, placeFence
	s.place, s.edge = placeFence, true
}

// fenceEnd returns the end of the line that closes a fence of n marks.
func (s *scanner) fenceEnd(mark byte, n int) (int, bool) {
	ahead := s.cursor
	var ln line
	for {
		start, end, ok := ahead.next()
		if !ok {
			return 0, false
		}
		ln.text = ahead.src[start:end]
		ln.measure()
		if ln.blank() || ln.text[ln.body] != mark {
			continue
		}
		if run, rest := fenceRun(ln.content()); run >= n && skipBlanks(rest, 0) == len(rest) {
			return end, true
		}
	}
}

// openComment knows only comments that begin a line. What looks like one in the
// middle of a line ends with its paragraph, and a list item is a new one.
func (s *scanner) openComment(at int) {
	const opening, closing = "<!--", "-->"
	if !strings.HasPrefix(s.text[at:], opening) {
		return
	}
	from, length := s.start+at+len(opening), -1
	s.overridden(at, s.text[at+len(opening):])
	if !s.endlessComment {
		length = strings.Index(s.src[from:], closing)
	}
	if length < 0 && s.cut {
		length = len(s.src) - from
	}
	if length < 0 {
		s.endlessComment = true
		s.report("unclosed_comment", "this comment is never closed, so it hides nothing: close it or remove it")
		return
	}
	s.mask, s.maskAs = from+length+len(closing), placeComment
	s.place = placeComment
}

// override is what a comment says about the dialect of the file.
type override struct {
	dialect      string
	line, column int // line 0 for none
}

// overridden looks for a dialect in the first line of a comment. The first counts.
func (s *scanner) overridden(at int, text string) {
	text, _, closed := strings.Cut(text, "-->")
	if dialect, ok := overriding(text); ok && closed && s.override.line == 0 {
		s.override = override{dialect, s.number, utf8.RuneCountInString(s.text[:at]) + 1}
	}
}

// underscored reports whether the current line has an underscore. Most have
// none, and the next one is known to be further down.
func (s *scanner) underscored() bool {
	end := s.start + len(s.text)
	return s.nextUnder < end && (s.nextUnder >= s.start || s.findUnder() < end)
}

func (s *scanner) findUnder() int {
	s.nextUnder = indexFrom(s.src, '_', s.start)
	return s.nextUnder
}

func (s *scanner) report(code, message string) {
	s.missing = append(s.missing, s.start)
	s.unclosed = append(s.unclosed, diagnose(&s.line, s.body, SeverityWarning, code, message))
}
