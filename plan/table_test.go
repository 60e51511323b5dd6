package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// What a status cell says, and which part of it is the mark.
func TestStatusCells(t *testing.T) {
	for _, c := range []struct {
		cell   string
		status plan.Status
		mark   string
		also   string // a detail, or the code of a diagnostic
	}{
		{"todo", plan.Pending, "todo", ""},
		{"To Do", plan.Pending, "To Do", ""},
		{"", plan.Pending, "", ""},
		{"-", plan.Pending, "-", ""},
		{"—", plan.Pending, "—", ""},
		{"not started", plan.Pending, "not started", ""},
		{"Not done", plan.Pending, "Not done", ""},
		{"[ ]", plan.Pending, "[ ]", ""},
		{"[]", plan.Pending, "[]", ""},
		{"☐", plan.Pending, "☐", ""},
		{"in-progress", plan.InProgress, "in-progress", ""},
		{"IN_PROGRESS", plan.InProgress, "IN_PROGRESS", ""},
		{"⏳", plan.InProgress, "⏳", ""},
		{"⏳ doing, slowly", plan.InProgress, "⏳ doing", "Status: , slowly"},
		{"🔄 since May", plan.InProgress, "🔄", "Status: since May"},
		{"DONE", plan.Completed, "DONE", ""},
		{"**Done**", plan.Completed, "Done", ""},
		{"`done`", plan.Completed, "done", ""},
		{"done ✅", plan.Completed, "done", "Status: ✅"},
		{"Done (in May)", plan.Completed, "Done", "Status: (in May)"},
		{"**done** - at last", plan.Pending, "done** - at last", "unknown_mark"},
		{"✔️ Done", plan.Completed, "✔️ Done", ""},
		{"✅todo", plan.Pending, "✅todo", ""}, // the word counts
		{"[x]", plan.Completed, "[x]", ""},
		{"[X] in May", plan.Completed, "[X]", "Status: in May"},
		{"blocked: no wood", plan.Blocked, "blocked", "Status: no wood"},
		{"won't do", plan.Skipped, "won't do", ""},
		{"done when it rains", plan.Pending, "done when it rains", "unknown_mark"},
		{"done?", plan.Pending, "done?", "unknown_mark"},
		{"doné", plan.Pending, "doné", "unknown_mark"},
		{"donex", plan.Pending, "donex", "unknown_mark"},
		{"100%", plan.Pending, "100%", "unknown_mark"},
		{"[~]", plan.Pending, "[~]", "unknown_mark"},
		{"[x](a.md)", plan.Pending, "[x](a.md)", "unknown_mark"},
		{"🔴", plan.Pending, "🔴", "unknown_mark"},
	} {
		t.Run(c.cell, func(t *testing.T) {
			src := "| ID | Title | Status |\n|---|---|---|\n| 1 | a | " + c.cell + " |\n"
			r := parse(t, src)
			it := item(t, r, "1")
			require.Equal(t, c.status, it.Status)
			require.Equal(t, c.mark, src[it.Mark.Start:it.Mark.End])
			require.Positive(t, it.Mark.End)
			switch c.also {
			case "":
				require.Empty(t, r.Diagnostics)
				require.Empty(t, it.Details)
			case "unknown_mark":
				require.Len(t, diagnostics(r, c.also), 1)
			default:
				require.Equal(t, []string{c.also}, it.Details)
			}
			checkLaws(t, []byte(src))
		})
	}
}

