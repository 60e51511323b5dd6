package plan

import (
	"fmt"
	"strings"
)

// This file reads plans whose tasks are headings: "### Task 2: Compost log" with steps in checkboxes below it
// (superpowers) or without them (tina), and the task groups of Agent OS. They share one grammar, because they do not
// contradict each other. The tool that wrote the file only decides the name of the dialect.

var headingGrammar = grammar{
	dialects:   []string{superpowers, tina, agentOS},
	label:      headLabel,
	text:       headLine,
	remark:     headRemark,
	decide:     headDialect,
	marks:      headMarks,
	usable:     "a space or x",
	unnumbered: true,
	headed:     true,
	head:       readHead,
	zero:       true,
	missing:    `no heading such as "### Task 2: Compost log" or "#### Task Group 2: Compost"`,
}

var headMarks = []meaning{
	{"~", Pending, `the mark "~" has no meaning in plans of headings, so the item is open: explain it in a legend, such as "[~] = skipped"`},
	{"-", Pending, `the mark "-" has no meaning in plans of headings, so the item is open: explain it in a legend, such as "[-] = skipped"`},
}

// headDialect returns the dialect. Checkboxes distinguish superpowers from tina. Without any, the text below the
// headings decides.
func headDialect(n *numbered) string {
	if n.evidence.first[signalTaskGroup] > 0 {
		return agentOS
	}
	for i := range n.r.entries {
		if e := &n.r.entries[i]; e.markEnd > 0 && !e.worded {
			return superpowers
		}
	}
	if n.evidence.first[signalReview] == 0 && n.evidence.first[signalStep] > 0 {
		return superpowers
	}
	return tina
}

// headed reports whether a first pass shows that headings are the tasks of the plan.
func (n *numbered) headed() bool {
	s := &n.evidence
	tasks := s.count[signalTaskHeading]
	switch {
	case n.adopted, n.exclusive(), s.count[signalTask] > tasks, s.first[signalTrack] > 0:
		return false // checkboxes are the tasks, and headings are only their titles or notes
	case s.count[signalTaskGroup] > 0:
		return true
	case tasks == 0:
		return false
	}
	return s.first[signalStep]+s.first[signalNumbered] > 0 || s.count[signalAnew] > 1 || tasks+n.unnumberedInTasks > n.r.Len()
}

// readTaskHeading parses a heading that has the id and the title of the checkbox below it.
func readTaskHeading(text string, ln *line) taskHeading {
	const word = "Task "
	if len(text) < len(word) || !equalWord(text[:len(word)], word) {
		return taskHeading{}
	}
	text = trim(text[len(word):])
	id, end, _ := readID(text)
	if id == "" {
		return taskHeading{}
	}
	return taskHeading{id: id, title: trim(strings.TrimLeft(trim(text[end:]), "-–—")), line: ln.number, start: ln.start}
}

// headSignals collects evidence from a heading, without its checkbox, in the first pass. It skips parts of a task.
func (n *numbered) headSignals(ln *line, level int, text string) {
	h, ok := readHead(text)
	group := groupNumber(text)
	_, n.countable = readNumberHead(text)
	switch {
	case ok && h.id != "":
		n.group, n.tasked = h.id, level
		if h.group {
			n.evidence.add(signalTaskGroup, ln.number)
		} else {
			n.evidence.add(signalTaskHeading, ln.number)
		}
	case n.tasked == 0 || level <= n.tasked || group != "":
		n.group, n.tasked = group, 0
	}
}

// taskAbove is a heading that is an item and contains the current line.
type taskAbove struct {
	id     string
	item   int32
	level  int
	group  bool
	parted bool  // the heading of a part of the task was read
	stated int32 // the line of its first status, 0 for none
}

// headStack are the task headings above a line, each deeper than the previous one.
type headStack []taskAbove

// top returns the task that contains the current line. Its item is -1 for none.
func (s headStack) top() taskAbove {
	if len(s) == 0 {
		return taskAbove{item: -1}
	}
	return s[len(s)-1]
}

// enterHeading ends the sections that a heading of this level ends. Headings of parts such as "#### Steps" do not
// contribute to the ids below them. Checkboxes below them are items, unless they are criteria.
func (n *numbered) enterHeading(level int, text string, task bool) {
	for len(n.heads) > 0 && n.heads.top().level >= level {
		n.heads = n.heads[:len(n.heads)-1]
	}
	n.lineage.above = n.lineage.above[:0]
	if top := n.heads.top(); top.item >= 0 && !task {
		n.heads[len(n.heads)-1].parted = true
		n.lineage.above = append(n.lineage.above, top.item)
		if n.sections.enter(level, text); n.sections.kind == sectionLegend {
			n.sections = sections{}
		}
		return
	}
	n.lineage.enter(level, text)
	if n.sections.enter(level, text); task {
		n.sections = sections{}
	}
}

