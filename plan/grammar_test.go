package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
)

// What stands behind a box, and the id and title in it; no id means no task.
func TestIDsAndTitles(t *testing.T) {
	for _, c := range []struct{ text, id, title string }{
		{"1 a", "1", "a"},
		{"1. a", "1", "a"},
		{"1) a", "1", "a"},
		{"1: a", "1", "a"},
		{`1\. a`, "1", "a"},
		{"1 . a", "1", "a"},
		{"1.2.3. a b ", "1.2.3", "a b"},
		{"1", "1", ""},
		{"1.", "1", ""},
		{"1.2", "1.2", ""},
		{"1.2a a", "1.2a", "a"},
		{"1.2A. a", "1.2A", "a"},
		{"1a.2 a", "1a.2", "a"},
		{"1a a", "1a", "a"},
		{`1\.2 a`, "1.2", "a"},
		{"1 - a", "1", "a"},
		{"1 :smile: a", "1", ":smile: a"},
		{"1.Upper", "1", "Upper"},
		{"1.`code`", "1", "`code`"},
		{"1.実装", "1", "実装"},
		{"1.2実装", "1.2", "実装"},
		{"1、実装", "1", "実装"},
		{"1：実装", "1", "実装"},
		{"1\u00a0a", "1", "a"},
		{"**1. a**", "1", "a"},
		{"**1.** a", "1", "a"},
		{"**1.2 a** b", "1.2", "a b"},
		{"**1** a **b**", "1", "a **b**"},
		{"1. **a** b", "1", "**a** b"},
		{"2026 budget", "2026", "budget"},
		{strings.Repeat("1", 128) + " a", strings.Repeat("1", 128), "a"},
		{strings.Repeat("1", 129) + " a", "", ""},
		{"a", "", ""},
		{"", "", ""},
		{"T4 a", "", ""},
		{"3rd a", "", ""},
		{"3D a", "", ""},
		{"3.x a", "", ""},
		{"1.2.x a", "", ""},
		{"100% a", "", ""},
		{"2-factor a", "", ""},
		{"24/7 a", "", ""},
		{"3°C a", "", ""},
		{"**a** 1", "", ""},
		{"**1. a", "", ""},
		{"1.2ab a", "", ""},
		{".1 a", "", ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			r := parse(t, "- [ ] 99 keeps the plan from being empty\n- [ ] "+c.text+"\n")
			require.Equal(t, 2, r.Checkboxes)
			if c.id == "" {
				require.Len(t, r.Items(), 1)
				require.Len(t, diagnostics(r, "checkbox_without_id"), 1)
				return
			}
			require.Len(t, r.Items(), 2)
			require.Equal(t, c.id, r.Items()[1].ID)
			require.Equal(t, c.title, r.Items()[1].Title)
		})
	}
}

