package plan

import (
	"fmt"
	"strings"
)

// This file reads the lists of OpenSpec: "- [ ] 1.2 Title" below "## 1. Group", and checkboxes without number below an
// item.

var openSpecGrammar = grammar{
	dialects:   []string{openSpec},
	label:      openSpecLabel,
	heading:    func(n *numbered, _ *line, _ int, text string) { n.group = groupNumber(text) },
	remark:     openSpecRemark,
	usable:     "a space or x",
	marks:      []meaning{{"~", Pending, `openspec does not define the mark "~", so the item is open: if it means deferred, write "[~] = deferred" in a legend`}},
	unnumbered: true,
	missing:    "no heading such as \"## 1. Group\" with boxes such as 1.1 below it",
}

func openSpecLabel(n *numbered, ln *line, b *box) (id, title string) {
	id, title = b.label(ln.text)
	n.tags.waits = mentioned(title)
	return id, title
}

// openSpecRemark reports an id that does not begin with the number of its group.
func openSpecRemark(n *numbered, ln *line, b box) {
	e := &n.r.entries[n.owner]
	if n.group == "" || e.derivedID || strings.HasPrefix(e.id, n.group+".") || e.id == n.group {
		return
	}
	n.report(ln, b.open, SeverityWarning, "dialect_drift",
		fmt.Sprintf("%s is below group %s: an id begins with the number of its group", e.id, n.group))
}

// groupNumber returns the number in a heading such as "1. Bread orders", or "".
func groupNumber(heading string) string {
	number := heading[:len(heading)-len(strings.TrimLeft(heading, "0123456789"))]
	if number == "" || len(number) > longestID || !strings.HasPrefix(heading[len(number):], ". ") {
		return ""
	}
	return number
}
