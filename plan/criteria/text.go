package criteria

import (
	"strings"
	"unicode/utf8"

	"waybill/plan/lex"
)

// This file recognises the markers before a criterion and the keywords in it.

// fenceMarks returns the marks of a code fence, three or more, or "".
func fenceMarks(line string) string {
	for _, mark := range [...]string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// mostMarkers limits the markers before a sentence: a bullet, a checkbox, a number, and a few more.
const mostMarkers = 8

// withoutMarkers removes the list markers from a sentence, and reports whether the line is certainly a list item.
// number is the item's number or "". A bare number may also be a word that continues the line before.
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
		line, isItem = lex.Trim(line[width:]), isItem || list
	}
	return line, number, isItem
}

// listMarker returns the width of the marker at the beginning of a line, or 0. list reports whether it certainly
// begins a list item: a bare number may be a word that continues the line before.
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
	if width == 0 || width < len(line) && lex.BlankAt(line, width) == 0 {
		return 0, false
	}
	return width, list
}

// unbold removes the marks of bold type at the beginning of a line.
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

// plainKeywords removes emphasis from the keywords of a sentence.
var plainKeywords = strings.NewReplacer(
	"**SHALL NOT**", "SHALL NOT", "**SHALL**", "SHALL", "**THEN**", "THEN", "**WHEN**", "WHEN", "**IF**", "IF", "**AND**", "AND",
	"__SHALL NOT__", "SHALL NOT", "__SHALL__", "SHALL", "__THEN__", "THEN", "__WHEN__", "WHEN", "__IF__", "IF", "__AND__", "AND",
	"**Given**", "Given", "**When**", "When", "**Then**", "Then", "**And**", "And",
)

// opens reports whether a text begins with the keyword WHEN or IF.
func opens(s string) bool {
	for _, word := range [...]string{"WHEN", "IF"} {
		if rest, found := strings.CutPrefix(s, word); found && !wordGoesOn(rest, 0) {
			return true
		}
	}
	return false
}

// hasWord reports whether a text contains word as a whole word.
func hasWord(s, word string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], word)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(word)
		last, _ := utf8.DecodeLastRuneInString(s[:begin])
		if lex.NotInWord(last) && !wordGoesOn(s, end) {
			return true
		}
		at = end
	}
}

func wordGoesOn(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return !lex.NotInWord(r)
}
