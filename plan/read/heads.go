package read

import (
	"fmt"
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/describe"
	"waybill/plan/dialect"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

// This file reads headings, and the lines below headings that are tasks.

// headings reads headings, and the lines below headings that are tasks.
type headings struct{ *reader }

// heading reads a heading without a checkbox.
func (r headings) heading(n *block.Node) {
	ln := r.t.LineOf(n)
	m := block.MarkerAt(ln.Text, ln.Body)
	if n.Place != plan.InText {
		r.hiddenHeading(n, &ln, &m)
		return
	}
	// A heading may be part of a prompt, or of the text of the item above.
	if r.lines.Takes(&ln, &m) || r.owner >= 0 && r.lines.Indent >= 0 && int(n.Indent) > r.lines.Indent && r.d.Head == nil {
		r.line(n, &ln, &m)
		return
	}
	r.close(int(n.Start))
	level, text := int(n.Level), block.HeadingText(ln.Text[m.Next:])
	r.drawn.heading(r.d, level, text)
	r.at.headings++
	if r.d.Head != nil {
		r.headHeading(n, &ln, level, text)
		return
	}
	r.at.head = readTaskHeading(text, n)
	reporter(r).enterBoxless(n, level, r.at.head)
	if r.d.Groups || r.at.grouped {
		r.at.group = dialect.Group(text)
	}
	if r.d.Named != nil {
		text = r.d.Named(text)
	}
	r.at.sec.enter(level, text)
	r.checklist(level, text)
	r.at.enter(level, text)
	if r.d.Home != nil {
		r.at.sec.enterHome(level, text, r.d.Home(text))
	}
	if r.d.Phased {
		r.phase(level, text)
	}
}

// phase begins a phase. A deeper heading belongs to the phase, unless the phase is the title of the whole file.
func (r headings) phase(level int, text string) {
	w := &r.at
	first := r.rows.Len() == 0 || w.phase == 0
	if !dialect.IsPhase(text) || !first && level > int(w.phaseLevel) {
		return
	}
	if first {
		w.phaseLevel = int32(level)
	}
	w.phase++
	r.in.Phases = append(r.in.Phases, text)
}

// readTaskHeading parses a heading that has the id and the title of the checkbox below it.
func readTaskHeading(text string, n *block.Node) taskHeading {
	rest, ok := lex.CutPrefixFold(text, "Task ")
	if !ok {
		return taskHeading{}
	}
	rest = lex.Trim(rest)
	id, end, _ := lex.ReadID(rest)
	return taskHeading{id: id, title: lex.AfterID(rest[end:]), line: int(n.Line), start: int(n.Start)}
}

// enterHeading ends the sections that a heading of this level ends. Headings of parts such as "#### Steps" do not
// contribute to the ids below them. Checkboxes below them are items, unless they are criteria.
func (r headings) enterHeading(level int, text string, task bool) {
	w := &r.at
	for len(w.heads) > 0 && w.heads.top().level >= level {
		w.heads = w.heads[:len(w.heads)-1]
	}
	w.above = w.above[:0]
	if top := w.heads.top(); top.item >= 0 && !task {
		w.heads[len(w.heads)-1].parted = true
		w.above = append(w.above, step{item: top.item, indent: -1})
		w.sec.enter(level, text)
		if r.checklist(level, text); w.sec.kind == sectionLegend {
			w.sec = sections{}
		}
		return
	}
	w.lineage.enter(level, text)
	if task {
		w.sec = sections{}
		return
	}
	w.sec.enter(level, text)
	r.checklist(level, text)
}

// checklist makes the section of the current heading one without tasks if it is a list of checks after the tasks.
func (r headings) checklist(level int, text string) {
	if r.rows.Len() > 0 {
		r.at.sec.enterChecklist(r.t, r.node, level, text)
	}
}

// headHeading reads a heading without a checkbox in a plan of headings.
func (r headings) headHeading(n *block.Node, ln *block.Line, level int, text string) {
	h, ok := r.d.Head(text)
	r.enterHeading(level, text, ok)
	if !ok {
		if !r.d.NumberedHeads && lex.AlmostHead(text) {
			r.notes.Add(int(n.Body), plan.SeverityWarning, "dialect_drift",
				fmt.Sprintf("this heading is not a task, because no number such as 1 or 1.2 follows the word Task: %q", lex.Clip(text)))
		}
		r.goBack(int(n.Start)) // a deeper heading is part of the task
		return
	}
	e := plan.Entry{
		ID: h.ID, From: n.Start, To: n.End, Line: n.Line, Status: plan.Pending, DerivedID: h.ID == "", Withdrawn: h.Withdrawn,
		Follows: h.Said.Status == 0 && !h.Withdrawn, Place: n.Place,
	}
	if h.Said.Status != 0 {
		e.Status = h.Said.Status
		if !h.Withdrawn {
			at := int(n.Body) + level - ln.Start
			at += strings.Index(ln.Text[at:], text)
			e.Mark, e.MarkEnd, e.Worded = n.Start+int32(at+h.Said.From), n.Start+int32(at+h.Said.To), true
		}
	}
	if h.Withdrawn {
		e.Status = plan.Skipped
	}
	if n.Place != plan.InText {
		e.Mask = r.mask(n)
	}
	r.label = dialect.Label{Title: h.Title}
	i := r.enter(n, &e, int(n.Body))
	if e.DerivedID {
		r.derived(int(n.Body), i)
	}
	if h.Said.Status != 0 {
		r.notes.Add(int(n.Body), plan.SeverityInfo, "status_from_title",
			fmt.Sprintf("this heading sets the task to %s: %q", h.Said.Status, lex.Clip(text)))
	}
	r.atHead(i, level, h)
	r.spoken(h.Title)
}

// atHead makes a heading of the item that was just added. The following lines belong to it at any indent, and the
// following checkboxes are its children.
func (r headings) atHead(i int32, level int, h lex.Head) {
	r.lines.Begin(-1)
	r.in.Indent[i] = -1
	r.at.above[len(r.at.above)-1].indent = -1
	r.at.heads = append(r.at.heads, taskAbove{id: r.rows.Entries[i].ID, item: i, level: level, group: h.Group})
}

// boxedHeading reads a heading with a checkbox: "### [ ] Task 1: Compost log".
func (r headings) boxedHeading(n *block.Node, ln *block.Line, b *block.Box, m *block.Marker) {
	level, text := m.After-ln.Body, block.HeadingText(b.Rest(ln.Text))
	r.close(int(n.Start))
	r.at.headings++
	h, ok := r.d.Head(text)
	r.enterHeading(level, text, ok)
	if r.label.ID == "" && (reporter(r).isLegend(b, ln, r.label.Title) || !r.takesNameless(n, ln, m)) {
		reporter(r).refuseNameless(n, ln, b)
		return
	}
	r.add(n, ln, b, m)
	i := r.owner
	if ok {
		r.atHead(i, level, h)
	}
	if e := &r.rows.Entries[i]; h.Said.Status != 0 && h.Said.Status != e.Status {
		r.notes.Add(int(n.Body), plan.SeverityInfo, "status_from_title",
			fmt.Sprintf("the words of this heading mean %s, but its box counts: %q", h.Said.Status, lex.Clip(text)))
	}
	r.spoken(r.label.Title)
}

// track reads a heading with a checkbox in a plan of tracks.
func (r headings) track(n *block.Node, ln *block.Line) {
	level := int(n.Level)
	r.close(int(n.Start))
	r.at.headings++
	r.at.sec.enter(level, r.label.Title)
	if r.at.lineage.level = 0; !r.label.Leads && level > 1 {
		r.at.lineage.level = int32(level)
	}
	r.label.Leads = true
}

// hiddenHeading reads a task in a code fence or comment. It is an item only if the plan depends on it.
func (r headings) hiddenHeading(n *block.Node, ln *block.Line, m *block.Marker) {
	text := block.HeadingText(ln.Text[m.Next:])
	var h lex.Head
	ok := false
	if r.d.Head != nil {
		h, ok = r.d.Head(text)
	}
	switch {
	case !ok || h.ID == "":
		if n.Place == plan.InFence {
			r.lines.Fenced(ln)
		}
		return
	case r.hide.keep[h.ID]:
		r.close(int(n.Start))
		r.at.headings++
		r.headHeading(n, ln, int(n.Level), text)
		r.notes.Add(int(n.Body), plan.SeverityWarning, hiddenCode("heading", n.Place),
			fmt.Sprintf("this heading is in %s and counts only because the plan refers to %s", placeName(n.Place), h.ID))
		return
	}
	r.notes.Add(int(n.Body), plan.SeverityInfo, hiddenCode("heading", n.Place), fmt.Sprintf("a heading in %s is not a task: %q", placeName(n.Place), lex.Clip(text)))
	r.hide.add(h.ID)
}

func (h *hiding) add(id string) {
	if h.hidden == nil {
		h.hidden = map[string]bool{}
	}
	h.hidden[id] = true
}

// hiddenCode is the code of a diagnostic about something in a code fence or comment.
func hiddenCode(what string, p plan.Place) string {
	if p == plan.InComment {
		return what + "_in_comment"
	}
	return what + "_in_fence"
}

func placeName(p plan.Place) string {
	if p == plan.InComment {
		return "a comment"
	}
	return "a code fence"
}

// headLine reads a line of text in a plan of headings, and reports whether it does not belong to an item.
func (r headings) headLine(ln *block.Line, m *block.Marker) bool {
	w := &r.at
	w.sec.leaveCriteria(ln)
	if r.owner >= 0 && ln.Indent < r.lines.Indent && ln.Margin == 0 {
		r.close(ln.Start) // a line indented less than a checkbox belongs to the task
		r.goBack(ln.Start)
	}
	text, bullet := ln.Content(), false
	if m.Spaced(ln.Text) && m.Kind == block.Bullet {
		text, bullet = ln.Text[m.Next:], true
	}
	if criteriaLabel(text) {
		if r.owner < 0 || ln.Indent <= r.lines.Indent {
			r.close(ln.Start)
			r.goBack(ln.Start)
		}
		w.sec.label(ln, text, bullet)
		return true
	}
	if len(w.heads) == 0 {
		return false
	}
	r.statusLine(ln, text)
	top := w.heads.top().item
	if bullet && (r.owner == top || ln.Indent > r.lines.Indent) {
		return false
	}
	if list, depends, ok := describe.Label(text); ok && depends && (r.lines.Again || r.owner != top) {
		if list != "" {
			r.in.Phrases = append(r.in.Phrases, graph.Phrase{Item: top, Kind: graph.Field, Text: list})
		}
		return true
	}
	return false
}

// criteriaLabel reports whether a line is a label such as "**Acceptance Criteria:**".
func criteriaLabel(text string) bool {
	name, ok := strings.CutSuffix(text, ":")
	if strings.HasPrefix(text, lex.Bold) {
		name, _, ok = lex.CutBold(text)
	}
	return ok && sectionOf(name) == sectionAcceptance
}

// statusLine reads a line such as "**Status**: COMPLETED" in the section of a task, before its first step. Quotations
// and subsections have a status of their own. The status in the heading takes precedence, and of two status lines, the
// open one. The line also stays in the text of the task.
func (r headings) statusLine(ln *block.Line, text string) {
	top := r.at.heads.top()
	value, ok := statusValue(text)
	if !ok || top.item < 0 || top.parted || ln.Quoted() || r.owner != top.item {
		return
	}
	e := &r.rows.Entries[top.item]
	status, known := lex.ChoiceOf(value)
	switch {
	case e.Follows:
		e.Status, e.Follows = status, false
		r.at.heads[len(r.at.heads)-1].stated = int32(ln.Number)
	case known && status != e.Status:
		from, counts := e.Line, "which counts"
		if top.stated > 0 {
			from, counts = top.stated, "and the open one counts"
		}
		r.notes.Add(ln.Start+ln.Body, plan.SeverityWarning, "summary_conflict",
			fmt.Sprintf("this line says that %s is %s, but line %d says %s, %s", e.ID, status, from, e.Status, counts))
		fallthrough
	default:
		if top.stated > 0 && status.Open() && !e.Status.Open() {
			e.Status = status
		}
	}
	if !known {
		r.notes.Add(ln.Start+ln.Body, plan.SeverityWarning, "unknown_mark",
			fmt.Sprintf("the status %q has no meaning here, so the task is %s", lex.Clip(value), e.Status))
	}
	if e.Status == plan.InProgress && r.rows.Active < 0 {
		r.rows.Active = top.item
	}
}

// statusNames are the names of a status line.
var statusNames = [...]string{"Status", "状态", "状態", "ステータス", "Estado", "Statut", "상태"}

// statusValue returns the text after a status label: "**Status**: Done", "**Status:** Done" or "Status: Done".
func statusValue(text string) (value string, ok bool) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		name, value, ok = strings.Cut(text, "：")
	}
	value = lex.Trim(strings.TrimPrefix(value, lex.Bold))
	if !ok || value == "" {
		return "", false
	}
	name = strings.Trim(name, "*_ ")
	for _, known := range statusNames {
		if lex.EqualWord(name, known) {
			return value, true
		}
	}
	return "", false
}
