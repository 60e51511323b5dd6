package ledger

import "fmt"

// This file reads what the mark in a box says.

// status reads the mark in the box; some marks wait for the dialect.
func (n *numbered) status(ln *line, b *box) Status {
	mark := b.mark(ln.text)
	if n.tags.withdrawn {
		return Skipped // whatever its mark
	}
	if status := usualMark(mark); status != 0 {
		return status
	}
	if m, ok := n.unusual(mark); ok {
		return n.means(ln, b, m.status, m.warning)
	}
	if mark != "" {
		n.report(ln, b.open+1, SeverityWarning, "unknown_mark",
			fmt.Sprintf("the mark %q has no meaning here, so the item is open: use %s", mark, n.g.usable))
	}
	return Pending
}

// unusual is what a mark means that not every plan has.
func (n *numbered) unusual(mark string) (m meaning, ok bool) {
	if status, ok := n.explained(mark); ok {
		return meaning{mark: mark, status: status}, true
	}
	for _, m := range n.g.marks {
		if mark == m.mark {
			return m, true
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
