package ledger_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/ledger"
)

var settable = []ledger.Status{ledger.Pending, ledger.InProgress, ledger.Completed}

// markOf asks for a status of an item.
func markOf(t require.TestingT, text, id string, line int, to ledger.Status) (ledger.Marked, error) {
	r, err := ledger.Read(text)
	require.NoError(t, err)
	return r.Marked(ledger.Marking{Plan: "tasks.md", ItemID: id, Line: line, Status: to})
}

// checkMarked holds for every plan and every item: either a typed error and nothing, or a plan that
// differs in one mark and reads so.
func checkMarked(t require.TestingT, text string, it ledger.Item, to ledger.Status) {
	marked, err := markOf(t, text, it.ID, it.Line, to)
	if err != nil {
		refusal, ok := errors.AsType[*ledger.MarkError](err)
		require.True(t, ok, "%T", err)
		require.NotEmpty(t, refusal.Reason)
		require.NotEqual(t, ledger.MarkMisread, refusal.Reason, "%q: %v", text, err)
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
	require.Contains(t, []string{" ", "-", "x", "X"}, mark)
	require.Equal(t, "[", text[span.Start-1:span.Start])
	require.Equal(t, "]", text[span.End:span.End+1])

	before, err := ledger.Read(text)
	require.NoError(t, err)
	after, err := ledger.Read(marked.Text)
	require.NoError(t, err)
	was, is := before.Items(), after.Items()
	require.Len(t, is, len(was))
	for i := range was {
		want := was[i]
		want.DerivedStatus = is[i].DerivedStatus // which is to follow
		if want.Line == it.Line {
			want.Status = to
		}
		want.Mark = is[i].Mark
		require.Equal(t, want, is[i])
	}
	require.Equal(t, to, marked.Item.Status)
}

func checkEveryMark(t require.TestingT, text string) (n int) {
	r, err := ledger.Read(text)
	require.NoError(t, err)
	for _, it := range r.Items() {
		for _, to := range settable {
			checkMarked(t, text, it, to)
			n++
		}
	}
	return n
}

// Every item of every plan that is a fixture is set to every status, in every form that a file comes in.
func TestFaultF7_OnlyTheMarkChanges(t *testing.T) {
	forms := map[string]func(string) string{
		"as it is":         func(s string) string { return s },
		"crlf":             func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"cr":               func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"mark of order":    func(s string) string { return "\ufeff" + s },
		"tabs":             func(s string) string { return strings.ReplaceAll(s, "  ", "\t") },
		"no final newline": func(s string) string { return strings.TrimRight(s, "\n") },
		"trailing blanks":  func(s string) string { return strings.ReplaceAll(s, "\n", " \t\n") },
		"odd bytes":        func(s string) string { return s + "\n\u00a0\u0085\u2028 \x01\x1b[2J\u202e\n" },
	}
	paths, err := filepath.Glob("testdata/plans/*.md")
	require.NoError(t, err)
	n := 0
	for _, path := range paths {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		for form, of := range forms {
			t.Run(filepath.Base(path)+" "+form, func(t *testing.T) { n += checkEveryMark(t, of(string(src))) })
		}
	}
	require.Greater(t, n, 500)
}

// drawMarks gives a plan whose lines are anything that a plan may have.
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
		marked, err := markOf(t, text, "1", 0, ledger.Completed)
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, marked.Text)
	}
}

func TestParentDoesNotFollowItsChildren(t *testing.T) {
	marked, err := markOf(t, "- [ ] 1 a\n  - [ ] 1.1 b\n", "1.1", 0, ledger.Completed)
	require.NoError(t, err)
	require.Equal(t, "- [ ] 1 a\n  - [x] 1.1 b\n", marked.Text)
}

// What cannot be set is refused with what, why and where.
func TestItemsThatAreNotSet(t *testing.T) {
	const twice = "- [ ] 1 a\n- [ ] 2 b\n- [ ] 1 c\n"
	for name, c := range map[string]struct {
		text   string
		id     string
		line   int
		to     ledger.Status
		reason ledger.MarkReason
	}{
		"blocked":  {"- [ ] 1 a\n", "1", 0, ledger.Blocked, ledger.MarkInexpressible},
		"skipped":  {"- [ ] 1 a\n", "1", 0, ledger.Skipped, ledger.MarkInexpressible},
		"twice":    {twice, "1", 0, ledger.Completed, ledger.MarkAmbiguous},
		"no such":  {twice, "1", 2, ledger.Completed, ledger.MarkElsewhere},
		"quote":    {"> - [ ] 1 a\n", "1", 0, ledger.Completed, ledger.MarkQuoted},
		"fence":    {"- [ ] 2 b\n  - **Dependencies**: Task 1\n\n```\n- [ ] 1 a\n```\n", "1", 0, ledger.Completed, ledger.MarkHidden},
		"comment":  {"- [ ] 2 b\n  - **Dependencies**: Task 1\n\n<!--\n- [ ] 1 a\n-->\n", "1", 0, ledger.Completed, ledger.MarkHidden},
		"the same": {"> - [x] 1 a\n", "1", 0, ledger.Completed, ledger.MarkQuoted},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := markOf(t, c.text, c.id, c.line, c.to)
			refusal, ok := errors.AsType[*ledger.MarkError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.reason, refusal.Reason)
			require.Equal(t, "tasks.md", refusal.Plan)
			require.NotEmpty(t, refusal.Lines)
			require.ErrorContains(t, err, `item "`+c.id+`" of plan "tasks.md" cannot be set: `)
		})
	}
	marked, err := markOf(t, twice, "1", 3, ledger.Completed)
	require.NoError(t, err)
	require.Equal(t, "- [ ] 1 a\n- [ ] 2 b\n- [x] 1 c\n", marked.Text)
}

func TestUnknownItemIsNotSet(t *testing.T) {
	for _, text := range []string{"- [ ] 1 a\n", " \n"} {
		_, err := markOf(t, text, "7", 0, ledger.Completed)
		unknown, ok := errors.AsType[*ledger.ItemError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, ledger.ItemError{Plan: "tasks.md", ItemID: "7"}, *unknown)
	}
}
