package verdict

import "strings"

// The markers around a result block.
const (
	beginMarker = "BEGIN_DISPATCH_RESULT"
	endMarker   = "END_DISPATCH_RESULT"
)

// A block is a JSON object between two markers.
type block struct {
	object     node
	begin, end int  // from the first marker to behind the second
	fenced     bool // the object is in a code fence of its own
	oneLine    bool // a marker shares its line
	decorated  bool // asterisks or the like stand around a marker
}

// A fracture is where a block that was begun stops being one.
type fracture struct {
	begin, at int
	expected  string
}

// blocks is what a text has in markers.
type blocks struct {
	last     block // the last well-formed one
	count    int   // the well-formed ones
	broken   fracture
	breaks   int // those that were begun and are not well-formed
	mentions int // markers that begin nothing
	mention  int // where the last of them is
}

// findBlocks looks at every marker. An attempt to read an object fails at once where it goes wrong,
// and of those that begin within the strings of another one at most one can go on, so all of them
// together take time in proportion to the text.
func findBlocks(text string) blocks {
	var found blocks
	m := markers{text: text}
	for i := m.next(0); i >= 0; {
		after := i + len(beginMarker)
		b, broken, begun := readBlock(text, i, m.first)
		switch {
		case begun && broken == nil:
			found.last, found.count = b, found.count+1
			after = b.end
		case begun:
			found.broken, found.breaks = *broken, found.breaks+1
		default:
			found.mentions, found.mention = found.mentions+1, i
		}
		i = m.next(after)
	}
	return found
}

// readBlock reads what follows the marker at begin. A marker in the middle of a sentence that no
// object follows begins nothing; one that stands alone on its line does.
func readBlock(text string, begin int, first bool) (block, *fracture, bool) {
	opening := skipGap(text, begin+len(beginMarker), true)
	c := cursor{text, opening.end}
	if c.peek() != '{' {
		alone := first && (opening.newline || opening.end == len(text))
		return block{}, &fracture{begin, opening.end, "a JSON object"}, alone
	}
	if !c.value(0) {
		return block{}, &fracture{begin, c.at, "valid JSON, nested at most 128 levels deep"}, true
	}
	closing := skipGap(text, c.at, false)
	if !isMarker(text, closing.end, endMarker) {
		return block{}, &fracture{begin, closing.end, "END_DISPATCH_RESULT behind the JSON object"}, true
	}
	return block{
		object: node{text, opening.end, c.at}, begin: begin, end: closing.end + len(endMarker),
		fenced: opening.fence || closing.fence, oneLine: !first || !opening.newline || !closing.newline,
		decorated: opening.decorated || closing.decorated,
	}, nil, true
}

// A gap is what may stand between a marker and the object: white space, a code fence, and the
// decoration that some agents put around everything. Only a fence that opens names a language.
type gap struct {
	end            int
	newline, fence bool
	decorated      bool
}

func skipGap(text string, at int, opens bool) gap {
	g := gap{end: at}
	for g.end < len(text) {
		switch b := text[g.end]; {
		case strings.HasPrefix(text[g.end:], "```"):
			g.fence = true
			g.end += 3
			for opens && g.end < len(text) && isWordByte(text[g.end]) { // the language
				g.end++
			}
		case b == '\n':
			g.newline = true
			g.end++
		case b == ' ' || b == '\t' || b == '\r':
			g.end++
		case b == '*' || b == '`' || b == ':':
			g.decorated = true
			g.end++
		default:
			return g
		}
	}
	return g
}

func isWordByte(b byte) bool { return b == '_' || isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'z' }

// isMarker reports whether the marker stands at an offset, and is no part of a longer word.
func isMarker(text string, at int, marker string) bool {
	if !strings.HasPrefix(text[at:], marker) || at > 0 && isWordByte(text[at-1]) {
		return false
	}
	end := at + len(marker)
	return end == len(text) || !isWordByte(text[end])
}

// markers finds one first marker after the other. What it knows about the line is kept, so that a
// line with many markers is not looked at from its start for each.
type markers struct {
	text   string
	seen   int  // up to here the text was looked at
	line   int  // where the line that seen is in starts
	quoted bool // that line quotes somebody else
	first  bool // only decoration stands before the marker on its line
}

// next gives the offset of the next first marker that is not in a quoted line, or -1.
func (m *markers) next(from int) int {
	for {
		i := strings.Index(m.text[from:], beginMarker)
		if i < 0 {
			return -1
		}
		i += from
		m.advance(i)
		if !m.quoted && isMarker(m.text, i, beginMarker) {
			return i
		}
		from = i + len(beginMarker)
	}
}

func (m *markers) advance(to int) {
	start := strings.LastIndexByte(m.text[m.seen:to], '\n')
	if start < 0 && m.seen > 0 {
		m.first = false // there was a marker on this line before
	} else {
		m.line = m.seen + start + 1
		before := m.text[m.line:to]
		m.quoted = isQuoted(before)
		m.first = strings.Trim(before, "*`#\r \t") == ""
	}
	m.seen = to
}

// isQuoted reports whether a line repeats what somebody else said: after "│", which is put before
// lines of a prompt that could be taken for structure, or after ">".
func isQuoted(line string) bool {
	line = strings.TrimLeftFunc(line, blank)
	return strings.HasPrefix(line, "│") || strings.HasPrefix(line, ">")
}
