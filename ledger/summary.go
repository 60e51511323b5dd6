package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// This file knows the tables that repeat what stands elsewhere.

// summary is a table, or the part of one, whose rows are no tasks of their own.
type summary struct {
	line, column int // of the header
	rows         []repeated
}

// repeated is a row that says something about a task that stands elsewhere.
type repeated struct {
	id           string
	status       Status
	line, column int
}

// sawRow notes what a row says before it is known whether it is a task.
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
	if n.seen.titled == nil {
		n.seen.titled = map[string]bool{}
	}
	n.seen.titled[id] = true
}

// repeats is what a row says that is no task.
func (g *grid) repeats(ln *line, id string) repeated {
	state := g.state(ln.text)
	if !state.known || len(g.cells) > len(g.columns) {
		state.status = 0
	}
	return repeated{id, state.status, ln.number, diagnose(ln, max(state.from, 0), SeverityInfo, "", "").Column}
}

// endTable forgets the table that was read, and keeps what has to be said about it.
func (n *numbered) endTable() {
	if s := n.grid.again; len(s.rows) > 0 {
		n.summaries = append(n.summaries, s)
		// Numbers and other words in the column of states are those of a table to look things up in.
		if n.item == nil && 2*n.grid.stated >= len(s.rows) {
			n.seen.seeAll(signalRow, n.grid.first, n.grid.stated)
		}
	}
	n.grid = grid{cells: n.grid.cells[:0]}
}

// reportSummaries says of each table that is no list of tasks why not.
func (n *numbered) reportSummaries() {
	for _, s := range n.summaries {
		var known, strange []string
		for _, row := range s.rows {
			if i := n.r.find(row.id); i >= 0 {
				known = append(known, row.id)
				n.checkRepeated(&row, i)
			} else {
				strange = append(strange, row.id)
			}
		}
		message := fmt.Sprintf("this table repeats %s: its rows are no tasks of their own", some(known))
		switch {
		case known == nil:
			message = fmt.Sprintf("the tasks of this plan are boxes, and the rows of this table are none: %s", some(strange))
		case strange != nil:
			message += fmt.Sprintf(", nor are those that stand nowhere else: %s", some(strange))
		}
		n.r.Diagnostics = append(n.r.Diagnostics, Diagnostic{
			Line: s.line, Column: s.column, Severity: SeverityInfo, Code: "summary_table", Message: message,
		})
	}
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

// some names the first of a list of ids.
func some(ids []string) string {
	const most = 5
	if more := len(ids) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(slices.Clone(ids[:most]), ", "), more)
	}
	return strings.Join(ids, ", ")
}
