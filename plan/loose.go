package plan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file reads lists of no particular dialect: checkboxes without ids, and lines that begin with a sign instead of
// a checkbox.

var looseGrammar = grammar{
	dialects:   []string{loose},
	label:      func(_ *numbered, ln *line, b *box) (id, title string) { return "", b.rest(ln.text) },
	text:       looseLine,
	usable:     "a space or x",
	unnumbered: true,
	anywhere:   true,
	marks: []meaning{
		{"✅", Completed, ""},
		{"⏳", InProgress, ""},
		{"~", Pending, `the mark "~" has several meanings, so the item is open: explain it in a legend, such as "[~] = skipped"`},
		{"-", Pending, `the mark "-" has several meanings, so the item is open: explain it in a legend, such as "[-] = skipped"`},
	},
	missing: "no checkbox outside fences, comments and lists of criteria, and no line that begins with ⬜, ⏳ or ✅",
}

// signs replace checkboxes. A line with a task sign is always a task. A line with another sign is a task if the list
// also has a task sign.
var signs = [...]struct {
	text   string
	status Status
	task   bool
}{
	{"✅", Completed, true},
	{"⏳", InProgress, true},
	{"⬜", Pending, true},
	{"☐", Pending, true},
	{"🔲", Pending, true},
	{"◻", Pending, false},
	{"◽", Pending, false},
	{"☑", Completed, true},
	{"✔", Completed, false},
	{"✓", Completed, false},
	{"⌛", InProgress, false},
	{"🔄", InProgress, false},
	{"🚧", InProgress, false},
	{"⏸", Blocked, false},
	{"⛔", Blocked, false},
	{"🚫", Blocked, false},
	{"🛑", Blocked, false},
	{"⏭", Skipped, false},
}

// signedLine is the meaning of the sign at the beginning of a list item. An unknown sign means open.
type signedLine struct {
	status      Status
	sign, title string
	task, known bool
}

// signAt parses the sign at the beginning of a text.
func signAt(s string) (signedLine, bool) {
	if s == "" || s[0] < utf8.RuneSelf {
		return signedLine{}, false
	}
	for i := range signs {
		if title, ok := strings.CutPrefix(s, signs[i].text); ok {
			return signedLine{signs[i].status, signs[i].text, strings.TrimPrefix(title, selector), signs[i].task, true}, true
		}
	}
	r, width := utf8.DecodeRuneInString(s)
	if !unicode.In(r, unicode.So, unicode.Sm) && r != '‼' && r != '⁉' { // squares and arrows can be in both categories
		return signedLine{}, false
	}
	return signedLine{status: Pending, sign: s[:width], title: strings.TrimPrefix(s[width:], selector)}, true
}

// inSignList reports whether a line with another sign is in a list with a task sign. Both must be in the same section,
// with the same indent.
func (n *numbered) inSignList(ln *line) bool {
	if n.item != nil {
		return n.owner < 0 // the first line of a described item is known to be an item
	}
	if n.evidence.signLists == nil {
		n.evidence.signLists = readSignLists(n.src)
	}
	return n.evidence.signLists[ln.number]
}

// readSignLists returns the numbers of the lines that begin with a sign and belong to a list with a task sign.
func readSignLists(text string) map[int]bool {
	in := map[int]bool{}
	lists, tasks := map[int][]int{}, map[int]bool{} // by indent
	end := func() {
		for indent := range tasks {
			for _, number := range lists[indent] {
				in[number] = true
			}
		}
		clear(lists)
		clear(tasks)
	}
	for s := newScanner(text); s.scan(); {
		ln := &s.line
		if ln.blank() || ln.place != placeText {
			continue
		}
		m := markerAt(ln.text, ln.body)
		if m.kind == markerNone || !m.spaced(ln.text) {
			continue
		}
		if m.kind == markerHeading {
			end()
			continue
		}
		if found, ok := signAt(ln.text[m.next:]); ok {
			lists[ln.indent] = append(lists[ln.indent], ln.number)
			if found.task {
				tasks[ln.indent] = true
			}
		}
	}
	end()
	return in
}

// looseLine reads a line such as "- ✅ Buy sugar".
func looseLine(n *numbered, ln *line, m marker) bool {
	if m.kind != markerBullet && m.kind != markerOrdered || !m.spaced(ln.text) || n.sections.kind != sectionTasks && n.sections.kind != sectionLegend {
		return false
	}
	s, ok := signAt(ln.text[m.next:])
	if !ok || !s.task && !n.inSignList(ln) || n.sections.kind == sectionLegend && meansAll(trim(s.title)) {
		return false
	}
	text, withdrawn := cutStruck(trim(s.title))
	n.tags = tags{withdrawn: withdrawn}
	n.addBare(ln, "", text, s.status)
	n.worded(ln, m.next, len(ln.text)-len(s.title))
	n.tagged()
	if !s.known && n.item == nil {
		n.report(ln, m.next, SeverityWarning, "unknown_mark", fmt.Sprintf("the sign %q has no meaning here, so the item is open: use ⬜, ⏳ or ✅", s.sign))
	}
	return true
}
