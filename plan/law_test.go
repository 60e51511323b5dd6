package plan_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/test/slow"
)

// checkboxLine is what a checkbox is, said once more and in another way than
// the package does: marker, white space, brackets with at most one character.
var (
	checkboxLine = regexp.MustCompile(`^(?:` + space + `|>)*(?:[-*+]|[0-9]+[.)]|#{1,6})` + space + `*\[(?:.\x{fe0f}?)??\](.?)`)
	lineEnd      = regexp.MustCompile("\r\n|\r|\n")
)

const space = `[ \t\v\f\x{85}\x{feff}\pZ]`

func countCheckboxes(src []byte) int {
	n := 0
	for _, line := range lineEnd.Split(strings.TrimPrefix(string(src), "\ufeff"), -1) {
		if m := checkboxLine.FindStringSubmatch(line); m != nil && m[1] != "(" && m[1] != "[" {
			n++
		}
	}
	return n
}

// checkLaws holds whatever the bytes are.
func checkLaws(t require.TestingT, src []byte) {
	r, err := readBytes(src)
	if err != nil {
		var refusal *plan.ParseError
		require.True(t, errors.As(err, &refusal), "%T", err)
		require.NotEmpty(t, refusal.Message)
		if refusal.Reason == plan.ReasonNoItems {
			require.Equal(t, countCheckboxes(src), refusal.Checkboxes)
			require.Equal(t, refusal.Checkboxes, countNotTasks(refusal.Diagnostics))
		}
		return
	}
	require.Equal(t, countCheckboxes(src), r.Checkboxes, "checkboxes in %q", src)
	require.Equal(t, r.Checkboxes, countBoxed(r)+countNotTasks(r.Diagnostics), "items and diagnostics of %q", src)
	require.Equal(t, plan.Hash(string(src)), r.Hash)
	require.EqualValues(t, len(src), r.Size)
	require.True(t, slices.IsSortedFunc(r.Diagnostics, func(a, b plan.Diagnostic) int { return a.Line - b.Line }))
	total := r.Totals.Completed + r.Totals.InProgress + r.Totals.Pending + r.Totals.Blocked + r.Totals.Skipped
	require.Equal(t, r.Totals.Total, total)
	require.Equal(t, r.Len(), r.Totals.Items())
	items := r.Items()
	require.Len(t, items, r.Len())
	require.Equal(t, slices.Collect(r.IDs()), idsOf(items))
	for i := range items {
		checkItem(t, src, r, items, &items[i])
	}
	for _, d := range r.Diagnostics {
		require.Positive(t, d.Line)
		require.Positive(t, d.Column)
		require.NotEmpty(t, d.Code)
		require.NotEmpty(t, d.Severity.String())
	}
}

func idsOf(items []plan.Item) (ids []string) {
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	return ids
}

func checkItem(t require.TestingT, src []byte, r *plan.Reading, items []plan.Item, it *plan.Item) {
	require.True(t, it.Mark.Start <= it.Mark.End && it.Mark.End <= len(src))
	if it.Mark.End > 0 && !it.Worded {
		require.Equal(t, byte('['), src[it.Mark.Start-1])
		require.Equal(t, byte(']'), src[it.Mark.End])
	}
	require.NotEmpty(t, it.ID)
	require.LessOrEqual(t, len(it.ID), 128)
	require.NotEmpty(t, it.Status.String())
	first, ok := r.Item(it.ID)
	require.True(t, ok)
	require.LessOrEqual(t, first.Line, it.Line)
	if it.ParentID == "" {
		require.Zero(t, it.Level)
		return
	}
	_, ok = r.Item(it.ParentID)
	require.True(t, ok)
	require.NotZero(t, it.Level)
	if first.Line == it.Line && strings.HasPrefix(it.ID, it.ParentID+".") {
		// Of several with the id of the parent, a heading may be another one than the first.
		require.True(t, slices.ContainsFunc(items, func(p plan.Item) bool { return p.ID == it.ParentID && p.Level+1 == it.Level }))
	}
}

// countBoxed counts the items that come from a checkbox.
func countBoxed(r *plan.Reading) (n int) {
	for _, it := range r.Items() {
		if it.Mark.End > 0 && !it.Worded {
			n++
		}
	}
	return n
}

func countNotTasks(diagnostics []plan.Diagnostic) int {
	n := 0
	for _, d := range diagnostics {
		if d.NotATask {
			n++
		}
	}
	return n
}

func FuzzParse(f *testing.F) {
	for _, text := range fixtures(f, "plans") {
		f.Add([]byte(text), byte(0))
	}
	for i, text := range hardTexts(f) {
		f.Add([]byte(text), byte(i))
	}
	// The file decides about its dialect, or one of all is set.
	f.Fuzz(func(t *testing.T, src []byte, which byte) {
		slow.InTime(t)
		text := string(src)
		if dialects := dialect.Names(); int(which)%(len(dialects)+1) > 0 {
			text = inDialect(dialects[int(which)%(len(dialects)+1)-1], text)
		}
		checkHard(t, text)
	})
}

