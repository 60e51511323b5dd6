package plan

import (
	"fmt"
	"slices"
	"strings"
)

// This file contains the status syntax of each dialect.

// statusSigns are the signs of each status. The first sign is written, unless the file already uses another one. If
// the first is "", a sign is written only if the file uses it.
type statusSigns [Skipped + 1][]string

// statusSyntax is the notation of a dialect for the status of items.
type statusSyntax struct {
	boxes statusSigns // between the brackets of a checkbox
	words statusSigns // for items with a status word or sign instead of a checkbox
}

// statusSyntaxes are the dialects that can be written. Marking a child never marks its parent, because tools that
// require a finished parent have an agent run tests and commit first.
var statusSyntaxes = map[string]statusSyntax{
	specContext:  {boxes: statusSigns{Pending: {" "}, InProgress: {"-"}, Completed: {"x", "X"}}},
	specWorkflow: {boxes: statusSigns{Pending: {" "}, InProgress: {"-"}, Completed: {"x", "X"}, Blocked: {"~"}}},
	kiro:         {boxes: statusSigns{Pending: {" "}, InProgress: {"-"}, Completed: {"x", "X"}}, words: headStatusSigns},
	specKit:      {boxes: statusSigns{Pending: {" "}, Completed: {"X", "x"}, Skipped: {"-"}}},
	openSpec:     {boxes: statusSigns{Pending: {" "}, Completed: {"x", "X"}}},
	ccSDD:        {boxes: statusSigns{Pending: {" "}, InProgress: {"-"}, Completed: {"x", "X"}}},
	aiDev:        {boxes: statusSigns{Pending: {" "}, Completed: {"x", "X"}}},
	superpowers:  {boxes: statusSigns{Pending: {" "}, Completed: {"x", "X"}}, words: headStatusSigns},
	tina:         {boxes: statusSigns{Pending: {" "}, Completed: {"x", "X"}}, words: headStatusSigns},
	agentOS:      {boxes: statusSigns{Pending: {" "}, Completed: {"x", "X"}}, words: headStatusSigns},
	conductor:    {boxes: statusSigns{Pending: {" "}, InProgress: {"~"}, Completed: {"x", "X"}}},
	bmad:         {boxes: statusSigns{Pending: {" "}, Completed: {"x", "X"}}},
	ccpm:         {boxes: statusSigns{Pending: {" "}, Completed: {"x", "X"}}},
	loose: {
		boxes: statusSigns{Pending: {" "}, InProgress: {"", "⏳"}, Completed: {"x", "X", "✅"}},
		words: statusSigns{
			Pending: {"", "⬜", "☐", "🔲"}, InProgress: {"⏳", "🔄", "🚧"}, Completed: {"✅", "☑", "✔"}, Blocked: {"", "⏸", "⛔", "🚫"},
		},
	},
	// The statuses that the column already uses take precedence: see cellMark.
	tabular: {
		words: statusSigns{Pending: {"todo"}, InProgress: {"in progress"}, Completed: {"done"}, Blocked: {"blocked"}, Skipped: {"skipped"}},
	},
	backlog: {words: statusSigns{
		Pending: {"To Do", "to do", "To do", "todo", "Todo"}, InProgress: {"In Progress", "in progress", "In progress", "in-progress"},
		Completed: {"Done", "done", "completed"}, Blocked: {"", "Blocked", "blocked"},
	}},
	taskMaster: {words: statusSigns{
		Pending: {"pending"}, InProgress: {"in-progress"}, Completed: {"done", "completed"}, Blocked: {"blocked"}, Skipped: {"cancelled", "deferred"},
	}},
	epicFiles: {words: statusSigns{Pending: {"open"}, InProgress: {"in-progress"}, Completed: {"closed", "completed"}}},
}

// headStatusSigns are the signs of headings. An open status is written only if the file already has one in a heading.
var headStatusSigns = statusSigns{
	Pending: {"", "PENDING"}, InProgress: {"IN PROGRESS", "⏳"}, Completed: {"COMPLETED", "✅"}, Blocked: {"BLOCKED"}, Skipped: {"SKIPPED"},
}

// markOf returns the mark of a status for an item, or "".
func (r *Reading) markOf(i int32, status Status) string {
	if r.grammar == &tableGrammar {
		return r.cellMark(i, status)
	}
	if r.grammar.headed && r.entries[i].worded {
		return r.headMark(i, status)
	}
	return r.markFor(status, r.entries[i].worded)
}

// markFor returns the mark of a status for an item with a checkbox, or with a word if word is true. It returns "" if
// there is none.
func (r *Reading) markFor(status Status, word bool) string {
	if word {
		return r.preferredSign(statusSyntaxes[r.Dialect].words[status], word)
	}
	return r.preferredSign(r.boxMarks(status), word)
}

// boxMarks returns the possible marks of a checkbox for a status: those of the dialect and the legend that are read
// back as this status. All tools know space and x, so these come first, and completed is always x. For other statuses
// the legend comes first.
func (r *Reading) boxMarks(status Status) []string {
	n := r.legendReader()
	own, told := slices.Clone(statusSyntaxes[r.Dialect].boxes[status]), n.legends().marksFor(status)
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

// reads returns the status for a mark in a checkbox, or 0.
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

// preferredSign returns the first mark that the file uses, or else the first mark.
func (r *Reading) preferredSign(marks []string, word bool) string {
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

// inexpressible returns a message that a status has no mark here, and lists the statuses that have one.
func (r *Reading) inexpressible(i int32, status Status) string {
	var can []string
	for s := Pending; s <= Skipped; s++ {
		if r.markOf(i, s) != "" {
			can = append(can, s.String())
		}
	}
	said := fmt.Sprintf("the dialect %s has no mark for %s, only for %s", r.Dialect, status, strings.Join(can, ", "))
	if r.grammar == &tableGrammar {
		said = fmt.Sprintf("no mark for %s fits into its cell on line %d, only those for %s", status, r.entries[i].line, strings.Join(can, ", "))
	}
	if r.entries[i].worded && r.grammar.headed {
		return fmt.Sprintf("no word or sign for %s fits a heading such as the one on line %d, only those for %s; "+
			"remove its own status by hand, and it follows the items below it", status, r.entries[i].line, strings.Join(can, ", "))
	}
	if r.entries[i].worded {
		return said
	}
	return said + fmt.Sprintf("; define one in a legend of the plan, such as %q", "[!] = "+strings.ReplaceAll(status.String(), "_", " "))
}
