package ledger

import (
	"strconv"
	"strings"
)

// This file knows by which ids the requirements and criteria of a file are named.

// A reqID is an id in parts: "FR-004" is FR and 4, "1.2" is 1 and 2. So "FR-4" and "FR-004" are one id.
type reqID struct {
	letters string // in capitals
	numbers []int
}

// key is equal for equal ids.
func (id *reqID) key() string { return id.prefix(len(id.numbers)) }

// prefix is the key of the id that has only the first n numbers.
func (id *reqID) prefix(n int) string {
	var b strings.Builder
	b.WriteString(id.letters)
	for _, number := range id.numbers[:n] {
		b.WriteByte('.')
		b.WriteString(strconv.Itoa(number))
	}
	return b.String()
}

// readReqID reads a text that is an id and nothing else: words of letters with hyphens between them, and a number
// that may have dots in it, such as "1.2", "REQ-SEC-3", "AC 2" and "US1".
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

// mostNumbers and longestNumber bound what is a number: no file numbers its requirements deeper.
const (
	mostNumbers   = 6
	longestNumber = 32
)

// isNumber reports whether a text is digits with dots between them.
func isNumber(s string) bool {
	if s == "" || len(s) > longestNumber || strings.Trim(s, "0123456789.") != "" || strings.Contains(s, "..") {
		return false
	}
	return s[0] != '.' && s[len(s)-1] != '.' && strings.Count(s, ".") < mostNumbers
}

// headingID gives the id of the requirement that a heading names, or "". One with a number of its own goes on
// with that of the requirement that it stands below: 1 below 4 is 4.1.
func headingID(title, above string) string {
	word, rest := leadingWord(title)
	switch {
	case equalWord(word, "requirement") || equalWord(word, "req"):
		if word, _ = leadingWord(rest); isNumber(word) || hasID(word, headingLetters[:]) {
			return word
		}
		return ""
	case equalWord(word, "user"):
		story, rest := leadingWord(rest)
		if word, _ = leadingWord(rest); equalWord(story, "story") && isNumber(word) {
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

// leadingWord cuts the first word off a text, and what may stand behind an id off the word.
func leadingWord(s string) (word, rest string) {
	word, rest, _ = strings.Cut(s, " ")
	return strings.Trim(word, "*_`[]().:,#"), trim(rest)
}

// criterionLetters are what the ids of criteria begin with, and headingLetters those of what criteria stand below.
var (
	criterionLetters = [...]string{"AC", "FR", "NFR", "REQ", "SC"}
	headingLetters   = [...]string{"AC", "FR", "NFR", "REQ", "SC", "US"}
)

// hasID reports whether a word is an id such as "FR-004" or "REQ-SEC-2.1", in capitals, that begins with one of these.
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

// leadingID gives the id that a sentence begins with, and what stands behind it. Where the sentence is no item of a
// list, a colon or a dash has to follow, or it may be a sentence about what has the id.
func leadingID(sentence string, isItem bool) (id, rest string) {
	word, rest, found := strings.Cut(sentence, " ")
	id = strings.Trim(word, "*_`[]().:")
	if !found || !hasID(id, criterionLetters[:]) {
		return "", ""
	}
	sign := strings.HasSuffix(strings.TrimRight(word, "*_`"), ":")
	for _, dash := range [...]string{"- ", "– ", "— ", ": "} {
		if after, cut := strings.CutPrefix(trim(rest), dash); cut {
			rest, sign = after, true
		}
	}
	rest = trim(rest)
	if rest == "" || !sign && !isItem {
		return "", ""
	}
	return id, rest
}

// numbered gives the id of an item of a list that has a number.
func (c *criteria) numbered(number string) string {
	above := c.requirement()
	if number == "" || above == "" || strings.Contains(number, ".") {
		return number
	}
	return above + "." + number
}

// A numberedList is a list whose items may have the number 1 all, as Markdown allows.
type numberedList struct {
	indent int
	ones   int // how many items had the number 1
}

// number gives the number of the next item of the list, which has this one.
func (l *numberedList) number(written string, indent int) string {
	switch {
	case l.ones > 0 && indent > l.indent:
		return written // it stands in a list within
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

// has reports whether a criterion has an id.
func (c *criteria) has(id string) bool {
	read, ok := readReqID(id)
	_, known := c.known[read.key()]
	return ok && known
}

// claim gives the id that the next criterion has if it says that it has this one. Of two the first one keeps it, for
// what comes later is mostly about it. But a number alone, below no requirement, is a place in one of several
// lists if there are two of it, so that nobody can know which is meant.
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
