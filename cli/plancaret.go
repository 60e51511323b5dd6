package cli

import (
	"strings"
	"unicode/utf8"
)

// This file shows a place in a file: its line, as far as it fits, and a caret below the character.

// sourceLines gives the lines with those numbers, counted from 1 as the parser of plans does: a line ends
// with \n, \r\n or \r, and a byte order mark is no part of the first.
func sourceLines(text string, wanted map[int]bool) map[int]string {
	lines := make(map[int]string, len(wanted))
	text = strings.TrimPrefix(text, "\ufeff")
	for number := 1; len(lines) < len(wanted); number++ {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text)
		}
		if wanted[number] {
			lines[number] = text[:end]
		}
		if end == len(text) {
			break
		}
		if text[end] == '\r' && strings.HasPrefix(text[end+1:], "\n") {
			end++
		}
		text = text[end+1:]
	}
	return lines
}

// excerpt gives a line in at most width columns and how many columns stand before the caret. The column
// counts characters from 1; one behind the line points to its end. Where the line is longer, what is left is
// around the caret. The width is at least 8.
func excerpt(line string, column, width int) (text string, caret int) {
	line = plain(line) // a character for a character
	at := byteOf(line, column-1)
	caret = columns(line[:at])
	if cut(line, width) == len(line) && caret < width {
		return line, caret
	}
	if caret < width-1 {
		return fit(line, width), caret
	}
	from := at
	for kept := 0; from > 0; {
		r, size := utf8.DecodeLastRuneInString(line[:from])
		if kept += runeColumns(r); kept > width/2 {
			break
		}
		from -= size
	}
	return "…" + fit(line[from:], width-1), 1 + columns(line[from:at])
}

// byteOf gives where the character begins before which there are n others.
func byteOf(text string, n int) int {
	for i := range text {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(text)
}
