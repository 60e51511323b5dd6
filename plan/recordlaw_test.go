package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
	"waybill/plan/read"
	"waybill/test/slow"
)

func folder(named ...string) string {
	var files []plan.PlanFile
	for i := 0; i+1 < len(named); i += 2 {
		files = append(files, plan.PlanFile{Name: named[i], Text: named[i+1]})
	}
	return plan.JoinFiles(files)
}

func refusalOf(t *testing.T, text string) *plan.ParseError {
	t.Helper()
	_, err := readBytes([]byte(text))
	refusal, ok := errors.AsType[*plan.ParseError](err)
	require.True(t, ok, "%v", err)
	return refusal
}

// A folder without a task is an error, and all boxes in it have a diagnostic.
func TestFolderWithoutTasksIsAnError(t *testing.T) {
	for _, text := range []string{
		folder(), folder("a.md", ""), folder("readme.md", "# Hello\n- [ ] 1. a box\n", "b.md", "```\n- [x] c\n```\n"),
		folder("a.json", "{\"tasks\": []}"), folder("a.json", `{"other": 1}`), folder("a.txt", "\x00"), folder("a.md", "- [ ] \xff"),
		folder("a.md", "<!-- waybill: dialect=tina -->\n"),
	} {
		refusal := refusalOf(t, text)
		require.Equal(t, plan.ReasonNoItems, refusal.Reason, "%q", text)
		require.Equal(t, refusal.Checkboxes, countNotTasks(refusal.Diagnostics))
	}
	require.Equal(t, 2, refusalOf(t, folder("readme.md", "# Hello\n- [ ] 1. a box\n", "b.md", "```\n- [x] c\n```\n")).Checkboxes)
}

// JSON that breaks off says where.
func TestBrokenJSONIsReportedWithItsPlace(t *testing.T) {
	for text, line := range map[string]int{
		"{\"tasks\": [\n {\"id\": 1,\n": 2, "{\"tasks\": [\n {\"id\": 1},\n]}": 2, "{\"tasks\": [{\"id\": 1}]}\nmore": 2, "{\"tasks\": \"\\ud800\"}": 1,
	} {
		refusal := refusalOf(t, text)
		require.Equal(t, plan.ReasonInvalidJSON, refusal.Reason, "%q", text)
		require.Equal(t, line, refusal.Line, "%q: %v", text, refusal)
		require.ErrorContains(t, refusal, fmt.Sprintf("line %d: ", refusal.Line))
	}
	refusal := refusalOf(t, "{\"tasks\":[{\"id\":1,\n\"title\":\"\xff\"}]}")
	require.Equal(t, plan.ReasonInvalidJSON, refusal.Reason)
	require.Equal(t, []int{2, 28}, []int{refusal.Line, refusal.Offset})
}

// A file that is no text takes no other with it, and is an open item with its name.
func TestFileThatIsNoTextIsAnOpenItem(t *testing.T) {
	const good = "---\nid: BACK-1\nstatus: Done\n---\n"
	r := parse(t, folder("back-1 - A.md", good, "back-2 - Broken-by-bytes.md", "---\nid: BACK-2\ntitle: \x00\n---\n", "back-3 - N.md", "\x00"))
	require.Equal(t, []string{"BACK-1", "BACK-2", "BACK-3"}, idsOf(r.Items()))
	require.Equal(t, "Broken by bytes", item(t, r, "BACK-2").Title)
	require.Equal(t, plan.Pending, item(t, r, "BACK-2").Status)
	require.Empty(t, item(t, r, "BACK-2").Details)
	found := diagnostics(r, "file_unreadable")
	require.Len(t, found, 2)
	require.Equal(t, "back-2 - Broken-by-bytes.md", found[0].Source)
	require.Equal(t, 3, found[0].Line)
	require.Contains(t, found[0].Message, "NUL byte")
}

// Front matter is bounded, and nothing in it can ask for more memory than it has bytes.
func TestFrontMatterIsBounded(t *testing.T) {
	long := "---\nid: 1\nstatus: Done\nlabels: [" + strings.Repeat("a, ", 30_000) + "b]\n---\n"
	deep := "---\nid: 1\nstatus: Done\na: " + strings.Repeat("[", 20_000) + "\n---\n"
	for text, message := range map[string]string{long: "64 KiB", deep: "not valid YAML"} {
		r := parse(t, folder("task-1 - a.md", text, "task-2 - b.md", "---\nid: 2\nstatus: Done\n---\n"))
		require.Equal(t, []string{"task-1", "2"}, idsOf(r.Items()))
		require.Equal(t, plan.Pending, item(t, r, "task-1").Status)
		found := diagnostics(r, "file_unreadable")
		require.Len(t, found, 1)
		require.Contains(t, found[0].Message, message)
	}
}

// Aliases of aliases, a few bytes that stand for gigabytes, made a file unreadable. No alias is followed.
func TestAliasesInFrontMatterAreNotFollowed(t *testing.T) {
	bomb := "---\nid: 1\nstatus: Done\na: &a [x, x, x, x]\nlabels: &b [*a, *a, *a, *a]\nc: [*b, *b, *b, *b]\n---\n"
	r := parse(t, folder("task-1 - a.md", bomb))
	require.Equal(t, plan.Completed, item(t, r, "1").Status)
	require.Equal(t, []string{"Labels: *a, *a, *a, *a"}, item(t, r, "1").Details)
}

