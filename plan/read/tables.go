package read

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/describe"
	"waybill/plan/dialect"
	"waybill/plan/graph"
	"waybill/plan/lex"
	"waybill/plan/table"
)

// This file reads tables, and lists of signs.

// tables are the tables of a plan.
type tables struct {
	titled map[string]bool // the ids of all rows that have a title, read on demand
	signs  signLists
	found  []table.Table // tables of tasks with items in their rows
	again  summary       // the current table
	all    []summary
}

// summary is a table, or a part of one, whose rows are not items.
type summary struct {
	at   int
	rows []repeated
}

// repeated is a row about a task that is defined elsewhere.
type repeated struct {
	id     string
	status plan.Status
	at     int
	open   bool // the row explicitly says that the task is open
}

// rowReader reads tables.
type rowReader struct{ *reader }

// header parses the header of a table.
func header(t *block.Tree, n *block.Node) (table.Table, bool) {
	ln := t.LineOf(n)
	tab, ok := table.Header(ln.Text, block.Cells(ln.Text, ln.Body, nil))
	tab.Start = int(n.Start)
	if ok || t.Checks > 0 {
		return tab, ok
	}
	const most = 8
	var sample []table.Row
	for _, row := range rowsOf(t, n, &tab) {
		row.Cells = slices.Clone(row.Cells)
		if sample = append(sample, *row); len(sample) == most {
			break
		}
	}
	return tab, tab.Guess(sample) || tab.Lists()
}

// rowsOf returns the rows of a table, and their lines. They are valid for one step.
func rowsOf(t *block.Tree, n *block.Node, tab *table.Table) iter.Seq2[*block.Line, *table.Row] {
	return func(yield func(*block.Line, *table.Row) bool) {
		var room [16]block.Cell
		for s := t.Lines(n); s.Scan(); {
			if s.Start <= int(n.Next) || s.Blank() {
				continue
			}
			if row := tab.Row(s.Text, s.Body, room[:0]); !yield(&s.Line, &row) {
				return
			}
		}
	}
}

// entitles reports whether the row of an id in any table has a title. Other rows of that id repeat it.
func (r rowReader) entitles(id string) bool {
	if r.tab.titled == nil {
		r.tab.titled = map[string]bool{}
		for i := range r.t.Nodes {
			n := &r.t.Nodes[i]
			if n.Kind != block.Table {
				continue
			}
			if tab, ok := header(r.t, n); ok && tab.Title >= 0 {
				for _, row := range rowsOf(r.t, n, &tab) {
					r.tab.titled[row.ID()] = true
				}
			}
		}
	}
	return r.tab.titled[id]
}

// table reads a table.
func (r rowReader) table(n *block.Node) {
	tab, ok := header(r.t, n)
	inside := r.owner >= 0 && int(n.Indent) > r.lines.Indent
	if ok && r.at.sec.kind != sectionTasks {
		if r.d.Rows {
			r.notes.Add(int(n.Body), plan.SeverityInfo, "not_a_task_section",
				fmt.Sprintf("this table is below %q, where rows are not tasks", lex.Clip(r.at.sec.name)))
		}
		ok = false
	}
	r.tab.end()
	r.tab.again = summary{at: int(n.Body)}
	rows := false
	var room [16]block.Cell
	for s := r.t.Lines(n); s.Scan(); {
		ln := &s.Line
		ln.Place = plan.InText
		if ln.Blank() {
			r.lines.Blank(ln)
			continue
		}
		m := block.MarkerAt(ln.Text, ln.Body)
		if ln.Start <= int(n.Next) || !ok || inside || r.lines.Takes(ln, &m) {
			r.line(n, ln, &m)
			continue
		}
		if r.d.Rows && !rows {
			r.close(int(n.Start))
			r.tab.found, rows = append(r.tab.found, tab), true
		}
		row := tab.Row(ln.Text, ln.Body, room[:0])
		switch id := row.ID(); {
		case r.d.Rows:
			r.row(n, ln, &row, id)
		case id != "":
			r.tab.repeats(ln, &row, id)
			r.summaryLine(n, ln, &m)
		default:
			r.line(n, ln, &m)
		}
	}
}

// row reads a row of a table of tasks.
func (r rowReader) row(n *block.Node, ln *block.Line, row *table.Row, id string) {
	first := r.rows.Find(id)
	elsewhere := first >= 0 && int(r.rows.Entries[first].From) < row.Table.Start
	switch {
	case id == "":
		r.notes.Add(ln.Start+ln.Body, plan.SeverityInfo, "row_without_id", fmt.Sprintf("this row has no id, so it is not a task: %q", lex.Clip(ln.Content())))
		return
	case elsewhere, row.Table.Title < 0 && r.entitles(id):
		r.tab.repeats(ln, row, id)
		return
	}
	state := row.State()
	e := plan.Entry{ID: id, From: int32(ln.Start), To: int32(ln.Start + len(ln.Text)), Line: int32(ln.Number), Status: state.Status}
	if state.From >= 0 {
		e.Mark, e.MarkEnd, e.Worded = int32(ln.Start+state.From), int32(ln.Start+state.To), true
	}
	r.checkRow(ln, row, &state, &e)
	r.label = dialect.Label{}
	at := *n
	at.Indent, at.Start = 0, int32(ln.Start)
	r.enter(&at, &e, ln.Start+ln.Body)
	if depends := row.Cell(row.Table.Depends); depends != "" {
		r.depends(graph.Field, table.CommaList(depends))
	}
	r.lines.End()
	r.owner = -1 // text below a table belongs to no row
}

