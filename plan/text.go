package plan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/internal/safetext"
)

const byteOrderMark = "\ufeff"

// checkText returns nil for valid UTF-8 text, else the error.
func checkText(src string) *ParseError {
	if order := utf16Order(src); order != "" {
		return &ParseError{
			Reason: ReasonNotText, Line: 1,
			Message: "the file is UTF-16 " + order + " text: save it as UTF-8",
		}
	}
	if at := strings.IndexByte(src, 0); at >= 0 {
		line := lineOf(src, at)
		return &ParseError{
			Reason: ReasonNotText, Line: line, Offset: at,
			Message: fmt.Sprintf("NUL byte at offset %d, line %d: a plan is UTF-8 text, not binary data", at, line),
		}
	}
	if utf8.ValidString(src) {
		return nil
	}
	at := invalidAt(src)
	line := lineOf(src, at)
	return &ParseError{
		Reason: ReasonInvalidUTF8, Line: line, Offset: at,
		Message: fmt.Sprintf("byte 0x%02x at offset %d, line %d is not UTF-8: save the file as UTF-8", src[at], at, line),
	}
}

func utf16Order(src string) string {
	switch {
	case strings.HasPrefix(src, "\xff\xfe"):
		return "little-endian"
	case strings.HasPrefix(src, "\xfe\xff"):
		return "big-endian"
	}
	return ""
}

func invalidAt(src string) int {
	at := 0
	for at < len(src) {
		r, width := utf8.DecodeRuneInString(src[at:])
		if r == utf8.RuneError && width == 1 {
			break
		}
		at += width
	}
	return at
}

// lineOf returns the number of the line that contains the offset.
func lineOf(src string, offset int) int {
	c := newCursor(src[:offset])
	line := 1
	for {
		_, end, ok := c.next()
		if !ok || end == offset {
			return line
		}
		line++
	}
}

// The functions below are split in two, because they run several times per line. The first part handles plain ASCII
// and is small enough for inlining. The second part handles all other text.

// solid reports whether c is visible ASCII or DEL, with one comparison.
func solid(c byte) bool { return c-'!' < utf8.RuneSelf-'!' }

// blankAt returns the width in bytes of the white space at s[i], 0 for none.
func blankAt(s string, i int) int {
	if solid(s[i]) {
		return 0
	}
	return anyBlankAt(s, i)
}

// anyBlankAt also counts a no-break space and a stray byte order mark as white space. Editors and copied web pages put
// these where people type a space.
func anyBlankAt(s string, i int) int {
	c := s[i]
	if c < utf8.RuneSelf {
		if c == ' ' || c == '\t' || c == '\v' || c == '\f' {
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

// pastSpace skips white space at s[i]. Usually this is a single space.
func pastSpace(s string, i int) int {
	if i < len(s) && s[i] == ' ' {
		return i + 1
	}
	return i
}

// skipBlanks returns the index of the first byte at or after i that is not white space.
func skipBlanks(s string, i int) int {
	if i == len(s) || s[i]-'!' < utf8.RuneSelf-'!' { // the body of solid: a call would prevent inlining
		return i
	}
	return skipAnyBlanks(s, i)
}

func skipAnyBlanks(s string, i int) int {
	for i < len(s) {
		width := blankAt(s, i)
		if width == 0 {
			return i
		}
		i += width
	}
	return i
}

// trim removes white space from both ends.
func trim(s string) string {
	if s == "" || solid(s[0]) && solid(s[len(s)-1]) {
		return s
	}
	return trimAny(s)
}

func trimAny(s string) string {
	return trimAnyRight(s[skipAnyBlanks(s, 0):])
}

func trimRight(s string) string {
	if s == "" || solid(s[len(s)-1]) {
		return s
	}
	return trimAnyRight(s)
}

func trimAnyRight(s string) string {
	for s != "" && !solid(s[len(s)-1]) {
		r, width := utf8.DecodeLastRuneInString(s)
		if r == utf8.RuneError || blankAt(s, len(s)-width) == 0 {
			return s
		}
		s = s[:len(s)-width]
	}
	return s
}

// singleSpaced returns a trimmed text with single spaces between its words.
func singleSpaced(s string) string { return strings.Join(strings.Fields(s), " ") }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// clip shortens source text for a message.
func clip(s string) string { return safetext.Truncate(s, 60) }

// beginsWith reports whether s begins with word, ignoring the case of ASCII letters.
func beginsWith(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}

// equalWord reports whether s is word, ignoring the case of ASCII letters.
func equalWord(s, word string) bool {
	return len(s) == len(word) && strings.EqualFold(s, word)
}
