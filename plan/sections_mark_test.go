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
