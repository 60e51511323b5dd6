package ledger

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const byteOrderMark = "\ufeff"

// checkText returns nil for UTF-8 text.
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

// lineOf returns the number of the line that holds the offset.
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

// The functions below have the usual case, plain ASCII, in a part small enough
// to be inlined, and the rest in a second function: they run several times for
// each line of a plan.

// solid reports whether c is a visible ASCII character (or DEL), in one comparison.
func solid(c byte) bool { return c-'!' < utf8.RuneSelf-'!' }

// blankAt returns the width in bytes of the white space at s[i], 0 for none.
func blankAt(s string, i int) int {
	if solid(s[i]) {
		return 0
	}
	return anyBlankAt(s, i)
}

// anyBlankAt counts a no-break space and a stray byte order mark as white
// space: editors and copied web pages put them where people typed a space.
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

// pastSpace returns i, or what follows if s[i] is a space: mostly there is one,
// and then nothing else has to be skipped.
func pastSpace(s string, i int) int {
	if i < len(s) && s[i] == ' ' {
		return i + 1
	}
	return i
}

// skipBlanks returns the index of the first byte at or after i that is no white space.
func skipBlanks(s string, i int) int {
	if i == len(s) || s[i]-'!' < utf8.RuneSelf-'!' { // solid, which called by its name makes this too large
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

// trim cuts white space off both ends.
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

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// clip shortens a piece of the source for a message, never inside a character.
func clip(s string) string {
	const limit = 60
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// beginsWith reports whether s begins with a word, whatever the case of its ASCII letters.
func beginsWith(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}

// equalWord reports whether s is word, whatever the case of its ASCII letters.
func equalWord(s, word string) bool {
	return len(s) == len(word) && strings.EqualFold(s, word)
}