// Forms of a line that are checkboxes, and what else is reported about them.
func TestBoxes(t *testing.T) {
	for _, c := range []struct {
		line   string
		status plan.Status // 0: no checkbox at all
		mark   string
		also   string
	}{
		{"- [ ] 1 a", plan.Pending, " ", ""},
		{"* [x] 1 a", plan.Completed, "x", ""},
		{"+ [X] 1 a", plan.Completed, "X", ""},
		{"1. [-] 1 a", plan.InProgress, "-", ""},
		{"23) [ ] 1 a", plan.Pending, " ", ""},
		{"\t-\t[ ]\t1\ta", plan.Pending, " ", ""},
		{"-   [x]   1   a", plan.Completed, "x", ""},
		{"- [\u00a0] 1 a", plan.Pending, "\u00a0", ""},
		{"- [✓] 1 a", plan.Pending, "✓", "unknown_mark"},
		{"- [✔\ufe0f] 1 a", plan.Pending, "✔\ufe0f", "unknown_mark"},
		{"- [[] 1 a", plan.Pending, "[", "unknown_mark"},
		{"- [] 1 a", plan.Pending, "", "malformed_checkbox"},
		{"-[x] 1 a", plan.Completed, "x", "malformed_checkbox"},
		{"- [x]1 a", plan.Completed, "x", "malformed_checkbox"},
		{"- [x] 1.Aa", plan.Completed, "x", "malformed_checkbox"},
		{"> > - [x] 1 a", plan.Completed, "x", "quoted_checkbox"},
		{"## [x] 1 a", plan.Completed, "x", "dialect_drift"},
		{"- [~] 1 a", plan.Pending, "~", "ambiguous_mark"},
		{"####### [x] 1 a", 0, "", ""},
		{"- [x](a) 1 a", 0, "", ""},
		{"- [x][a] 1 a", 0, "", ""},
		{"- [xx] 1 a", 0, "", ""},
		{"- [x 1 a", 0, "", ""},
		{"- [", 0, "", ""},
		{"- text [x] 1 a", 0, "", ""},
		{"[x] 1 a", 0, "", ""},
		{"-- [x] 1 a", 0, "", ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			src := "- [ ] 99 keeps the plan from being empty\n" + c.line + "\n"
			r := parse(t, src)
			it, ok := r.Item("1")
			require.Equal(t, c.status != 0, ok)
			if !ok {
				require.Equal(t, 1, r.Checkboxes)
				return
			}
			require.Equal(t, c.status, it.Status)
			require.Equal(t, c.mark, src[it.Mark.Start:it.Mark.End])
			if c.also == "" {
				require.Empty(t, r.Diagnostics)
			} else {
				require.Len(t, r.Diagnostics, 1)
				require.Equal(t, c.also, r.Diagnostics[0].Code)
				require.False(t, r.Diagnostics[0].NotATask)
			}
		})
	}
}

