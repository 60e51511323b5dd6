package plan

import (
	"fmt"
	"strings"
)

// This file reports unusual checkboxes, and the reasons why some are not items.

// remark reports unusual properties of a checkbox that is an item.
func (n *numbered) remark(ln *line, m *marker, b *box, id, title string) {
	if b.optional {
		n.evidence.add(signalStar, ln.number)
	}
	if rest := b.rest(ln.text); n.g.label != nil && !strings.HasPrefix(rest, id) || n.r.entries[n.owner].derivedID {
		id, title = "", rest
	} else {
		id += n.g.stop()
	}
	if b.tight || b.mark(ln.text) == "" {
		n.report(ln, b.open, SeverityWarning, "malformed_checkbox",
			fmt.Sprintf("write %q, with one space between the parts", "- [ ] "+id+clip(title)))
	}
	if ln.quoted() {
		n.report(ln, b.open, SeverityInfo, "quoted_checkbox", "this task is in a block quote")
	}
	if m.kind == markerHeading && !n.g.headed && !n.g.tracked {
		n.report(ln, b.open, SeverityInfo, "dialect_drift", "this task is a heading: a list item is usual")
	}
	if ln.place != placeText {
		n.report(ln, b.open, SeverityWarning, ln.place.code(),
			fmt.Sprintf("this checkbox is in %s and counts only because the plan refers to %s", ln.place, n.r.entries[n.owner].id))
	}
}

func (p place) code() string {
	if p == placeComment {
		return "checkbox_in_comment"
	}
	return "checkbox_in_fence"
}

// String returns the context as a word for messages.
func (p place) String() string {
	if p == placeComment {
		return "a comment"
	}
	return "a code fence"
}

// hiddenBox processes a checkbox in a fence or comment. It is not a task, but may be part of a prompt.
func (n *numbered) hiddenBox(ln *line, b *box, id, title string) {
	n.refuse(ln, b, SeverityInfo, ln.place.code(),
		fmt.Sprintf("a checkbox in %s is not a task: %q", ln.place, clip(title)))
	if id != "" {
		if n.hidden == nil {
			n.hidden = map[string]bool{}
		}
		n.hidden[id] = true
	}
	if ln.place == placeFence {
		n.fenced(ln)
	}
}

// nameless processes a checkbox without id. The heading above may have the id, if the checkbox precedes the first
// field of the task.
func (n *numbered) nameless(ln *line, m *marker, b *box, title string) {
	if _, _, ok := labelled(title); ok && n.head.id != "" {
		n.adopt(ln, m, b, len(ln.text)-len(title))
		return
	}
	if n.takesNameless(ln, m) && !n.isLegend(b, ln, title) {
		n.add(ln, m, b, "", title)
		return
	}
	n.namelessSignals(ln, b)
	n.refuseNameless(ln, b, title)
	if n.field.literal && n.takes(ln, m) {
		n.goOn(ln)
		return
	}
	if n.owner >= 0 && ln.indent > n.ownerIndent {
		n.closeField()
		if n.shadowed(ln) {
			n.belowBox(ln)
		} else {
			n.shadow = ln.indent
			n.boxNote(ln, m)
		}
		return
	}
	n.closeItem()
	if n.g.headed {
		n.goBack(ln)
	}
}

// refuseNameless reports why a checkbox without id is not a task.
func (n *numbered) refuseNameless(ln *line, b *box, title string) {
	switch {
	case n.sections.kind == sectionAcceptance:
		n.refuse(ln, b, SeverityInfo, "not_a_task_section",
			fmt.Sprintf("%q is below %q, where boxes are not tasks", clip(title), clip(n.sections.name)))
	case n.sections.kind == sectionOther:
		n.refuse(ln, b, SeverityInfo, "not_a_task_section",
			fmt.Sprintf("%q is outside the section %q: only boxes in that section are tasks", clip(title), subtasksHeading))
	case n.isLegend(b, ln, title):
		n.refuse(ln, b, SeverityInfo, "legend_line", fmt.Sprintf("this line explains a mark or a tag: %q", clip(title)))
	default:
		n.unnumbered++
		if n.owner < 0 || ln.indent <= n.ownerIndent {
			n.beside++
		}
		n.refuse(ln, b, SeverityWarning, "checkbox_without_id", fmt.Sprintf("no id: %q: %s", clip(title), n.g.wanted))
	}
}

// opens reports whether a checkbox with this mark would be an open item.
func (n *numbered) opens(mark string) bool {
	if status := usualMark(mark); status != 0 {
		return status.open()
	}
	m, known := n.unusual(mark)
	return !known || m.status == 0 || m.status.open()
}

// adopt creates an item from the heading above and a checkbox followed by a field. The field begins at the index.
func (n *numbered) adopt(ln *line, m *marker, b *box, from int) {
	head := n.head
	n.adopted = true
	n.add(ln, m, b, head.id, head.title)
	if n.item == nil {
		n.r.entries[n.owner].from = int32(head.start)
		n.set(fieldDepends, mentioned(head.title))
	}
	n.report(ln, b.open, SeverityInfo, "dialect_drift",
		fmt.Sprintf("id %s was taken from the heading on line %d: write it after the box", head.id, head.line))
	n.describe(ln, from, markerBullet)
}

// shadowed reports whether the line belongs to a checkbox without id.
func (n *numbered) shadowed(ln *line) bool {
	if n.shadow >= 0 && ln.indent <= n.shadow {
		n.shadow = -1
	}
	return n.shadow >= 0
}

// lost returns the ids that the plan depends on and that occur only in a fence or comment.
func (n *numbered) lost() map[string]bool {
	var lost map[string]bool
	if n.hidden == nil {
		return nil
	}
	look := func(ids []string) {
		for _, id := range ids {
			if !n.hidden[id] || n.r.find(id) >= 0 {
				continue
			}
			if lost == nil {
				lost = map[string]bool{}
			}
			lost[id] = true
		}
	}
	for i := range n.r.waits {
		look(n.r.waits[i].ids)
	}
	look(n.unknownIDs)
	return lost
}