// A plan that is one long line, with something odd about each of its tasks, cost the square of its length:
// each place was counted from where the line begins.
func TestOddTasksInOneLongLineCostInProportion(t *testing.T) {
	slow.Test(t)
	var b strings.Builder
	b.WriteString(`{"tasks":[`)
	tasks := slow.Size(30_000)
	for i := range tasks {
		fmt.Fprintf(&b, `{"id":%d,"title":"ä","status":"?","dependencies":[%d]},`, i, -i-1)
	}
	b.WriteString(`{"id":"last"}]}`)
	r := parse(t, b.String())
	require.Equal(t, tasks+1, r.Len())
	require.Len(t, r.Diagnostics, 2*tasks+1)
	odd := diagnostics(r, "unknown_mark")
	last := odd[len(odd)-1]
	require.Equal(t, 1, last.Line)
	require.Equal(t, len([]rune(b.String()))-len(`{"id":"last"}]}`)+1, last.Column)
}

// Any files whatever make a reading that holds to the laws, or an error that says why not.
func TestEveryBoxOfAnyFolderHasADiagnostic(t *testing.T) {
	pieces := append([]string{
		"---", "---", "id: A-1", "id: A-2", "status: Done", "status: [", "labels: []", "dependencies: [A-1, A-2, a-1]", "parent_task_id: a-2",
		"depends_on: [001]", "parallel: true", "wave: 2", "phase: 1", "plan: 2", "# Task ID: 1", "# Status: done", "# Details:", "# Subtasks:",
		"## 1. a [pending]", "### Dependencies: 1", `{"tasks": [{"id": 1, "subtasks": [{"id": 1, "dependencies": [1, 2]}]}]}`, `{"tasks": [`,
		"<task type=\"auto\">", "<name>Task 1: a", "</name>", "</task>", "<!-- AC:BEGIN -->", "<!-- AC:END -->", "- [x] 01-01-PLAN.md", "- [ ] 001.md",
	}, fragments...)
	names := []string{"a-1 - x.md", "a-2 - y.md", "001.md", "epic.md", "01-01-PLAN.md", "task_001.txt", "tasks.json", "readme.md", "a/b.md"}
	rapid.Check(t, func(t *rapid.T) {
		var files []plan.PlanFile
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 5, rapid.ID).Draw(t, "names") {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
			files = append(files, plan.PlanFile{Name: name, Text: text})
		}
		checkRecordLaws(t, plan.JoinFiles(files))
		for _, f := range files {
			checkRecordLaws(t, f.Text)
		}
	})
}

func FuzzRecords(f *testing.F) {
	for _, text := range fixtures(f, "records") {
		f.Add(text)
	}
	for _, seed := range []string{"---", "---\n---", "---\n?\n---", "{", "{\"tasks\":[{}]}", "# Task ID:", "<task", "---\nid: 1\nstatus: \u2028Done\nlabels: a\n---", "\x00files\n0 \"\"\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slow.InTime(t)
		if files, ok := plan.SplitFiles(text); ok {
			seen := map[string]bool{}
			for _, file := range files {
				if seen[file.Name] {
					return // no folder has two files of one name
				}
				seen[file.Name] = true
			}
		}
		checkRecordLaws(t, text)
		if _, err := read.Read(text, plan.Hints{}); err == nil {
			checkEveryMarkIn(t, text, true)
		}
	})
}

// checkRecordLaws is checkLaws for a text that may be a folder.
func checkRecordLaws(t require.TestingT, text string) {
	files, folder := plan.SplitFiles(text)
	if !folder {
		checkLaws(t, []byte(text))
		return
	}
	boxes := 0
	names := map[string]int{}
	for k, f := range files {
		boxes += countCheckboxes([]byte(f.Text))
		names[f.Name] = k
	}
	r, err := readBytes([]byte(text))
	if err != nil {
		refusal, ok := errors.AsType[*plan.ParseError](err)
		require.True(t, ok, "%T", err)
		require.NotEmpty(t, refusal.Message)
		if refusal.Reason == plan.ReasonNoItems {
			require.Equal(t, refusal.Checkboxes, countNotTasks(refusal.Diagnostics))
		}
		return
	}
	require.Equal(t, boxes, r.Checkboxes, "%q", text)
	require.Equal(t, boxes, countNotTasks(r.Diagnostics), "%q", text)
	last := plan.Diagnostic{}
	for _, d := range r.Diagnostics {
		k, ok := names[d.Source]
		require.True(t, ok, d.Source)
		require.LessOrEqual(t, d.Line, len(lineEnd.Split(files[k].Text, -1)))
		if d.Source == last.Source {
			require.GreaterOrEqual(t, d.Line, last.Line)
		}
		last = d
	}
	items := r.Items()
	require.Equal(t, r.Len(), r.Totals.Items())
	for i := range items {
		it := &items[i]
		require.Contains(t, names, it.Source)
		require.NotEmpty(t, it.ID)
		require.NotEmpty(t, it.Title)
		require.Positive(t, it.Line)
		require.NotEmpty(t, it.Status.String())
		require.LessOrEqual(t, it.Mark.End, len(text))
	}
}
