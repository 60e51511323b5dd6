package plan_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
	"waybill/test/slow"
)

var settable = []plan.Status{plan.Pending, plan.InProgress, plan.Completed, plan.Blocked, plan.Skipped}

// markOf asks for a status of an item.
func markOf(t require.TestingT, text, id string, line int, to plan.Status) (plan.Marked, error) {
	r, err := plan.Read(text, plan.Hints{})
	require.NoError(t, err)
	return r.Marked(plan.Marking{Plan: "tasks.md", ItemID: id, Line: line, Status: to})
}

// checkMarked holds for every plan and every item: either a typed error and nothing, or a plan that
// differs in one mark and reads so.
func checkMarked(t require.TestingT, text string, before *plan.Reading, was []plan.Item, it plan.Item, to plan.Status) {
	checkMarkedIn(t, text, before, was, it, to, false)
}

// checkMarkedIn is checkMarked, for a text that may be so odd that a mark in it would mean something else to
// others: then nothing is written, and that is the law.
func checkMarkedIn(t require.TestingT, text string, before *plan.Reading, was []plan.Item, it plan.Item, to plan.Status, odd bool) {
	marked, err := before.Marked(plan.Marking{Plan: "tasks.md", ItemID: it.ID, Line: it.Line, Status: to})
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
	require.Equal(t, it.Mark, span)
	mark := strings.TrimSuffix(strings.TrimPrefix(marked.Text, text[:span.Start]), text[span.End:])
	require.Equal(t, text[:span.Start]+mark+text[span.End:], marked.Text)
	if !it.Worded {
		require.Len(t, []rune(mark), 1)
		require.Equal(t, "[", text[span.Start-1:span.Start])
		require.Equal(t, "]", text[span.End:span.End+1])
	}
	require.Equal(t, to, marked.Item.Status)
	after, err := plan.Read(marked.Text, plan.Hints{})
	require.NoError(t, err)
	require.Equal(t, before.Dialect, after.Dialect)
	checkSame(t, was, after.Items(), it, to)
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
		r, err := plan.Read(text[:it.Mark.Start]+mark+text[it.Mark.End:], plan.Hints{})
		require.NoError(t, err)
		for _, other := range r.Items() {
			require.False(t, other.Line == it.Line && other.Status == to, "%q says %s in %s: %q", mark, to, r.Dialect, text)
		}
	}
}

func checkEveryMark(t require.TestingT, text string) (n int) { return checkEveryMarkIn(t, text, false) }

func checkEveryMarkIn(t require.TestingT, text string, odd bool) (n int) {
	r, err := plan.Read(text, plan.Hints{})
	require.NoError(t, err)
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
	"mark of order":    func(s string) string { return "\ufeff" + s },
	"tabs":             func(s string) string { return strings.ReplaceAll(s, "  ", "\t") },
	"no final newline": func(s string) string { return strings.TrimRight(s, "\n") },
	"trailing blanks":  func(s string) string { return strings.ReplaceAll(s, "\n", " \t\n") },
	"odd bytes":        func(s string) string { return s + "\n\u00a0\u0085\u2028 \x01\x1b[2J\u202e\n" },
}

// Every item of every plan that is a fixture is set to every status, in every form that a file comes in.
func TestFaultF7_OnlyTheMarkChanges(t *testing.T) {
	slow.Test(t)
	paths, err := filepath.Glob("testdata/plans/*.md")
	require.NoError(t, err)
	n := 0
	names := slices.Sorted(maps.Keys(forms))
	for i, path := range paths {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		some := names
		if slow.Race {
			some = names[i%len(names):][:1] // one form of each plan, and each form of some
		}
		for _, form := range some {
			t.Run(filepath.Base(path)+" "+form, func(t *testing.T) { n += checkEveryMark(t, forms[form](string(src))) })
		}
	}
	require.Greater(t, n, 500)
}

// drawMarks returns a plan whose lines are anything that a plan may have.
func drawMarks(t *rapid.T) string {
	line := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
			return rapid.SampledFrom([]string{
				"", "```", "<!--", "-->", "# Head", "  - _Blocked: no paper_", "  - _Prompt: Role: a | Task: b_", "> quoted",
				"- **Dependencies**: Task 1, Task 2", "  - a note", "- [ ] no id", "text [x] in it", "~~~", "\t",
			}).Draw(t, "line")
		}
		return rapid.SampledFrom([]string{"", "  ", "\t", "> "}).Draw(t, "indent") +
			rapid.SampledFrom([]string{"- ", "* ", "+ ", "1. ", "## "}).Draw(t, "bullet") +
			"[" + rapid.SampledFrom([]string{" ", "x", "X", "-", "~", "", "?", "é", "\t", "✅"}).Draw(t, "mark") + "]" +
			rapid.SampledFrom([]string{" ", "* ", "", "  "}).Draw(t, "gap") +
			rapid.SampledFrom([]string{"1", "2", "3", "1.1", "1.2", "2.1", "2.1.1", "4"}).Draw(t, "id") + " a thing"
	})
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
	return "- [ ] 9 the last" + end + strings.Join(rapid.SliceOfN(line, 1, 12).Draw(t, "lines"), end)
}

func TestOnlyTheMarkChangesInAnyPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkEveryMark(t, drawMarks(t)) })
}

