package block

import (
	"slices"
	"strings"

	"waybill/plan"
	"waybill/plan/lex"
)

// cursor iterates over the lines of src. A line ends with LF, CRLF or a single CR. A copy of a cursor can look ahead
// without moving the original.
type cursor struct {
	src string
	pos int
	// The next line feed and carriage return. They are valid at or after pos, and -1 before the first search.
	lf, cr int
}

// next returns the bounds of the next line without its line end.
func (c *cursor) next() (start, end int, ok bool) {
	if c.pos >= len(c.src) {
		return 0, 0, false
	}
	start = c.pos
	if c.lf < start {
		// This is lex.IndexFrom, inlined by hand.
		if c.lf = strings.IndexByte(c.src[start:], '\n') + start; c.lf < start {
			c.lf = len(c.src)
		}
	}
	if c.cr < start {
		c.cr = lex.IndexFrom(c.src, '\r', start)
	}
	if c.lf < c.cr {
		c.pos = c.lf + 1
		return start, c.lf, true
	}
	end = c.cr
	if c.pos = end + 1; c.lf == end+1 {
		c.pos++
	}
	return start, end, true
}

// Line is one line of the source.
type Line struct {
	Text   string // without the line end and trailing white space
	Start  int    // offset of text in the source
	Number int    // counted from 1
	Margin int    // index in text after block-quote marks
	Indent int    // columns of white space after the margin; a tab extends to the next multiple of 4
	Body   int    // index in text of the first content, len(text) for a blank line
	Place  plan.Place
	Edge   bool // the line opens or closes a fence
}

// Content returns the text after the indent.
func (ln *Line) Content() string { return ln.Text[ln.Body:] }

// Blank reports whether the line has only white space and block-quote marks.
func (ln *Line) Blank() bool { return ln.Body == len(ln.Text) }

// Quoted reports whether the line is in a block quote.
func (ln *Line) Quoted() bool { return ln.Margin > 0 }

// Measure sets margin, indent and body.
func (ln *Line) Measure() {
	s, i := ln.Text, 0
	for i < len(s) && s[i] == ' ' {
		i++
	}
	ln.Margin, ln.Indent, ln.Body = 0, i, i
	if i < len(s) && (!lex.Solid(s[i]) || s[i] == '>') {
		ln.measureAny()
	}
}

// measureAny continues Measure at the first character that is not a space.
func (ln *Line) measureAny() {
	s, i, width := ln.Text, ln.Body, ln.Indent
	for i < len(s) {
		switch s[i] {
		case '>':
			width, i = 0, lex.PastSpace(s, i+1)
			ln.Margin = i
			continue
		case '\t':
			width = tabStop(width) - 1
		}
		n := lex.BlankAt(s, i)
		if n == 0 {
			break
		}
		width++
		i += n
	}
	ln.Indent, ln.Body = width, i
}

func tabStop(width int) int { return width/4*4 + 4 }

// Dedent returns the line without its margin and the first width columns of its indent.
func (ln *Line) Dedent(width int) string {
	i, have := ln.Margin, 0
	for i < ln.Body && have < width {
		if ln.Text[i] == '\t' {
			have = tabStop(have)
			i++
			continue
		}
		have++
		i += lex.BlankAt(ln.Text, i)
	}
	if have > width { // a tab that is wider than the removed columns
		return strings.Repeat(" ", have-width) + ln.Text[i:]
	}
	return ln.Text[i:]
}

// Scanner iterates over the lines of a text and marks those in a code fence or comment. A fence or comment without an
// end hides no lines.
type Scanner struct {
	cursor
	Line
	mask   int // lines that start before this offset are in a fence or comment
	maskAs plan.Place
	// Notes receives a diagnostic for each fence or comment without an end, and for each comment that fails to set the
	// dialect. It is nil for a part of a text.
	Notes *plan.Remarks
	// Openings without an end: the shortest run of each fence character, and the comment. They limit a file with many
	// openings to one search of each kind.
	endless        [2]int
	endlessComment bool
	// missing are the offsets of lines with a fence or comment that has no end.
	missing []int
	// cut means that the text continues after src, so that the end of an opening may be there.
	cut      bool
	Override Override
	// comment is the next opening of a comment at or after the current line, and -1 before the first search.
	comment int
}

