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
	begin, end int  // from the first marker to the end of the second
	line       int  // where the line of the first marker begins
	fenced     bool // the object is in a code fence of its own
	oneLine    bool // a marker shares its line
	amid       bool // other text stands on the line of a marker
	decorated  bool // asterisks or the like stand around a marker
}

// A brokenBlockAt is the place where a result block turns out not to be well-formed.
type brokenBlockAt struct {
	begin, at int
	line      int // where the line of the marker begins
	expected  string
}

// blocks holds the result blocks of a text.
type blocks struct {
	all      []block         // well-formed blocks
	broken   []brokenBlockAt // blocks that begin and are not well-formed
	mentions int             // number of markers that begin no block
	mention  int             // offset of the last of these markers
}

// findBlocks looks at every marker. An attempt to read an object stops at the first error. Of the attempts that begin
// inside strings of another object at most one can continue, so all together take linear time.
func findBlocks(text string) blocks {
	var found blocks
	m := markers{text: text}
	for i := m.next(0); i >= 0; {
		after := i + len(beginMarker)
		b, broken, begun := readBlock(text, i, m.first)
		switch {
		case begun && broken == nil:
			b.line = m.line
			found.all = append(found.all, b)
			after = b.end
		case begun:
			broken.line = m.line
			found.broken = append(found.broken, *broken)
		default:
			found.mentions, found.mention = found.mentions+1, i
		}
		i = m.next(after)
	}
	return found
}

// readBlock reads the text after the marker at begin. A marker within a sentence, without an object after it, begins
// no block. A marker alone on its line does.
func readBlock(text string, begin int, first bool) (block, *brokenBlockAt, bool) {
	opening := skipGap(text, begin+len(beginMarker), true)
	c := cursor{text, opening.end}
	if c.peek() != '{' {
		alone := first && (opening.newline || opening.end == len(text))
		return block{}, &brokenBlockAt{begin: begin, at: opening.end, expected: "a JSON object"}, alone
	}
	if !c.value(0) {
		return block{}, &brokenBlockAt{begin: begin, at: c.at, expected: "valid JSON, nested at most 128 levels deep"}, true
	}
	closing := skipGap(text, c.at, false)
	if !isMarker(text, closing.end, endMarker) {
		return block{}, &brokenBlockAt{begin: begin, at: closing.end, expected: "END_DISPATCH_RESULT behind the JSON object"}, true
	}
	return block{
		object: node{text, opening.end, c.at}, begin: begin, end: closing.end + len(endMarker),
		fenced: opening.fence || closing.fence, oneLine: !first || !opening.newline || !closing.newline,
		amid: !first && !led(text, begin) || trailing(text, closing.end+len(endMarker)), decorated: opening.decorated || closing.decorated,
	}, nil, true
}

// led reports whether the text before an offset ends in a colon, as in "My result: ".
func led(text string, at int) bool {
	return strings.HasSuffix(strings.TrimRight(text[max(0, at-maxKey):at], "*`# \t"), ":")
}

// trailing reports whether text other than decoration follows on the line.
func trailing(text string, at int) bool {
	rest, _, _ := strings.Cut(text[at:], "\n")
	return strings.Trim(rest, "*`#.\r \t") != ""
}

// A gap is the text allowed between a marker and the object: white space, a code fence, and decoration. Only an
// opening fence can have a language.
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

// isMarker reports whether the marker is at an offset, and not part of a longer word.
func isMarker(text string, at int, marker string) bool {
	if !strings.HasPrefix(text[at:], marker) || at > 0 && isWordByte(text[at-1]) {
		return false
	}
	end := at + len(marker)
	return end == len(text) || !isWordByte(text[end])
}

// markers finds the first markers in order. It remembers the current line, so that a line with many markers is read
// once.
type markers struct {
	text   string
	seen   int  // the text was searched up to here
	line   int  // start of the line of seen
	quoted bool // that line is a quotation
	first  bool // only decoration is before the marker on its line
}

// next returns the offset of the next first marker that is not in a quoted line, or -1.
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
		m.first = false // another marker is before it on this line
	} else {
		m.line = m.seen + start + 1
		before := m.text[m.line:to]
		m.quoted = isQuoted(before)
		m.first = strings.Trim(before, "*`#\r \t") == ""
	}
	m.seen = to
}

// isQuoted reports whether a line is a quotation: it begins with ">", or with "│", which prompts put before quoted
// lines.
func isQuoted(line string) bool {
	line = strings.TrimLeftFunc(line, blank)
	return strings.HasPrefix(line, "│") || strings.HasPrefix(line, ">")
}
