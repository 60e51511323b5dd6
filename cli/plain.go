package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"waybill/schema"
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

// encode gives a value as JSON in which everything that plain would not let pass is written as \uXXXX. It
// is the same JSON, and a program reads the same from it; but where a person looks at it, nothing in it
// moves the cursor, hides or reorders.
func encode(v any) ([]byte, error) {
	text, err := schema.Encode(v)
	if err != nil {
		return nil, err
	}
	return escaped(text), nil
}

// escaped is JSON without unprintable characters but for the line ends and tabs between its tokens: inside
// of strings JSON has none.
func escaped(doc []byte) []byte {
	harmless := func(r rune) bool { return printable(r) || r == '\n' || r == '\r' || r == '\t' }
	if utf8.Valid(doc) && !bytes.ContainsFunc(doc, func(r rune) bool { return !harmless(r) }) {
		return doc
	}
	safe := make([]byte, 0, len(doc)+len(doc)/8)
	for _, r := range string(doc) {
		switch high, low := utf16.EncodeRune(r); {
		case harmless(r):
			safe = utf8.AppendRune(safe, r)
		case high == utf8.RuneError: // it is no pair
			safe = fmt.Appendf(safe, `\u%04x`, r)
		default:
			safe = fmt.Appendf(safe, `\u%04x\u%04x`, high, low)
		}
	}
	return safe
}

// clip cuts a text to at most n characters, with a mark where it was cut.
func clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}
