package plan

import (
	"fmt"
	"sort"
	"strings"
)

// This file reads tables of tasks, which have a column of ids and one of statuses. In a plan with checkboxes, such a
// table is a summary.

var tableGrammar = grammar{
	dialects: []string{tabular},
	label: func(n *numbered, ln *line, b *box) (id, title string) {
		n.head = taskHeading{} // in a plan of tables, a heading makes no task of a checkbox
		return "", b.rest(ln.text)
	},
	usable:   "a word such as todo, in progress, done, blocked or skipped",
	anywhere: true,
	wanted:   "the tasks of this plan are the rows of its table: add one to make it a task",
	missing:  "no table outside fences and comments with an id and a status in its header",
}

// table reports whether tables are the tasks of a file. It has more rows with ids and statuses than possible checkbox
// tasks, and no numbered checkbox.
func (n *numbered) table() bool {
	return n.r.Len() == 0 && n.evidence.count[signalRow] > n.unnumbered
}

// table is a table of tasks.
type table struct {
	start   int // offset of the header
	columns []column
	// Column indices; title and depends are -1 for none.
	id, status, title, depends int
}

// grid is the state of the current table.
type grid struct {
	table
	next  int // number of the line that may be the next row
	cells []cell
	again summary
	// stated is the number of rows with a known status, and first the line of the first of them.
	stated, first int
}

// ruled reports whether a line may be part of a table. Few other lines may.
func ruled(ln *line, m *marker) bool {
	c := ln.text[ln.body]
	return c == '|' || c == ':' || c == '-' && m.next == m.after
}

// tabular processes a line that may be part of a table, and reports whether it is the row of a task.
func (n *numbered) tabular(ln *line, m *marker) bool {
	if n.field.begun() && n.takes(ln, m) {
		return false // it belongs to a prompt
	}
	g := &n.grid
	if g.next == ln.number {
		if g.cells = cells(ln.text, ln.body, g.cells[:0]); len(g.cells) > 0 {
			g.next++
			return n.row(ln)
		}
	}
	if n.item == nil && !(n.owner >= 0 && ln.indent > n.ownerIndent) {
		n.openTable(ln)
	}
	return false
}

// openTable looks for a table header above a delimiter row.
func (n *numbered) openTable(ln *line) {
	rule := cells(ln.text, ln.body, n.grid.cells[:0])
	if n.grid.cells = rule; len(rule) == 0 || !isRule(ln.text, rule) {
		return
	}
	head, ok := n.lineAbove(ln)
	if !ok {
		return
	}
	names := cells(head.text, head.body, nil)
	if len(names) != len(rule) {
		return
	}
	t, ok := readHeader(head.text, names)
	if !ok || n.sections.kind != sectionTasks {
		if ok && n.g == &tableGrammar {
			n.report(&head, head.body, SeverityInfo, "not_a_task_section",
				fmt.Sprintf("this table is below %q, where rows are not tasks", clip(n.sections.name)))
		}
		return
	}
	n.endTable()
	t.start = head.start
	column := diagnose(&head, head.body, SeverityInfo, "", "").Column
	n.grid = grid{table: t, next: ln.number + 1, cells: rule, again: summary{line: head.number, column: column}}
	if n.g == &tableGrammar {
		n.closeItem()
		n.r.tables = append(n.r.tables, t)
	}
}

// lineAbove returns the line before the current one.
func (n *numbered) lineAbove(ln *line) (line, bool) {
	end := strings.TrimSuffix(strings.TrimSuffix(n.src[:ln.start], "\n"), "\r")
	if len(end) == ln.start {
		return line{}, false
	}
	if n.src[ln.start-1] == '\r' {
		end = n.src[:ln.start-1]
	}
	start := strings.LastIndexAny(end, "\r\n") + 1
	if start == 0 && strings.HasPrefix(end, byteOrderMark) {
		start = len(byteOrderMark)
	}
	above := line{start: start, text: trimAnyRight(end[start:]), number: ln.number - 1}
	above.measure()
	return above, !above.blank()
}

