package read

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/dialect"
	"waybill/plan/legend"
	"waybill/plan/lex"
)

// reporter reports lines that look like tasks but are not, and unusual checkboxes.
type reporter struct{ *reader }

// boxlessHead is a heading such as "Task 4" without a checkbox below it so far.
type boxlessHead struct {
	taskHeading
	level, at, checks int // checks is the number of checkboxes above it
	left              bool
}

// enterBoxless processes the next heading, which ends the headings above of the same or a deeper level.
func (r reporter) enterBoxless(n *block.Node, level int, head taskHeading) {
	if !r.d.Numbered() {
		return
	}
	all := r.told.boxless
	if last := len(all) - 1; last >= 0 && (level <= all[last].level || head.id != "") {
		r.leaveBoxless()
	}
	if head.id != "" {
		r.told.boxless = append(r.told.boxless, boxlessHead{taskHeading: head, level: level, at: int(n.Body), checks: r.told.checks})
	}
}

// leaveBoxless ends the last heading, and drops it if a checkbox followed.
func (r reporter) leaveBoxless() {
	last := len(r.told.boxless) - 1
	switch {
	case last < 0 || r.told.boxless[last].left:
	case r.told.boxless[last].checks < r.told.checks:
		r.told.boxless = r.told.boxless[:last]
	default:
		r.told.boxless[last].left = true
	}
}

// reportBoxless reports the headings that look like tasks, but neither are nor describe one.
func (r reporter) reportBoxless() {
	r.leaveBoxless()
	for i := range r.told.boxless {
		h := &r.told.boxless[i]
		if r.rows.Find(h.id) < 0 {
			r.notes.Add(h.at, plan.SeverityWarning, "not_read", fmt.Sprintf(
				"this heading looks like a task but is not one in %s: write %q below it to make it a task", r.d.Name, "- [ ] "+h.id+r.d.Stop+lex.Clip(h.title)))
		}
	}
}

// reportSign reports a line such as "- ✅ Buy sugar" that is not a detail of the item above. An open sign counts as
// open work. A sign that is a picture of an open box is one everywhere.
func (r reporter) reportSign(n *block.Node, ln *block.Line, m *block.Marker) {
	if m.Next >= len(ln.Text) || ln.Text[m.Next] < utf8.RuneSelf || m.Kind == block.Hashes || m.Kind != block.NoMarker && !m.Spaced(ln.Text) {
		return
	}
	s, title := lex.CutSign(ln.Text[m.Next:])
	if s == nil && !lex.IsSymbol(ln.Text[m.Next:]) {
		return
	}
	status := plan.Pending
	if s != nil {
		status = s.Status
	} else {
		_, title = lex.CutSymbol(ln.Text[m.Next:])
	}
	box, below := s != nil && s.Task && status == plan.Pending, r.owner >= 0 && ln.Indent > max(r.lines.Indent, 0)
	switch {
	case m.Kind == block.NoMarker && (!box || below || lex.HasHeadSign(title)): // prose, or a legend in one line
		return
	case m.Kind != block.NoMarker && !box && (below || !r.d.Boxed() && !r.d.Sign):
		return
	}
	title = lex.Trim(title)
	lists := r.tab.signs.lists(r.t, n, s, false)
	if title == "" || strings.IndexByte("=:", title[0]) >= 0 || legend.Means(title) || !lists && (s == nil || !s.Task) || lists && r.d.Sign && m.Kind != block.NoMarker {
		return
	}
	if !lists {
		r.notes.Add(ln.Start+m.Next, plan.SeverityInfo, "not_a_task_section",
			fmt.Sprintf("this tick is a remark, because its list has no open work: %q", lex.Clip(title)))
		return
	}
	open := status.Open() && !lex.Withdrawn(title)
	write := "- [x]"
	if open {
		write = "- [ ]"
	}
	r.notes.Add(ln.Start+m.Next, plan.SeverityWarning, "not_read",
		fmt.Sprintf("this line looks like a task but is not one, because every task here has a box: write %q instead of the sign", write)).Open = open
}

