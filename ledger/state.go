package ledger

import "strings"

// This file reads the status of a task from a cell: a word, a box or a sign.

// state is what a status cell says.
type state struct {
	status Status // Pending where nothing is known
	// The mark is the range of the line from which the status was read. from is
	// -1 where the row has no such cell.
	from, to int
	word     string // what was read, the mark of a box alone
	rest     string // what stands behind it
	known    bool
}

// stateSigns stand alone or before a word, which then counts.
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

// state reads the status cell of a row.
func (g *grid) state(s string) state {
	if g.status >= len(g.cells) {
		return state{status: Pending, from: -1, known: true}
	}
	c := g.cells[g.status]
	// Type such as bold stays when a status is written.
	inside := strings.Trim(s[c.from:c.to], "*`_ ")
	if inside != "" {
		c.from += strings.Index(s[c.from:c.to], inside)
		c.to = c.from + len(inside)
	}
	st := stateOf(inside)
	st.from, st.to = c.from+st.from, c.from+st.to
	if inside == "" {
		st.to = c.to // the star that stands for nothing
	}
	return st
}

// stateOf reads a text that is all there is in a cell.
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

// readState reads the status that a text begins with and the width of it.
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

// readBox reads "[x]". With another mark it gives the width alone.
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
