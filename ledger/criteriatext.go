package ledger

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file knows what may stand before a criterion, and the words that make a sentence one.

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
// whatever follows. number is that of the item, "" for none: a bare number may be a word of the line before.
func withoutMarkers(line string) (sentence, number string, isItem bool) {
	for range mostMarkers {
		line = unbold(line)
		width, list := listMarker(line)
		if width == 0 {
			break
		}
		digits := strings.TrimRight(line[:width], ".):")
		if number == "" && isNumber(digits) && (list || strings.Contains(digits, ".")) {
			number = digits
		}
		line, isItem = trim(line[width:]), isItem || list
	}
	return line, number, isItem
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

// plainKeywords sets the keywords of a sentence in plain type, as the first ones are by now.
var plainKeywords = strings.NewReplacer(
	"**SHALL NOT**", "SHALL NOT", "**SHALL**", "SHALL", "**THEN**", "THEN", "**WHEN**", "WHEN", "**IF**", "IF", "**AND**", "AND",
	"__SHALL NOT__", "SHALL NOT", "__SHALL__", "SHALL", "__THEN__", "THEN", "__WHEN__", "WHEN", "__IF__", "IF", "__AND__", "AND",
	"**Given**", "Given", "**When**", "When", "**Then**", "Then", "**And**", "And",
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
