package plan

import "strings"

// This file reads the plans of cc-sdd: numbered plans with "(P)" next to the title.

var ccSDDGrammar = grammar{
	dialects: []string{ccSDD},
	label:    ccSDDLabel,
	marks:    []meaning{{"-", InProgress, ""}, {"~", Pending, `the mark "~" means queued or partial work in cc-sdd, so the item is open`}},
	usable:   "a space, x or -",
	wanted:   "put a number such as 1.2 and a space after the box to make it a task",
	missing:  "no \"(P)\" beside a title and no _Boundary: field",
}

func ccSDDLabel(n *numbered, ln *line, b *box) (id, title string) {
	id, title, tight := readLabel(b.rest(ln.text))
	b.tight = b.tight || tight
	title, n.tags.parallel = cutParallel(title)
	return id, title
}

// cutParallel removes "(P)" from either end of a title. In the middle, it is ordinary text.
func cutParallel(title string) (rest string, parallel bool) {
	const tag = "(P)"
	if rest, ok := strings.CutPrefix(title, tag); ok && ends(rest, 0) {
		return trim(rest), true
	}
	if rest, ok := strings.CutSuffix(title, tag); ok && (rest == "" || blankAt(rest, len(rest)-1) > 0) {
		return trim(rest), true
	}
	return title, false
}
