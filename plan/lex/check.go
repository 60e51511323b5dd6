package lex

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"waybill/plan"
)

// Binary says why the bytes of a file are no text, and where. It returns "" for text.
func Binary(text string) (reason string, at int) {
	switch at := strings.IndexByte(text, 0); {
	case strings.HasPrefix(text, "\xff\xfe"):
		return "the file is UTF-16 little-endian text: save it as UTF-8", 0
	case strings.HasPrefix(text, "\xfe\xff"):
		return "the file is UTF-16 big-endian text: save it as UTF-8", 0
	case at >= 0:
		before := strings.ReplaceAll(text[:at], "\r\n", "\n")
		line := 1 + strings.Count(before, "\n") + strings.Count(before, "\r")
		return fmt.Sprintf("NUL byte at offset %d, line %d: a plan is UTF-8 text, not binary data", at, line), at
	}
	return "", 0
}

// Broken reports each line of text[from:to] with bytes that are not UTF-8, up to a limit. The rest of the text is read
// all the same.
func Broken(text string, from, to int, notes *plan.Remarks) {
	const most = 1000
	for range most {
		if utf8.ValidString(text[from:to]) {
			return
		}
		for from < to {
			r, width := utf8.DecodeRuneInString(text[from:to])
			if r == utf8.RuneError && width == 1 {
				break
			}
			from += width
		}
		notes.Add(from, plan.SeverityWarning, "invalid_utf8",
			fmt.Sprintf("byte 0x%02x is not UTF-8, so this line may be misread: save the file as UTF-8", text[from]))
		end := strings.IndexAny(text[from:to], "\r\n")
		if end < 0 {
			return
		}
		from += end
	}
}
