package plan

import (
	"slices"
	"strings"
)

// This file splits a text into lines, and finds code fences and comments. Every dialect reads the lines of the
// scanner.

// scanner iterates over the lines of a text and marks those in a code fence or comment. A fence or comment without an
// end hides no lines.
type scanner struct {
	cursor
	line
	mask     int // lines that start before this offset are in a fence or comment
	maskAs   place
	unclosed []Diagnostic
	// Openings without an end: the shortest run of each fence character, and the comment. They limit a file with many
	// openings to one search of each kind.
	endless        [2]int
	endlessComment bool
	// missing are the offsets of lines with a fence or comment that has no end.
	missing []int
	// cut means that the text continues after src, so that the end of an opening may be there.
	cut      bool
	ahead    ahead
	override override
	// nextOverriding is the next offset at or after the current line that may set the dialect.
	nextOverriding int
}

func newScanner(src string) scanner {
	return scanner{cursor: newCursor(src), ahead: unknown, nextOverriding: firstOverriding(src)}
}

// scannerOf returns a scanner for the lines of an item. It does not count line numbers.
func (r *Reading) scannerOf(from, to int32) scanner {
	return scanner{
		cursor: cursor{src: r.text[:to], pos: int(from), lf: -1, cr: -1},
		ahead:  unknown, nextOverriding: int(to), cut: true, missing: r.endings,
	}
}

// scan moves to the next line, and returns false at the end.
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

// opening returns the index at which a fence or comment may begin: at the beginning of the line or of its list item.
// It returns -1 for most lines.
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
		return // already searched when the item was found
	}
	if s.text[at] == '<' {
		s.openComment(at)
	} else {
		s.openFence(at)
	}
}

// longestRun is the largest counted run of fence characters. Longer runs count as equal, which limits the searches for
// an end.
const longestRun = 16

// fenceRun returns the length of the run of fence characters at the beginning of s, and the rest.
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

// fenceEnd returns the end of the line that closes a fence of n characters.
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

// openComment processes a comment at the beginning of a line. Other comments end with their paragraph, and a list item
// begins a new paragraph.
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
