package edit

import (
	"slices"
	"strings"

	"waybill/plan"
	"waybill/plan/legend"
	"waybill/plan/lex"
)

// This file chooses the texts that may express a status: those that the plan already uses come first, then those of the
// dialect in the style of the plan.

// candidates returns the possible marks of the item for a status, in order of preference.
func (e *editor) candidates(status plan.Status) []string {
	own := e.mark(e.entry)
	switch {
	case e.d.Rows:
		used, look := e.column(status)
		return slices.Concat(used, e.styled(look, status), e.styled(own, status))
	case !e.entry.Worded:
		return e.preferred(e.boxMarks(status))
	case !e.headed():
		return e.preferred(e.d.Words[status])
	case lex.Trim(own) == "" || lex.EqualWord(own, "x"): // a checkbox at the end of a heading
		return []string{[...]string{plan.Pending: " ", plan.Completed: "x", plan.Skipped: ""}[status]}
	}
	var marks []string
	for i := range e.rows.Entries {
		one := &e.rows.Entries[i]
		if mark := e.mark(one); one.Worded && one.Status == status && !one.Withdrawn && lex.Trim(mark) != "" && !lex.EqualWord(mark, "x") {
			marks = append(marks, mark)
		}
	}
	sign, word := parts(own)
	for _, mark := range e.d.Words[status] {
		switch {
		case status == plan.Pending: // an open status is written only if the plan already has one in a heading
		case !lex.IsUpper(mark[0]): // a sign has no case
			marks = append(marks, mark)
		case word != "" || sign == "":
			marks = append(marks, spell(word, strings.ToLower(mark)))
		}
	}
	return marks
}

// headed reports whether the item is a heading.
func (e *editor) headed() bool {
	return e.entry.Worded && !e.d.Records && strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(e.rows.Text[e.entry.From:], lex.BOM), " "), "#")
}

func (e *editor) mark(one *plan.Entry) string { return e.rows.Text[one.Mark:one.MarkEnd] }

// boxMarks returns the possible marks of a checkbox: those of the dialect and the legend. All tools know space and x, so
// these come first, and completed is always x. For other statuses the legend comes first.
func (e *editor) boxMarks(status plan.Status) []string {
	own, told := e.d.Boxes[status], legend.Read(e.rows.Text).MarksFor(status)
	switch {
	case status == plan.Completed && len(own) > 0:
		return own
	case status == plan.Pending || status == plan.Completed:
		return slices.Concat(own, told)
	}
	return slices.Concat(told, own)
}

// preferred moves the first mark that the plan uses to the front. If the first mark is "", the others are written only
// if the plan uses them.
func (e *editor) preferred(marks []string) []string {
	used := map[string]bool{}
	for i := range e.rows.Entries {
		if one := &e.rows.Entries[i]; one.MarkEnd > 0 && one.Worded == e.entry.Worded {
			used[e.mark(one)] = true
		}
	}
	at := slices.IndexFunc(marks, func(mark string) bool { return mark != "" && used[mark] })
	switch {
	case at > 0:
		return slices.Concat(marks[at:at+1], marks)
	case at < 0 && len(marks) > 0 && marks[0] == "":
		return nil
	}
	return marks
}

// column returns the texts that the table of a row uses for a status, and the first status text of the table, whose
// style counts.
func (e *editor) column(status plan.Status) (used []string, look string) {
	first, last := e.i, e.i
	for first > 0 && e.adjacent(first-1) {
		first--
	}
	for int(last)+1 < len(e.rows.Entries) && e.adjacent(last) {
		last++
	}
	told := legend.Read(e.rows.Text)
	for i := first; i <= last; i++ {
		one := &e.rows.Entries[i]
		mark := e.mark(one)
		state := lex.StateOf(mark)
		if _, explained := told.Of(state.Word); mark == "" || one.Withdrawn || !explained && (!state.Known || state.Status != one.Status) {
			continue
		}
		if look == "" {
			look = mark
		}
		// Work that is reviewed or tested is past its beginning, so these words do not suit an item that is only begun.
		if lower := strings.ToLower(mark); one.Status == status && !strings.Contains(lower, "review") && !strings.Contains(lower, "testing") {
			used = append(used, mark)
		}
	}
	return used, look
}

// adjacent reports whether a row and the next one are in the same table, because no blank line is between them.
func (e *editor) adjacent(i int32) bool {
	between := e.rows.Text[e.rows.Entries[i].To:e.rows.Entries[i+1].From]
	between = strings.ReplaceAll(strings.ReplaceAll(between, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(between, "\n")
	return !slices.ContainsFunc(lines[1:max(1, len(lines)-1)], func(line string) bool { return lex.Trim(line) == "" })
}

// parts splits a status text into a sign and a word.
func parts(mark string) (sign, word string) {
	if _, rest := lex.CutSign(mark); rest != mark {
		return mark[:len(mark)-len(rest)], lex.Trim(rest)
	}
	return "", mark
}

// signs are the signs that this package writes.
var signs = [...]string{plan.Pending: "⬜", plan.InProgress: "⏳", plan.Completed: "✅", plan.Blocked: "⛔", plan.Skipped: "⏭"}

// styled returns the texts of a status in the style of another text: a checkbox, a sign, a word or both.
func (e *editor) styled(look string, status plan.Status) []string {
	word := e.d.Words[status][0]
	sign, like := parts(look)
	switch {
	case look == "":
		return []string{word}
	case look[0] == '[':
		return []string{[...]string{plan.Pending: "[ ]", plan.Completed: "[x]", plan.Skipped: ""}[status]}
	case sign == "":
		return []string{spell(like, word)}
	case like == "":
		return []string{signs[status]}
	}
	return []string{signs[status] + " " + spell(like, word), signs[status]}
}

// spell writes a word in the case and with the separators of another one: "In Progress" next to "To Do", "IN_PROGRESS"
// next to "FOR_REVIEW".
func spell(like, word string) string {
	for _, gap := range [...]string{"_", "-"} {
		if strings.Contains(like, gap) {
			word = strings.ReplaceAll(word, " ", gap)
		}
	}
	first := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	switch _, second, several := strings.Cut(like, " "); {
	case like == strings.ToLower(like):
		return word
	case len(like) > 1 && like == strings.ToUpper(like):
		return strings.ToUpper(word)
	case several && second != "" && lex.IsUpper(second[0]):
		if one, two, ok := strings.Cut(word, " "); ok {
			return first(one) + " " + first(two)
		}
	}
	return first(word)
}
