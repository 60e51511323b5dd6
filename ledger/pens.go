package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// This file says how the tools of each dialect write a status.

// marks are what a dialect writes for each status: the first of several, unless the file uses another
// of them. Where the first is "", it writes none but in a file that uses one.
type marks [Skipped + 1][]string

// pen is how the tools of a dialect mark their items.
type pen struct {
	boxes marks // between the brackets of a box
	words marks // where an item has a word or a sign for its status, and no box
}

// pens has the dialects that are written. A parent is marked when it is named and never follows its
// children: where the tools want it done, they have an agent run the tests and commit before that.
var pens = map[string]pen{
	specContext:  {boxes: marks{Pending: {" "}, InProgress: {"-"}, Completed: {"x", "X"}}},
	specWorkflow: {boxes: marks{Pending: {" "}, InProgress: {"-"}, Completed: {"x", "X"}, Blocked: {"~"}}},
	kiro:         {boxes: marks{Pending: {" "}, InProgress: {"-"}, Completed: {"x", "X"}}, words: headPen},
	specKit:      {boxes: marks{Pending: {" "}, Completed: {"X", "x"}, Skipped: {"-"}}},
	openSpec:     {boxes: marks{Pending: {" "}, Completed: {"x", "X"}}},
	ccSDD:        {boxes: marks{Pending: {" "}, InProgress: {"-"}, Completed: {"x", "X"}}},
	aiDev:        {boxes: marks{Pending: {" "}, Completed: {"x", "X"}}},
	superpowers:  {boxes: marks{Pending: {" "}, Completed: {"x", "X"}}, words: headPen},
	tina:         {boxes: marks{Pending: {" "}, Completed: {"x", "X"}}, words: headPen},
	agentOS:      {boxes: marks{Pending: {" "}, Completed: {"x", "X"}}, words: headPen},
	conductor:    {boxes: marks{Pending: {" "}, InProgress: {"~"}, Completed: {"x", "X"}}},
	bmad:         {boxes: marks{Pending: {" "}, Completed: {"x", "X"}}},
	ccpm:         {boxes: marks{Pending: {" "}, Completed: {"x", "X"}}},
	loose: {
		boxes: marks{Pending: {" "}, InProgress: {"", "⏳"}, Completed: {"x", "X", "✅"}},
		words: marks{InProgress: {"⏳"}, Completed: {"✅"}},
	},
	// What a column has for a status comes first: see cellMark.
	tabular: {
		words: marks{Pending: {"todo"}, InProgress: {"in progress"}, Completed: {"done"}, Blocked: {"blocked"}, Skipped: {"skipped"}},
	},
	backlog: {words: marks{
		Pending: {"To Do", "to do", "To do", "todo", "Todo"}, InProgress: {"In Progress", "in progress", "In progress", "in-progress"},
		Completed: {"Done", "done", "completed"}, Blocked: {"", "Blocked", "blocked"},
	}},
	taskMaster: {words: marks{
		Pending: {"pending"}, InProgress: {"in-progress"}, Completed: {"done", "completed"}, Blocked: {"blocked"}, Skipped: {"cancelled", "deferred"},
	}},
	epicFiles: {words: marks{Pending: {"open"}, InProgress: {"in-progress"}, Completed: {"closed", "completed"}}},
}

// headPen is what stands in a heading for a status. Nobody writes there that a task is open, unless the file does.
var headPen = marks{
	Pending: {"", "PENDING"}, InProgress: {"IN PROGRESS", "⏳"}, Completed: {"COMPLETED", "✅"}, Blocked: {"BLOCKED"}, Skipped: {"SKIPPED"},
}

// markOf gives the mark of a status for an item, "" if there is none.
func (r *Reading) markOf(i int32, status Status) string {
	if r.grammar == &tableGrammar {
		return r.cellMark(i, status)
	}
	if r.grammar.headed && r.entries[i].worded {
		return r.headMark(i, status)
	}
	return r.markFor(status, r.entries[i].worded)
}

// markFor gives the mark of a status for an item with a box, or with a word. It is "" if there is none.
func (r *Reading) markFor(status Status, word bool) string {
	if word {
		return r.habit(pens[r.Dialect].words[status], word)
	}
	return r.habit(r.boxMarks(status), word)
}

// boxMarks gives what may stand in a box for a status: the marks of the dialect and those of the
// legend, as far as both mean that here. Of space and x every tool knows what they mean, so they come
// first, and nothing but x is written for what is done; for the rest a legend comes first.
func (r *Reading) boxMarks(status Status) []string {
	n := r.legendReader()
	own, told := slices.Clone(pens[r.Dialect].boxes[status]), n.legends().marksFor(status)
	switch {
	case status == Pending, status == Completed && len(own) == 0:
		own = append(own, told...)
	case status != Completed:
		own = append(told, own...)
	}
	return slices.DeleteFunc(own, func(mark string) bool {
		return mark != "" && n.reads(mark, r.Dialect) != status
	})
}

// reads gives what a mark in a box means, 0 for nothing.
func (n *numbered) reads(mark, dialect string) Status {
	if usual := usualMark(mark); usual != 0 {
		return usual
	}
	m, known := n.unusual(mark)
	if known && m.status == 0 {
		m.status, m.warning = tilde(dialect)
	}
	if m.warning != "" {
		return 0
	}
	return m.status
}

// habit gives the first mark that the file uses, and else the first.
func (r *Reading) habit(marks []string, word bool) string {
	if len(marks) == 0 {
		return ""
	}
	used := make(map[string]bool, len(marks))
	for i := range r.entries {
		if e := &r.entries[i]; e.markEnd > 0 && e.worded == word {
			used[r.text[e.mark:e.markEnd]] = true
		}
	}
	for _, mark := range marks {
		if used[mark] {
			return mark
		}
	}
	return marks[0]
}

// inexpressible says that there is no mark for a status, and which statuses have one.
func (r *Reading) inexpressible(i int32, status Status) string {
	var can []string
	for s := Pending; s <= Skipped; s++ {
		if r.markOf(i, s) != "" {
			can = append(can, s.String())
		}
	}
	said := fmt.Sprintf("the dialect %s has no mark for %s, only for %s", r.Dialect, status, strings.Join(can, ", "))
	if r.grammar == &tableGrammar {
		said = fmt.Sprintf("no mark for %s fits into its cell in line %d, only those for %s", status, r.entries[i].line, strings.Join(can, ", "))
	}
	if r.entries[i].worded && r.grammar.headed {
		return fmt.Sprintf("no word or sign for %s is written in a heading such as that in line %d, only those for %s; "+
			"take its own away by hand, and it is what the items below it are", status, r.entries[i].line, strings.Join(can, ", "))
	}
	if r.entries[i].worded {
		return said
	}
	return said + fmt.Sprintf("; say one in a legend of the plan, such as %q, to have it", "[!] = "+strings.ReplaceAll(status.String(), "_", " "))
}
