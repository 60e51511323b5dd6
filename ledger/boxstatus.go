package ledger

import "fmt"

// This file reads what the mark in a box says.

// status reads the mark in the box; some marks wait for the dialect. A mark of one byte is looked up once in a plan,
// unless something is to be said of each.
func (n *numbered) status(ln *line, b *box) Status {
	if n.tags.withdrawn {
		return Skipped // whatever its mark
	}
	mark := b.mark(ln.text)
	if len(mark) != 1 {
		status, _ := n.lookUp(ln, b, mark)
		return status
	}
	known := &n.marks[mark[0]]
	if *known == 0 {
		status, plain := n.lookUp(ln, b, mark)
		if !plain {
			return status
		}
		*known = status
	}
	if n.r.active < 0 && *known == InProgress {
		n.r.active = int32(n.owner)
	}
	return *known
}

// lookUp gives the status for a mark. It is plain if the mark means the same in each box, without a word about it.
func (n *numbered) lookUp(ln *line, b *box, mark string) (status Status, plain bool) {
	if status := usualMark(mark); status != 0 {
		return status, true
	}
	if m, ok := n.unusual(mark); ok {
		return n.means(ln, b, m.status, m.warning), m.status != 0 && m.warning == ""
	}
	if mark != "" {
		n.report(ln, b.open+1, SeverityWarning, "unknown_mark",
			fmt.Sprintf("the mark %q has no meaning here, so the item is open: use %s", mark, n.g.usable))
	}
	return Pending, false
}

// unusual is what a mark means that not every plan has.
func (n *numbered) unusual(mark string) (m meaning, ok bool) {
	if status, ok := n.explained(mark); ok {
		return meaning{mark: mark, status: status}, true
	}
	for i := range n.g.marks {
		if m := &n.g.marks[i]; mark == m.mark {
			return *m, true
		}
	}
	return meaning{}, false
}

func (n *numbered) means(ln *line, b *box, status Status, warning string) Status {
	if warning != "" {
		n.report(ln, b.open+1, SeverityWarning, "ambiguous_mark", warning)
	}
	switch {
	case status == 0:
		n.tildes = append(n.tildes, int32(n.owner))
		return Pending
	case status == InProgress && n.r.active < 0:
		n.r.active = int32(n.owner)
	}
	return status
}

// settleTildes gives the items with the mark "~" the meaning of the dialect.
func (n *numbered) settleTildes() {
	status, warning := tilde(n.r.Dialect)
	for _, i := range n.tildes {
		n.r.entries[i].status = status
		if warning != "" {
			n.about(i, SeverityWarning, "ambiguous_mark", warning)
		}
	}
}
