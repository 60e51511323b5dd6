package sanitize

import (
	"unicode"
	"unicode/utf8"
)

// blankWidth returns the width in bytes of the white space at s[i], or 0 for none. A no-break space and a stray byte
// order mark count, because they look like white space.
func blankWidth(s string, i int) int {
	c := s[i]
	if c < utf8.RuneSelf {
		if c == ' ' || c >= '\t' && c <= '\r' {
			return 1
		}
		return 0
	}
	r, width := utf8.DecodeRuneInString(s[i:])
	if unicode.IsSpace(r) || r == '\ufeff' {
		return width
	}
	return 0
}

// pastBlanks returns the index of the first byte at or after i that is not white space.
func pastBlanks(s string, i int) int {
	for i < len(s) {
		width := blankWidth(s, i)
		if width == 0 {
			break
		}
		i += width
	}
	return i
}
