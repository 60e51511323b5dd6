package read

import (
	"fmt"
	"slices"
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/describe"
	"waybill/plan/dialect"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

// reader is one pass over the blocks of a plan.
type reader struct {
	sheet
	mode
	in graph.Input
	// lines reads the lines below the item owner, which is -1 for none. again is the offset at which the owner continued
	// after other items.
	lines   describe.Lines
	owner   int32
	again   int
	label   dialect.Label
	marks   marks
	at      where
	hide    hiding
	tab     tables
	drawn   drawing
	told    told
	settled graph.Settled
	node    int // the index of the current block
}

// sheet is the plan that is read, and what was found in it.
type sheet struct {
	t     *block.Tree
	d     *dialect.Dialect
	s     *dialect.Survey
	rows  *plan.Rows
	notes *plan.Remarks
}

// mode says how labels are read. full means that all details of a label are wanted, and coded that other ids than
// numbers count as well, such as TASK-1:.
type mode struct{ full, coded bool }

// hiding holds ids in code fences and comments: keep are those that count anyway, and hidden the others.
type hiding struct{ keep, hidden map[string]bool }

// told is what must be reported at the end.
type told struct {
	boxless  []boxlessHead
	directed map[int32]plan.Directives
	late     []int32 // items whose parent by id is not above them
	checks   int     // the number of checkboxes so far
	adopted  bool    // an item has its id from a heading
}

func newReader(t *block.Tree, notes *plan.Remarks, d *dialect.Dialect, s *dialect.Survey) *reader {
	r := &reader{sheet: sheet{t: t, d: d, s: s, notes: notes}, owner: -1}
	room := s.Checks() + s.Count[dialect.HeadTask] + s.Count[dialect.Row] + s.Signed
	r.rows = plan.NewRows(t.Text, room)
	r.in.Indent, r.in.Section = make([]int32, 0, room), make([]int32, 0, room)
	r.lines = describe.Lines{Notes: notes, Headed: d.Head != nil, Depends: r.depends}
	r.marks = marks{text: t.Text, d: d, notes: notes}
	r.at.begin(d, s, t.Tops > 1)
	r.coded = s.Coded > 0 && d.Numbered() && d.Head == nil && !d.Has(dialect.BoxFile)
	return r
}

// read reads all blocks.
func (r *reader) read() {
	for i := range r.t.Nodes {
		n := &r.t.Nodes[i]
		r.node = i
		switch n.Kind {
		case block.Check:
			r.told.checks++
			r.check(n)
		case block.Heading:
			headings{r}.heading(n)
		case block.Signed:
			signs{r}.signed(n)
		case block.Run:
			r.run(n)
		case block.Table:
			rowReader{r}.table(n)
		case block.Fence:
			r.fence(n)
		case block.Comment:
		}
	}
	r.close(len(r.t.Text))
	r.tab.end()
}

// depends records what the owner says that it waits for.
func (r *reader) depends(kind graph.PhraseKind, text string) {
	if r.owner >= 0 && text != "" {
		r.in.Phrases = append(r.in.Phrases, graph.Phrase{Item: r.owner, Kind: kind, Text: text})
	}
}

// spoken records what the title of the owner says that it waits for.
func (r *reader) spoken(title string) {
	if graph.Speaks(title) {
		r.depends(graph.Title, describe.BeforeField(title))
	}
}

// close ends the lines of the owner at an offset.
func (r *reader) close(at int) {
	if r.owner < 0 {
		return
	}
	again := r.lines.Again
	r.lines.End()
	if again {
		r.rows.Rests = append(r.rows.Rests, plan.Rest{Item: r.owner, From: int32(r.again), To: int32(at)})
	} else {
		r.rows.Entries[r.owner].To = int32(at)
	}
	r.owner = -1
}

// goBack makes the task above the owner of the following lines, which come after its steps.
func (r *reader) goBack(at int) {
	if top := r.at.heads.top(); top.item >= 0 && r.drawn.level == 0 {
		r.owner, r.again = top.item, at
		r.lines.Begin(-1)
		r.lines.Again = true
	}
}

// check reads a checkbox.
func (r *reader) check(n *block.Node) {
	ln, b := r.t.LineOf(n), r.t.BoxOf(n)
	m := block.MarkerAt(ln.Text, ln.Body)
	r.parse(&ln, &b, m.Kind == block.Hashes)
	l := &r.label
	if n.Place != plan.InText && !r.hide.keep[l.ID] {
		reporter{r}.hiddenBox(n, &ln, &b)
		return
	}
	switch {
	case m.Kind != block.Hashes:
		r.at.lineage.level = 0
	case r.d.Head != nil:
		headings{r}.boxedHeading(n, &ln, &b, &m)
		return
	case r.d.Tracked:
		headings{r}.track(n, &ln)
	}
	if l.ID == "" {
		r.nameless(n, &ln, &b, &m)
		return
	}
	r.add(n, &ln, &b, &m)
	r.entitled(&ln)
}

// parse parses the text after a checkbox. It removes strokes through all of it, through the title, or through the id and
// some following words. Such an item is withdrawn in every dialect and with every mark.
func (r *reader) parse(ln *block.Line, b *block.Box, inHead bool) {
	text := b.Rest(ln.Text)
	if r.d.Head != nil {
		r.at.sec.leaveCriteria(ln)
	}
	r.parseText(text, inHead)
	from := strings.Index(text, lex.Strokes)
	if from < 0 {
		return
	}
	inside, after, ok := strings.Cut(text[from+len(lex.Strokes):], lex.Strokes)
	if !ok || lex.Trim(inside) == "" {
		return
	}
	said := r.label
	r.parseText(text[:from]+lex.Trim(inside)+after, inHead)
	whole := strings.Trim(text[:from]+after, "*_ ") == ""
	if lex.Withdrawn(said.Title) || said.ID == "" && (whole || r.label.ID != "") {
		r.label.Withdrawn = true
		return
	}
	r.label = said
}

func (r *reader) parseText(text string, inHead bool) {
	l := &r.label
	*l = dialect.Label{InHead: inHead, Full: r.full}
	switch {
	case r.at.sec.kind == sectionOther:
		l.Title = text
	default:
		r.d.Parse(text, l)
		if l.ID == "" && r.coded {
			l.ID, l.Title = lex.ReadCode(text)
		}
		r.at.complete(l)
	}
}

// nameless reads a checkbox without id. The heading above may have the id, if the checkbox precedes the first field of
// the task.
func (r *reader) nameless(n *block.Node, ln *block.Line, b *block.Box, m *block.Marker) {
	title := r.label.Title
	if r.at.head.id != "" && !r.d.Rows {
		if _, _, ok := describe.Label(title); ok {
			r.adopt(n, ln, b, m)
			return
		}
	}
	if r.takesNameless(n, ln, m) && !(reporter{r}).isLegend(b, ln, title) {
		r.add(n, ln, b, m)
		r.entitled(ln)
		return
	}
	reporter{r}.refuseNameless(n, ln, b)
	if r.lines.Box(ln, m) {
		return
	}
	r.close(int(n.Start))
	if r.d.Head != nil {
		r.goBack(int(n.Start))
	}
}

// takesNameless reports whether a checkbox without id is an item with a derived one.
func (r *reader) takesNameless(n *block.Node, ln *block.Line, m *block.Marker) bool {
	switch {
	case !r.d.Unnumbered && r.lines.Literal(ln, m): // it is part of a prompt
		return false
	case r.at.unnumbered:
	case !r.at.grouped || r.at.group == "" && r.parentOf(n) < 0:
		return false
	}
	return r.at.sec.kind == sectionTasks || r.at.sec.kind == sectionLegend
}

// entitled reads the title of the new item for fields and dependencies.
func (r *reader) entitled(ln *block.Line) {
	l := &r.label
	title := l.Title
	if l.Waits != "" {
		r.depends(graph.Field, l.Waits)
	} else {
		r.spoken(title)
	}
	if strings.IndexByte(title, '_') >= 0 {
		r.lines.Title(ln, title)
	}
}

// add creates the item of a checkbox. The following lines belong to it.
func (r *reader) add(n *block.Node, ln *block.Line, b *block.Box, m *block.Marker) {
	l := &r.label
	e := plan.Entry{
		ID: l.ID, From: n.Start, To: n.End, Mark: n.Next + 1, MarkEnd: n.Close, Line: n.Line, Optional: b.Optional || l.Optional, DerivedID: l.ID == "",
		Withdrawn: l.Withdrawn, Place: n.Place,
	}
	if n.Place != plan.InText {
		e.Mask = r.mask(n)
	}
	e.Status = r.marks.status(ln, b, l.Withdrawn)
	i := r.enter(n, &e, int(n.Next)+1)
	if b.Optional || b.Tight || l.Tight || b.Close == b.Open+1 || m.Kind != block.Bullet || ln.Margin > 0 || ln.Place != plan.InText {
		reporter{r}.remark(n, ln, b, m)
	}
	if e.DerivedID {
		r.derived(int(n.Next), i)
	}
	reporter{r}.checkGroup(n, i)
}

// derived reports that an item has no id in the plan.
func (r *reader) derived(at int, i int32) {
	r.notes.Add(at, plan.SeverityInfo, "derived_id", "this task has no id of its own: its id is "+r.rows.Entries[i].ID)
}

// enter adds the entry of a new item and makes it the owner of the following lines. at is the offset for diagnostics.
func (r *reader) enter(n *block.Node, e *plan.Entry, at int) int32 {
	r.close(int(n.Start))
	r.at.head = taskHeading{}
	e.Parent, e.Level = -1, -1
	indent := n.Indent
	parent := int32(-1)
	if r.at.nests {
		parent = r.parentOf(n)
	}
	switch {
	case e.ID != "":
	case r.label.Leads:
		e.ID, parent, indent = r.at.lead(r.label.Title, r.rows.Len()), -1, -1
	default:
		e.ID = r.at.derive(r.rows, parent)
	}
	late := r.parentByID(e, n, parent)
	i, first := r.rows.Add(*e)
	r.at.added(e.ID)
	if late {
		r.told.late = append(r.told.late, i)
	}
	if first != i {
		r.notes.Add(at, plan.SeverityError, "duplicate_id", fmt.Sprintf("id %s is on line %d and again on line %d: the id refers to the first one",
			e.ID, r.rows.Entries[first].Line, e.Line))
	}
	r.in.Indent, r.in.Section = append(r.in.Indent, indent), append(r.in.Section, r.at.section())
	if r.d.Phased {
		r.in.Phase = append(r.in.Phase, r.at.phase)
	}
	if r.at.nests {
		r.at.above = append(r.at.above, step{item: i, indent: n.Indent})
	}
	r.owner = i
	r.lines.Begin(int(n.Indent))
	return i
}

// parentByID sets the parent of an item. late means that its parent by id may be below it.
func (r *reader) parentByID(e *plan.Entry, n *block.Node, parent int32) (late bool) {
	if !e.DerivedID {
		if stem := r.at.parentID(r.d, e.ID, r.rows); stem != "" {
			if e.Parent = r.at.found(stem, r.rows); e.Parent < 0 && r.d.Head == nil {
				late = true
			}
		}
	}
	switch {
	case e.DerivedID:
		e.Parent = parent
	case r.d.Head != nil:
		// A heading belongs to the heading of its parent id, or else to the group around it. A checkbox belongs to the item
		// of its parent id, if both are below the same heading.
		switch top := r.at.heads.top(); {
		case n.Kind == block.Heading || n.Marker == block.Hashes:
			if e.Parent < 0 && top.group {
				e.Parent = top.item
			}
		case e.Parent < top.item:
			e.Parent = parent
		}
	}
	if e.Parent < 0 {
		e.Parent = r.at.leader(r.rows.Len())
	}
	return late
}

// parentOf returns the item that contains a block because of its indent or its heading, or -1.
func (r *reader) parentOf(n *block.Node) int32 {
	above := r.at.above
	for len(above) > 0 && above[len(above)-1].indent >= n.Indent {
		above = above[:len(above)-1]
	}
	if r.at.above = above; len(above) == 0 {
		return -1
	}
	return above[len(above)-1].item
}

// adopt creates an item from the heading above and a checkbox followed by a field.
func (r *reader) adopt(n *block.Node, ln *block.Line, b *block.Box, m *block.Marker) {
	head := r.at.head
	from := len(ln.Text) - len(r.label.Title)
	r.label.ID, r.label.Title = head.id, head.title
	r.told.adopted = true
	r.add(n, ln, b, m)
	r.rows.Entries[r.owner].From = int32(head.start)
	r.depends(graph.Title, head.title)
	r.notes.Add(int(n.Next), plan.SeverityInfo, "dialect_drift",
		fmt.Sprintf("id %s was taken from the heading on line %d: write it after the box", head.id, head.line))
	r.lines.Describe(ln, from, block.Bullet)
}

// run reads a run of lines that carry no task by themselves.
func (r *reader) run(n *block.Node) {
	if n.Place != plan.InText {
		if r.lines.Open() || n.Traits&block.Underscored != 0 && r.owner >= 0 {
			for s := r.t.Lines(n); s.Scan(); {
				if ln := &s.Line; ln.Blank() {
					r.lines.Blank(ln)
				} else if n.Place == plan.InFence {
					ln.Edge = int32(s.Pos()) >= n.End && n.End >= r.mask(n) // the fence ends within the run
					r.lines.Fenced(ln)
				}
			}
		}
		return
	}
	if r.skips(n) {
		return
	}
	for s := r.t.Lines(n); s.Scan(); {
		ln := &s.Line
		ln.Place = plan.InText
		if ln.Blank() {
			r.lines.Blank(ln)
			continue
		}
		m := block.MarkerAt(ln.Text, ln.Body)
		r.line(n, ln, &m)
	}
}

// skips reports whether nothing in a run matters for the items.
func (r *reader) skips(n *block.Node) bool {
	matter := block.Bracketed | block.Labelled | block.Symbolic
	if r.d.Head != nil { // a status, a label of criteria, and a line with less indent than a checkbox matter as well
		if matter |= block.Stating | block.Colon | block.Underscored; r.owner >= 0 && r.lines.Indent > 0 || r.at.sec.level == deeperThanHeadings {
			return false
		}
	}
	if r.drawn.level > 0 || r.lines.Open() || r.lines.Shadowing() || n.Traits&matter != 0 {
		return false
	}
	return n.Traits&block.Underscored == 0 || r.owner < 0
}

// line reads a line of text outside fences and comments without a checkbox.
func (r *reader) line(n *block.Node, ln *block.Line, m *block.Marker) {
	if strings.IndexByte(ln.Text, ']') >= 0 {
		r.marks.legend() // its lines count as evidence even if no mark needs them
	}
	reporter{r}.reportBox(ln, m)
	r.summaryLine(n, ln, m)
}

// summaryLine reads a line of text, or a row of a table that repeats items. An open checkbox in such a row is compared
// with the item.
func (r *reader) summaryLine(n *block.Node, ln *block.Line, m *block.Marker) {
	reporter{r}.misdirected(ln, m)
	reporter{r}.reportSign(n, ln, m)
	if r.d.Head != nil && (headings{r}).headLine(ln, m) || r.owner < 0 || r.lines.Shadowed(ln) {
		r.drawn.text(r, ln, m)
		return
	}
	r.lines.Text(ln, m)
}

// fence begins a code fence, which may hold a drawing of the order.
func (r *reader) fence(n *block.Node) {
	if r.drawn.level > 0 && !r.drawn.prose {
		r.drawn.sketch(r, n)
	}
	if r.lines.Open() {
		ln := r.t.LineOf(n)
		ln.Edge = true
		r.lines.Fenced(&ln)
	}
}

// mask returns the end of the fence or comment that contains a block.
func (r *reader) mask(n *block.Node) int32 {
	at, _ := slices.BinarySearchFunc(r.t.Nodes, n.Start, func(n block.Node, start int32) int { return int(n.Start - start) })
	for ; at >= 0; at-- {
		if k := r.t.Nodes[at].Kind; k == block.Fence || k == block.Comment {
			return r.t.Nodes[at].End
		}
	}
	return 0
}
