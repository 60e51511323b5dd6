package ledger

import "strings"

// This file knows the plans of cc-sdd: numbered ones with "(P)" beside the
// title and tasks that are struck through.

var ccSDDGrammar = grammar{
	dialects: []string{ccSDD},
	label:    ccSDDLabel,
	marks:    []meaning{{"-", InProgress, ""}, {"~", Pending, `the mark "~" is queued or partial work in cc-sdd, so the item is open`}},
	usable:   "a space, x or -",
	wanted:   "put a number such as 1.2 and a space behind the box to make it a task",
	missing:  "no \"(P)\" beside a title and no _Boundary: field",
}

const struck = "~~"

func ccSDDLabel(n *numbered, ln *line, b *box) (id, title string) {
	s := b.rest(ln.text)
	if inside, after, ok := strings.Cut(strings.TrimPrefix(s, struck), struck); ok && strings.HasPrefix(s, struck) {
		n.tags.withdrawn = true
		s = inside + after
	}
	id, title, tight := readLabel(s)
	b.tight = b.tight || tight
	if inside, ok := strings.CutPrefix(title, struck); ok && strings.HasSuffix(inside, struck) {
		n.tags.withdrawn = true
		title = strings.TrimSuffix(inside, struck)
	}
	title, n.tags.parallel = cutParallel(title)
	return id, title
}

// cutParallel takes "(P)" off either end of a title. In the middle it is text.
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
