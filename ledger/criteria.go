package ledger

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Criterion is a sentence that says what is to be true when the work is done.
type Criterion struct {
	// Line is where it begins, counted from 1.
	Line int
	Text string
}

// mostCriteria bounds what a file can make of a plan's last answer.
const mostCriteria = 1000

// AcceptanceCriteria gives the sentences of a requirements file that begin with WHEN or IF and say what SHALL
// be, in capitals as it is the custom. A list marker, a number and bold type may stand before the sentence,
// and it may go on over further lines, up to a blank one, a list item, a heading or a code fence. What stands
// in a code fence is an example and counts for nothing. Between the marks <!-- AC:BEGIN --> and <!-- AC:END -->
// each item of a list is a criterion, whatever it says. Of more than 1,000 the first 1,000 are given.
func AcceptanceCriteria(text []byte) []Criterion {
	c := criteria{}
	src := strings.TrimPrefix(strings.ToValidUTF8(string(text), "\ufffd"), byteOrderMark)
	for line := range strings.SplitSeq(lineEnds.Replace(src), "\n") {
		c.line(line)
	}
	c.end()
	return c.found
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// criteria reads a text line by line.
type criteria struct {
	found  []Criterion
	number int    // of the line
	fence  string // the marks that opened the code fence that the line is in
	begin  int    // the line on which a sentence began that has not ended yet, 0 for none
	parts  []string
	said   bool // the sentence says what SHALL be
	listed bool // the line stands between the marks AC:BEGIN and AC:END, where each list item is one
}

func (c *criteria) line(line string) {
	c.number++
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
		c.listed = begins && name == "AC"
	case line == "" || line[0] == '#':
		c.end()
	default:
		c.text(line)
	}
}

func (c *criteria) text(line string) {
	sentence, isItem := withoutMarkers(line)
	if isItem || c.said && opens(sentence) {
		c.end()
	}
	switch {
	case c.listed && isItem:
		c.begin, c.said = c.number, true
		sentence = withoutNumber(sentence)
	case c.begin > 0:
		sentence = line
	case opens(sentence):
		c.begin = c.number
	default:
		return
	}
	c.parts = append(c.parts, sentence)
	c.said = c.said || hasWord(sentence, "SHALL")
}

// withoutNumber takes "#2 " off a criterion.
func withoutNumber(sentence string) string {
	if number, rest, ok := strings.Cut(sentence, " "); ok && len(number) > 1 && number[0] == '#' && strings.Trim(number[1:], "0123456789") == "" {
		return trim(rest)
	}
	return sentence
}

// end takes the sentence if it has all that a criterion has.
func (c *criteria) end() {
	if c.said && len(c.found) < mostCriteria {
		c.found = append(c.found, Criterion{c.begin, plainKeywords.Replace(strings.Join(c.parts, " "))})
	}
	c.begin, c.parts, c.said = 0, c.parts[:0], false
}

// fenceMarks gives the three or more marks that a code fence begins and ends with, or "".
func fenceMarks(line string) string {
	for _, mark := range [...]string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// mostMarkers is how many markers may stand before a sentence: a bullet, a box, a number, and a few to spare.
const mostMarkers = 8

// withoutMarkers cuts off what may stand before a sentence, and reports whether the line is an item of a list
// whatever follows.
func withoutMarkers(line string) (sentence string, isItem bool) {
	for range mostMarkers {
		line = unbold(line)
		width, list := listMarker(line)
		if width == 0 {
			break
		}
		line, isItem = trim(line[width:]), isItem || list
	}
	return line, isItem
}

// listMarker gives the width of the marker that a line begins with, 0 for none. A number with nothing behind it
// but white space may be one, or a word of the line before.
func listMarker(line string) (width int, list bool) {
	width = len(line) - len(strings.TrimLeft(line, "0123456789."))
	switch {
	case line == "":
		return 0, false
	case strings.IndexByte("-*+", line[0]) >= 0:
		width, list = 1, true
	case line[0] == '[' && len(line) > 2 && line[2] == ']':
		width = 3 // a checkbox
	case width > 0 && width < len(line) && (line[width] == ')' || line[width] == ':'):
		width, list = width+1, true
	case width > 0:
		list = line[width-1] == '.'
	}
	if width == 0 || width < len(line) && blankAt(line, width) == 0 {
		return 0, false
	}
	return width, list
}

// unbold takes the marks off bold type that a line begins with.
func unbold(line string) string {
	for _, mark := range [...]string{"**", "__"} {
		if rest, bold := strings.CutPrefix(line, mark); bold {
			if before, after, closed := strings.Cut(rest, mark); closed {
				return before + after
			}
		}
	}
	return line
}

// plainKeywords sets the capitals of a sentence in plain type, as the first ones are by now.
var plainKeywords = strings.NewReplacer(
	"**SHALL NOT**", "SHALL NOT", "**SHALL**", "SHALL", "**THEN**", "THEN", "**WHEN**", "WHEN", "**IF**", "IF", "**AND**", "AND",
	"__SHALL NOT__", "SHALL NOT", "__SHALL__", "SHALL", "__THEN__", "THEN", "__WHEN__", "WHEN", "__IF__", "IF", "__AND__", "AND",
)

// opens reports whether a text begins as a criterion does.
func opens(s string) bool {
	for _, word := range [...]string{"WHEN", "IF"} {
		if rest, found := strings.CutPrefix(s, word); found && !letterAt(rest, 0) {
			return true
		}
	}
	return false
}

// hasWord reports whether a text has a word that is no part of another.
func hasWord(s, word string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], word)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(word)
		last, _ := utf8.DecodeLastRuneInString(s[:begin])
		if !wordLetter(last) && !letterAt(s, end) {
			return true
		}
		at = end
	}
}

func letterAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return wordLetter(r)
}

func wordLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