// The fields of a task in the ways people write them.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		name, lines string
		want        plan.Item
	}{
		{
			"all in one line", "_Requirements: 1.1_ _Leverage: a_b.go_ _Depends: 99_ _Prompt: do it_",
			plan.Item{Requirements: []string{"1.1"}, Leverage: "a_b.go", DependsOn: []string{"99"}, Prompt: "do it"},
		},
		{"prompt first", "_Prompt: do it_ _Requirements: 1.1_", plan.Item{Prompt: "do it", Requirements: []string{"1.1"}}},
		{
			"prompt that quotes fields", "_Prompt: do | _Leverage: a_ _Requirements: b_ | well_",
			plan.Item{Prompt: "do | _Leverage: a_ _Requirements: b_ | well"},
		},
		{"other case", "_requirements: 1.1_\n- files: a.go", plan.Item{Requirements: []string{"1.1"}, Files: []string{"a.go"}}},
		{"a later prompt counts", "_Prompt: old_\n- _Prompt: new_", plan.Item{Prompt: "new", Details: []string{"Prompt: old"}}},
		{"lists add up", "_Requirements: 1_\n- _Requirements: 2_", plan.Item{Requirements: []string{"1", "2"}}},
		{
			"text around", "see this _Requirements: 1_ and that",
			plan.Item{Details: []string{"see this", "and that"}, Requirements: []string{"1"}},
		},
		{"no closing underscore", "_Requirements: 1, 2\n- detail", plan.Item{Requirements: []string{"1", "2"}, Details: []string{"detail"}}},
		{"no closing underscore but another field", "_Leverage: a _Requirements: 1_", plan.Item{Leverage: "a", Requirements: []string{"1"}}},
		{"over two lines", "_Requirements: 1,\n  2_\n- detail", plan.Item{Requirements: []string{"1", "2"}, Details: []string{"detail"}}},
		{"ended by a blank line", "_Leverage: a\n\n  text", plan.Item{Leverage: "a", Details: []string{"text"}}},
		{"ended by a label", "_Prompt: do\n  Files: a.go", plan.Item{Prompt: "do", Files: []string{"a.go"}}},
		{"ended by a field", "_Prompt: do\n  _Leverage: a_", plan.Item{Prompt: "do", Leverage: "a"}},
		{"double underscores", "_Leverage: __init___\n- _Prompt: call __init__\n  twice_", plan.Item{Leverage: "__init__", Prompt: "call __init__ twice"}},
		{"unknown field", "_Boundary: Mail_", plan.Item{Details: []string{"_Boundary: Mail_"}}},
		{"code is no field", "see `_Prompt:` and a_Prompt: b_", plan.Item{Details: []string{"see `_Prompt:` and a_Prompt: b_"}}},
		{
			"files with remarks", "**Files:** `a.go` (new, big), b.go(c), d (e) f",
			plan.Item{Files: []string{"a.go", "b.go(c)", "d f"}, Details: []string{"Files: `a.go` (new, big), b.go(c), d (e) f"}},
		},
		{"an open bracket", "Files: a (b, c.go", plan.Item{Files: []string{"a (b, c.go"}}},
		{"other labels", "Profile: x\n- *Purpose*: y", plan.Item{Details: []string{"Profile: x"}, Purpose: "y"}},
		{"list below a label", "Files:\n  - a.go\n  - b.go\n- detail", plan.Item{Files: []string{"a.go", "b.go"}, Details: []string{"detail"}}},
		{"blocked", "_Blocked: no wood_", plan.Item{BlockedReason: "no wood"}},
		{"code in a prompt", "_Prompt: run\n    ```sh\n    a_\n\n      b\n    ```\n    then stop_", plan.Item{Prompt: "run\n```sh\na_\n\n  b\n```\nthen stop"}},
		{"prompt in a fence", "x\n```\n_Prompt: |\n  a\n\n  b_\n```\n- y", plan.Item{Details: []string{"x", "y"}, Prompt: "a\n\nb"}},
		{"a prompt in a fence ends there", "```\n_Prompt: a\n```\n- y", plan.Item{Details: []string{"y"}, Prompt: "a"}},
		{"an empty block", "_Prompt: |\n- y", plan.Item{Details: []string{"y"}}},
		{"a block ended by a field at its own indent", "_Prompt: |\na\nb\n_Leverage: c_", plan.Item{Prompt: "a\nb", Leverage: "c"}},
		{"a heading in a block", "_Prompt: |\n    ## Role\n    a_", plan.Item{Prompt: "## Role\na"}},
		{"a heading below a task", "x\n   ### More\n   text", plan.Item{Details: []string{"x", "### More\ntext"}}},
		{"a comment in between", "x\n  <!-- y\n  - z -->\n- w", plan.Item{Details: []string{"x", "w"}}},
		{
			"boxes without id", "[ ] a\n    - _Leverage: of a_\n    - [ ] b\n      - _Leverage: of b_\n     - _Leverage: of a_\n- _Leverage: of 1_",
			plan.Item{Leverage: "of 1", Details: []string{"[ ] a\n  - _Leverage: of a_\n  - [ ] b\n    - _Leverage: of b_\n   - _Leverage: of a_"}},
		},
		{"escaped underscore", `_Leverage: a\_ b_`, plan.Item{Leverage: `a\_ b`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, "- [ ] 99 other\n- [ ] 1 title\n  - "+strings.ReplaceAll(c.lines, "\n", "\n  ")+"\n")
			got := item(t, r, "1")
			got.ID, got.Title, got.Status, got.Line, got.Mark = "", "", 0, 0, plan.Span{}
			require.Equal(t, c.want, got)
		})
	}
}

func TestDependencies(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"_Depends: 1.1, 1.2_", []string{"1.1", "1.2"}},
		{"_Depends on: 1_", []string{"1"}},
		{"_Dependencies: 1._", []string{"1"}},
		{"_Depends: -_", nil},
		{"**Depends on:** none", nil},
		{"**Dependencies**: None (it is the first)", nil},
		{"Depends: n/a", nil},
		{"**Depends on:** Task 1, Task 1.4", []string{"1", "1.4"}},
		{"**Depends on:** Tasks 1 and 2 & 3", []string{"1", "2", "3"}},
		{"**Depends on:** 2-4", []string{"2", "3", "4"}},
		{"**Depends on:** Tasks 1.2–1.4, 7", []string{"1.2", "1.3", "1.4", "7"}},
		{"**Depends on:** 1.2-2.4", []string{"1.2-2.4"}},
		{"**Depends on:** 4-2", []string{"4-2"}},
		{"**Depends on:** 1-1000", []string{"1-1000"}},
		{"**Depends on:** `1`, **2**", []string{"1", "2"}},
		{`_Depends: 1\._`, []string{"1"}},
		{"Depends on:\n    - 1\n    - Task 2", []string{"1", "2"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			require.Equal(t, c.want, item(t, parse(t, "- [ ] 9 x\n  - "+c.line+"\n"), "9").DependsOn)
		})
	}
}

