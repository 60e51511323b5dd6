package ledger

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// stateWords are the words that a status begins with, in lower case and with
// spaces. None of two is the beginning of the other with a space behind it
// unless it stands after it.
var stateWords = [...]stateWord{
	{"todo", Pending},
	{"to do", Pending},
	{"open", Pending},
	{"pending", Pending},
	{"planned", Pending},
	{"backlog", Pending},
	{"new", Pending},
	{"ready", Pending},
	{"queued", Pending},
	{"scheduled", Pending},
	{"not started", Pending},
	{"not done", Pending},
	{"no", Pending},
	{"in progress", InProgress},
	{"wip", InProgress},
	{"doing", InProgress},
	{"started", InProgress},
	{"active", InProgress},
	{"ongoing", InProgress},
	{"in review", InProgress},
	{"for review", InProgress},
	{"under review", InProgress},
	{"review", InProgress},
	{"testing", InProgress},
	{"done", Completed},
	{"completed", Completed},
	{"complete", Completed},
	{"finished", Completed},
	{"closed", Completed},
	{"merged", Completed},
	{"shipped", Completed},
	{"resolved", Completed},
	{"yes", Completed},
	{"x", Completed},
	{"blocked", Blocked},
	{"waiting", Blocked},
	{"on hold", Blocked},
	{"paused", Blocked},
	{"skipped", Skipped},
	{"deferred", Skipped},
	{"superseded", Skipped},
	{"withdrawn", Skipped},
	{"cancelled", Skipped},
	{"canceled", Skipped},
	{"dropped", Skipped},
	{"obsolete", Skipped},
	{"abandoned", Skipped},
	{"won't do", Skipped},
	{"won't fix", Skipped},
	{"wontfix", Skipped},
}

// stateWord is a word for a status.
type stateWord struct {
	word   string
	status Status
}

// common reports whether a word stands in sentences about anything.
func (w *stateWord) common() bool {
	switch w.word {
	case "no", "yes", "x", "new", "open", "ready", "active", "started", "review", "testing", "waiting", "merged", "shipped", "resolved":
		return true
	}
	return false
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
			if status, more, ok := readWord(s[width:]); ok {
				return status, width + more, true
			}
			return sign.status, len(trimRight(s[:width])), true
		}
	}
	return readWord(s)
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

// readWord reads a status that is a word, unless the text goes on with other
// words: "done" and "Done (in May)" are completed, "done if it rains" is not.
func readWord(s string) (status Status, width int, known bool) {
	for _, w := range stateWords {
		if len(s) < len(w.word) || !sameWords(s[:len(w.word)], w.word) {
			continue
		}
		// Bold type may end with the word.
		if rest := strings.TrimLeft(s[len(w.word):], "*`_"); rest == "" || stops(trim(rest)) || strings.HasPrefix(rest, " - ") || dated(rest) {
			return w.status, len(w.word), true
		}
	}
	return Pending, 0, false
}

// stops reports whether s begins with what ends a word and a thought: a bracket,
// a comma or a sign.
func stops(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if r < utf8.RuneSelf {
		return strings.ContainsRune("(,;:.[!", r)
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// sameWords reports whether s is the words, whatever its case, and whether
// spaces, hyphens or underscores stand between them.
func sameWords(s, words string) bool {
	for i := range len(words) {
		switch c := s[i]; {
		case c == '-' || c == '_' || c == ' ':
			if words[i] != ' ' {
				return false
			}
		case isUpper(c):
			if c|0x20 != words[i] {
				return false
			}
		case c != words[i]:
			return false
		}
	}
	return true
}
