package verdict

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a result. It is repeated in prompts and answers, where a result of megabytes would multiply. Only the
// body is not limited.
const (
	maxEntries = 1000     // entries of one list
	maxList    = 64 << 10 // bytes of all texts of one list
	maxEntry   = 4 << 10  // bytes of one text
	maxSummary = 16 << 10 // bytes of the summary
	maxID      = 128      // bytes of an id; a longer one is no id
)

const ellipsis = "…"

// bounded returns at most limit bytes of a text, and notes if it was cut. written is the size of the whole text, of
// which s may be only the beginning.
func (n *notes) bounded(field string, at int, s string, limit, written int) string {
	kept, cut, odd := withoutControls(s, limit)
	if cut {
		n.countLost(field, 1)
		n.warn(entryCut, at, "%s: a text of %d bytes was cut to %d", field, written, len(kept))
	}
	if odd {
		n.warn(controlCharacters, at, "%s: control characters were replaced", field)
	}
	return kept
}

// withoutControls returns at most limit bytes of a text. U+FFFD replaces control characters other than line feeds and
// tabs; odd reports whether there were any. It builds no more than it keeps, because a text can have megabytes.
func withoutControls(s string, limit int) (kept string, cut, odd bool) {
	if len(s) <= limit && strings.IndexFunc(s, isControl) < 0 {
		return s, false, false
	}
	var b strings.Builder
	fits := 0
	for i, r := range s {
		if r == '\r' && strings.HasPrefix(s[i+1:], "\n") {
			continue // a line may end in both
		}
		if isControl(r) {
			r, odd = unicode.ReplacementChar, true
		}
		if b.Len()+utf8.RuneLen(r) > limit {
			return b.String()[:fits] + ellipsis, true, odd
		}
		b.WriteRune(r)
		if b.Len() <= limit-len(ellipsis) {
			fits = b.Len()
		}
	}
	return b.String(), false, odd
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// A boundedList is a list of a result during reading. After the first entry beyond a limit it takes no other, so that
// it always holds the beginning of the list.
type boundedList[T any] struct {
	field   string
	list    []T
	bytes   int
	leftOut int // entries beyond the limit
	at      int // offset of the first of them
}

// full reports whether further entries need not be read.
func (g *boundedList[T]) full() bool { return g.leftOut > 0 || len(g.list) == maxEntries }

// add adds an entry if its size fits.
func (g *boundedList[T]) add(entry T, size, at int) {
	if g.full() || g.bytes+size > maxList {
		g.skip(1, at)
		return
	}
	g.list = append(g.list, entry)
	g.bytes += size
}

// skip counts entries that are left out.
func (g *boundedList[T]) skip(count, at int) {
	if g.leftOut == 0 {
		g.at = at
	}
	g.leftOut += count
}

// done returns the list and notes how many entries were left out.
func (g *boundedList[T]) done(n *notes) []T {
	if g.leftOut > 0 {
		n.countLost(g.field, g.leftOut)
		n.warn(listCut, g.at, "%s: %d of %d entries were left out", g.field, g.leftOut, g.leftOut+len(g.list))
	}
	return g.list
}

// keep adds a text.
func keep(g *boundedList[string], s string, at int, n *notes) {
	if g.full() {
		g.skip(1, at)
		return
	}
	kept := n.bounded(g.field, at, s, maxEntry, len(s))
	g.add(kept, len(kept), at)
}

// countLost counts entries that are missing in a list or cut.
func (n *notes) countLost(field string, count int) {
	switch field, _, _ = strings.Cut(field, "["); field {
	case "issues":
		n.lost.Issues += count
	case "required_fixes":
		n.lost.RequiredFixes += count
	case "follow_up_actions":
		n.lost.FollowUps += count
	}
}

// asIssues returns issues with only a message.
func asIssues(messages []string) []Issue {
	var issues []Issue
	for _, message := range messages {
		issues = append(issues, Issue{Message: message})
	}
	return issues
}

func textSize(s string) int { return len(s) }

func issueSize(i Issue) int { return len(i.Severity) + len(i.File) + len(i.Message) + len(i.Fix) }

func testSize(t Test) int {
	size := len(t.Command)
	for _, failure := range t.Failures {
		size += len(failure)
	}
	return size
}
