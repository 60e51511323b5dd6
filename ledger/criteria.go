package ledger

import "strings"

// Criterion is a sentence that says what is to be true when the work is done.
type Criterion struct {
	// Line is where it begins, counted from 1.
	Line int
	Text string
	// ID is the one by which plans name it, "1.2" or "FR-004", or "" where the file gives it none, or gives it
	// to another one as well. No two criteria of a file have the same.
	ID string
	// Requirement is the id of the requirement that it stands below, "1" or "REQ-3", or "" for none.
	Requirement string
}

// MostCriteria is how many criteria of a file are read: it bounds what a file can make of a plan's last answer.
const MostCriteria = 1000

// AcceptanceCriteria gives what a requirements file says that is to be true, in the order of the file. What
// stands in a code fence is an example and counts for nothing; so does what is commented or struck out. Of more than 1,000 the first 1,000 are given.
// These are criteria:
//
//   - A sentence that begins with WHEN or IF and says what SHALL be, in capitals as it is the custom. A list
//     marker, a number and bold type may stand before it, and it may go on over further lines, up to a blank one,
//     a list item, a heading or a code fence.
//   - What begins with an id, as an item of a list or with a colon or a dash behind the id: "**FR-004**: …". The
//     id is made of AC, FR, NFR, REQ or SC, more words in capitals if need be, and a number: "REQ-SEC-2.1".
//   - Each item of a list, whatever it says, below a heading or label "Acceptance Criteria" or "Acceptance
//     Scenarios", or between the marks <!-- AC:BEGIN --> and <!-- AC:END -->. What is indented further than the
//     item, and has no number, is a part of it.
//   - Below the heading of a requirement, a paragraph or an item that says what SHALL or MUST be.
//
// The heading of a requirement is "Requirement 1", a number as in "2.1 Rain gauge", an id as in "### REQ-3: Rain",
// or "User Story 1", which is US1. In a file with a heading such as "Requirement 1", numbers are those of chapters, but
// for those that go on with the one of the requirement that they stand below. What a heading begins ends at the next heading that is not deeper. The number 2 in
// a list below requirement 1 makes the id 1.2, and so does the second item if each has the number 1; a number with a dot in it is the id as it is; without a
// requirement it is 2, unless two items are.
func AcceptanceCriteria(text []byte) []Criterion {
	src := lineEnds.Replace(strings.TrimPrefix(strings.ToValidUTF8(string(text), "\ufffd"), byteOrderMark))
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

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// criteria reads a text line by line.
type criteria struct {
	found  []Criterion
	known  map[string]int // the criterion that has an id
	number int            // of the line
	fence  string         // the marks that opened the code fence that the line is in
	marked bool           // the line stands between the marks AC:BEGIN and AC:END

	comment  commentedOut
	named    bool // a heading begins with the word Requirement
	chapters bool // a heading begins with no more than a number
	// The requirements that the line stands below, by the level of their headings.
	requirements [7]string
	listed       int // the level of the heading that says that criteria follow, 0 for none
	sentence     statement
	list         numberedList
}

// A statement may become a criterion.
type statement struct {
	begin  int // the line on which it began, 0 for none
	indent int
	id     string
	parts  []string
	plain  bool // it begins with neither WHEN nor IF
	said   bool // it says what is to be, or need not
}

func (c *criteria) line(line string) {
	c.number++
	if _, _, isMark := sectionMark(trim(line)); c.fence != "" || isMark && !c.comment.open {
		c.comment.pass(line)
	} else if rest := c.comment.without(line); rest != line {
		if line = rest; trim(line) == "" {
			return
		}
	}
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	line = trim(line)
	for strings.HasPrefix(line, ">") {
		line = trim(line[1:])
	}
	marks := fenceMarks(line)
	name, begins, isMark := sectionMark(line)
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

// heading leaves what the headings above began, as far as this one is not deeper, and may begin something itself.
func (c *criteria) heading(line string) {
	title := strings.TrimLeft(line, "#")
	if title != "" && blankAt(title, 0) == 0 {
		return // "#2" is none
	}
	level := min(len(line)-len(title), len(c.requirements)-1)
	if c.listed >= level {
		c.listed = 0
	}
	clear(c.requirements[level:])
	c.list = numberedList{}
	title = unbold(trim(title))
	if saysCriteria(title) {
		c.listed = level
		return
	}
	word, _ := leadingWord(title)
	c.named = c.named || equalWord(word, "requirement")
	c.chapters = c.chapters || isNumber(word)
	if above := c.requirement(); !c.named || !isNumber(word) || above != "" && strings.HasPrefix(word, above+".") {
		c.requirements[level] = headingID(title, above)
	}
}

// requirement gives the id of the one that the line stands below.
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
		s.said = !c.has(id) // else it may say something about the criterion
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

// lists reports whether each item of a list is a criterion.
func (c *criteria) lists() bool { return c.marked || c.listed > 0 }

// label takes a line that is a label and nothing else, and reports whether it is one. "**Acceptance Criteria:**" stands
// for a heading up to the next one, or to the next label or what else begins with bold type.
func (c *criteria) label(line string, isItem bool) bool {
	if isItem {
		return false
	}
	name, colon := strings.CutSuffix(line, ":")
	inside, isBold := strings.CutPrefix(line, bold)
	alone := !isBold
	if isBold {
		before, rest, closed := strings.Cut(inside, bold)
		name, alone = before, closed && (rest == "" || rest == ":")
		colon = rest == ":" || strings.HasSuffix(before, ":")
	}
	switch {
	case alone && (colon || isBold) && saysCriteria(name):
		c.end()
		c.listed = deeperThanHeadings
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

// endLabel leaves the criteria that a label began.
func (c *criteria) endLabel() {
	if c.listed == deeperThanHeadings {
		c.listed = 0
	}
}

// saysCriteria reports whether criteria follow a heading.
func saysCriteria(title string) bool {
	const word = "acceptance"
	title = strings.Trim(title, "*:_ ")
	if len(title) < len(word) || !equalWord(title[:len(word)], word) {
		return false // a definition of done is about any work
	}
	return equalWord(title, "acceptance scenarios") || sectionOf(title) == sectionAcceptance
}

// withoutNumber takes "#2 " off a criterion.
func withoutNumber(sentence string) (number, rest string) {
	if number, rest, ok := strings.Cut(sentence, " "); ok && len(number) > 1 && number[0] == '#' && strings.Trim(number[1:], "0123456789") == "" {
		return number[1:], trim(rest)
	}
	return "", sentence
}

func (c *criteria) begin(indent int, id string, plain bool) {
	c.sentence = statement{begin: c.number, indent: indent, id: id, parts: c.sentence.parts[:0], plain: plain}
}

// struck reports whether the sentence, or the line that it begins with, is struck out.
func (s *statement) struck() bool {
	return withdrawn(s.parts[0]) || withdrawn(strings.Join(s.parts, " "))
}

// end takes the sentence if it has all that a criterion has.
func (c *criteria) end() {
	s := &c.sentence
	text := strings.TrimSpace(plainKeywords.Replace(strings.Join(s.parts, " ")))
	if s.said && text != "" && !s.struck() && len(c.found) < MostCriteria {
		c.found = append(c.found, Criterion{Line: s.begin, Text: text, ID: c.claim(s.id), Requirement: c.requirement()})
	}
	*s = statement{parts: s.parts[:0]}
}