// fragments are lines and half lines of which any order makes a text.
var fragments = []string{
	"- [ ] 1. one", "- [x] 1.1 two", "  * [-] 1.2 three", "+ [~] 2 four", "1. [X] 2.1 five", "2) [] 3 six",
	"-[ ] 4 seven", "- [?] 5. eight", "- [ ]* 6 nine", "- [ ] nameless", "    - [ ] deeper nameless",
	"> - [ ] 7 quoted", "### [ ] 8 heading", "- [ ](link)", "  - _Requirements: 1.1, a_b_", "  - _Leverage: x_",
	"  - _Prompt: Role: r | Task: t_", "  - _Prompt: folded", "  - _Prompt: |", "    text", "    closed_", "",
	"```", "~~~md", "````", "<!-- open", "-->", "<!-- closed -->", "## Heading", "### Task 9: nine",
	"- [ ] T001 [P] a", "- [x] [US1] T002 b (depends on T001)", "## 1. Group", "## Acceptance", "- ✅ sign", "[S] = skipped", "[x] = skipped", "## Legend", "- [S] – skipped", "- [ ] ~~1.4 e~~", "- [x] ~~f~~",
	"- [S] c", "## Phase 2: d", "<!-- waybill: dialect=openspec -->", "<!-- waybill: dialect=loose -->",
	"### [ ] Task 2: f", "- [ ] **Step 1: g**", "#### Task Group 1: h (COMPLETED)", "**Acceptance Criteria:**", "- [x] 1.0 i",
	"## Task 1: j ✅", "- [ ] 1. k", "**Depends on:** Task Groups 1-2", "#### More", "<!-- waybill: dialect=tina -->",
	"- [~] Task: e 7be20f1", "## [~] Track: f", "# [ ] g", "## Phase 3: h [checkpoint: 4c1d9aa]", "- [x] **Track: i**",
	"# Implementation Plan", "### 1.1 h", "## 1. i (COMPLETED)", "## Task Dependency Graph",
	"## Tasks / Subtasks", "- [ ] Task 1: j (AC: 1, #2)", "- [x] **T3. k**", "## Dev Notes",
	"- [x] 001.md - l (parallel: true)", "- [ ] #4 - m (parallel: false, depends on 001)", "<!-- waybill: dialect=table -->",
	"<!-- waybill: dialect=conductor -->", "<!-- waybill: dialect=bmad -->", "<!-- waybill: dialect=ccpm -->",
	"| ID | Title | Status | Depends on |", "|----|:--|--:|---|", "| 12 | n | done | 12.1, 13 |", "| 12.1 | o \\| p | [ ] |",
	"> | 13 | q | ⏳ doing | a | b |", "Status | #", "--|--", "done | T001", " | 14",
	"- [ ] **Files**: a.go", "  - Files: a.go, b.go (new)", "  - Files:", "    - c.go", "  - Purpose: p",
	"  - _Depends: 1-3, 9_", "  - **Depends on:** Task 1, 2.1", "  - _Blocked: why_", "  - detail", "    goes on",
	"## Task Dependency Graph", "[[\"1\"], [\"1.1\", \"2\"]]", "{\"wave\": 2, \"tasks\": [1.2], \"depends_on\": [1]}", "T1 --> T2 & 4",
	"## Dependencies", "- T002 depends on T001", "- T001-T003 → T002", "  - Depends on 1.2",
	"\t- tab", "\u3000- [ ] 10　wide", "- [ ] 1\\. escaped", "text", "- [ ] 1.1.1 deep", "      - [ ] 11 indented",
}

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 24).Draw(t, "lines"), "\n")
}

func TestEveryCheckboxIsAnItemOrHasOneDiagnostic(t *testing.T) {
	t.Run("plans", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { checkLaws(t, []byte(drawText(t))) })
	})
	t.Run("bytes", func(t *testing.T) {
		pieces := rapid.SampledFrom([]string{
			"- [ ] ", "[", "]", "x", "_", "_Prompt:", " ", "\t", "\n", "\r", ">", "#", "1", ".", "*", "`", "```", "~~~",
			"<!--", "-->", "\\", "\u00a0", "\ufeff", "é", "✓", "\x00", "\xff", ":", "|", "(", ")", ",", "-",
		})
		rapid.Check(t, func(t *rapid.T) {
			checkLaws(t, []byte(strings.Join(rapid.SliceOfN(pieces, 0, 60).Draw(t, "pieces"), "")))
		})
	})
}
