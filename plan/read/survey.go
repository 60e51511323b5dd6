package read

import (
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/describe"
	"waybill/plan/dialect"
	"waybill/plan/legend"
	"waybill/plan/lex"
)

// This file looks at a plan before it is read, to find out what explains most of it.

// surveyor counts what a plan shows.
type surveyor struct {
	t         *block.Tree
	s         *dialect.Survey
	legend    *legend.Legend // read on demand
	sec       sections
	group     string
	tasked    int  // the level of the current heading such as "Task 1", 0 for none
	countable bool // the current heading is one such as "1.1 Model"
	home      sections
	head      bool  // a heading such as "Task 1" is above, and no checkbox since
	top       int32 // the indent of the last numbered checkbox, -1 for none
	next      int   // the index of the next field
}

func (v *surveyor) add(l dialect.Look, line int32) { v.addAll(l, line, 1) }

func (v *surveyor) addAll(l dialect.Look, line int32, times int) {
	v.s.Count[l] += times
	if v.s.First[l] == 0 {
		v.s.First[l] = int(line)
	}
}

// survey looks at all blocks.
func survey(t *block.Tree, hint *dialect.Dialect) *dialect.Survey {
	v := surveyor{t: t, s: &dialect.Survey{Hint: hint}, top: -1, home: sections{kind: sectionOther}}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Place != plan.InText {
			if n.Place == plan.InFence && n.Kind == block.Run && v.top >= 0 {
				v.fields(n)
			}
			continue
		}
		switch n.Kind {
		case block.Check:
			v.check(n)
		case block.Heading:
			if !n.Nested {
				v.heading(n, block.HeadingText(t.Text[n.Next:n.End]))
			}
		case block.Run:
			v.run(n)
		case block.Signed:
			if s, _ := lex.CutSign(t.Text[n.Next:n.End]); s != nil && s.Task {
				v.s.Signed++
			}
			if status, _ := lex.WordBox(t.Text[n.Next:n.End]); status != 0 {
				v.s.Signed++
			}
		case block.Table:
			v.table(n)
		case block.Fence, block.Comment:
		}
	}
	return v.s
}

// heading counts a heading, or the text of one with a checkbox.
func (v *surveyor) heading(n *block.Node, text string) {
	v.top = -1
	level := int(n.Level)
	task, subtasks := v.task(n, level, text), dialect.IsSubtasks(text)
	v.home.enterHome(level, text, subtasks || lex.EqualWord(text, "tasks"))
	if !task {
		v.sec.enter(level, text)
	}
	switch {
	case task:
	case lex.BeginsWith(text, "Task Dependency Graph"):
		v.add(dialect.HeadGraph, n.Line)
	case lex.EqualWord(text, "Relevant Files"):
		v.add(dialect.HeadRelevant, n.Line)
	case lex.EqualWord(text, "Implementation Plan"):
		v.add(dialect.HeadPlan, n.Line)
	case subtasks:
		v.add(dialect.HeadSubtasks, n.Line)
	}
	if strings.IndexByte(text, '[') >= 0 && dialect.HasCheckpoint(text) {
		v.add(dialect.HeadCheckpoint, n.Line)
	}
}

// task counts a heading such as "Task 1", and remembers its number. It reports whether the heading is one.
func (v *surveyor) task(n *block.Node, level int, text string) bool {
	h, ok := lex.TaskHead(text)
	v.countable = false
	if !ok {
		_, v.countable = lex.NumberHead(text)
	}
	group := dialect.Group(text)
	v.head = readTaskHeading(text, n).id != ""
	switch {
	case ok && h.ID != "":
		v.group, v.tasked, v.sec = h.ID, level, sections{}
		if h.Group {
			v.add(dialect.HeadTaskGroup, n.Line)
		} else {
			v.add(dialect.HeadTask, n.Line)
		}
		return true
	case v.tasked == 0 || level <= v.tasked || group != "":
		v.group, v.tasked = group, 0
	}
	return false
}

