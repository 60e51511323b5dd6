package ledger

import (
	"strings"
	"unicode/utf8"
)

// quoteMark stands in front of a content line that looks like structure.
const quoteMark = "│ "

// A heading means something in our prompts where a line begins with it.
type heading struct {
	text string
	// alone says that the line is the heading and nothing else, but for a colon and what follows it: there
	// are sentences that begin like this.
	alone bool
}

// bracketed are the headings that begin with a bracket, and spelled the others.
var (
	bracketed = [...]heading{
		{headTask, true},
		{headPrompt, true},
		{headDetails, true},
		{headContext, true},
		{headCriteria, true},
		{headWork, true},
		{headLast, true},
		{headRequirements, true},
		{headFiles, true},
		{headLeverage, true},
		{headFixes, true},
		{headBlockers, true},
		{headIssues, true},
		{headHint, true},
		{headFacts, true},
		{headNow, true},
		{headProgress, true},
		{headOutcome, true},
		{headStale, true},
		{headNext, true},
		{headPrevious, false},
		{headReply, false},
		{headContinue, false},
	}
	spelled = [...]heading{{markerBegin, true}, {markerEnd, true}, {"RETRY CONTEXT:", false}}
)

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

// quoteHeadings puts the quote mark before each line that a reader, or a model,
// may take for one of our headings.
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

// isReserved reports whether a line begins with one of our headings, whatever its
// case, the white space in it, and the markup around it. Most lines are known by
// their first letter not to.
func isReserved(line string) bool {
	at := pastMarkup(line)
	if at == len(line) {
		return false
	}
	switch line[at] {
	case '[':
		return beginsOne(line[at:], bracketed[:])
	case 'b', 'B', 'e', 'E', 'r', 'R':
		return beginsOne(line[at:], spelled[:])
	}
	return false
}

func beginsOne(line string, headings []heading) bool {
	for _, h := range headings {
		if rest, found := cutHeading(line, h.text); found && (!h.alone || standsAlone(rest)) {
			return true
		}
	}
	return false
}

// pastMarkup returns the index of the first byte that is neither white space nor
// what Markdown puts at the beginning of a line.
func pastMarkup(line string) int {
	i := 0
	for i < len(line) {
		c := line[i]
		if width := blankAt(line, i); width > 0 {
			i += width
		} else if c >= 'A' && c != '\\' && c != '_' && c != '`' && c != '|' && c != '~' ||
			c < 'A' && strings.IndexByte("#>*-+.)0123456789", c) < 0 {
			break
		} else {
			i++
		}
	}
	return i
}

// standsAlone reports whether a heading that rest follows has its line to itself:
// nothing follows but markup, or there is a colon.
func standsAlone(rest string) bool {
	for i := 0; i < len(rest); {
		width := blankAt(rest, i)
		switch {
		case width > 0:
			i += width
		case rest[i] == ':':
			return true
		case strings.IndexByte("#*_`~|\\", rest[i]) >= 0:
			i++
		default:
			return false
		}
	}
	return true
}

// cutHeading cuts a heading off the beginning of a line. A space in the heading is
// any white space, and there may be more of it inside the brackets.
func cutHeading(line, heading string) (rest string, found bool) {
	i := 0
	for j := 0; j < len(heading); j++ {
		c := heading[j]
		blank := i
		if c == ' ' || c == ']' || j > 0 && heading[j-1] == '[' {
			i = skipBlanks(line, i)
		}
		if c == ' ' {
			if i == blank {
				return "", false
			}
			continue
		}
		_, width := utf8.DecodeRuneInString(line[i:])
		if i == len(line) || !strings.EqualFold(line[i:i+width], heading[j:j+1]) {
			return "", false
		}
		i += width
	}
	return line[i:], true
}