// row reads a row of a table of tasks.
func (n *numbered) row(ln *line) bool {
	g := &n.grid
	if n.item != nil {
		return n.describeRow(ln)
	}
	for len(g.cells) > len(g.columns) && g.cells[len(g.cells)-1].empty() {
		g.cells = g.cells[:len(g.cells)-1]
	}
	id := g.idOf(ln.text)
	if n.g != &tableGrammar {
		if id != "" {
			n.sawRow(ln, id)
			g.again.rows = append(g.again.rows, g.repeats(ln, id))
		}
		return false
	}
	first := n.r.find(id)
	elsewhere := first >= 0 && int(n.r.entries[first].from) < g.start
	switch {
	case id == "":
		n.report(ln, ln.body, SeverityInfo, "row_without_id",
			fmt.Sprintf("this row has no id, so it is not a task: %q", clip(ln.content())))
	case elsewhere, g.title < 0 && n.evidence.titled[id]:
		g.again.rows = append(g.again.rows, g.repeats(ln, id))
	default:
		n.addRow(ln, id)
	}
	return true
}

// addRow creates the item of a row.
func (n *numbered) addRow(ln *line, id string) {
	n.closeItem()
	n.head = taskHeading{}
	state := n.grid.state(ln.text)
	e := n.newEntry(ln)
	n.nodes[n.owner].indent = 0
	e.id, e.line, e.status = id, int32(ln.number), state.status
	e.from, e.to = int32(ln.start), int32(ln.start+len(ln.text))
	if state.from >= 0 {
		n.worded(ln, state.from, state.to)
	}
	n.checkRow(ln, &state)
	n.enter(ln, ln.body, id)
	if depends := n.grid.depends; depends >= 0 {
		n.set(fieldDepends, commaList(n.grid.text(ln.text, depends)))
	}
	if e := &n.r.entries[n.owner]; e.status == InProgress && n.r.active < 0 {
		n.r.active = int32(n.owner)
	}
	n.owner = -1 // text below a table belongs to no row
}

// checkRow resolves an unknown status and reports it.
func (n *numbered) checkRow(ln *line, state *state) {
	g, e := &n.grid, &n.r.entries[n.owner]
	if len(g.cells) > len(g.columns) {
		e.status, e.mark, e.markEnd, e.worded = Pending, 0, 0, false
		n.report(ln, g.cells[len(g.columns)].from, SeverityWarning, "malformed_row",
			fmt.Sprintf("this row has %d cells and its header has %d, so the item is open: write a bar inside a cell as %s",
				len(g.cells), len(g.columns), `\|`))
		return
	}
	if withdrawn(g.text(ln.text, g.id)) || g.title >= 0 && withdrawn(g.text(ln.text, g.title)) {
		e.status, e.withdrawn = Skipped, true
		return
	}
	if status, known := n.cellSays(state); known {
		e.status = status
		return
	}
	n.report(ln, state.from, SeverityWarning, "unknown_mark",
		fmt.Sprintf("the status %q has no meaning here, so the item is open: use %s", clip(state.word), n.g.usable))
}

// cellSays returns the status in a cell, with the meanings of a legend.
func (n *numbered) cellSays(state *state) (status Status, known bool) {
	if state.known {
		return state.status, true
	}
	return n.explained(state.word)
}

// describeRow sets the fields of the item from its row.
func (n *numbered) describeRow(ln *line) bool {
	g := &n.grid
	if n.item == nil || len(g.columns) == 0 {
		return false
	}
	n.owner = 0
	for i, c := range g.columns[:min(len(g.columns), len(g.cells))] {
		switch text := g.cells[i].plain(ln.text); c.kind {
		case columnID, columnDepends:
		case columnTitle:
			n.item.Title, _ = cutStruck(text)
		case columnStatus:
			if state := g.state(ln.text); state.rest != "" {
				n.noteAlone(c.name + ": " + state.rest)
			}
		case columnParallel:
			n.item.Parallel = says(text)
		case columnFiles:
			n.set(fieldFiles, commaList(text))
		case columnOther, columnAside:
			if text != "" && !isNone(text) {
				n.noteAlone(strings.TrimLeft(c.name+": "+text, ": "))
			}
		}
	}
	if len(g.cells) > len(g.columns) {
		n.noteAlone(ln.content()) // its cells do not match the header
	}
	return true
}

// tableOf returns the table that contains an item.
func (r *Reading) tableOf(e *entry) table {
	at := sort.Search(len(r.tables), func(i int) bool { return r.tables[i].start > int(e.from) })
	if at == 0 {
		return table{}
	}
	return r.tables[at-1]
}
