package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
)

// filesOf returns the files of a plan, the plan itself for one of one file.
func filesOf(text string) []plan.PlanFile {
	if files, ok := plan.SplitFiles(text); ok {
		return files
	}
	return []plan.PlanFile{{Text: text}}
}

// checkWords sets every status of every record: a typed error, or one word in one file that is another, and
// nothing else that reads otherwise.
func checkWords(t require.TestingT, text string) (set int) { return checkEachWord(t, text, false) }

// checkEachWord is checkWords, for a text that may be so odd that a word in it means something else to others:
// then nothing is written, and that is the law.
func checkEachWord(t require.TestingT, text string, odd bool) (set int) {
	r, err := plan.Read(text, plan.Hints{})
	require.NoError(t, err)
	items := r.Items()
	for _, it := range items {
		for _, to := range settable {
			marked, err := r.Marked(plan.Marking{Plan: "backlog", ItemID: it.ID, Line: it.Line, Status: to})
			if err != nil {
				refusal, ok := errors.AsType[*plan.MarkError](err)
				require.True(t, ok, "%T", err)
				require.True(t, odd || refusal.Reason != plan.MarkMisread, "%q: %v", text, err)
				continue
			}
			set++
			after, err := plan.Read(marked.Text, plan.Hints{})
			require.NoError(t, err)
			checkSame(t, items, after.Items(), it, to)
			checkOneWord(t, filesOf(text), filesOf(marked.Text), it, text[it.Mark.Start:it.Mark.End])
		}
	}
	return set
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

// The word for a status is replaced in every form that a file comes in, and no other byte of any file.
func TestFaultF7_OnlyTheStatusWordChanges(t *testing.T) {
	forms := map[string]func(string) string{
		"as it is":         func(s string) string { return s },
		"crlf":             func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"cr":               func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"mark of order":    func(s string) string { return "\ufeff" + strings.TrimPrefix(s, "\ufeff") },
		"no final newline": func(s string) string { return strings.TrimRight(s, "\n") },
		"trailing blanks":  func(s string) string { return strings.ReplaceAll(s, "\n", " \n") },
	}
	set := 0
	for name, text := range recordPlans(t) {
		for form, of := range forms {
			t.Run(name+" "+form, func(t *testing.T) {
				files, folder := plan.SplitFiles(text)
				if !folder {
					set += checkWords(t, of(text))
					return
				}
				for k := range files {
					files[k].Text = of(files[k].Text)
				}
				set += checkWords(t, plan.JoinFiles(files))
			})
		}
	}
	require.Greater(t, set, 300)
}

func TestOnlyTheStatusWordChangesInAnyFolder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files, _ := writeFolder(t)
		checkWords(t, plan.JoinFiles(files))
	})
}
