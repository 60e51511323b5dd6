// Package safetext makes foreign text safe to show: on one line, within a length, inside quotation marks. It does not
// judge what a text says, and it does not escape for HTML or JSON.
package safetext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine returns the text fit to stand inside a line of waybill's own: without line breaks, control characters,
// invisible characters and those that turn the direction of writing. Marks that the lines of waybill and common markup
// are made of are replaced by similar characters. A longer text is cut to limit characters, the last of which is "…";
// limit is at least 1. The function is idempotent.
func OneLine(text string, limit int) string { return oneLine(text, limit, neutral) }

// Quote returns the text as OneLine does, in double quotation marks that the text cannot end.
func Quote(text string, limit int) string {
	return `"` + strings.ReplaceAll(OneLine(text, limit), `"`, "'") + `"`
}

// Verbatim returns the text on one line, cut as OneLine cuts. It keeps markup, and shows each hidden character as
// U+FFFD, so that a reader sees what is wrong with a text.
func Verbatim(text string, limit int) string { return oneLine(text, limit, visible) }

// Truncate returns the first characters of a text. A text of more than limit characters ends in "…" as the last of them.
func Truncate(text string, limit int) string {
	count, end := 0, 0
	for i := range text {
		if count == limit {
			return text[:end] + "…"
		}
		count, end = count+1, i
	}
	return text
}

// Printable returns the text with a space for each line break and tab, and U+FFFD for each character that could move the
// cursor, hide, reorder or control a terminal. The number of characters stays the same.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		return visible(r)
	}, text)
}

// IsPrintable reports whether Printable keeps the character: no control or format characters, no line separators, and no
// private or unassigned code points.
func IsPrintable(r rune) bool { return r == utf8.RuneError || unicode.IsPrint(r) }

// oneLine joins the words of a text with spaces. It drops the characters for which show returns a negative value.
func oneLine(text string, limit int, show func(rune) rune) string {
	var line []rune
	gap := false
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) && show(r) < 0 {
			gap = len(line) > 0
			continue
		}
		if r = show(r); r < 0 {
			continue
		}
		if gap {
			line = append(line, ' ')
			gap = false
		}
		line = append(line, r)
		if len(line) > limit {
			return string(append(line[:limit-1], '…'))
		}
	}
	return string(line)
}

func visible(r rune) rune {
	if IsPrintable(r) {
		return r
	}
	return utf8.RuneError
}

func neutral(r rune) rune {
	if r == utf8.RuneError || unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	switch r {
	case '<':
		return '‹'
	case '>':
		return '›'
	case '`':
		return '\''
	case '—':
		return '-'
	}
	return r
}
