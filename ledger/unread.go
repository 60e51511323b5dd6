package ledger

import (
	"fmt"
	"strings"
)

// This file reports what looks like a task and is none in plans of numbers: a heading such as "Task 4" without any
// box below it, and a line that begins with a sign instead of a box.

// idleHead is a heading such as "Task 4" that no box has been seen below.
type idleHead struct {
	taskHeading
	level, column int
	checkboxes    int // how many there were above it
	left          bool
}

// counts reports whether the items of a grammar are boxes with numbers.
func (g *grammar) counts() bool {
	return g == &numberedGrammar || g == &openSpecGrammar || g == &ccSDDGrammar || g == &aiDevGrammar
}

// enterIdle goes on to the next heading, which ends those above it that are no higher.
func (n *numbered) enterIdle(ln *line, level int, head taskHeading) {
	if n.item != nil || !n.g.counts() {
		return
	}
	if last := len(n.idle) - 1; last >= 0 && (level <= n.idle[last].level || head.id != "") {
		n.leaveIdle()
	}
	if head.id != "" {
		column := len([]rune(ln.text[:ln.body])) + 1
		n.idle = append(n.idle, idleHead{taskHeading: head, level: level, column: column, checkboxes: n.r.Checkboxes})
	}
}

// leaveIdle ends the last heading, and drops it if there was a box below it.
func (n *numbered) leaveIdle() {
	last := len(n.idle) - 1
	switch {
	case last < 0 || n.idle[last].left:
	case n.idle[last].checkboxes < n.r.Checkboxes:
		n.idle = n.idle[:last]
	default:
		n.idle[last].left = true
	}
}

// reportIdle reports the headings that are no tasks, and are about none.
func (n *numbered) reportIdle() {
	n.leaveIdle()
	for i := range n.idle {
		h := &n.idle[i]
		if n.r.find(h.id) >= 0 {
			continue
		}
		n.r.Diagnostics = append(n.r.Diagnostics, Diagnostic{
			Line: h.line, Column: h.column, Severity: SeverityWarning, Code: "not_read",
			Message: fmt.Sprintf("this heading looks like a task and is none in %s: write %q below it to make it one",
				n.r.Dialect, "- [ ] "+h.id+n.g.stop()+clip(h.title)),
		})
	}
}

// signed reports a line such as "- ✅ Buy sugar" that is no detail of the item above.
func (n *numbered) signed(ln *line, m *marker) {
	if n.item != nil || !n.g.counts() || n.owner >= 0 && ln.indent > n.ownerIndent {
		return
	}
	for _, s := range signs {
		title, ok := strings.CutPrefix(ln.text[m.next:], s.text)
		if title = trim(strings.TrimPrefix(title, selector)); !ok || title == "" || strings.IndexByte("=:", title[0]) >= 0 {
			continue
		}
		n.report(ln, m.next, SeverityWarning, "not_read",
			fmt.Sprintf("this line looks like a task and is none here, since a box with a number is one: %q", clip(title)))
	}
}
