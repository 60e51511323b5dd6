package plan

import "fmt"

// This file determines the status from the mark in a checkbox.

// status returns the status for the mark in a checkbox. Some marks are resolved only when the dialect is known. The
// result for a one-byte mark is cached, unless each use of the mark needs a diagnostic.
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

// lookUp returns the status for a mark. plain means that the mark has this status in every checkbox without a
// diagnostic.
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

// unusual returns the meaning of a mark that not all plans use.
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

// settleTildes sets the status of the items with the mark "~", which depends on the dialect.
func (n *numbered) settleTildes() {
	status, warning := tilde(n.r.Dialect)
	for _, i := range n.tildes {
		n.r.entries[i].status = status
		if warning != "" {
			n.about(i, SeverityWarning, "ambiguous_mark", warning)
		}
	}
}
