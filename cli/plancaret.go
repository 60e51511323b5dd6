package cli

import (
	"strings"
	"unicode/utf8"

	"waybill/ledger"
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

// fileLine is a line of a file of a plan, which has no name where the plan is one file.
type fileLine struct {
	source string
	line   int
}

// diagnosedLines gives the lines that diagnostics are about.
func diagnosedLines(text string, about []ledger.Diagnostic) map[fileLine]string {
	texts := map[string]string{}
	files, folder := ledger.SplitFiles(text)
	for _, f := range files {
		texts[f.Name] = f.Text
	}
	if !folder { // what is about a folder as a whole stands in none of its lines
		texts[""] = text
	}
	wanted := map[string]map[int]bool{}
	for _, d := range about {
		if wanted[d.Source] == nil {
			wanted[d.Source] = map[int]bool{}
		}
		if d.Line > 0 {
			wanted[d.Source][d.Line] = true
		}
	}
	lines := map[fileLine]string{}
	for source, numbers := range wanted {
		if _, there := texts[source]; !there {
			continue
		}
		for number, line := range sourceLines(texts[source], numbers) {
			lines[fileLine{source, number}] = line
		}
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
