package plan_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
)

// openBoxLine matches a checkbox without a mark. Like checkboxLine, it is independent of the package's own reader.
var openBoxLine = regexp.MustCompile(`^(?:` + space + `|>)*(?:[-*+]|[0-9]+[.)]|#{1,6})` + space + `*\[` + space + `?\](.?)`)

// requireOpenWorkCounts checks that no open box is counted as done: every box without a mark is an open item, a group,
// which its children answer for, a withdrawn item, or a diagnostic that counts as open. Samples in fences and comments,
// legends, and lists that repeat other files are no work.
func requireOpenWorkCounts(t require.TestingT, src string) {
	r, err := plan.Read(src, plan.Hints{})
	if err != nil || r.Len() == 0 {
		return
	}
	items, ready := r.Items(), r.Ready(r.Items(), runs(nil))
	open := 0
	for _, it := range items {
		if it.DerivedStatus == 0 && it.Status != plan.Completed && it.Status != plan.Skipped {
			open++
		}
	}
	require.Equal(t, open, r.Totals.Pending+r.Totals.InProgress+r.Totals.Blocked-r.Totals.Unread)
	loose := 0
	for _, d := range r.Diagnostics {
		if d.Open {
			loose++
		}
		if !d.NotATask || d.Open || isNoWork(d) {
			continue
		}
		line := lineOf(src, d)
		open := openBoxLine.MatchString(line) && !strings.Contains(line, "~~")
		require.False(t, open, "line %d is an open box, and nothing counts it: %s\n%s", d.Line, d.Message, src)
	}
	require.Equal(t, loose, r.Totals.Unread)
	require.Equal(t, loose, ready.Unread)
	if open+loose > 0 {
		require.Less(t, r.Totals.Completed, r.Totals.Total, src)
	}
	if loose > 0 {
		require.False(t, ready.Complete, src)
	}
}

func isNoWork(d plan.Diagnostic) bool {
	switch d.Code {
	case "checkbox_in_fence", "checkbox_in_comment", "legend_line", "list_contradicts_file":
		return true
	}
	return strings.Contains(d.Message, "this line lists ")
}

// lineOf returns the line that a diagnostic is about.
func lineOf(src string, d plan.Diagnostic) string {
	if files, ok := plan.SplitFiles(src); ok {
		for _, f := range files {
			if f.Name == d.Source {
				src = f.Text
			}
		}
	}
	lines := lineEnd.Split(strings.TrimPrefix(src, "\ufeff"), -1)
	return lines[d.Line-1]
}

// Plans with open boxes showed 100 % and completed, because criteria, notes and other boxes that are no items were not
// counted.
func TestNoOpenBoxCountsAsDone(t *testing.T) {
	paths, err := filepath.Glob("testdata/plans/*.md")
	require.NoError(t, err)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			require.NoError(t, err)
			requireOpenWorkCounts(t, string(src))
		})
	}
	for name, text := range recordPlans(t) {
		t.Run(name, func(t *testing.T) { requireOpenWorkCounts(t, text) })
	}
	t.Run("seeds", func(t *testing.T) {
		for _, seed := range seeds {
			requireOpenWorkCounts(t, seed)
		}
	})
	t.Run("hard texts", func(t *testing.T) {
		for _, hard := range hardTexts {
			requireOpenWorkCounts(t, hard.text)
		}
	})
	t.Run("any order of lines", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { requireOpenWorkCounts(t, drawText(t)) })
	})
}

