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

// signs replace checkboxes. A line with a task sign is always a task. Another sign can also be decoration, so its line is
// a task only beside others: see readSignLists.
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
	{"○", Pending, false},
	{"❌", Pending, false},
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

// inSignList reports whether a line that begins with a sign is one of a list of tasks. In a plan of signs, a known sign
// needs no other sign near it.
func (n *numbered) inSignList(ln *line, s signedLine, signs bool) bool {
	if s.task || n.item != nil {
		return s.task || n.owner < 0 // the first line of a described item is known to be an item
	}
	if n.evidence.signLists == nil {
		n.evidence.signLists = readSignLists(n.src)
	}
	return n.evidence.signLists[ln.number] || signs && s.known && n.evidence.signLists[0]
}

// readSignLists returns the numbers of the lines that begin with a sign and belong to a list of tasks, and 0 if any line
// has a task sign. A line belongs to such a list if a task sign with the same indent is in its section. For a sign with
// a known meaning, a task sign or a checkbox of any indent is enough.
func readSignLists(text string) map[int]bool {
	in := map[int]bool{}
	lists, tasks := map[int][]int{}, map[int]bool{} // by indent
	const known, none = -1, -2                      // in place of an indent
	end := func() {
		for indent := range tasks {
			for _, number := range append(lists[indent], lists[known]...) {
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
		if _, ok := boxAt(ln.text, m); ok && strings.HasPrefix(ln.text[m.next:], "[") {
			tasks[none] = true
			continue
		}
		if found, ok := signAt(ln.text[m.next:]); ok {
			lists[ln.indent] = append(lists[ln.indent], ln.number)
			if found.known {
				lists[known] = append(lists[known], ln.number)
			}
			if found.task {
				in[0], tasks[ln.indent] = true, true
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
	if !ok || !n.inSignList(ln, s, true) || n.sections.kind == sectionLegend && meansAll(trim(s.title)) {
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