// headHeading reads a heading without a checkbox.
func (n *numbered) headHeading(ln *line, level int, text string) {
	h, ok := n.g.head(text)
	n.enterHeading(level, text, ok)
	if !ok {
		if n.g == &headingGrammar && almostHead(text) {
			n.report(ln, ln.body, SeverityWarning, "dialect_drift",
				fmt.Sprintf("this heading is not a task, because no number such as 1 or 1.2 follows the word Task: %q", clip(text)))
		}
		n.goBack(ln) // a deeper heading is part of the task
		return
	}
	status := h.said.status
	if status == 0 {
		status = Pending
	}
	n.tags = tags{withdrawn: h.withdrawn, waits: mentioned(h.title)}
	n.addBare(ln, h.id, h.title, status)
	if h.said.status != 0 {
		n.report(ln, ln.body, SeverityInfo, "status_from_title",
			fmt.Sprintf("this heading sets the task to %s: %q", h.said.status, clip(text)))
	}
	n.atHead(level, h)
	if h.said.status != 0 && !h.withdrawn {
		at := ln.body + level
		at += strings.Index(ln.text[at:], text)
		n.worded(ln, at+h.said.from, at+h.said.to)
	}
	n.tagged()
}

// atHead makes a heading of the item that was just added. The following lines belong to it at any indent, and the
// following checkboxes are its children.
func (n *numbered) atHead(level int, h head) {
	n.ownerIndent = -1
	if n.item != nil {
		return
	}
	i := int32(n.owner)
	e := &n.r.entries[i]
	e.follows = h.said.status == 0 && e.markEnd == 0 && !h.withdrawn
	n.nodes[i].indent = -1
	n.heads = append(n.heads, taskAbove{id: e.id, item: i, level: level, group: h.group})
}

// boxedHeading reads a heading with a checkbox: "### [ ] Task 1: Compost log".
func (n *numbered) boxedHeading(ln *line, m *marker, b *box, id, title string) {
	level, text := m.after-ln.body, trim(strings.TrimRight(b.rest(ln.text), "#"))
	n.closeItem()
	n.headings++
	h, ok := n.g.head(text)
	n.enterHeading(level, text, ok)
	if id == "" && (n.isLegend(b, ln, title) || !n.takesNameless(ln, m)) {
		n.refuseNameless(ln, b, title)
		return
	}
	n.add(ln, m, b, id, title)
	if ok {
		n.atHead(level, h)
	}
	if n.item == nil && h.said.status != 0 && h.said.status != n.r.entries[n.owner].status {
		n.report(ln, ln.body, SeverityInfo, "status_from_title",
			fmt.Sprintf("the words of this heading mean %s, but its box counts: %q", h.said.status, clip(text)))
	}
}

// below sets the parent of an item with an id of its own. A heading belongs to the heading of its parent id, or else
// to the group around it. A checkbox belongs to the item of its parent id, if both are below the same heading.
func (n *numbered) below(ln *line, e *entry, parent int32) {
	switch top := n.heads.top(); {
	case ln.text[ln.body] == '#':
		if e.parent < 0 && top.group {
			e.parent = top.item
		}
	case e.parent < top.item:
		e.parent = parent
	}
}

// hiddenHeading reads a task in a code fence or comment. It is an item only if the plan depends on it.
func (n *numbered) hiddenHeading(ln *line, m *marker) bool {
	if m.kind != markerHeading || !m.spaced(ln.text) {
		return false
	}
	text := headingText(ln, m)
	h, ok := n.g.head(text)
	switch {
	case !ok || h.id == "":
		return false
	case n.keep[h.id]:
		n.keepHeading(ln, m.after-ln.body, text, h.id)
		return true
	}
	n.report(ln, ln.body, SeverityInfo, ln.place.headingCode(), fmt.Sprintf("a heading in %s is not a task: %q", ln.place, clip(text)))
	if n.hidden == nil {
		n.hidden = map[string]bool{}
	}
	n.hidden[h.id] = true
	return true
}

func (n *numbered) keepHeading(ln *line, level int, text, id string) {
	n.closeItem()
	n.headings++
	n.headHeading(ln, level, text)
	if n.item != nil {
		return
	}
	e := &n.r.entries[n.owner]
	e.place, e.mask = ln.place, int32(n.mask)
	n.report(ln, ln.body, SeverityWarning, ln.place.headingCode(),
		fmt.Sprintf("this heading is in %s and counts only because the plan refers to %s", ln.place, id))
}

func (p place) headingCode() string {
	if p == placeComment {
		return "heading_in_comment"
	}
	return "heading_in_fence"
}