// The same file once without and once with one more open box: the box shows in the total, wherever it stands.
func TestAnOpenBoxAnywhereKeepsAPlanFromBeingComplete(t *testing.T) {
	for name, lines := range map[string][2]string{
		"notes":       {"# Tasks\n- [x] 1. a\n- [x] 2. b\n", "\n## Notes\n- [ ] ask the baker\n"},
		"criteria":    {"- [x] T001 a\n- [x] T002 b\n", "## Acceptance Criteria\n- [ ] it is fast\n"},
		"definition":  {"- [x] 1. a\n- [x] 2. b\n", "## Definition of Done\n- [ ] it is shown\n"},
		"agent-os":    {"#### Task Group 1: A\n- [x] 1.0 a\n- [x] 1.1 b\n", "**Acceptance Criteria:**\n- [ ] four corners\n"},
		"bmad":        {"## Tasks / Subtasks\n- [x] Task 1: a (AC: 1)\n- [x] Task 2: b (AC: 2)\n", "## Dev Notes\n- [ ] ask\n"},
		"below":       {"- [x] 1. a\n- [x] 2. b\n", "  - [ ] and a part of it\n"},
		"backlog":     {"---\nid: B-1\ntitle: a\nstatus: Done\ndependencies: []\n---\n", "<!-- AC:BEGIN -->\n- [ ] #1 thin\n<!-- AC:END -->\n"},
		"odd mark":    {"- [x] T001 a\n- [x] T002 b\n", "- [?] what about this\n"},
		"empty box":   {"- [x] T001 a\n- [x] T002 b\n", "- [] and this\n"},
		"in a quote":  {"- [x] T001 a\n- [x] T002 b\n", "> - [ ] and this\n"},
		"under a sub": {"## Tasks\n- [x] 1. a\n- [x] 2. b\n", "### Acceptance\n#### More\n- [ ] c\n"},
	} {
		t.Run(name, func(t *testing.T) {
			without, with := parse(t, lines[0]), parse(t, lines[0]+lines[1])
			require.True(t, without.Ready(without.Items(), runs(nil)).Complete)
			require.Equal(t, without.Totals.Completed, without.Totals.Total)

			require.Equal(t, without.Dialect, with.Dialect)
			require.Equal(t, without.Totals.Total+1, with.Totals.Total)
			require.Equal(t, without.Totals.Completed, with.Totals.Completed)
			require.Equal(t, 1, with.Totals.Pending)
			ready := with.Ready(with.Items(), runs(nil))
			require.False(t, ready.Complete)
			require.Equal(t, 1, ready.Left)
		})
	}
}

// A list of signs with open ones in it read as 2/2 done, because only two signs were known.
func TestOpenSignsBesideDoneOnesAreOpen(t *testing.T) {
	statuses := func(text string) (all []plan.Status) {
		for _, it := range parse(t, text).Items() {
			all = append(all, it.Status)
		}
		return all
	}
	const done, begun, open = plan.Completed, plan.InProgress, plan.Pending
	seen := "- ✅ a\n- ✅ b\n- ⬜ c\n- ☐ d\n- 🔄 e\n"
	require.Equal(t, []plan.Status{done, done, open, open, begun}, statuses(seen))
	require.Equal(t, "ready item/3 item/4\nitem/1: done\nitem/2: done\nitem/5: in_progress\nleft 3, under way 0, complete false\n",
		tell(plan.Ready(parse(t, seen).Items(), runs(nil))))
	require.Equal(t, []plan.Status{open, begun, done}, statuses("- ❌ not yet\n- 🚧 b\n- ✅ c\n"), "also before the first done sign")
	require.Equal(t, []plan.Status{done, open}, statuses("1. ✅ a\n2. 🎈 b\n"), "an unknown sign is open")
	require.Equal(t, []plan.Status{done}, statuses("- ✅ a\n  - 📁 its folder\n## Folders\n- 📁 src\n"), "another list has no tasks")
	require.Equal(t, []plan.Status{done, done, done}, statuses("- ✅ a\n- ✔ b\n- ☑\ufe0f c\n"))
	require.Len(t, diagnostics(parse(t, "- ✅ a\n- 🎈 b\n"), "unknown_mark"), 1)
	for _, sign := range strings.Fields("◻ ◻\ufe0f ◽ ◽\ufe0f ◼ ◼\ufe0f ◾ ▪ ▪\ufe0f ▫ ■ □ ▢ ▶ ▶\ufe0f ► ▷ → ➡ ➡\ufe0f ➜ ⇒ ⟶ ⬛ ⬜ ⬜\ufe0f 🔲 🔳 ☐ ○ ◯ ● ⚪ ⚫ 🟩 🟨 🟥 🟦 🔴 🟡 🟢 ❌ ✗ ✘ ❎ ⏳ 🔁 ⏩ ⏯ ❓ ❗ ‼\ufe0f ⁉\ufe0f") {
		require.NotContains(t, statuses("- ✅ a\n- ✅ b\n- " + sign + " c\n")[2:], done, sign)
		require.Len(t, statuses("- ✅ a\n- ✅ b\n- "+sign+" c\n"), 3, sign)
		require.Equal(t, 1, parse(t, "- [x] 1. a\n- ✅ b\n- "+sign+" c\n").Totals.Unread, sign)
	}

	for _, sign := range []string{"⬜", "☐", "⏳", "🔄"} {
		text := "# Implementation Plan\n- [x] 1. a\n\n## More\n- ✅ b\n- " + sign + " c\n"
		requireOpenWorkCounts(t, text)
		require.Equal(t, 1, parse(t, text).Totals.Unread, "no item in a plan of numbers, and open all the same: %s", sign)
	}
}

