package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/plan/read"
	"waybill/test/slow"
)

// units are pieces of which a line, or a file, can be made that a reader looks at again and again unless it takes
// care: each opens, closes or continues something.
var units = []string{
	"`", "~", "<", ">", "-", "*", "+", "#", "_", "[", "]", "(", ")", "{", "|", ".", ":", ",", "&", ";", "\\", "=", "\"", "\t", "→", "é",
	"0", "1.", "1,", "a", "T", "T001 ", "T1,", "1-256, ", "1 and ", " & ", "and ", "(a) ", "** ", "**1", "_a ", "a_ ", "__ ", "[]", "[ ] ", "[x]",
	"[P] ", "[US1]", "- [", "- [ ] ", "# [", "> ", ">>", "1) ", "<!--", "-->", "<!-- -->", "``` ", "~~", "~~1~~ ", "](", "]*", "[S] = ", "=skip", "[S] = skipped, ", "[x] = skipped | ", "`[S]` ", ", `[", "## Legend\n", "~~a ",
	"_Depends: ", "_Depends: 1_ ", "_Prompt: ", "_Prompt: a_ ", "_Prompt: |", "_Requirements: 1, ", "_Leverage: a _", "_Blocked: ", "_Boundary: ",
	"Files: ", "a/b.c ", "Depends on ", "depends on 1 ", "depends on T1, ", "(depends on ", "before ", "T1 before T2; ", "T1 -> ", " --> ", "1 --> ", "A[1 -->|", "-- a --> ",
	"Task ", "Task 1: ", "Task Group ", "Phase 1", "Track: ", "(P) ", "(AC: 1) ", "#1 ", "001.md - ", "parallel: ", "checkpoint: ", "7be20f1 ", "[7be20f1]", "Step 1: ",
	"| T1 | done ", "<task>", "<name>", "</task>", "---", "id: ", "{\"a\":", "{\"waves\":", "[[\"1\"],", "\"1\",", "✅", "⏳", "(COMPLETED) ", "1.1.", "0.",
}

// inPlaces puts a piece wherever a line of a plan may have it, once as one long line and once as many.
func inPlaces(unit string, size int) string {
	long := strings.Repeat(unit, size/len(unit))
	lines := strings.Repeat(unit+"\n", size/(len(unit)+1))
	var b strings.Builder
	b.WriteString("# a\n\n- [ ] 1. a\n- [ ] T001 a\n### Task 1: a\n- [ ] a\n")
	for _, before := range []string{"", "- ", "## ", "- [ ] ", "- [ ] 1.1 ", "- [ ] T002 ", "  - ", "    ", "### Task 2: ", "  - _Prompt: ", "  - **Depends on:** ", "| ", "- [ ] **", "## Dependencies\n- ", "## Task Dependency Graph\n"} {
		b.WriteString(before + long + "\n")
	}
	b.WriteString("- [ ] 2. a\n" + lines + "- [ ] 3. a\n  - a\n    " + strings.ReplaceAll(lines, "\n", "\n    ") + "\n```\n" + lines + "\n```\n## Dependencies\n" + lines)
	return b.String()
}

// Whatever is repeated, a plan costs in proportion to its size: four times as much takes four times as long, and would
// take sixteen times as long if any of it were looked at again for each piece. Each piece is tried in every eighth dialect; BenchmarkPieces tries all.
func TestFaultF21_NoPieceCostsMoreThanItsSize(t *testing.T) {
	slow.Test(t)
	const stride, most = 8, 10
	size := 1 << 12
	if slow.Race {
		size = 1 << 10
	}
	for k, dialect := range dialect.Names() {
		t.Run(dialect, func(t *testing.T) {
			for i := k % stride; i < len(units); i += stride {
				few, many := inDialect(dialect, inPlaces(units[i], size)), inDialect(dialect, inPlaces(units[i], 4*size))
				if r, err := read.Read(many, plan.Hints{}); err == nil {
					require.Equal(t, r.Checkboxes, countBoxed(r)+countNotTasks(r.Diagnostics), "%q", units[i])
				}
				require.LessOrEqual(t, slow.Ratio(reading(many), reading(few), most), float64(most), "times as long for four times as much of %q", units[i])
			}
		})
	}
}

// reading reads a text with all its items.
func reading(text string) func() {
	return func() {
		if r, err := read.Read(text, plan.Hints{}); err == nil {
			_ = r.Items()
		}
	}
}
