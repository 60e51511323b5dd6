package plan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file splits the rows of a table into cells.

// cell is the text between two bars of a row, without surrounding white space, as a range of its line.
type cell struct{ from, to int }

func (c cell) empty() bool { return c.from == c.to }

// cells appends the cells of the row whose content begins at the index. It appends none if the line has no bar. The
// outer bars are optional, and an escaped bar is text.
func cells(s string, at int, into []cell) []cell {
	bars := 0
	if s[at] == '|' {
		at++
		bars++
	}
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			into = append(into, cellOf(s, at, i))
			at = i + 1
			bars++
		}
	}
	if at < len(s) {
		into = append(into, cellOf(s, at, len(s)))
	}
	if bars == 0 {
		return into[:0]
	}
	return into
}

// cellOf returns a range without surrounding white space. For an empty cell it returns the position where a word would
// begin.
func cellOf(s string, from, to int) cell {
	text := trimRight(s[from:to])
	if text = text[skipBlanks(text, 0):]; text == "" {
		at := min(pastSpace(s, from), to)
		return cell{at, at}
	}
	start := from + skipBlanks(s[from:to], 0)
	return cell{start, start + len(text)}
}

// isRule reports whether the cells are those of the delimiter row below a header.
func isRule(s string, rule []cell) bool {
	for _, c := range rule {
		dashes := strings.TrimSuffix(strings.TrimPrefix(s[c.from:c.to], ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return false
		}
	}
	return true
}

// plain returns the text of a cell with unescaped bars.
func (c cell) plain(s string) string {
	s = s[c.from:c.to]
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.ReplaceAll(s, `\|`, "|")
}

// text returns the plain text of a cell, or "" if the row has no such cell.
func (g *grid) text(s string, i int) string {
	if i >= len(g.cells) {
		return ""
	}
	return g.cells[i].plain(s)
}

// unadorned removes emphasis, links and strikethrough from a short text.
func unadorned(s string) string {
	s = strings.Trim(s, "*`~ ")
	if inside, after, ok := strings.Cut(strings.TrimPrefix(s, "["), "]("); ok && strings.HasPrefix(s, "[") && strings.HasSuffix(after, ")") {
		s = strings.Trim(inside, "*`~ ")
	}
	return trim(s)
}

// idOf returns the id of a row, or "". An id is one word with a digit in it, so that the totals row of a table has
// none.
func (g *grid) idOf(s string) string {
	id := unadorned(g.text(s, g.id))
	if rest, ok := strings.CutPrefix(id, "Task "); ok {
		id = trim(rest)
	}
	id = strings.TrimRight(id, ".:")
	if len(id) > longestID || !strings.ContainsAny(id, "0123456789") {
		return ""
	}
	for _, r := range id {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (r >= utf8.RuneSelf || strings.IndexByte("._-/#", byte(r)) < 0) {
			return ""
		}
	}
	return id
}

// commaList converts the list separators used in cells to commas.
func commaList(s string) string {
	if !strings.ContainsAny(s, ";<") {
		return s
	}
	return strings.NewReplacer(";", ",", "<br>", ",", "<br/>", ",", "<br />", ",").Replace(s)
}

// says reports whether a cell means yes.
func says(s string) bool {
	switch strings.ToLower(unadorned(s)) {
	case "yes", "true", "y", "x", "p", "[p]", "[x]", "✓", "✔", "✅":
		return true
	}
	return false
}
