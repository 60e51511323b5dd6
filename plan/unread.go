package plan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file reports lines of numbered plans that look like tasks but are not: a heading such as "Task 4" without a
// checkbox below it, and a sign instead of a checkbox.

// boxlessHead is a heading such as "Task 4" without a checkbox below it so far.
type boxlessHead struct {
	taskHeading
	level, column int
	checkboxes    int // the number of checkboxes above it
	left          bool
}

// counts reports whether the items of a grammar are numbered checkboxes.
func (g *grammar) counts() bool {
	return g == &numberedGrammar || g == &openSpecGrammar || g == &ccSDDGrammar || g == &aiDevGrammar
}

// boxed reports whether the items of a grammar are only checkboxes.
func (g *grammar) boxed() bool {
	return g.counts() || g == &specKitGrammar || g == &conductorGrammar || g == &bmadGrammar
}

// enterBoxless processes the next heading, which ends the headings above of the same or a deeper level.
func (n *numbered) enterBoxless(ln *line, level int, head taskHeading) {
	if n.item != nil || !n.g.counts() {
		return
	}
	if last := len(n.boxless) - 1; last >= 0 && (level <= n.boxless[last].level || head.id != "") {
		n.leaveBoxless()
	}
	if head.id != "" {
		column := len([]rune(ln.text[:ln.body])) + 1
		n.boxless = append(n.boxless, boxlessHead{taskHeading: head, level: level, column: column, checkboxes: n.r.Checkboxes})
	}
}

// leaveBoxless ends the last heading, and drops it if a checkbox followed.
func (n *numbered) leaveBoxless() {
	last := len(n.boxless) - 1
	switch {
	case last < 0 || n.boxless[last].left:
	case n.boxless[last].checkboxes < n.r.Checkboxes:
		n.boxless = n.boxless[:last]
	default:
		n.boxless[last].left = true
	}
}

// reportBoxless reports the headings that look like tasks, but neither are nor describe one.
func (n *numbered) reportBoxless() {
	n.leaveBoxless()
	for i := range n.boxless {
		h := &n.boxless[i]
		if n.r.find(h.id) >= 0 {
			continue
		}
		n.r.Diagnostics = append(n.r.Diagnostics, Diagnostic{
			Line: h.line, Column: h.column, Severity: SeverityWarning, Code: "not_read",
			Message: fmt.Sprintf("this heading looks like a task but is not one in %s: write %q below it to make it a task",
				n.r.Dialect, "- [ ] "+h.id+n.g.stop()+clip(h.title)),
		})
	}
}

// reportSign reports a line such as "- ✅ Buy sugar" that is not a detail of the item above. An open sign counts as
// open work. A sign that is a picture of an open box is one everywhere.
func (n *numbered) reportSign(ln *line, m *marker) {
	s, ok := signAt(ln.text[m.next:])
	box, below := s.task && s.status == Pending, n.owner >= 0 && ln.indent > max(n.ownerIndent, 0)
	switch {
	case !ok || n.item != nil:
		return
	case m.kind == markerNone && (!box || below || signed(s.title)): // prose, or a legend in one line
		return
	case m.kind != markerNone && (n.g == &looseGrammar || !box && (below || !n.g.boxed())):
		return
	}
	title := trim(s.title)
	if title == "" || strings.IndexByte("=:", title[0]) >= 0 || meansAll(title) || !n.inSignList(ln, s, false) {
		return
	}
	open := s.status.open() && !withdrawn(title)
	write := "- [x]"
	if open {
		write = "- [ ]"
	}
	n.report(ln, m.next, SeverityWarning, "not_read",
		fmt.Sprintf("this line looks like a task but is not one, because every task here has a box: write %q instead of the sign", write))
	n.r.Diagnostics[len(n.r.Diagnostics)-1].Open = open
}

// reportBox reports an open checkbox that no dialect reads: "[ ] Buy sugar", "• [ ] Buy sugar", or a table cell. It
// counts as open work. An indented line below an item is a detail of that item.
func (n *numbered) reportBox(ln *line, m *marker) {
	c := ln.text[max(ln.body, min(m.next, len(ln.text)-1))]
	if isLetter(c) || n.item != nil || m.kind == markerHeading || n.owner >= 0 && ln.indent > max(n.ownerIndent, 0) {
		return
	}
	at, found := openBoxAt(ln.text, ln.body)
	if !found || n.sections.kind == sectionLegend || n.field.begun() && n.takes(ln, m) {
		return
	}
	if n.grid.next == ln.number+1 && n.grid.idOf(ln.text) != "" {
		return // the row is compared with the item
	}
	_, title, _ := emptyBox(ln.text[at:])
	if title = strings.Trim(title, "|*=:→-–—\t "); title != "" && meansAll(title) {
		return // it explains the mark
	}
	n.report(ln, at, SeverityWarning, "not_read",
		`this open box is not a task, but it counts as open work: write it as "- [ ] …" in a list of its own`)
	n.r.Diagnostics[len(n.r.Diagnostics)-1].Open = true
}

// openBoxAt returns the index of the open checkbox at the start of a line, after bullets of any kind, dashes, HTML
// tags, bars and zero-width characters. In a table row it may also be a later cell.
func openBoxAt(s string, i int) (at int, found bool) {
	if s[i] == '|' {
		var row [8]cell
		for _, c := range cells(s, i, row[:0]) {
			if _, rest, ok := emptyBox(s[c.from:c.to]); ok && rest == "" {
				return c.from, true
			}
		}
	}
	for i < len(s) {
		r, width := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Cf, r), strings.ContainsRune("-*+|>•◦‣▪·●○–—−", r):
		case isDigit(s[i]):
			m := markerAt(s, i)
			if m.kind == markerNone {
				return 0, false
			}
			width = m.after - i
		case r == '<' && i+1 < len(s) && isLetter(s[i+1]):
			if width = strings.IndexByte(s[i:], '>') + 1; width == 0 {
				return 0, false
			}
		default:
			_, _, ok := emptyBox(s[i:])
			return i, ok
		}
		i += width
	}
	return 0, false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// emptyBox parses the open checkbox at the beginning of a text, also with escaped or wide brackets. A link does not
// count.
func emptyBox(s string) (inside, rest string, ok bool) {
	for _, pair := range [...][2]string{{"[", "]"}, {`\[`, `\]`}, {"［", "］"}} {
		after, opened := strings.CutPrefix(s, pair[0])
		if !opened {
			continue
		}
		inside, rest, ok = strings.Cut(after, pair[1])
		switch {
		case !ok || trim(inside) != "":
			return "", "", false
		case inside == "":
			return inside, rest, rest == "" || blankAt(rest, 0) > 0
		}
		return inside, rest, rest == "" || strings.IndexByte("([:", rest[0]) < 0
	}
	return "", "", false
}