// check counts a checkbox.
func (v *surveyor) check(n *block.Node) {
	if v.sec.level == deeperThanHeadings {
		ln := v.t.LineOf(n)
		v.sec.leaveCriteria(&ln)
	}
	if v.sec.kind == sectionTasks {
		v.s.Tasks++
	}
	text := v.t.Text[n.Close+1 : n.End]
	if text != "" && text[0] == '*' && !strings.HasPrefix(text, lex.Bold) {
		v.add(dialect.Star, n.Line)
		text = text[1:]
	}
	text = text[lex.SkipBlanks(text, 0):]
	text, struck := unstruck(text)
	if v.home.kind == sectionTasks {
		v.s.Home++
	}
	text, _ = lex.CutStar(text)
	if id, title, _ := lex.ReadLabel(text); id != "" {
		if v.s.Numbered++; n.Level > 0 {
			v.task(n, int(n.Level), text)
		}
		v.number(n, id, title, struck)
		v.top = n.Indent
		v.fields(n)
		return
	}
	v.nameless(n, lex.Trim(text))
}

// unstruck removes the first pair of strikethrough marks from a text.
func unstruck(text string) (string, bool) {
	from := strings.Index(text, lex.Strokes)
	if from < 0 {
		return text, false
	}
	inside, after, ok := strings.Cut(text[from+len(lex.Strokes):], lex.Strokes)
	if !ok || lex.Trim(inside) == "" {
		return text, false
	}
	whole := lex.Trim(text[:from]+after) == ""
	_, title, _ := lex.ReadLabel(text)
	return text[:from] + lex.Trim(inside) + after, whole || from == 0 || lex.Withdrawn(title)
}

// number counts what a checkbox with a number shows.
func (v *surveyor) number(n *block.Node, id, title string, struck bool) {
	if last := len(title) - 1; last > 1 && (title[0] == '(' || title[last] == ')') {
		if dialect.HasParallel(title) {
			v.add(dialect.BoxParallel, n.Line)
		}
		if _, criteria := dialect.CutCriteria(title); criteria != nil {
			v.add(dialect.BoxCriteria, n.Line)
		}
	}
	if struck {
		v.add(dialect.BoxStruck, n.Line)
	}
	if lex.Zeroth(id) {
		v.add(dialect.BoxZero, n.Line)
	}
	if v.tasked > 0 && !v.s.Adopted && id == "1" {
		v.add(dialect.BoxAnew, n.Line)
	}
	if v.group != "" && strings.HasPrefix(id, v.group) && len(id) > len(v.group) && id[len(v.group)] == '.' {
		if v.tasked > 0 {
			v.add(dialect.HeadNumbered, n.Line)
		} else {
			v.add(dialect.HeadGroup, n.Line)
		}
	}
}

// nameless counts what a checkbox without number shows.
func (v *surveyor) nameless(n *block.Node, text string) {
	if v.head {
		if _, _, ok := describe.Label(text); ok {
			v.s.Adopted, v.s.Numbered, v.head = true, v.s.Numbered+1, false
			v.top = n.Indent
			return
		}
	}
	if v.countable {
		v.s.Uncounted++
	}
	if n.Level > 0 {
		v.task(n, int(n.Level), text)
	} else if v.tasked > 0 {
		v.s.UnderTasks++
		if strings.HasPrefix(strings.TrimPrefix(text, lex.Bold), "Step ") {
			v.add(dialect.BoxStep, n.Line)
		}
	}
	v.words(n, text)
	tagged := dialect.CutTags(text)
	if len(tagged) < len(text) {
		v.add(dialect.BoxTag, n.Line)
	}
	if inside, after, bold := lex.CutBold(tagged); bold {
		tagged = inside + " " + lex.Trim(after)
	}
	if id, end := lex.ReadTaskID(tagged); len(id) >= len("T001") {
		v.add(dialect.BoxTaskID, n.Line)
		if rest := lex.Trim(tagged[end:]); strings.HasPrefix(rest, "[P]") || strings.HasPrefix(rest, "[US") {
			v.add(dialect.BoxTag, n.Line)
		}
	} else if code, _ := lex.ReadCode(text); code != "" {
		v.s.Coded++
		return
	}
	if v.sec.kind != sectionTasks {
		return
	}
	v.s.Unnumbered++
	if v.top < 0 || n.Indent <= v.top {
		v.s.Beside++
		v.top = -1
	}
}

