package plan

import (
	"fmt"
	"slices"
	"strings"
)

// This file reads tables that repeat items of the plan.

// summary is a table, or a part of one, whose rows are not items.
type summary struct {
	line, column int // of the header
	rows         []repeated
}

// repeated is a row about a task that is defined in another position.
type repeated struct {
	id           string
	status       Status
	line, column int
	open         bool // the row explicitly says that the task is open
}

// sawRow records a row before it is known whether the row is a task.
func (n *numbered) sawRow(ln *line, id string) {
	state := n.grid.state(ln.text)
	if _, known := n.cellSays(&state); known {
		if n.grid.stated++; n.grid.stated == 1 {
			n.grid.first = ln.number
		}
	}
	if n.grid.title < 0 {
		return
	}
	if n.evidence.titled == nil {
		n.evidence.titled = map[string]bool{}
	}
	n.evidence.titled[id] = true
}

// repeats returns the content of a row that is not an item.
func (g *grid) repeats(ln *line, id string) repeated {
	state := g.state(ln.text)
	if !state.known || len(g.cells) > len(g.columns) {
		state.status = 0
	}
	column := diagnose(ln, max(state.from, 0), SeverityInfo, "", "").Column
	return repeated{id, state.status, ln.number, column, state.status.open() && state.word != "" && !isNone(state.word)}
}

// endTable ends the current table, and keeps the rows that may need a diagnostic.
func (n *numbered) endTable() {
	if s := n.grid.again; len(s.rows) > 0 {
		n.summaries = append(n.summaries, s)
		// A table with mostly unknown words in its status column is not about tasks.
		if n.item == nil && 2*n.grid.stated >= len(s.rows) {
			n.evidence.addAll(signalRow, n.grid.first, n.grid.stated)
		}
	}
	n.grid = grid{cells: n.grid.cells[:0]}
}

// reportSummaries reports for each table that is not a list of tasks why it is not one.
func (n *numbered) reportSummaries() {
	for _, s := range n.summaries {
		var known, strange []string
		for _, row := range s.rows {
			if i := n.r.find(row.id); i >= 0 {
				known = append(known, row.id)
				n.checkRepeated(&row, i)
			} else {
				strange = append(strange, row.id)
				n.openRow(&row)
			}
		}
		message := fmt.Sprintf("this table repeats %s: its rows are not tasks of their own", some(known))
		switch {
		case known == nil:
			message = fmt.Sprintf("the tasks of this plan are boxes, so the rows of this table are not tasks: %s", some(strange))
		case strange != nil:
			message += fmt.Sprintf(", nor are those with no box: %s", some(strange))
		}
		n.r.Diagnostics = append(n.r.Diagnostics, Diagnostic{
			Line: s.line, Column: s.column, Severity: SeverityInfo, Code: "summary_table", Message: message,
		})
	}
}

// openRow reports an open row about a task that the plan has nowhere else. It counts as open work.
func (n *numbered) openRow(row *repeated) {
	if !row.open {
		return
	}
	n.r.Diagnostics = append(n.r.Diagnostics, Diagnostic{
		Line: row.line, Column: row.column, Severity: SeverityWarning, Code: "not_read", Open: true,
		Message: fmt.Sprintf("this row says that %s is %s, but no task of this plan has that id: add one, or close the row", row.id, row.status),
	})
}

// checkRepeated reports a row that contradicts the item it repeats.
func (n *numbered) checkRepeated(row *repeated, i int32) {
	e := &n.r.entries[i]
	status := e.status
	if e.derived != 0 {
		status = e.derived
	}
	if row.status == 0 || row.status == status || row.status == e.status {
		return
	}
	n.r.Diagnostics = append(n.r.Diagnostics, Diagnostic{
		Line: row.line, Column: row.column, Severity: SeverityWarning, Code: "summary_conflict",
		Message: fmt.Sprintf("this row says that %s is %s, but line %d says %s, which counts", row.id, row.status, e.line, status),
	})
}

// some returns the first of a list of ids for a message.
func some(ids []string) string {
	const most = 5
	if more := len(ids) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(slices.Clone(ids[:most]), ", "), more)
	}
	return strings.Join(ids, ", ")
}
