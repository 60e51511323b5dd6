package plan

import (
	"strings"
	"unicode/utf8"

	"waybill/cli/output"
	"waybill/internal/safetext"
	"waybill/plan"
)

// This file shows a position in a file: the line, as far as it fits, and a caret below the character.

// sourceLines returns the lines with the given numbers, counted from 1 as the parser of plans counts them. A line ends
// with \n, \r\n or \r, and a byte order mark is not part of the first line.
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

// diagnosedLines returns the lines that diagnostics are about.
func diagnosedLines(text string, about []plan.Diagnostic) map[fileLine]string {
	texts := map[string]string{}
	files, folder := plan.SplitFiles(text)
	for _, f := range files {
		texts[f.Name] = f.Text
	}
	if !folder { // a diagnostic of a whole folder has no line
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

// excerpt returns a line in at most width columns, and the number of columns before the caret. column counts characters
// from 1; one after the last points to the end. A longer line is cut around the caret. width is at least 8.
func excerpt(line string, column, width int) (text string, caret int) {
	line = safetext.Printable(line) // a character for a character
	at := byteOf(line, column-1)
	caret = output.Columns(line[:at])
	if output.Cut(line, width) == len(line) && caret < width {
		return line, caret
	}
	if caret < width-1 {
		return output.Fit(line, width), caret
	}
	from := at
	for kept := 0; from > 0; {
		r, size := utf8.DecodeLastRuneInString(line[:from])
		if kept += output.RuneColumns(r); kept > width/2 {
			break
		}
		from -= size
	}
	return "…" + output.Fit(line[from:], width-1), 1 + output.Columns(line[from:at])
}

// byteOf returns where the character begins before which there are n others.
func byteOf(text string, n int) int {
	for i := range text {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(text)
}