// reportBox reports an open checkbox that no dialect reads: "[ ] Buy sugar", "• [ ] Buy sugar", or a table cell. It
// counts as open work. An indented line below an item is a detail of that item.
func (r reporter) reportBox(ln *block.Line, m *block.Marker) {
	c := ln.Text[max(ln.Body, min(m.Next, len(ln.Text)-1))]
	if lex.IsLetter(c) || m.Kind == block.Hashes || r.owner >= 0 && ln.Indent > max(r.lines.Indent, 0) {
		return
	}
	at, found := openBoxAt(ln.Text, ln.Body)
	if !found || r.at.sec.kind == sectionLegend || r.lines.Takes(ln, m) {
		return
	}
	_, title, _ := emptyBox(ln.Text[at:])
	if title = strings.Trim(title, "|*=:→-–—\t "); title != "" && legend.Means(title) {
		return // it explains the mark
	}
	r.notes.Add(ln.Start+at, plan.SeverityWarning, "not_read",
		`this open box is not a task, but it counts as open work: write it as "- [ ] …" in a list of its own`).Open = true
}

// remark reports unusual properties of a checkbox that is an item.
func (r reporter) remark(n *block.Node, ln *block.Line, b *block.Box, m *block.Marker) {
	e := &r.rows.Entries[r.owner]
	id, title := r.label.ID, r.label.Title
	if rest := b.Rest(ln.Text); e.DerivedID || r.d.Label != nil && !strings.HasPrefix(rest, id) {
		id, title = "", rest
	} else {
		id += r.d.Stop
	}
	if b.Tight || r.label.Tight || b.Mark(ln.Text) == "" {
		r.notes.Add(int(n.Next), plan.SeverityWarning, "malformed_checkbox",
			fmt.Sprintf("write %q, with one space between the parts", "- [ ] "+id+lex.Clip(title)))
	}
	if ln.Quoted() {
		r.notes.Add(int(n.Next), plan.SeverityInfo, "quoted_checkbox", "this task is in a block quote")
	}
	if m.Kind == block.Hashes && r.d.Head == nil && !r.d.Tracked {
		r.notes.Add(int(n.Next), plan.SeverityInfo, "dialect_drift", "this task is a heading: a list item is usual")
	}
	if n.Place != plan.InText {
		r.notes.Add(int(n.Next), plan.SeverityWarning, hiddenCode("checkbox", n.Place),
			fmt.Sprintf("this checkbox is in %s and counts only because the plan refers to %s", placeName(n.Place), e.ID))
	}
}

// checkGroup reports an id that does not begin with the number of the heading above.
func (r reporter) checkGroup(n *block.Node, i int32) {
	e := &r.rows.Entries[i]
	if e.DerivedID || !r.d.Groups && r.d.Head == nil {
		return
	}
	switch top := r.at.heads.top(); {
	case r.d.Groups && r.at.group != "" && !strings.HasPrefix(e.ID, r.at.group+".") && e.ID != r.at.group:
		r.notes.Add(int(n.Next), plan.SeverityWarning, "dialect_drift",
			fmt.Sprintf("%s is below group %s: an id begins with the number of its group", e.ID, r.at.group))
	case r.d.Head != nil && !r.d.NumberedHeads && top.item >= 0 && n.Marker != block.Hashes && !strings.HasPrefix(e.ID, top.id+"."):
		r.notes.Add(int(n.Next), plan.SeverityWarning, "dialect_drift",
			e.ID+" is below task "+top.id+": an id begins with the number of the heading above")
	}
}

// refuse reports a checkbox that is not an item. An open checkbox counts as open work, unless it is withdrawn, a sample
// in a fence or comment, or a line of the legend.
func (r reporter) refuse(n *block.Node, ln *block.Line, b *block.Box, severity plan.Severity, code, message string) {
	d := r.notes.Add(int(n.Next), severity, code, message)
	d.NotATask = true
	d.Open = n.Place == plan.InText && code != "legend_line" && !r.label.Withdrawn && r.marks.opens(b.Mark(ln.Text))
}

// hiddenBox reads a checkbox in a fence or comment. It is not a task, but may be part of a prompt.
func (r reporter) hiddenBox(n *block.Node, ln *block.Line, b *block.Box) {
	r.refuse(n, ln, b, plan.SeverityInfo, hiddenCode("checkbox", n.Place), fmt.Sprintf("a checkbox in %s is not a task: %q", placeName(n.Place), lex.Clip(r.label.Title)))
	if r.label.ID != "" {
		r.hide.add(r.label.ID)
	}
	if n.Place == plan.InFence {
		r.lines.Fenced(ln)
	}
}