// words counts the words after a checkbox.
func (v *surveyor) words(n *block.Node, text string) {
	if look, _ := dialect.TaskWord(text); look != dialect.Looks {
		v.add(look, n.Line)
	} else if id, _ := lex.TaskNumber(text); id != "" {
		v.add(dialect.BoxTaskNumber, n.Line)
	} else if id, rest, file := dialect.FileID(lex.Unbold(text)); id != "" {
		if file {
			v.add(dialect.BoxFile, n.Line)
		}
		if strings.Contains(rest, "(parallel:") {
			v.add(dialect.BoxFlag, n.Line)
		}
	}
	if strings.Contains(text, "(AC") {
		if _, criteria := dialect.CutCriteria(text); criteria != nil {
			v.add(dialect.BoxCriteria, n.Line)
		}
	}
}

// run counts the fields and labels in a run of lines.
func (v *surveyor) run(n *block.Node) {
	if v.top >= 0 {
		v.fields(n)
	}
	if n.Traits&block.Labelled == 0 {
		return
	}
	for s := v.t.Lines(n); s.Scan(); {
		if ln := &s.Line; !ln.Blank() {
			m := block.MarkerAt(ln.Text, ln.Body)
			v.line(ln, &m)
		}
	}
}

// fields counts the fields in a block.
func (v *surveyor) fields(n *block.Node) {
	for ; v.next < len(v.t.Fields) && v.t.Fields[v.next].At < n.End; v.next++ {
		f := &v.t.Fields[v.next]
		switch look := fieldLooks[f.Name]; {
		case f.At < n.Start:
		case look == dialect.Looks:
			v.s.Fielded = true
		case n.Place == plan.InText || look == dialect.FieldPrompt:
			v.add(look, f.Line)
		}
	}
}

func (v *surveyor) line(ln *block.Line, m *block.Marker) {
	text, bullet := ln.Content(), m.Listed(ln.Text)
	if bullet {
		text = ln.Text[m.Next:]
	}
	v.sec.leaveCriteria(ln)
	if criteriaLabel(text) {
		v.sec.label(ln, text, bullet)
		return
	}
	inside, bold := strings.CutPrefix(text, lex.Bold)
	if !bold {
		return
	}
	if bullet {
		if strings.HasPrefix(inside, "Property ") && v.top >= 0 {
			v.add(dialect.DetailProperty, int32(ln.Number))
		}
		return
	}
	if v.tasked == 0 {
		return
	}
	name, _, _ := strings.Cut(inside, ":")
	switch name = strings.TrimRight(name, "*"); {
	case lex.EqualWord(name, "Model"), lex.EqualWord(name, "review"), lex.EqualWord(name, "Depends on"):
		v.add(dialect.DetailReview, int32(ln.Number))
	case strings.HasPrefix(name, "Step "):
		v.add(dialect.BoxStep, int32(ln.Number))
	}
}

// table counts the rows of a table of tasks. A table with mostly unknown words in its status column is not about tasks.
func (v *surveyor) table(n *block.Node) {
	tab, ok := header(v.t, n)
	if !ok || v.sec.kind != sectionTasks {
		return
	}
	rows, stated, first := 0, 0, int32(0)
	for ln, row := range rowsOf(v.t, n, &tab) {
		if row.ID() == "" {
			continue
		}
		rows++
		state := row.State()
		if !state.Known && v.legend == nil {
			v.legend = legend.Read(v.t.Text)
		}
		if !state.Known {
			_, state.Known = v.legend.Of(state.Word)
		}
		if state.Known {
			if stated++; stated == 1 {
				first = int32(ln.Number)
			}
		}
	}
	if stated > 0 && 2*stated >= rows {
		v.addAll(dialect.Row, first, stated)
	}
}

// choose returns the dialect that explains most of a plan. The folder of a tool decides if its dialect explains as much.
func choose(s *dialect.Survey) *dialect.Dialect {
	var best *dialect.Dialect
	most := 0
	for _, d := range dialect.All {
		if d.Fits == nil {
			continue
		}
		if fits := d.Fits(s); fits > most {
			best, most = d, fits
		}
	}
	if s.Hint == nil || s.Explicit() && !s.Hint.Shares(best) || !best.Weak() {
		return best
	}
	hinted := *s
	hinted.Hinted = true
	if fits := s.Hint.Fits(&hinted); fits >= most && fits > 0 {
		return s.Hint
	}
	return best
}
