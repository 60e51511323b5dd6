package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain makes untrusted text safe to print: whatever could move the cursor, colour, hide, reorder or
// talk to the terminal becomes a visible U+FFFD, and line ends become spaces. Printable text stays
// as it is.
func plain(text string) string {
	clean := true
	for _, r := range text {
		clean = clean && printable(r)
	}
	if clean && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n', r == '\r', r == '\t':
			b.WriteByte(' ')
		case printable(r):
			b.WriteRune(r)
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// printable refuses control characters (C0, C1, DEL), formatting characters (bidi marks, zero-width
// characters, tags), line and paragraph separators, and private or unassigned code points.
func printable(r rune) bool {
	return r == utf8.RuneError || (unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r))
}

// clip cuts a text to at most n characters, with a mark where it was cut.
func clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}
