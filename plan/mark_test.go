package plan_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/edit"
	"waybill/test/slow"
)

var settable = []plan.Status{plan.Pending, plan.InProgress, plan.Completed, plan.Blocked, plan.Skipped}

// markOf asks for a status of an item.
func markOf(t require.TestingT, text, id string, line int, to plan.Status) (plan.Marked, error) {
	r := parse(t, text)
	return edit.Set(r, plan.Marking{Plan: "tasks.md", ItemID: id, Line: line, Status: to})
}

// checkMarkedIn holds for every plan and every item: either a typed error and nothing, or a plan that differs in one mark and
// reads so. A text may be so odd that a mark in it would mean something else to others: then nothing is written.
func checkMarkedIn(t require.TestingT, text string, before *plan.Reading, was []plan.Item, it plan.Item, to plan.Status, odd bool) {
	marked, err := edit.Set(before, plan.Marking{Plan: "tasks.md", ItemID: it.ID, Line: it.Line, Status: to})
	if err != nil {
		refusal, ok := errors.AsType[*plan.MarkError](err)
		require.True(t, ok, "%T", err)
		require.NotEmpty(t, refusal.Reason)
		require.True(t, odd || refusal.Reason != plan.MarkMisread, "%q: %v", text, err)
		if refusal.Reason == plan.MarkInexpressible && !it.Worded {
			checkInexpressible(t, text, it, to)
		}
		return
	}
	span := marked.Changed
	if it.Status == to {
		require.Equal(t, text, marked.Text)
		require.Equal(t, span.Start, span.End)
		return
	}
	require.Equal(t, to, marked.Item.Status)
	after := parse(t, marked.Text)
	require.Equal(t, before.Dialect, after.Dialect)
	checkSame(t, was, after.Items(), it, to)
	if isFolder(text) {
		checkOneWord(t, filesOf(text), filesOf(marked.Text), it, text[it.Mark.Start:it.Mark.End])
		return
	}
	require.Equal(t, it.Mark, span)
	mark := strings.TrimSuffix(strings.TrimPrefix(marked.Text, text[:span.Start]), text[span.End:])
	require.Equal(t, text[:span.Start]+mark+text[span.End:], marked.Text)
	if !it.Worded {
		require.Len(t, []rune(mark), 1)
		require.Equal(t, "[", text[span.Start-1:span.Start])
		require.Equal(t, "]", text[span.End:span.End+1])
	}
}

// filesOf returns the files of a plan, the plan itself for one of one file.
func filesOf(text string) []plan.PlanFile {
	if files, ok := plan.SplitFiles(text); ok {
		return files
	}
	return []plan.PlanFile{{Text: text}}
}

func isFolder(text string) bool {
	_, folder := plan.SplitFiles(text)
	return folder
}

// checkOneWord wants no other difference between two versions of the files than a word in one of them.
func checkOneWord(t require.TestingT, was, is []plan.PlanFile, it plan.Item, word string) {
	require.Len(t, is, len(was))
	for k := range was {
		require.Equal(t, was[k].Name, is[k].Name)
		if was[k].Text == is[k].Text {
			continue
		}
		require.Equal(t, it.Source, was[k].Name)
		before, after := was[k].Text, is[k].Text
		for before != "" && after != "" && before[0] == after[0] {
			before, after = before[1:], after[1:]
		}
		for before != "" && after != "" && before[len(before)-1] == after[len(after)-1] {
			before, after = before[:len(before)-1], after[:len(after)-1]
		}
		require.Contains(t, word, before)
		require.LessOrEqual(t, len(after), len("in-progress"))
		require.NotContains(t, after, "\n")
	}
}

// checkSame wants a plan to read as before, but for the status of one item.
func checkSame(t require.TestingT, was, is []plan.Item, it plan.Item, to plan.Status) {
	require.Len(t, is, len(was))
	for i := range was {
		want := was[i]
		want.DerivedStatus = is[i].DerivedStatus // which is to follow
		want.DependsOn = is[i].DependsOn         // nobody waits for a phase that is skipped
		if want.Line == it.Line && want.ID == it.ID && want.Source == it.Source {
			want.Status = to
		}
		if want.Mark.End == 0 && want.Status == was[i].DerivedStatus {
			want.Status = is[i].Status // a heading that says nothing itself follows as well
		}
		want.Mark = is[i].Mark
		require.Equal(t, want, is[i])
	}
}

// checkInexpressible wants that no mark in the box says the status.
func checkInexpressible(t require.TestingT, text string, it plan.Item, to plan.Status) {
	for _, mark := range []string{" ", "x", "X", "-", "~", "S", "!", ">"} {
		r := parse(t, text[:it.Mark.Start]+mark+text[it.Mark.End:])
		for _, other := range r.Items() {
			require.False(t, other.Line == it.Line && other.Status == to, "%q says %s in %s: %q", mark, to, r.Dialect, text)
		}
	}
}

func checkEveryMark(t require.TestingT, text string) (n int) { return checkEveryMarkIn(t, text, false) }

func checkEveryMarkIn(t require.TestingT, text string, odd bool) (n int) {
	r := parse(t, text)
	items := r.Items()
	for _, it := range items {
		for _, to := range settable {
			checkMarkedIn(t, text, r, items, it, to, odd)
			n++
		}
	}
	return n
}

// forms are those that a file comes in.
var forms = map[string]func(string) string{
	"as it is":         func(s string) string { return s },
	"crlf":             func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"cr":               func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
	"mark of order":    func(s string) string { return "\ufeff" + strings.TrimPrefix(s, "\ufeff") },
	"tabs":             func(s string) string { return strings.ReplaceAll(s, "  ", "\t") },
	"no final newline": func(s string) string { return strings.TrimRight(s, "\n") },
	"trailing blanks":  func(s string) string { return strings.ReplaceAll(s, "\n", " \t\n") },
	"odd bytes":        func(s string) string { return s + "\n\u00a0\u0085\u2028 \x01\x1b[2J\u202e\n" },
}

// inForm returns a plan in a form, each file of a folder by itself.
func inForm(form, text string) string {
	files := filesOf(text)
	for k := range files {
		if form != "odd bytes" || !strings.Contains(files[k].Text, "\"tasks\"") { // nothing may stand behind JSON
			files[k].Text = forms[form](files[k].Text)
		}
	}
	if isFolder(text) {
		return plan.JoinFiles(files)
	}
	return files[0].Text
}

// Every item of every plan that is a fixture is set to every status, in every form that a file comes in.
func TestFaultF7_OnlyTheMarkChanges(t *testing.T) {
	slow.Test(t)
	n, i := 0, 0
	names := slices.Sorted(maps.Keys(forms))
	for _, folder := range []string{"plans", "records"} {
		for name, text := range fixtures(t, folder) {
			some := names
			if slow.Race {
				some = names[i%len(names):][:1] // one form of each plan, and each form of some
			}
			i++
			for _, form := range some {
				t.Run(name+" "+form, func(t *testing.T) { n += checkEveryMark(t, inForm(form, text)) })
			}
		}
	}
	require.Greater(t, n, 500)
}