// checkRow resolves an unknown status and reports it.
func (r rowReader) checkRow(ln *block.Line, row *table.Row, state *lex.State, e *plan.Entry) {
	if row.Wide() {
		e.Status, e.Mark, e.MarkEnd, e.Worded = plan.Pending, 0, 0, false
		r.notes.Add(ln.Start+row.Cells[len(row.Table.Columns)].From, plan.SeverityWarning, "malformed_row",
			fmt.Sprintf("this row has %d cells and its header has %d, so the item is open: write a bar inside a cell as %s",
				len(row.Cells), len(row.Table.Columns), `\|`))
		return
	}
	if row.Withdrawn() {
		e.Status, e.Withdrawn = plan.Skipped, true
		return
	}
	if state.Known {
		return
	}
	if said, known := r.marks.legend().Of(state.Word); known {
		e.Status = said.Status
		return
	}
	r.notes.Add(ln.Start+state.From, plan.SeverityWarning, "unknown_mark",
		fmt.Sprintf("the status %q has no meaning here, so the item is open: use %s", lex.Clip(state.Word), r.d.Usable))
}

// repeats records a row that is not an item.
func (t *tables) repeats(ln *block.Line, row *table.Row, id string) {
	state := row.State()
	if !state.Known || row.Wide() {
		state.Status = 0
	}
	t.again.rows = append(t.again.rows, repeated{
		id, state.Status, ln.Start + max(state.From, 0), state.Status.Open() && state.Word != "" && !lex.IsNone(state.Word),
	})
}

// end ends the current table, and keeps the rows that may need a diagnostic.
func (t *tables) end() {
	if len(t.again.rows) > 0 {
		t.all = append(t.all, t.again)
	}
	t.again = summary{}
}

// report says for each table that is not a list of tasks why it is not one.
func (t *tables) report(rows *plan.Rows, notes *plan.Remarks) {
	for _, s := range t.all {
		var known, strange []string
		for i := range s.rows {
			row := &s.rows[i]
			if i := rows.Find(row.id); i >= 0 {
				known = append(known, row.id)
				row.compare(&rows.Entries[i], notes)
				continue
			}
			strange = append(strange, row.id)
			if row.open {
				notes.Add(row.at, plan.SeverityWarning, "not_read",
					fmt.Sprintf("this row says that %s is %s, but no task of this plan has that id: add one, or close the row", row.id, row.status)).Open = true
			}
		}
		message := fmt.Sprintf("this table repeats %s: its rows are not tasks of their own", some(known))
		switch {
		case known == nil:
			message = fmt.Sprintf("the tasks of this plan are boxes, so the rows of this table are not tasks: %s", some(strange))
		case strange != nil:
			message += fmt.Sprintf(", nor are those with no box: %s", some(strange))
		}
		notes.Add(s.at, plan.SeverityInfo, "summary_table", message)
	}
}

// compare reports a row that contradicts the item it repeats.
func (row *repeated) compare(e *plan.Entry, notes *plan.Remarks) {
	status := e.Status
	if e.Derived != 0 {
		status = e.Derived
	}
	if row.status == 0 || row.status == status || row.status == e.Status {
		return
	}
	notes.Add(row.at, plan.SeverityWarning, "summary_conflict",
		fmt.Sprintf("this row says that %s is %s, but line %d says %s, which counts", row.id, row.status, e.Line, status))
}

// some returns the first of a list of ids for a message.
func some(ids []string) string {
	const most = 5
	if more := len(ids) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(slices.Clone(ids[:most]), ", "), more)
	}
	return strings.Join(ids, ", ")
}

// tableOf returns the table that contains an item.
func tableOf(found []table.Table, e *plan.Entry) *table.Table {
	at := sort.Search(len(found), func(i int) bool { return found[i].Start > int(e.From) })
	if at == 0 {
		return &table.Table{}
	}
	return &found[at-1]
}

// describeRow sets the description of an item from its row.
func describeRow(lines *describe.Lines, tab *table.Table, ln *block.Line) {
	row := tab.Row(ln.Text, ln.Body, nil)
	it := lines.Item
	for i, c := range tab.Columns[:min(len(tab.Columns), len(row.Cells))] {
		switch text := row.Cell(i); c.Kind {
		case table.ID, table.Depends:
		case table.Title:
			it.Title, _ = lex.CutStruck(text)
		case table.Status:
			if state := row.State(); state.Rest != "" {
				lines.Note(c.Name + ": " + state.Rest)
			}
		case table.Parallel:
			it.Parallel = table.Yes(text)
		case table.Files:
			lines.SetFiles(table.CommaList(text))
		case table.Other, table.Aside:
			if text != "" && !lex.IsNone(text) {
				lines.Note(strings.TrimLeft(c.Name+": "+text, ": "))
			}
		}
	}
	if row.Wide() {
		lines.Note(ln.Content()) // its cells do not match the header
	}
}