// NewScanner returns a scanner of a whole text. notes may be nil.
func NewScanner(src string, notes *plan.Remarks) Scanner { return FileScanner(src, 0, len(src), notes) }

// FileScanner returns a scanner of one file of a folder plan: text[from:to]. It counts the lines of that file.
func FileScanner(text string, from, to int, notes *plan.Remarks) Scanner {
	if strings.HasPrefix(text[from:to], lex.BOM) {
		from += len(lex.BOM)
	}
	return Scanner{cursor: cursor{src: text[:to], pos: from, lf: -1, cr: -1}, Notes: notes, comment: -1}
}

// Part returns a scanner for the lines text[from:to], such as those of an item. It does not count line numbers. missing
// are the offsets of lines with a fence or comment that has no end, and mask is the end of the fence or comment around
// the part.
func Part(text string, from, to int, missing []int, mask int, place plan.Place) Scanner {
	return Scanner{
		cursor: cursor{src: text[:to], pos: from, lf: -1, cr: -1}, comment: to, cut: true, missing: missing, mask: mask, maskAs: place,
	}
}

// Mask returns the end of the current or last fence or comment.
func (s *Scanner) Mask() int { return s.mask }

// Pos returns the offset after the current line.
func (s *Scanner) Pos() int { return s.pos }

// Scan moves to the next line, and returns false at the end.
func (s *Scanner) Scan() bool {
	start, end, ok := s.next()
	ln := &s.Line
	if !ok {
		ln.Start = len(s.src)
		return false
	}
	ln.Number++
	text := s.src[start:end]
	if start < end && !lex.Solid(text[len(text)-1]) {
		text = lex.TrimAnyRight(text)
	}
	ln.Start, ln.Text, ln.Place, ln.Edge = start, text, plan.InText, false
	ln.Measure()
	masked := start < s.mask
	if masked {
		ln.Place = s.maskAs
		ln.Edge = s.maskAs == plan.InFence && end >= s.mask
	} else if at := ln.opening(); at >= 0 {
		s.open(at)
	}
	if s.comment < start {
		s.comment = commentFrom(s.src, start)
	}
	if s.comment < end || masked && ln.Place == plan.InComment {
		s.checkOverriding(masked)
	}
	return true
}

// opening returns the index at which a fence or comment may begin: at the beginning of the line or of its list item.
// It returns -1 for most lines.
func (ln *Line) opening() int {
	at := ln.Body
	if at+2 >= len(ln.Text) {
		return -1
	}
	if ln.Text[at+1] == ' ' && (ln.Text[at] == '-' || ln.Text[at] == '*' || ln.Text[at] == '+') {
		at += 2
	}
	if c := ln.Text[at]; c != '`' && c != '~' && c != '<' {
		return -1
	}
	return at
}