// Lists with their open signs in a section or a level of their own, or beside boxes, read as completed.
func TestOpenSignsApartFromDoneOnesAreOpen(t *testing.T) {
	for text, open := range map[string]int{
		"## Done\n- ✅ a\n## In work\n- 🔄 b\n- 🚧 c\n": 2, "## Done\n- ✅ a\n## Open\n- ❌ b\n": 1, "- ✅ a\n  - 🔄 b\n    - ⏸ c\n": 1,
		"- [x] 1. a\n- 🔄 2. b\n- ❌ 3. c\n": 2, "- [x] a\n- 🔄 b\n- ⛔ c\n": 2, "- [x] 1. a\n  - ⬜ b\n  - ☐ c\n": 2, "- [x] 1. a\n☐ b\n": 1,
		"- [x] a\n☐ b\n": 1, "### Task 1: a (COMPLETED)\n- ☐ b\n  - ⬜ c\n": 2, "| ID | Title | Status |\n|--|--|--|\n| 1 | a | done |\n\n- ☐ b\n": 1,
		"- ✅ a\n## Icons\n- 🎈 b\n  - 📁 c\n": 0, "- [x] 1. a\n- 🎈 b\n## Features\n- 🔄 c\n- 🚫 d\n": 0, "- [x] 1. a\n  - 🔄 b\n  - ❌ c\n": 0,
		"- [x] 1. a\n\n⬜ Not begun | ✅ Done\n⬜ pending\n## Marks\n- ⬜ Not started\n- ☐ = open\n": 0,
	} {
		r := parse(t, text)
		ready := r.Ready(r.Items(), runs(nil))
		require.Equal(t, open, ready.Left, text)
		require.Equal(t, open == 0, ready.Complete, text)
		requireOpenWorkCounts(t, text)
	}
}

// Open boxes outside lists were dropped without a word, and the plan counted as completed.
func TestOpenBoxesThatNoDialectReadsAreOpenWork(t *testing.T) {
	for line, open := range map[string]int{
		"[ ] b": 1, "| b | [ ] |": 1, "| [ ] b | c |": 1, "- - [ ] 3. c": 1, "• [ ] 3. c": 1, "– [ ] 2. b": 1, "1. - [ ] c": 1, "- **[ ]** b": 1,
		"\u200b- [ ] 2. b": 1, "<li>[ ] 2. b</li>": 1, `- \[ \] 2. b`: 1, "- ［ ］ 2. b": 1, "- ［　］ 2. b": 1,
		"- [ ](a.md) b": 0, "[ ](a.md)": 0, "[ ]: a.md": 0, "Tick [ ] here": 0, "- Tick the [ ] here": 0, "- `[ ]` b": 0, "[]string{}": 0,
		"  [ ] b": 0, "  • [ ] b": 0, "```\n[ ] b\n```": 0, "<!--\n[ ] b\n-->": 0, "<!-- [ ] b -->": 0, "| b | `[ ]` |": 0, "[x] b": 0,
		"[ ] = pending": 0, "| [ ] | pending |": 0, "## Legend\n[ ] not begun": 0,
	} {
		text := "- [x] 1. a\n" + line + "\n"
		r := parse(t, text)
		require.Equal(t, open, r.Totals.Unread, line)
		require.Len(t, diagnostics(r, "not_read"), open, line)
		require.Equal(t, open == 0, r.Ready(r.Items(), runs(nil)).Complete, line)
		requireOpenWorkCounts(t, text)
	}
}

// A row beside a list of boxes was about a task that stands nowhere else, and the plan counted as completed.
func TestAnOpenRowOfNoItemIsOpenWork(t *testing.T) {
	for row, open := range map[string]int{
		"| T3 | c | todo |": 1, "| T3 | c | in progress |": 1, "| T3 | c | [ ] |": 1, "| T3 | c | blocked |": 1,
		"| T3 | c | done |": 0, "| T3 | c | skipped |": 0, "| T3 | c | |": 0, "| T3 | c | - |": 0, "| T3 | c | 17 |": 0, "| 1 | a | todo |": 0, "| 1 | a | [ ] |": 0,
	} {
		text := "- [x] 1. a\n\n| ID | Title | Status |\n|---|---|---|\n| 1 | a | done |\n" + row + "\n"
		r := parse(t, text)
		require.Equal(t, open, r.Totals.Unread, row)
		require.Len(t, diagnostics(r, "not_read"), open, row)
		requireOpenWorkCounts(t, text)
	}
}
