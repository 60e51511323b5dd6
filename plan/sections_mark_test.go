package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// markedAs returns the mark that an item gets for each status, "" where it is refused because there is none.
func markedAs(t *testing.T, text, id string) string {
	var got []string
	for _, to := range settable {
		marked, err := markOf(t, text, id, 0, to)
		if refusal, ok := errors.AsType[*plan.MarkError](err); ok {
			require.Equal(t, plan.MarkInexpressible, refusal.Reason, "%q %s: %v", text, to, err)
			got = append(got, "")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, to, marked.Item.Status)
		got = append(got, marked.Text[marked.Item.Mark.Start:marked.Item.Mark.End])
	}
	return strings.Join(got, "|")
}

// The marks of pending, in progress, completed, blocked and skipped.
func TestMarksOfPlansOfWords(t *testing.T) {
	for _, c := range []struct{ text, id, marks string }{
		{"## [ ] Track: a\n- [ ] Task: b\n", "a", " |~|x||"},
		{"## [~] Track: a\n- [?] Task: b\n", "a/1", "?|~|x||"},
		{"- [?] **Track: a**\n- [X] Task: b 7be20f1\n", "a", "?|~|X||"},
		{"[S] = skipped\n- [?] Task: b\n- [x] Task: c\n", "item/1", "?|~|x||S"},
		{"[~] = deferred\n- [?] Task: b\n- [x] Task: c\n", "item/1", "?||x||~"},
		{"## Tasks / Subtasks\n- [?] Task 1: a (AC: 1)\n", "1", "?||x||"},
		{"## Tasks / Subtasks\n- [ ] Task 1: a\n  - [X] b\n", "1/1", " ||X||"},
		{"- [?] 001.md - a (parallel: true)\n", "001", "?||x||"},
	} {
		require.Equal(t, c.marks, markedAs(t, c.text, c.id), "%q", c.text)
	}
}

// A track that was finished is opened again with the commits of its tasks as they are.
func TestACommitStaysWhenItsTaskIsOpenedAgain(t *testing.T) {
	marked, err := markOf(t, "## [x] Track: a\n- [x] Task: b 7be20f1\n", "a/1", 0, plan.Pending)
	require.NoError(t, err)
	require.Equal(t, "## [x] Track: a\n- [ ] Task: b 7be20f1\n", marked.Text)
	require.Equal(t, []string{"commit 7be20f1"}, marked.Item.Details)
}

// A column says what the word for a status is, and if it does not, what a word in it looks like.
func TestCellsAreWrittenAsTheColumnWritesThem(t *testing.T) {
	for _, c := range []struct {
		cells string // the statuses of the rows, the first is set
		marks string
	}{
		{"", "|in progress|done|blocked|skipped"},
		{"todo", "todo|in progress|done|blocked|skipped"},
		{"Todo", "Todo|In progress|Done|Blocked|Skipped"},
		{"To Do", "To Do|In Progress|Done|Blocked|Skipped"},
		{"TODO", "TODO|IN PROGRESS|DONE|BLOCKED|SKIPPED"},
		{"to_do", "to_do|in_progress|done|blocked|skipped"},
		{"done,in-review", "todo|in progress|done|blocked|skipped"},
		{"IN_REVIEW,Doing", "TODO|IN_REVIEW|DONE|BLOCKED|SKIPPED"},
		{"open,finished,wip,paused,wontfix", "open|wip|finished|paused|wontfix"},
		{"maybe", "maybe|in progress|done|blocked|skipped"},
		{"maybe,Done", "maybe|In progress|Done|Blocked|Skipped"},
		{"[ ]", "[ ]||[x]||"},
		{"[ ],[X]", "[ ]||[X]||"},
		{"[ ],[X],done", "[ ]||[X]||"},
		{"⬜", "⬜|⏳|✅|⛔|⏭"},
		{"⬜,✔️,🚧", "⬜|🚧|✔️|⛔|⏭"},
		{"✅ Done", "⬜ Todo|⏳ In progress|✅ Done|⛔ Blocked|⏭ Skipped"},
		{"✅ Done,⬜ To Do", "⬜ To Do|⏳ In progress|✅ Done|⛔ Blocked|⏭ Skipped"},
		{"done (in May),open", "open|in progress|done|blocked|skipped"},
		{"[x] in May,open", "[ ]||[x]||"}, // "open in May" is no status
		{"🚧 since May,done", "⬜|🚧|✅|⛔|⏭"},
		{"**Done**,todo", "todo|In progress|Done|Blocked|Skipped"},
		{"[!],todo", "[!]|in progress|done|blocked|skipped"},
	} {
		t.Run(c.cells, func(t *testing.T) {
			src := "| ID | Title | Status |\n|--|--|--|\n"
			for i, cell := range strings.Split(c.cells, ",") {
				src += "| T" + string(rune('1'+i)) + " | a > b | " + cell + " |\n"
			}
			require.Equal(t, c.marks, markedAs(t, src, "T1"))
			checkEveryMark(t, src)
		})
	}
}

// What a legend says about a mark counts in a cell as it does in a box.
func TestCellsKnowLegends(t *testing.T) {
	const text = "[S] = skipped\n\n| ID | Status |\n|--|--|\n| 1 | [ ] |\n| 2 | [S] |\n"
	require.Equal(t, "[ ]||[x]||[S]", markedAs(t, text, "1"))
	checkEveryMark(t, text)
}

// Of two tables each has words of its own.
func TestCellsAreWrittenAsTheirOwnTableWritesThem(t *testing.T) {
	const text = "| ID | Status |\n|--|--|\n| 1 | open |\n| 2 | closed |\n\nNr | State\n--|--\n3 | OPEN\n4 | MERGED\n"
	require.Equal(t, "open|in progress|closed|blocked|skipped", markedAs(t, text, "1"))
	require.Equal(t, "OPEN|IN PROGRESS|MERGED|BLOCKED|SKIPPED", markedAs(t, text, "3"))
}

// What has no cell to write into, or one that does not count, is refused with the reason.
func TestRowsThatAreNotSet(t *testing.T) {
	const head = "| ID | Status | Title |\n|--|--|--|\n"
	for name, c := range map[string]struct {
		text   string
		reason plan.MarkReason
	}{
		"no such cell":   {"Title | ID | Status\n--|--|--\na | 1\n", plan.MarkBoxless},
		"too many cells": {head + "| 1 | todo | a | b |\n", plan.MarkBoxless},
		"struck":         {head + "| ~~1~~ | todo | a |\n", plan.MarkWithdrawn},
		"struck title":   {head + "| 1 | todo | ~~a~~ |\n", plan.MarkWithdrawn},
		"twice":          {head + "| 1 | todo | a |\n| 1 | todo | b |\n", plan.MarkAmbiguous},
		"quoted":         {"> | ID | Status |\n> |--|--|\n> | 1 | todo |\n", plan.MarkQuoted},
		"a box in it":    {head + "| 1 | [ ] for now | a |\n", plan.MarkInexpressible},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := markOf(t, c.text, "1", 0, plan.Blocked)
			refusal, ok := errors.AsType[*plan.MarkError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.reason, refusal.Reason)
		})
	}
	_, err := markOf(t, head+"| 1 | [ ] for now | a |\n", "1", 0, plan.Blocked)
	require.ErrorContains(t, err, "no mark for blocked fits into its cell on line 3, only those for pending, completed")
}