// A header makes a table one of tasks, or it does not.
func TestHeadersOfTables(t *testing.T) {
	for _, c := range []struct{ header, id, title string }{
		{"ID | Title | Status", "1", "2"},
		{"**Status** | `id` | Task", "2", "3"},
		{"Task | Title | State", "1", "2"},
		{"Task | Description | State", "1", "2"},
		{"ID | Description | Task | State", "1", "3"},
		{"# | ID | Status", "2", ""}, // behind no bar this is a heading
		{"No. | Done | Owner", "1", ""},
		{"Ticket | Done? | Owner | Goal of it", "1", "4"},
		{"Task | Status", "", ""},
		{"ID | Title", "", ""},
		{"Title | Status", "", ""},
		{"Total | Status | Count", "", ""},
	} {
		t.Run(c.header, func(t *testing.T) {
			n := strings.Count(c.header, "|") + 1
			rule := "|" + strings.Repeat("---|", n)
			row := "|"
			for i := range n {
				row += fmt.Sprintf(" %d |", i+1)
			}
			r, err := plan.Parse([]byte("| " + c.header + " |\n" + rule + "\n" + row + "\n"))
			if c.id == "" {
				require.ErrorContains(t, err, "no task was found")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.title, item(t, r, c.id).Title)
		})
	}
}

// Where a table begins and ends.
func TestBoundsOfTables(t *testing.T) {
	const head, row = "ID | Status\n---|---\n", "1 | todo\n"
	for _, c := range []struct {
		name, text string
		ids        []string
	}{
		{"no bars at the ends", head + row, []string{"1"}},
		{"no rule", "ID | Status\n" + row, nil},
		{"another rule", "ID | Status\n---|---|---\n" + row, nil},
		{"a rule alone", "---|---\n" + row, nil},
		{"a blank line above the rule", "ID | Status\n\n---|---\n" + row, nil},
		{"a blank line ends it", head + row + "\n2 | todo\n", []string{"1"}},
		{"text ends it", head + row + "text\n2 | todo\n", []string{"1"}},
		{"a heading ends it", head + row + "# Head\n2 | todo\n", []string{"1"}},
		{"a fence hides it", "```\n" + head + row + "```\n" + head + "2 | todo\n", []string{"2"}},
		{"a comment hides it", "<!--\n" + head + row + "-->\n" + head + "2 | todo\n", []string{"2"}},
		{"two in a row", head + row + "\n" + head + "2 | todo\n", []string{"1", "2"}},
		{"in a quote", "> | ID | Status |\n> |---|---|\n> | 1 | todo |\n", []string{"1"}},
		{"at the end of the file", head + "1 | todo", []string{"1"}},
		{"behind a mark of byte order", "\ufeff" + head + row, []string{"1"}},
		{"with lone returns", strings.ReplaceAll("text\n"+head+row, "\n", "\r"), []string{"1"}},
		{"no row", head, nil},
		{"a row without id", head + "| | todo |\n| Sum | 3 |\n", nil},
		{"a bar alone", head + "|\n2 | todo\n", nil},
		{"a bar that is text", "ID \\| Status\n---|---\n" + row, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := plan.Parse([]byte(c.text))
			if c.ids == nil {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "table", r.Dialect)
			require.Equal(t, c.ids, idsOf(r.Items()))
			checkLaws(t, []byte(c.text))
		})
	}
}

// A bar in a title that nobody escaped moved the word "done" into the status of an open task.
func TestARowWithTooManyCellsIsOpen(t *testing.T) {
	r := parse(t, "| ID | Status | Title |\n|--|--|--|\n| 1 | done | a | b |\n| 2 | done | a | |\n")
	require.Equal(t, plan.Pending, item(t, r, "1").Status)
	require.Zero(t, item(t, r, "1").Mark)
	require.Equal(t, plan.Completed, item(t, r, "2").Status, "an empty cell at the end moves nothing")
	require.Len(t, diagnostics(r, "malformed_row"), 1)
}

