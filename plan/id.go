package plan

import (
	"strings"
	"unicode/utf8"
)

// longestID is the longest id in bytes that the wire accepts.
const longestID = 128

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// readID parses the id at the beginning of s: groups of digits joined by dots, with an optional letter each, as in
// 1.2a. It returns the end of the id with its dot, bracket or colon. tight means that no white space follows.
//
// It rejects 3rd, 100%, 2-factor and 3.x.
func readID(s string) (id string, end int, tight bool) {
	// A fast path for the usual forms "1.2 " and "1.2. ".
	for end < len(s) && (isDigit(s[end]) || s[end] == '.' && end > 0 && end+1 < len(s) && isDigit(s[end+1])) {
		end++
	}
	if 0 < end && end+1 < len(s) && end <= longestID {
		if s[end] == ' ' && inWord(s[end+1]) {
			return s[:end], end, false
		}
		if s[end] == '.' && s[end+1] == ' ' {
			return s[:end], end + 1, false
		}
	}
	return readAnyID(s)
}

func readAnyID(s string) (id string, end int, tight bool) {
	end, escaped := groups(s)
	if end == 0 || end > longestID {
		return "", 0, false
	}
	id = s[:end]
	if escaped {
		id = strings.ReplaceAll(id, `\`, "")
	}
	stop := terminator(s, end)
	switch {
	case ends(s, stop):
		return id, stop, false
	case ends(s, end):
		return id, end, false
	case stop > end && !isDigit(s[stop]) && !isLower(s[stop]):
		return id, stop, true
	}
	return "", 0, false
}

// ends reports whether an id may end before s[i]: at white space, at the end, and before a script without spaces
// between words.
func ends(s string, i int) bool {
	if i == len(s) || s[i] == ' ' {
		return true
	}
	if s[i] < utf8.RuneSelf {
		return blankAt(s, i) > 0
	}
	const unspaced = '\u2e80' // CJK, kana, hangul and their punctuation begin here
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r >= unspaced || blankAt(s, i) > 0
}

// groups returns the end of the digit groups at the beginning of s, and whether a dot between them has a backslash,
// which some editors insert.
func groups(s string) (end int, escaped bool) {
	for i := 0; ; {
		n := i
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if n == i {
			return end, escaped && end > 0
		}
		if n < len(s) && s[n] >= 'A' {
			n += letter(s, n, end > 0)
		}
		end = n
		switch {
		case n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]):
			i = n + 1
		case n+2 < len(s) && s[n] == '\\' && s[n+1] == '.' && isDigit(s[n+2]):
			i, escaped = n+2, true
		default:
			return end, escaped
		}
	}
}

// letter returns 1 if s[i] is the letter of an id, else 0. A single number accepts only a lower-case letter, so that
// "3D printing" is a title.
func letter(s string, i int, dotted bool) int {
	if i >= len(s) || !isLower(s[i]) && !(dotted && isUpper(s[i])) {
		return 0
	}
	if i+1 < len(s) && (isLower(s[i+1]) || isUpper(s[i+1]) || isDigit(s[i+1])) {
		return 0
	}
	return 1
}

// terminator returns the end of the text after an id: spaces, a backslash, and a dot, bracket or colon. Without one of
// these three, it returns i.
func terminator(s string, i int) int {
	n := i
	if n < len(s) && s[n] != '.' {
		n = skipBlanks(s, n)
	}
	if n < len(s) && s[n] == '\\' {
		n++
	}
	if n < len(s) && (s[n] == '.' || s[n] == ')' || s[n] == ':') {
		return n + 1
	}
	return i
}

// ancestor returns an id without its last group, or "" if it has only one group.
func ancestor(id string) string {
	return id[:max(0, strings.LastIndexByte(id, '.'))]
}
