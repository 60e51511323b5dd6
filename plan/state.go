package plan

import "strings"

// This file parses the status of a task in a cell: a word, a checkbox or a sign.

// state is the parsed content of a status cell.
type state struct {
	status Status // Pending if the status is unknown
	// The mark is the range of the line that contains the status. from is -1 if the row has no such cell.
	from, to int
	word     string // the status text, without the brackets of a checkbox
	rest     string // the remaining text
	known    bool
}

// stateSigns occur alone or before a word. The word then takes precedence.
var stateSigns = [...]struct {
	sign   string
	status Status
}{
	{"✅", Completed},
	{"☑", Completed},
	{"✔", Completed},
	{"✓", Completed},
	{"⏳", InProgress},
	{"⌛", InProgress},
	{"🔄", InProgress},
	{"🚧", InProgress},
	{"⬜", Pending},
	{"☐", Pending},
	{"🔲", Pending},
	{"⛔", Blocked},
	{"🚫", Blocked},
	{"🛑", Blocked},
	{"⏭", Skipped},
}

// state parses the status cell of a row.
func (g *grid) state(s string) state {
	if g.status >= len(g.cells) {
		return state{status: Pending, from: -1, known: true}
	}
	c := g.cells[g.status]
	// Emphasis such as bold stays when a status is written.
	inside := strings.Trim(s[c.from:c.to], "*`_ ")
	if inside != "" {
		c.from += strings.Index(s[c.from:c.to], inside)
		c.to = c.from + len(inside)
	}
	st := stateOf(inside)
	st.from, st.to = c.from+st.from, c.from+st.to
	if inside == "" {
		st.to = c.to // a cell of marks such as * is replaced as a whole
	}
	return st
}

// stateOf parses the complete text of a cell.
func stateOf(s string) state {
	status, width, known := readState(s)
	if known && !status.remarked(s[:width], s[width:]) {
		width, known = 0, false
	}
	if known {
		return state{status: status, to: width, word: s[:width], rest: trim(strings.TrimLeft(s[width:], "*`_: ")), known: true}
	}
	st := state{status: Pending, to: len(s), word: s}
	if mark, ok := strings.CutPrefix(s[:width], "["); ok {
		st.word = strings.TrimSuffix(mark, "]")
	}
	return st
}

// readState parses the status at the beginning of a text, and returns its width.
func readState(s string) (status Status, width int, known bool) {
	if s == "" || isNone(s) {
		return Pending, len(s), true
	}
	if s[0] == '[' {
		return readBox(s)
	}
	for _, sign := range stateSigns {
		if rest, ok := strings.CutPrefix(s, sign.sign); ok {
			width := skipBlanks(s, len(s)-len(strings.TrimPrefix(rest, selector)))
			if status, more, ok := wordAt(s[width:], inCell); ok {
				return status, width + more, true
			}
			return sign.status, len(trimRight(s[:width])), true
		}
	}
	return wordAt(s, inCell)
}

// readBox parses "[x]". For an unknown mark, it returns only the width.
func readBox(s string) (status Status, width int, known bool) {
	b, ok := boxAt(s, marker{})
	if !ok {
		return Pending, 0, false
	}
	width = b.close + 1
	switch mark := b.mark(s); {
	case mark == "" || blankAt(mark, 0) > 0:
		return Pending, width, true
	case mark == "x" || mark == "X":
		return Completed, width, true
	}
	return Pending, width, false
}
