package read

import (
	"fmt"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/dialect"
	"waybill/plan/legend"
	"waybill/plan/lex"
)

// signs reads list items that begin with a sign, or with a word in brackets, instead of a checkbox.
type signs struct{ *reader }

// signed reads a list item that begins with a sign.
func (r signs) signed(n *block.Node) {
	ln := r.t.LineOf(n)
	m := block.MarkerAt(ln.Text, ln.Body)
	if ln.Text[m.Next] == '[' && r.wordItem(n, &ln) || r.d.Sign && ln.Text[m.Next] != '[' && r.signItem(n, &ln, &m) {
		return
	}
	r.line(n, &ln, &m)
}

// wordItem reads a line such as "- [wip] Buy sugar", whose box has a word for a status.
func (r signs) wordItem(n *block.Node, ln *block.Line) bool {
	status, width := lex.WordBox(ln.Text[n.Next-n.Start:])
	if status == 0 || r.at.sec.kind != sectionTasks && r.at.sec.kind != sectionLegend {
		return false
	}
	r.parseText(lex.Trim(ln.Text[int(n.Next-n.Start)+width:]), false)
	if r.label.ID == "" && !r.at.unnumbered {
		return false
	}
	i := r.enter(n, &plan.Entry{
		ID: r.label.ID, From: n.Start, To: n.End, Line: n.Line, Status: status, DerivedID: r.label.ID == "", Worded: true,
		Mark: n.Next + 1, MarkEnd: n.Next + int32(width) - 1,
	}, int(n.Next)+1)
	if r.rows.Entries[i].DerivedID {
		r.derived(int(n.Next), i)
	}
	r.entitled(ln)
	return true
}

// signItem reads a line such as "- ✅ Buy sugar".
func (r signs) signItem(n *block.Node, ln *block.Line, m *block.Marker) bool {
	if r.at.sec.kind != sectionTasks && r.at.sec.kind != sectionLegend {
		return false
	}
	status, sign, title := plan.Pending, "", ""
	s, rest := lex.CutSign(ln.Text[m.Next:])
	if s != nil {
		status, sign, title = s.Status, s.Text, rest
	} else {
		sign, title = lex.CutSymbol(ln.Text[m.Next:])
	}
	if !r.tab.signs.lists(r.t, n, s, true) || r.at.sec.kind == sectionLegend && legend.Means(lex.Trim(title)) {
		return false
	}
	r.label = dialect.Label{}
	r.label.Title, r.label.Withdrawn = lex.CutStruck(lex.Trim(title))
	if r.label.Withdrawn {
		status = plan.Skipped
	}
	i := r.enter(n, &plan.Entry{
		From: n.Start, To: n.End, Line: n.Line, Status: status, DerivedID: true, Withdrawn: r.label.Withdrawn, Worded: true,
		Mark: n.Next, MarkEnd: n.End - int32(len(title)),
	}, int(n.Body))
	r.derived(int(n.Body), i)
	if s == nil {
		r.notes.Add(int(n.Next), plan.SeverityWarning, "unknown_mark", fmt.Sprintf("the sign %q has no meaning here, so the item is open: use ⬜, ⏳ or ✅", sign))
	}
	return true
}

// signLists are the lines that begin with a sign and belong to a list of tasks. In a plan with checkboxes, ticks below the
// last task are remarks.
// A sign that may be decoration belongs to such a list if a task sign with the same indent is in its section. If it has a
// known meaning, a task sign or a checkbox of any indent is enough.
type signLists struct {
	in   map[int32]bool // by line, read on demand
	any  bool           // a line has a task sign
	last int32          // the last line with a checkbox outside criteria, or with a sign of open work
}

// lists reports whether a line that begins with a sign is one of a list of tasks. s is nil for an unknown sign. In a
// plan of signs, a known sign needs no other sign near it.
func (l *signLists) lists(t *block.Tree, n *block.Node, s *lex.Sign, signs bool) bool {
	if s != nil && s.Task && (s.Status.Open() || t.Checks == 0) {
		return true
	}
	if l.in == nil {
		l.read(t)
	}
	return l.in[n.Line] || t.Checks == 0 && signs && s != nil && l.any
}

// signSection is the section of a heading while its signs are counted.
type signSection struct {
	lines [3][]int32      // of known, of task and of all signs, by the constants below
	alike map[int32]bool  // the indents with a task sign
	at    map[int32]int32 // the indent of each line
	boxes bool            // it has a checkbox
	first int32           // its first line
}

func (l *signLists) read(t *block.Tree) {
	l.in = map[int32]bool{}
	const known, task, all = 0, 1, 2
	var sec signSection
	end := func() {
		work := t.Checks == 0 || sec.first < l.last
		for _, line := range sec.lines[task] {
			l.in[line] = l.in[line] || work
		}
		for _, line := range sec.lines[known] {
			l.in[line] = l.in[line] || work && (sec.boxes || len(sec.lines[task]) > 0)
		}
		for _, line := range sec.lines[all] {
			l.in[line] = l.in[line] || work && sec.alike[sec.at[line]]
		}
		sec = signSection{alike: map[int32]bool{}, at: map[int32]int32{}}
	}
	l.last = lastTask(t)
	end()
	for i := range t.Nodes {
		n := &t.Nodes[i]
		switch {
		case n.Place != plan.InText:
		case n.Kind == block.Heading:
			end()
			sec.first = n.Line
		case n.Kind == block.Check:
			sec.boxes = true
		case n.Kind == block.Signed && t.Text[n.Next] != '[':
			sec.lines[all], sec.at[n.Line] = append(sec.lines[all], n.Line), n.Indent
			if s, _ := lex.CutSign(t.Text[n.Next:n.End]); s != nil {
				sec.lines[known] = append(sec.lines[known], n.Line)
				if s.Task {
					sec.lines[task] = append(sec.lines[task], n.Line)
					l.any, sec.alike[n.Indent] = true, true
				}
			}
		}
	}
	end()
}

// lastTask returns the last line with a checkbox outside criteria, or with a sign of open work.
func lastTask(t *block.Tree) (line int32) {
	var sec sections
	for i := range t.Nodes {
		n := &t.Nodes[i]
		switch {
		case n.Place != plan.InText:
		case n.Kind == block.Heading:
			text := block.HeadingText(t.Text[n.Next:n.End])
			sec.enter(int(n.Level), text)
			if line > 0 {
				sec.enterChecklist(t, i, int(n.Level), text)
			}
		case sec.kind != sectionTasks:
		case n.Kind == block.Check:
			line = n.Line
		case n.Kind == block.Signed:
			if s, _ := lex.CutSign(t.Text[n.Next:n.End]); s != nil && s.Status.Open() {
				line = n.Line
			}
		}
	}
	return line
}
