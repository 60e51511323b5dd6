package ledger

import "strings"

// This file knows lists of no dialect: boxes without ids, and lines that begin
// with a sign instead of a box.

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
		{"~", Pending, `the mark "~" means many things, so the item is open: say which in a legend, such as "[~] = skipped"`},
		{"-", Pending, `the mark "-" means many things, so the item is open: say which in a legend, such as "[-] = skipped"`},
	},
	missing: "no checkbox outside fences, comments and lists of criteria, and no line that begins with ✅ or ⏳",
}

// signs stand where a box could.
var signs = [...]struct {
	text   string
	status Status
}{
	{"✅", Completed},
	{"⏳", InProgress},
}

// looseLine reads "- ✅ Buy sugar".
func looseLine(n *numbered, ln *line, m marker) bool {
	if m.kind != markerBullet && m.kind != markerOrdered || !m.spaced(ln.text) || n.sections.kind != sectionTasks && n.sections.kind != sectionLegend {
		return false
	}
	for _, s := range signs {
		if title, ok := strings.CutPrefix(ln.text[m.next:], s.text); ok {
			title = strings.TrimPrefix(title, selector)
			if n.sections.kind == sectionLegend && meansAll(trim(title)) {
				return false
			}
			text, withdrawn := cutStruck(trim(title))
			n.tags = tags{withdrawn: withdrawn}
			n.addBare(ln, "", text, s.status)
			n.worded(ln, m.next, len(ln.text)-len(title))
			n.tagged()
			return true
		}
	}
	return false
}