// An id that others wait for counts even where it stands only in a fence or a
// comment: without it the plan could never be finished.
func TestBoxesInFencesCountWhereThePlanRefersToThem(t *testing.T) {
	r := parse(t, "- [ ] 1 a\n  - _Depends: 2, 4_\n```\n- [x] 2 b\n- [ ] 3 c\n```\n<!--\n- [ ] 4 d\n-->\n")
	require.Equal(t, 4, r.Checkboxes)
	require.Len(t, r.Items(), 3)
	require.Equal(t, plan.Completed, item(t, r, "2").Status)
	require.Empty(t, diagnostics(r, "dependency_unresolved"))
	require.Equal(t, 1, countNotTasks(r.Diagnostics))
	require.Len(t, diagnostics(r, "checkbox_in_fence"), 2)
	require.Len(t, diagnostics(r, "checkbox_in_comment"), 1)
}

func TestDialects(t *testing.T) {
	const task = "- [~] 1 a\n"
	for _, c := range []struct {
		name, text, dialect string
		status              plan.Status
		signals             int
	}{
		{"nothing to go by", task, "spec-context", plan.Pending, 1},
		{"prompt", task + "  - _Prompt: a_\n", "spec-context", plan.Pending, 2},
		{"leverage", task + "  - _Leverage: a_\n", "spec-context", plan.Pending, 2},
		{"blocked", task + "  - _Blocked: a_\n  - _Prompt: b_\n", "spec-workflow", plan.Blocked, 3},
		{"star", task + "- [ ]* 2 b\n", "kiro", plan.Pending, 2},
		{"graph", task + "## Task Dependency Graph\n", "kiro", plan.Pending, 2},
		{"property", task + "  - **Property 1: x**\n", "kiro", plan.Pending, 2},
		{"title", "# Implementation Plan\n" + task, "kiro", plan.Pending, 2},
		{"prompt and star", task + "  - _Prompt: a_\n- [ ]* 2 b\n", "spec-context", plan.Pending, 3},
		{"signals in a fence", task + "```\n_Blocked: a_\n- [ ]* 2 b\n```\n", "spec-context", plan.Pending, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, c.text)
			require.Equal(t, c.dialect, r.Dialect)
			require.Equal(t, c.status, item(t, r, "1").Status)
			require.Equal(t, c.status == plan.Pending, len(diagnostics(r, "ambiguous_mark")) == 1)
			require.Len(t, r.Evidence, c.signals)
			for _, e := range r.Evidence {
				require.Positive(t, e.Line)
				require.NotEmpty(t, e.Signal)
			}
		})
	}
}

func TestAFileWithoutTasksSaysWhy(t *testing.T) {
	_, err := plan.Parse([]byte("# Notes\n\n```\n- [ ] buy nails\n- [x] paint\n- [ ] 1. sample\n```\n## Acceptance criteria\n- [ ] sweep\n- [ ] rest\n"))
	var refusal *plan.ParseError
	require.True(t, errors.As(err, &refusal))
	require.Equal(t, plan.ReasonNoItems, refusal.Reason)
	require.Equal(t, 5, refusal.Checkboxes)
	require.Len(t, refusal.Diagnostics, 5)
	require.EqualError(t, err, `none of its 5 checkboxes is a task; line 9: "sweep" is below "Acceptance criteria", where boxes are not tasks`)
}

func TestABlankFileIsAReadingWithoutItems(t *testing.T) {
	for _, text := range []string{"", "\n", "\ufeff", "\ufeff \r\n\t\n\u00a0"} {
		r := parse(t, text)
		require.Empty(t, r.Items())
		require.Empty(t, r.Dialect)
		require.Empty(t, r.Active())
		require.Equal(t, plan.Hash([]byte(text)), r.Hash)
		_, ok := r.Item("1")
		require.False(t, ok)
		_, err := ledger.Progress(r, "p", "p.md", "1")
		require.Error(t, err)
	}
}
