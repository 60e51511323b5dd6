// Package criteria reads the acceptance criteria of a requirements file, and finds the criteria that a plan item
// names. It opens no file, and it does not judge whether a criterion is met.
package criteria

import (
	"strings"

	"waybill/plan/lex"
)

// Criterion is one acceptance criterion: a sentence that must be true when the work is done.
type Criterion struct {
	// Line is the line on which the criterion begins, counted from 1.
	Line int
	Text string
	// ID is the id by which plans name the criterion, such as "1.2" or "FR-004". It is unique in the file, and "" if
	// the file has no id for the criterion or uses it twice.
	ID string
	// Requirement is the id of the requirement above the criterion, such as "1" or "REQ-3", or "" if there is none.
	Requirement string
}

// Most is the largest number of criteria that Read returns for one file. It limits the size of an answer.
const Most = 1000

// Read returns the criteria of a requirements file in file order, at most the first 1,000. It ignores text in code
// fences, comments and struck-through text. These are criteria:
//
//   - A sentence that begins with WHEN or IF and contains SHALL, in capitals. A list marker, a number and bold type may
//     precede it. It ends at a blank line, a list item, a heading or a code fence.
//   - A list item that begins with an id, or a text that begins with an id and a colon or dash: "**FR-004**: …". The id
//     consists of AC, FR, NFR, REQ or SC, optional words in capitals, and a number: "REQ-SEC-2.1".
//   - Each list item after a heading or label "Acceptance Criteria" or "Acceptance Scenarios", or between the markers
//     <!-- AC:BEGIN --> and <!-- AC:END -->. More deeply indented lines without a number belong to the item.
//   - A paragraph or list item that contains SHALL or MUST, in the section of a requirement.
//
// These are headings of requirements: "Requirement 1", a number as in "2.1 Rain gauge", an id as in "### REQ-3: Rain",
// and "User Story 1", which has the id US1. If any heading has the word Requirement, a heading with only a number is a
// chapter, unless it continues the number of the requirement above it. A section ends at the next heading of the same
// or a higher level.
//
// In a list of requirement 1, the item with number 2 has the id 1.2. If every item has the number 1, the second item
// has the id 1.2. A number with a dot is the complete id. Outside a requirement, the id is 2, unless two items have
// it.
func Read(text []byte) []Criterion {
	src := lineEnds.Replace(strings.TrimPrefix(strings.ToValidUTF8(string(text), "\ufffd"), "\ufeff"))
	c := readCriteria(src, false)
	if c.named && c.chapters {
		c = readCriteria(src, true)
	}
	return c.found
}

func readCriteria(src string, named bool) *criteria {
	c := &criteria{known: map[string]int{}, comment: commentedOut{ends: strings.Count(src, commentEnd)}, named: named}
	for line := range strings.SplitSeq(src, "\n") {
		c.line(line)
	}
	c.end()
	return c
}

const (
	boldType = "**"
	// belowHeadings is the level of a section that a label began. It is below all headings, so that any heading ends
	// it.
	belowHeadings = 7
)

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// criteria reads a text line by line.
type criteria struct {
	found  []Criterion
	known  map[string]int // index in found by the key of the id
	number int            // of the current line
	fence  string         // the opening marks of the current code fence, "" outside
	marked bool           // the current line is between the markers AC:BEGIN and AC:END

	comment  commentedOut
	named    bool // some heading begins with the word Requirement
	chapters bool // some heading begins with a bare number
	// The ids of the requirements above the current line, by heading level.
	requirements [7]string
	listed       int // the level of the current heading of criteria, 0 for none
	sentence     statement
	list         numberedList
}

// A statement is a text that becomes a criterion if it turns out to be complete.
type statement struct {
	begin  int // its first line, 0 for no statement
	indent int
	id     string
	parts  []string
	plain  bool // it does not begin with WHEN or IF
	said   bool // it already has its SHALL or MUST, or needs none
}

func (c *criteria) line(line string) {
	c.number++
	if _, _, isMark := SectionMark(lex.Trim(line)); c.fence != "" || isMark && !c.comment.open {
		c.comment.pass(line)
	} else if rest := c.comment.without(line); rest != line {
		if line = rest; lex.Trim(line) == "" {
			return
		}
	}
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	line = lex.Trim(line)
	for strings.HasPrefix(line, ">") {
		line = lex.Trim(line[1:])
	}
	marks := fenceMarks(line)
	name, begins, isMark := SectionMark(line)
	switch {
	case c.fence != "":
		if len(marks) == len(line) && strings.HasPrefix(marks, c.fence) {
			c.fence = ""
		}
	case marks != "":
		c.end()
		c.fence = marks
	case isMark:
		c.end()
		c.marked = begins && name == "AC"
	case line == "":
		c.end()
	case line[0] == '#':
		c.end()
		c.heading(line)
	default:
		c.text(line, indent)
	}
}

