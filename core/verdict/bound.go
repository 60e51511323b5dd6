package verdict

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A result goes into prompts and answers, where eight megabytes of rubbish must not become a hundred: what
// it may hold is bounded. Only its body is as long as the text.
const (
	maxEntries = 1000     // entries of one list
	maxList    = 64 << 10 // bytes of all texts of one list
	maxEntry   = 4 << 10  // bytes of one text
	maxSummary = 16 << 10 // bytes of the summary
	maxID      = 128      // bytes of an id; a longer one is nobody's
)

const ellipsis = "…"

// bounded gives a text of a result as it is kept. It may be the beginning of one that is written in more
// bytes, if that has more than limit of them.
func (n *notes) bounded(field string, at int, s string, limit, written int) string {
	kept, cut, odd := harmless(s, limit)
	if cut {
		n.lose(field, 1)
		n.warn(entryCut, at, "%s: a text of %d bytes was cut to %d", field, written, len(kept))
	}
	if odd {
		n.warn(controlCharacters, at, "%s: control characters were replaced", field)
	}
	return kept
}

// harmless gives a text without control characters but for line feeds and tabs, and of one that does not
// fit its beginning. It builds no more than it keeps.
func harmless(s string, limit int) (kept string, cut, odd bool) {
	if len(s) <= limit && strings.IndexFunc(s, harmful) < 0 {
		return s, false, false
	}
	var b strings.Builder
	fits := 0
	for i, r := range s {
		if r == '\r' && strings.HasPrefix(s[i+1:], "\n") {
			continue // a line may end in both
		}
		if harmful(r) {
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

func harmful(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// A gathering is a list of a result while it is read. Once an entry did not fit, no other is taken: what is
// kept is always the beginning.
type gathering[T any] struct {
	field string
	list  []T
	bytes int
	left  int // entries that did not fit
	at    int // where the first of them is
}

// full reports whether an entry need not even be read.
func (g *gathering[T]) full() bool { return g.left > 0 || len(g.list) == maxEntries }

// add takes an entry of a size, if it fits.
func (g *gathering[T]) add(entry T, size, at int) {
	if g.full() || g.bytes+size > maxList {
		g.skip(1, at)
		return
	}
	g.list = append(g.list, entry)
	g.bytes += size
}

// skip counts entries that are not taken.
func (g *gathering[T]) skip(count, at int) {
	if g.left == 0 {
		g.at = at
	}
	g.left += count
}

// done gives the list and says how much of it was left out.
func (g *gathering[T]) done(n *notes) []T {
	if g.left > 0 {
		n.lose(g.field, g.left)
		n.warn(listCut, g.at, "%s: %d of %d entries were left out", g.field, g.left, g.left+len(g.list))
	}
	return g.list
}

// keep adds a text of the agent.
func keep(g *gathering[string], s string, at int, n *notes) {
	if g.full() {
		g.skip(1, at)
		return
	}
	kept := n.bounded(g.field, at, s, maxEntry, len(s))
	g.add(kept, len(kept), at)
}

// lose counts what is missing of a list, or of a text in one.
func (n *notes) lose(field string, count int) {
	switch field, _, _ = strings.Cut(field, "["); field {
	case "issues":
		n.lost.Issues += count
	case "required_fixes":
		n.lost.RequiredFixes += count
	case "follow_up_actions":
		n.lost.FollowUps += count
	}
}

// asIssues gives issues that have no more than a message.
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