// refuseNameless reports why a checkbox without id is not a task.
func (r reporter) refuseNameless(n *block.Node, ln *block.Line, b *block.Box) {
	title := lex.Clip(r.label.Title)
	switch {
	case r.at.sec.kind == sectionAcceptance:
		r.refuse(n, ln, b, plan.SeverityInfo, "not_a_task_section", fmt.Sprintf("%q is below %q, where boxes are not tasks", title, lex.Clip(r.at.sec.name)))
	case r.at.sec.kind == sectionOther:
		r.refuse(n, ln, b, plan.SeverityInfo, "not_a_task_section",
			fmt.Sprintf("%q is outside the section %q: only boxes in that section are tasks", title, dialect.HomeName))
	case r.isLegend(b, ln, r.label.Title):
		r.refuse(n, ln, b, plan.SeverityInfo, "legend_line", fmt.Sprintf("this line explains a mark or a tag: %q", title))
	default:
		r.refuse(n, ln, b, plan.SeverityWarning, "checkbox_without_id", fmt.Sprintf("no id: %q: %s", title, r.d.Wanted))
	}
}

// isLegend reports whether a checkbox without id explains a mark or a tag.
func (r reporter) isLegend(b *block.Box, ln *block.Line, title string) bool {
	mark := b.Mark(ln.Text)
	tag := mark == "P" || mark == "p"
	switch {
	case r.marks.legend().Explains(ln.Number, title):
		return true
	case r.at.sec.kind != sectionLegend:
		return tag && r.d.Label != nil && !r.at.unnumbered
	}
	return tag || legend.Describes(mark, title)
}

// misdirected reports a directive with an unknown value, and one that contradicts another directive of its item.
func (r reporter) misdirected(ln *block.Line, m *block.Marker) {
	if r.rows.Len() == 0 {
		return
	}
	from := ln.Body
	if m.Kind == block.Bullet && m.Spaced(ln.Text) {
		from = m.Next
	}
	if from >= len(ln.Text) || ln.Text[from] != '*' {
		return
	}
	name, value, ok := plan.Directive(ln.Text[from:])
	if !ok {
		return
	}
	if why := plan.Unfit(name, value); why != "" {
		r.notes.Add(ln.Start+from, plan.SeverityWarning, "unknown_directive", lex.Clip(value)+" is ignored: "+why)
		return
	}
	if r.owner < 0 {
		return
	}
	if r.told.directed == nil {
		r.told.directed = map[int32]plan.Directives{}
	}
	d := r.told.directed[r.owner]
	if said := d.Add(name, value); said != "" {
		r.notes.Add(ln.Start+from, plan.SeverityWarning, "contradictory_directive", said)
	}
	r.told.directed[r.owner] = d
}

// openBoxAt returns the index of the open checkbox at the start of a line, after bullets of any kind, dashes, HTML
// tags, bars and zero-width characters. In a table row it may also be a later cell.
func openBoxAt(s string, i int) (at int, found bool) {
	if s[i] == '|' {
		var row [8]block.Cell
		for _, c := range block.Cells(s, i, row[:0]) {
			if _, rest, ok := emptyBox(s[c.From:c.To]); ok && rest == "" {
				return c.From, true
			}
		}
	}
	for i < len(s) {
		r, width := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Cf, r), strings.ContainsRune("-*+|>•◦‣▪·●○–—−", r):
		case lex.IsDigit(s[i]):
			m := block.MarkerAt(s, i)
			if m.Kind == block.NoMarker {
				return 0, false
			}
			width = m.After - i
		case r == '<' && i+1 < len(s) && lex.IsLetter(s[i+1]):
			if width = strings.IndexByte(s[i:], '>') + 1; width == 0 {
				return 0, false
			}
		default:
			_, _, ok := emptyBox(s[i:])
			return i, ok
		}
		i += width
	}
	return 0, false
}

// emptyBox parses the open checkbox at the beginning of a text, also with escaped or wide brackets. A link does not
// count.
func emptyBox(s string) (inside, rest string, ok bool) {
	for _, pair := range [...][2]string{{"[", "]"}, {`\[`, `\]`}, {"［", "］"}} {
		after, opened := strings.CutPrefix(s, pair[0])
		if !opened {
			continue
		}
		inside, rest, ok = strings.Cut(after, pair[1])
		switch {
		case !ok || lex.Trim(inside) != "":
			return "", "", false
		case inside == "":
			return inside, rest, rest == "" || lex.BlankAt(rest, 0) > 0
		}
		return inside, rest, rest == "" || strings.IndexByte("([:", rest[0]) < 0
	}
	return "", "", false
}
