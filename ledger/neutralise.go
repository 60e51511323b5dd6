package ledger

import (
	"strings"
	"unicode/utf8"
)

// quoteMark stands in front of a content line that looks like structure.
const quoteMark = "│ "

// reserved are the lines that mean something in our prompts.
var reserved = [...]string{
	headTask, headPrompt, headDetails, headRequirements, headFiles, headLeverage,
	headFixes, headBlockers, headIssues, headHint, headFacts, headNow,
	markerBegin, markerEnd,
	headPrevious, headReply, headContinue, "RETRY CONTEXT:",
}

// neutraliser makes text from files and agents unable to pass for a part of
// the prompt that it stands in, and counts what it had to change. Clean text
// comes out as it went in, byte for byte.
type neutraliser struct{ count int }

func (n *neutraliser) text(s string) string {
	if !plain(s) {
		s = n.strip(s)
	}
	return n.quoteHeadings(s)
}

// plain reports whether s is printable ASCII with tabs and line feeds.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// strip takes out what a person would not see or would see elsewhere.
func (n *neutraliser) strip(s string) string {
	var b strings.Builder
	kept, last := 0, rune(0) // s[:kept] is written or dropped; last is the last character kept
	for i, r := range s {
		width := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, width = utf8.DecodeRuneInString(s[i:])
		}
		if !unseen(r, width) && !(joins(r) && !joinable(last) && !joinable(after(s, i+width))) {
			last = r
			continue
		}
		b.WriteString(s[kept:i])
		kept = i + width
		n.count++
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// unseen reports whether a character is stripped wherever it stands.
func unseen(r rune, width int) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == utf8.RuneError:
		return width == 1 // a byte that is not UTF-8
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidi embedding, override, isolate
		return true
	case r == 0x200b, r >= 0x2060 && r <= 0x2065, r == 0xfeff, r == 0x180e, r == 0x00ad: // zero width
		return true
	case r == 0x2028, r == 0x2029, r >= 0xfff9 && r <= 0xfffb: // separators, annotations
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	}
	return false
}

// joins reports whether r is one of the invisible characters that many scripts
// and emoji need: joiners and direction marks. They stay beside such text.
func joins(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r == 0x061c
}

func joinable(r rune) bool {
	return r >= utf8.RuneSelf && !joins(r) && !unseen(r, 1)
}

func after(s string, i int) rune {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r
}

// quoteHeadings puts the quote mark before each line that is a reserved one,
// whatever its case and the white space around it.
func (n *neutraliser) quoteHeadings(s string) string {
	var b strings.Builder
	kept := 0
	for start := 0; start < len(s); {
		end := len(s)
		if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
			end = start + i
		}
		if isReserved(s[start:end]) {
			b.WriteString(s[kept:start])
			b.WriteString(quoteMark)
			kept = start
			n.count++
		}
		start = end + 1
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

func isReserved(line string) bool {
	line = trim(line)
	if line == "" || strings.IndexByte("[bBeErR", line[0]) < 0 {
		return false
	}
	for _, r := range &reserved {
		if equalWord(line, r) {
			return true
		}
	}
	return false
}