// The rows of a table that sums up were tasks of their own, with the ids of others.
func TestASummaryIsNoListOfTasks(t *testing.T) {
	const summary = "| ID | Status |\n|--|--|\n| 1 | done |\n| 2 | todo |\n\n"
	for name, text := range map[string]string{
		"of boxes, above": summary + "- [x] 1. a\n- [x] 2. b\n",
		"of boxes, below": "- [x] 1. a\n- [x] 2. b\n\n" + summary,
		"of rows, above":  summary + "| ID | Title | Status |\n|--|--|--|\n| 1 | a | done |\n| 2 | b | done |\n",
		"of rows, below":  "| ID | Title | Status |\n|--|--|--|\n| 1 | a | done |\n| 2 | b | done |\n\n" + summary,
	} {
		t.Run(name, func(t *testing.T) {
			r := parse(t, text)
			require.Equal(t, []string{"1", "2"}, idsOf(r.Items()))
			require.Equal(t, "a", item(t, r, "1").Title)
			require.Empty(t, diagnostics(r, "duplicate_id"))
			require.Len(t, diagnostics(r, "summary_table"), 1)
			conflicts := diagnostics(r, "summary_conflict")
			require.Len(t, conflicts, 1)
			require.Contains(t, conflicts[0].Message, "2 is pending")
			require.False(t, conflicts[0].NotATask)
		})
	}
}

// The header says what the cells of a row are, so a change there changes the items.
func TestAnotherHeaderIsAnotherItem(t *testing.T) {
	const rows = "|--|--|--|--|\n| 1 | todo | a | b |\n| 2 | todo | c | d |\n"
	before := parse(t, "| ID | Status | Title | Owner |\n"+rows)
	after := parse(t, "| ID | Status | Owner | Title |\n"+rows)
	require.Equal(t, []string{"1", "2"}, ids(plan.Diff(before, after)))
	require.Equal(t, "b", item(t, after, "1").Title)
}

// A table of many columns and many rows costs what its bytes do.
func TestWideTablesAndLongOnesAreRead(t *testing.T) {
	const columns, rows = 20000, 20000
	var b strings.Builder
	b.WriteString("| ID | Status |" + strings.Repeat(" a |", columns) + "\n" + strings.Repeat("|-", columns+2) + "|\n")
	for i := range rows {
		fmt.Fprintf(&b, "| %d | todo |\n", i+1)
	}
	r := parse(t, b.String())
	require.Equal(t, rows, r.Len())
}

// A table to look something up in took the plan away from its boxes.
func TestATableOfOtherThingsTakesNoPlan(t *testing.T) {
	const boxes, head = "# Release\n- [ ] a\n- [x] b\n\n", "| ID | Endpoint | Status |\n|--|--|--|\n"
	for name, c := range map[string]struct{ text, dialect string }{
		"codes":             {boxes + head + "| v1 | /a | 200 |\n| v2 | /b | 200 |\n| v3 | /c | 404 |\n", "loose"},
		"few states":        {boxes + head + "| v1 | /a | done |\n| v2 | /b | open |\n| v3 | /c | todo |\n| v4 | /c | 1 |\n| v5 | /c | 2 |\n| v6 | /c | 3 |\n| v7 | /c | 4 |\n", "loose"},
		"as many":           {boxes + head + "| v1 | /a | done |\n| v2 | /b | open |\n", "loose"},
		"more":              {boxes + head + "| v1 | /a | done |\n| v2 | /b | ✅ |\n| v3 | /c | [ ] |\n| v4 | /c | 404 |\n", "table"},
		"a legend knows it": {"[!] = done\n" + boxes + head + "| v1 | /a | [!] |\n| v2 | /b | [!] |\n| v3 | /c | [!] |\n", "table"},
		"two tables":        {boxes + head + "| v1 | /a | 200 |\n| v2 | /b | 404 |\n\n" + head + "| 1 | /a | done |\n| 2 | /b | open |\n| 3 | /c | todo |\n", "table"},
		"criteria":          {head + "| v1 | /a | done |\n\n## Acceptance\n- [ ] a\n- [ ] b\n", "table"},
	} {
		r := parse(t, c.text)
		require.Equal(t, c.dialect, r.Dialect, name)
		checkLaws(t, []byte(c.text))
	}
}

// What the last table of a plan says of its dialect is known when the evidence is given.
func TestRowsOfTheLastTableAreEvidence(t *testing.T) {
	r := parse(t, "- [ ] 1. a\n\n| ID | Status |\n|--|--|\n| 1 | todo |\n")
	require.Contains(t, r.Evidence, plan.Evidence{Line: 5, Dialect: "table", Signal: "row of a table with an id and a status"})
}