func TestMarkIsTheOneThatTheFileUses(t *testing.T) {
	for text, want := range map[string]string{
		"- [ ] 1 a\n- [ ] 2 b\n":            "- [x] 1 a\n- [ ] 2 b\n",
		"- [ ] 1 a\n- [X] 2 b\n":            "- [X] 1 a\n- [X] 2 b\n",
		"- [ ] 1 a\n- [X] 2 b\n- [x] 3 c":   "- [x] 1 a\n- [X] 2 b\n- [x] 3 c",
		"- [] 1 a\r\n- [ ] 2 b":             "- [x] 1 a\r\n- [ ] 2 b",
		"- [✅] 1 a\n- [ ] 2 b\n":            "- [x] 1 a\n- [ ] 2 b\n",
		"- [-] 1 a\n  - [ ] 1.1 b\n":        "- [x] 1 a\n  - [ ] 1.1 b\n", // a parent is marked when it is named
		"- [~] 1 a\n  - _Blocked: paper_\n": "- [x] 1 a\n  - _Blocked: paper_\n",
	} {
		marked, err := markOf(t, text, "1", 0, plan.Completed)
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, marked.Text)
	}
}

// The first item of each plan is set to each status; "" is a refusal because there is no mark.
func TestMarksOfTheDialects(t *testing.T) {
	const (
		legend  = "[S] = skipped, [!] = blocked, [>] = in progress\n"
		kiroish = "# Implementation Plan\n- [ ]* 1. a\n"
	)
	for _, c := range []struct {
		text, id string
		marks    string // of pending, in progress, completed, blocked, skipped
	}{
		{"- [?] 1. a\n  - _Prompt: b_\n", "1", "?|-|x||"},
		{"- [?] 1. a\n  - _Blocked: b_\n", "1", "?|-|x|~|"},
		{kiroish, "1", " |-|x||"},
		{"- [?] T001 a\n", "T001", "?||X||-"},
		{"- [?] T001 a\n- [x] T002 b\n", "T001", "?||x||-"},
		{"## 1. A\n- [?] 1.1 a\n", "1.1", "?||x||"},
		{"- [?] 1.1 a (P)\n  - _Boundary: b_\n", "1.1", "?|-|x||"},
		{"- [?] 1.0 a\n- [ ] 2.0 b\n", "1.0", "?||x||"},
		{"- [?] a\n", "item/1", "?||x||"},
		{"- [?] a\n- [⏳] b\n- [✅] c\n", "item/1", "?|⏳|✅||"},

		{"### Task 1: A\n- [?] **Step 1: a**\n- [ ] **Step 2: b**\n", "1.1", "?||x||"},
		{"#### Task Group 1: A\n- [?] 1.0 a\n", "1.0", "?||x||"},
		{"## [ ] Track: A\n- [?] Task: a\n", "a/1", "?|~|x||"},
		{"## [?] Track: A\n- [ ] Task: a\n", "a", "?|~|x||"},
		{"## Tasks / Subtasks\n- [?] Task 1: a (AC: 1)\n", "1", "?||x||"},
		{"## Tasks Created\n- [?] 001.md - A (parallel: true)\n", "001", "?||x||"},

		// What the file says about a mark counts.
		{legend + "- [?] a\n", "item/1", "?|>|x|!|S"},
		{legend + "- [?] T001 a\n", "T001", "?|>|X|!|S"},
		{legend + "- [?] T001 a\n- [-] T002 b\n", "T001", "?|>|X|!|-"},
		{legend + "- [?] 1. a\n  - _Prompt: b_\n", "1", "?|>|x|!|S"},
		{legend + "- [?] 1. a\n  - _Prompt: b_\n- [-] 2. b\n", "1", "?|-|x|!|S"},
		{"[-] = in progress\n- [?] a\n", "item/1", "?|-|x||"},
		{"[-] = in progress\n- [?] T001 a\n", "T001", "?|-|X||"}, // and means nothing else then
		{"[~] = deferred\n- [?] 1. a\n  - _Blocked: b_\n", "1", "?|-|x||~"},
		{"[-] = skipped\n- [?] 1. a\n", "1", "?||x||-"},
		{"[D] = done, [.] = open\n- [x] a\n- [D] b\n", "item/1", " ||x||"},
		{"[D] = done, [.] = open\n- [?] a\n- [D] b\n", "item/1", "?||x||"}, // which says so to everybody
		{"[]] = done, [\t] = skipped, [\u00a0] = blocked\n- [x] a\n", "item/1", " ||x||"},
		{"[S] = skipped, [D] = dropped\n- [?] a\n", "item/1", "?||x||S"},
		{"[S] = skipped, [D] = dropped\n- [?] a\n- [D] b\n", "item/1", "?||x||D"},

		// A sign takes the place of a sign.
		{"- ✅ a\n", "item/1", "|⏳|✅||"},
		{"- ⏳\ufe0f a\n", "item/1", "|⏳\ufe0f|✅||"},
		{legend + "1. ⏳ a\n", "item/1", "|⏳|✅||"},
	} {
		var got []string
		for _, to := range settable {
			marked, err := markOf(t, c.text, c.id, 0, to)
			if refusal, ok := errors.AsType[*plan.MarkError](err); ok {
				require.Equal(t, plan.MarkInexpressible, refusal.Reason, "%q %s: %v", c.text, to, err)
				got = append(got, "")
				continue
			}
			require.NoError(t, err)
			require.Equal(t, to, marked.Item.Status)
			got = append(got, marked.Text[marked.Item.Mark.Start:marked.Item.Mark.End])
		}
		require.Equal(t, c.marks, strings.Join(got, "|"), "%q", c.text)
	}
}

func TestParentDoesNotFollowItsChildren(t *testing.T) {
	marked, err := markOf(t, "- [ ] 1 a\n  - [ ] 1.1 b\n", "1.1", 0, plan.Completed)
	require.NoError(t, err)
	require.Equal(t, "- [ ] 1 a\n  - [x] 1.1 b\n", marked.Text)
}