// heading ends the sections of the same or a deeper level, and may begin a new section.
func (c *criteria) heading(line string) {
	title := strings.TrimLeft(line, "#")
	if title != "" && lex.BlankAt(title, 0) == 0 {
		return // "#2" is not a heading
	}
	level := min(len(line)-len(title), len(c.requirements)-1)
	if c.listed >= level {
		c.listed = 0
	}
	clear(c.requirements[level:])
	c.list = numberedList{}
	title = unbold(lex.Trim(title))
	if saysCriteria(title) {
		c.listed = level
		return
	}
	word, _ := leadingWord(title)
	c.named = c.named || lex.EqualWord(word, "requirement")
	c.chapters = c.chapters || isNumber(word)
	if above := c.requirement(); !c.named || !isNumber(word) || above != "" && strings.HasPrefix(word, above+".") {
		c.requirements[level] = headingID(title, above)
	}
}

// requirement returns the id of the requirement above the current line, or "".
func (c *criteria) requirement() string {
	for level := len(c.requirements) - 1; level > 0; level-- {
		if id := c.requirements[level]; id != "" {
			return id
		}
	}
	return ""
}

func (c *criteria) text(line string, indent int) {
	text, number, isItem := withoutMarkers(line)
	if c.label(line, isItem) {
		return
	}
	if isItem {
		number = c.list.number(number, indent)
	} else if c.sentence.begin == 0 && indent == 0 {
		c.list = numberedList{}
	}
	id, rest := leadingID(text, isItem)
	named, s := id != "", &c.sentence
	if isItem && !named && number == "" && c.lists() && s.begin > 0 && indent > s.indent && !opens(text) {
		s.parts = append(s.parts, line)
		return
	}
	if isItem || named || opens(text) && (s.said || s.plain) {
		c.end()
	}
	switch {
	case s.begin > 0:
		text = line
	case named:
		text = rest
		c.begin(indent, id, true)
		s.said = !c.has(id) // a known id may begin a sentence about that criterion
	case c.lists() && isItem && text != "":
		if c.marked {
			number, text = withoutNumber(text)
		}
		c.begin(indent, c.numbered(number), true)
		s.said = true
	case opens(text):
		c.begin(indent, c.numbered(number), false)
	case c.requirement() != "":
		c.begin(indent, c.numbered(number), true)
	default:
		return
	}
	s.parts = append(s.parts, text)
	s.said = s.said || hasWord(text, "SHALL") || c.requirement() != "" && hasWord(text, "MUST")
}

// lists reports whether each list item here is a criterion.
func (c *criteria) lists() bool { return c.marked || c.listed > 0 }

// label reports whether a line is only a label, and processes it. "**Acceptance Criteria:**" acts like a heading. It
// applies until the next heading, label or line that begins with bold type.
func (c *criteria) label(line string, isItem bool) bool {
	if isItem {
		return false
	}
	name, colon := strings.CutSuffix(line, ":")
	inside, isBold := strings.CutPrefix(line, boldType)
	alone := !isBold
	if isBold {
		before, rest, closed := strings.Cut(inside, boldType)
		name, alone = before, closed && (rest == "" || rest == ":")
		colon = rest == ":" || strings.HasSuffix(before, ":")
	}
	switch {
	case alone && (colon || isBold) && saysCriteria(name):
		c.end()
		c.listed = belowHeadings
		return true
	case isBold && alone && colon:
		c.end()
		c.endLabel()
		return true
	case isBold && c.sentence.begin == 0:
		c.endLabel()
	}
	return false
}

// endLabel ends the section of criteria that a label began.
func (c *criteria) endLabel() {
	if c.listed == belowHeadings {
		c.listed = 0
	}
}

// saysCriteria reports whether criteria follow a heading or label with this title.
func saysCriteria(title string) bool {
	const word = "acceptance"
	title = strings.Trim(title, "*:_ ")
	if len(title) < len(word) || !lex.EqualWord(title[:len(word)], word) {
		return false // a definition of done applies to any work
	}
	return lex.EqualWord(title, "acceptance scenarios") || IsHeading(title)
}

// withoutNumber removes a number such as "#2 " from the beginning of a criterion, and returns both.
func withoutNumber(sentence string) (number, rest string) {
	if number, rest, ok := strings.Cut(sentence, " "); ok && len(number) > 1 && number[0] == '#' && strings.Trim(number[1:], "0123456789") == "" {
		return number[1:], lex.Trim(rest)
	}
	return "", sentence
}

func (c *criteria) begin(indent int, id string, plain bool) {
	c.sentence = statement{begin: c.number, indent: indent, id: id, parts: c.sentence.parts[:0], plain: plain}
}

// struck reports whether the whole statement, or its first line, is struck through.
func (s *statement) struck() bool {
	return lex.Withdrawn(s.parts[0]) || lex.Withdrawn(strings.Join(s.parts, " "))
}

// end ends the current statement and records it if it is a complete criterion.
func (c *criteria) end() {
	s := &c.sentence
	text := strings.TrimSpace(plainKeywords.Replace(strings.Join(s.parts, " ")))
	if s.said && text != "" && !s.struck() && len(c.found) < Most {
		c.found = append(c.found, Criterion{Line: s.begin, Text: text, ID: c.claim(s.id), Requirement: c.requirement()})
	}
	*s = statement{parts: s.parts[:0]}
}
