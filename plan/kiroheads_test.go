package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

const numbersInHeadings = `# Implementation Plan

## 1. Ferry timetable

### 1.1 First thing
- [x] draw the piers
- [-] name them
  - _Requirements: 1.2_

### 1.2 Second thing (COMPLETED)
- [x] print it
- [ ]* frame it

## 2. Departure board
_Depends: 1.1_
- [ ] hang it up

## Task Dependency Graph
` + "```json\n{\"waves\": [{\"id\": 0, \"tasks\": [\"1.1\"]}, {\"id\": 1, \"tasks\": [\"1.2\"]}]}\n```\n"

// A plan of Kiro with its numbers in headings was loose: its ids were made of the headings, and its waves named nothing.
func TestKiroPlanWithNumbersInHeadingsHasThoseIDs(t *testing.T) {
	r := parse(t, numbersInHeadings)
	require.Equal(t, "kiro", r.Dialect)
	require.Equal(t, "1: 1.1:1 1.1/1:1.1 1.1/2:1.1 1.2:1 1.2/1:1.2 1.2/2:1.2 2: 2/1:2", tree(r))
	require.Equal(t, "1.2:1.1 2:1.1", waiting(r))
	require.Empty(t, diagnostics(r, "dependency_unresolved"))
	for id, want := range map[string]plan.Status{
		"1": plan.InProgress, "1.1": plan.InProgress, "1.1/2": plan.InProgress, "1.2": plan.Completed, "2": plan.Pending,
	} {
		require.Equal(t, want, item(t, r, id).Status, id)
	}
	require.Equal(t, "Second thing", item(t, r, "1.2").Title)
	require.True(t, item(t, r, "1.2/2").Optional)
	require.Equal(t, []string{"1.2"}, item(t, r, "1.1/2").Requirements)
	require.Equal(t, r.Checkboxes, countBoxed(r)+countNotTasks(r.Diagnostics))
}

// Numbers in headings are in any document, so something else has to say that the plan is one of Kiro.
func TestNumbersInHeadingsAreIDsOnlyWhereKiroIsSaid(t *testing.T) {
	const text = "## 1. Ferry\n### 1.1 First thing\n- [ ] a\n"
	for _, c := range []struct{ path, text, dialect, first string }{
		{"", text, "loose", "1-ferry/1-1-first-thing/1"},
		{".kiro/specs/x/tasks.md", text, "kiro", "1"},
		{"", "# Implementation Plan\n" + text, "kiro", "1"},
		{"", text + "## Task Dependency Graph\n1.1 --> 1\n", "kiro", "1"},
		{"", "<!-- waybill: dialect=kiro -->\n" + text, "kiro", "1"},
		{".kiro/specs/x/tasks.md", "<!-- waybill: dialect=loose -->\n" + text, "loose", "1-ferry/1-1-first-thing/1"},
		{".kiro/specs/x/tasks.md", text + "- [ ] 1.1 b\n", "kiro", "1.1"},
		{".kiro/specs/x/tasks.md", "## 3 columns\n- [ ] a\n", "loose", "3-columns/1"},
		{".kiro/specs/x/tasks.md", "# Implementation Plan\n### Task 1: a\n- [ ] **Step 1: b**\n", "superpowers", "1"},
	} {
		r, err := plan.Read(c.text, plan.Hints{Path: c.path})
		require.NoError(t, err)
		require.Equal(t, []string{c.dialect, c.first}, []string{r.Dialect, r.Items()[0].ID}, "%q in %q", c.text, c.path)
	}
}

func TestKiroPlanWithNumbersInHeadingsIsWritten(t *testing.T) {
	marked, err := markOf(t, numbersInHeadings, "2/1", 0, plan.InProgress)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(numbersInHeadings, "- [ ] hang", "- [-] hang", 1), marked.Text)
	_, err = markOf(t, numbersInHeadings, "2", 0, plan.Completed)
	require.ErrorContains(t, err, "its status follows from the items below it")
	for form, of := range forms {
		t.Run(form, func(t *testing.T) { checkEveryMark(t, of(numbersInHeadings)) })
	}
}
