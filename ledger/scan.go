package ledger

import (
	"slices"
	"strings"
)

// This file knows lines, fences and comments, and nothing of tasks: every
// dialect reads what the scanner gives.

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
	cut      bool
	ahead    ahead
	override override
	// nextOverriding is the next place at or after the current line that may set the dialect.
	nextOverriding int
}

func newScanner(src string) scanner {
	return scanner{cursor: newCursor(src), ahead: unknown, nextOverriding: firstOverriding(src)}
}

// scannerOf returns a scanner of lines of an item. It does not number them.
func (r *Reading) scannerOf(from, to int32) scanner {
	return scanner{
		cursor: cursor{src: r.text[:to], pos: int(from), lf: -1, cr: -1},
		ahead:  unknown, nextOverriding: int(to), cut: true, missing: r.endings,
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
		s.checkOverriding(true)
		return true
	}
	ln.place = placeText
	if at := ln.opening(); at >= 0 {
		s.open(at)
	}
	s.checkOverriding(false)
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

func (s *scanner) report(code, message string) {
	s.missing = append(s.missing, s.start)
	s.unclosed = append(s.unclosed, diagnose(&s.line, s.body, SeverityWarning, code, message))
}
