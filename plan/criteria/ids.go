package criteria

import (
	"strconv"
	"strings"

	"waybill/plan/lex"
)

// This file parses the ids of requirements and criteria.

// A reqID is a parsed id: "FR-004" is FR and 4, and "1.2" is 1 and 2. "FR-4" and "FR-004" are therefore the same id.
type reqID struct {
	letters string // in capitals
	numbers []int
}

// key returns a map key. Equal ids have equal keys.
func (id *reqID) key() string { return id.prefix(len(id.numbers)) }

// prefix returns the key of the id with only its first n numbers.
func (id *reqID) prefix(n int) string {
	var b strings.Builder
	b.WriteString(id.letters)
	for _, number := range id.numbers[:n] {
		b.WriteByte('.')
		b.WriteString(strconv.Itoa(number))
	}
	return b.String()
}

// readReqID parses a text that is only an id. An id consists of words joined by hyphens and a number, which may
// contain dots: "1.2", "REQ-SEC-3", "AC 2", "US1".
func readReqID(s string) (id reqID, ok bool) {
	digits := strings.TrimLeft(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz- ")
	words := s[:len(s)-len(digits)]
	letters := strings.TrimRight(words, "- ")
	if !isNumber(digits) || len(words) > len(letters)+1 || strings.Contains(letters, " ") || strings.HasPrefix(words, "-") || strings.HasPrefix(words, " ") {
		return reqID{}, false
	}
	id.letters = strings.ToUpper(letters)
	for part := range strings.SplitSeq(digits, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return reqID{}, false
		}
		id.numbers = append(id.numbers, n)
	}
	return id, true
}

// mostNumbers and longestNumber limit the parts and the length of a number.
const (
	mostNumbers   = 6
	longestNumber = 32
)

// isNumber reports whether a text consists of digits with single dots between them.
func isNumber(s string) bool {
	if s == "" || len(s) > longestNumber || strings.Trim(s, "0123456789.") != "" || strings.Contains(s, "..") {
		return false
	}
	return s[0] != '.' && s[len(s)-1] != '.' && strings.Count(s, ".") < mostNumbers
}

// headingID returns the id of the requirement in a heading, or "". A bare number continues the id of the requirement
// above: 1 below 4 is 4.1.
func headingID(title, above string) string {
	word, rest := leadingWord(title)
	switch {
	case lex.EqualWord(word, "requirement") || lex.EqualWord(word, "req"):
		if word, _ = leadingWord(rest); isNumber(word) || hasID(word, headingLetters[:]) {
			return word
		}
		return ""
	case lex.EqualWord(word, "user"):
		story, rest := leadingWord(rest)
		if word, _ = leadingWord(rest); lex.EqualWord(story, "story") && isNumber(word) {
			return "US" + word
		}
		return ""
	case hasID(word, headingLetters[:]) || len(word) > 2 && strings.HasPrefix(word, "US") && isNumber(word[2:]):
		return word
	case !isNumber(word):
		return ""
	case above == "" || strings.Contains(word, "."):
		return word
	}
	return above + "." + word
}

// leadingWord returns the first word of a text without its punctuation, and the rest of the text.
func leadingWord(s string) (word, rest string) {
	word, rest, _ = strings.Cut(s, " ")
	return strings.Trim(word, "*_`[]().:,#"), lex.Trim(rest)
}

// criterionLetters are the first words of the ids of criteria, and headingLetters those of requirement headings.
var (
	criterionLetters = [...]string{"AC", "FR", "NFR", "REQ", "SC"}
	headingLetters   = [...]string{"AC", "FR", "NFR", "REQ", "SC", "US"}
)

// hasID reports whether a word is an id in capitals, such as "FR-004" or "REQ-SEC-2.1", whose first word is in
// letters.
func hasID(word string, letters []string) bool {
	if word == "" || word != strings.ToUpper(word) {
		return false
	}
	first, _, hyphen := strings.Cut(word, "-")
	id, ok := readReqID(word)
	if !ok || !hyphen || strings.Contains(word, " ") {
		return false
	}
	for _, known := range letters {
		if first == known {
			return id.numbers != nil
		}
	}
	return false
}

// leadingID returns the id at the beginning of a sentence, and the rest. Outside a list, the id needs a colon or a
// dash. Otherwise the sentence may be about the thing with that id. leadingID returns "" for both if it finds no id.
func leadingID(sentence string, isItem bool) (id, rest string) {
	word, rest, found := strings.Cut(sentence, " ")
	id = strings.Trim(word, "*_`[]().:")
	if !found || !hasID(id, criterionLetters[:]) {
		return "", ""
	}
	sign := strings.HasSuffix(strings.TrimRight(word, "*_`"), ":")
	for _, dash := range [...]string{"- ", "– ", "— ", ": "} {
		if after, cut := strings.CutPrefix(lex.Trim(rest), dash); cut {
			rest, sign = after, true
		}
	}
	rest = lex.Trim(rest)
	if rest == "" || !sign && !isItem {
		return "", ""
	}
	return id, rest
}

// numbered returns the id of a list item with a number.
func (c *criteria) numbered(number string) string {
	above := c.requirement()
	if number == "" || above == "" || strings.Contains(number, ".") {
		return number
	}
	return above + "." + number
}

// A numberedList counts the items of a list in which every item has the number 1, as Markdown allows.
type numberedList struct {
	indent int
	ones   int // the number of items with the number 1
}

// number returns the real number of the next list item, which has the number written.
func (l *numberedList) number(written string, indent int) string {
	switch {
	case l.ones > 0 && indent > l.indent:
		return written // an item of a nested list
	case written != "1":
		*l = numberedList{}
		return written
	case indent != l.indent:
		l.ones = 0
	}
	l.indent = indent
	l.ones++
	return strconv.Itoa(l.ones)
}

// has reports whether a criterion already has this id.
func (c *criteria) has(id string) bool {
	read, ok := readReqID(id)
	_, known := c.known[read.key()]
	return ok && known
}

// claim returns the id of the next criterion, or "" if an earlier criterion has it: later uses are mostly references.
// A bare number outside a requirement is ambiguous if it occurs twice, so the earlier criterion loses it too.
func (c *criteria) claim(id string) string {
	read, ok := readReqID(id)
	if !ok {
		return ""
	}
	key := read.key()
	before, known := c.known[key]
	if !known {
		c.known[key] = len(c.found)
		return id
	}
	if read.letters == "" && len(read.numbers) == 1 {
		c.found[before].ID = ""
	}
	return ""
}