func (s *Scanner) open(at int) {
	if _, endless := slices.BinarySearch(s.missing, s.Start); endless {
		return // already searched when the item was found
	}
	if s.Text[at] == '<' {
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

func (s *Scanner) openFence(at int) {
	n, info := fenceRun(s.Text[at:])
	mark, kind := s.Text[at], 0
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
	s.mask, s.maskAs = end, plan.InFence
	s.Place, s.Edge = plan.InFence, true
}

// fenceEnd returns the end of the line that closes a fence of n characters.
func (s *Scanner) fenceEnd(mark byte, n int) (int, bool) {
	ahead := s.cursor
	var ln Line
	for {
		start, end, ok := ahead.next()
		if !ok {
			return 0, false
		}
		ln.Text = ahead.src[start:end]
		ln.Measure()
		if ln.Blank() || ln.Text[ln.Body] != mark {
			continue
		}
		if run, rest := fenceRun(ln.Content()); run >= n && lex.SkipBlanks(rest, 0) == len(rest) {
			return end, true
		}
	}
}

// openComment processes a comment at the beginning of a line. Other comments end with their paragraph, and a list item
// begins a new paragraph.
func (s *Scanner) openComment(at int) {
	const opening, closing = "<!--", "-->"
	if !strings.HasPrefix(s.Text[at:], opening) {
		return
	}
	from, length := s.Start+at+len(opening), -1
	s.overridden(at, s.Text[at+len(opening):])
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
	s.mask, s.maskAs = from+length+len(closing), plan.InComment
	s.Place = plan.InComment
}

func (s *Scanner) report(code, message string) {
	s.missing = append(s.missing, s.Start)
	if s.Notes != nil {
		s.Notes.Add(s.Start+s.Body, plan.SeverityWarning, code, message)
	}
}

// Override is the dialect that a comment sets.
type Override struct {
	Dialect string
	Line    int // 0 for none
	At      int // the offset of the comment
}

const (
	overrideWord = "waybill:"
	commentMark  = "<!--"
)

// overriding parses a comment that sets a dialect: "waybill: dialect=kiro", with optional spaces.
func overriding(comment string) (dialect string, ok bool) {
	rest, ok := strings.CutPrefix(lex.Trim(comment), overrideWord)
	if !ok {
		return "", false
	}
	if rest, ok = strings.CutPrefix(lex.Trim(rest), "dialect"); !ok {
		return "", false
	}
	dialect, ok = strings.CutPrefix(lex.Trim(rest), "=")
	return lex.Trim(dialect), ok
}

// overridden checks the first line of a comment for a dialect. The first such comment counts.
func (s *Scanner) overridden(at int, text string) {
	text, _, closed := strings.Cut(text, "-->")
	if dialect, ok := overriding(text); ok && closed && s.Override.Line == 0 {
		s.Override = Override{dialect, s.Number, s.Start + at}
	}
}

// Overrides reports whether a line is a comment that sets the dialect.
func Overrides(line string) bool {
	comment, ok := strings.CutPrefix(line, commentMark)
	if ok {
		_, ok = overriding(strings.TrimSuffix(comment, "-->"))
	}
	return ok
}

// commentFrom returns the offset of the next opening of a comment, or len(src).
func commentFrom(src string, from int) int {
	if i := strings.Index(src[from:], commentMark); i >= 0 {
		return from + i
	}
	return len(src)
}

// checkOverriding reports a comment that begins with the name of this program but sets no dialect, because it spans
// several lines, follows other text, or says something else. masked means that the line is in a fence or in a comment
// from an earlier line.
func (s *Scanner) checkOverriding(masked bool) {
	from := 0
	if !masked {
		from = s.comment - s.Start
	}
	at := from + strings.Index(s.Text[from:], overrideWord)
	if at < from || s.Place == plan.InFence || s.cut {
		return
	}
	before := lex.Trim(s.Text[:at])
	lead, opens := strings.CutSuffix(before, commentMark)
	switch {
	case opens && !masked && s.readsOverriding(lex.Trim(lead), s.Text[at:]):
	case opens && strings.HasSuffix(lead, "`"): // a sample in a sentence
	case opens, masked && before == "":
		if s.Notes != nil {
			s.Notes.Add(s.Start+at, plan.SeverityError, "override_unread",
				"this sets no dialect: write <!-- waybill: dialect=NAME --> on a line of its own")
		}
	}
}

// readsOverriding reports whether a comment has the form that sets a dialect. Only a bullet may precede it, and it
// ends on its line.
func (s *Scanner) readsOverriding(lead, comment string) bool {
	comment, _, closed := strings.Cut(comment, "-->")
	_, ok := overriding(comment)
	return ok && closed && (lead == "" || lead == "-" || lead == "*" || lead == "+")
}

// Source returns the text that the scanner reads, up to its end.
func (s *Scanner) Source() string { return s.src }
