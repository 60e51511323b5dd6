package verdict_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

const megabyte = 1 << 20

// hostile gives texts of about a size, each made to be slow or to make much of little.
func hostile(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)+1) }
	return map[string]string{
		"a large body":              workerHeaders + fill("The hands are drawn. "),
		"a large block":             block(strings.Replace(workerObject, "drew", fill("drew "), 1)),
		"markers":                   fill("BEGIN_DISPATCH_RESULT "),
		"markers on lines":          fill("BEGIN_DISPATCH_RESULT\n"),
		"markers and braces":        fill("BEGIN_DISPATCH_RESULT{"),
		"markers in open strings":   fill(`BEGIN_DISPATCH_RESULT{"a`),
		"markers in nested strings": fill(`BEGIN_DISPATCH_RESULT{"a":"`),
		"markers in escapes":        fill(`BEGIN_DISPATCH_RESULT{"a\"`),
		"one open string":           `BEGIN_DISPATCH_RESULT{"` + fill("BEGIN_DISPATCH_RESULT{"),
		"blocks":                    fill(block(workerObject)),
		"blocks without ends":       fill("BEGIN_DISPATCH_RESULT\n" + workerObject + "\n"),
		"open brackets":             "BEGIN_DISPATCH_RESULT\n{\"a\":" + fill("["),
		"space behind an object":    "BEGIN_DISPATCH_RESULT\n{}" + fill(" ") + "x",
		"an indented line":          fill(" ") + fill("BEGIN_DISPATCH_RESULT "),
		"unknown keys":              block("{" + strings.TrimSuffix(fill(`"k":1,`), ",") + "}"),
		"the same key":              block("{" + strings.TrimSuffix(fill(`"status":"completed",`), ",") + "}"),
		"entries of no type":        block(`{"tests":[` + strings.TrimSuffix(fill("1,"), ",") + "]}"),
		"empty objects":             block(`{"tests":[` + strings.TrimSuffix(fill("{},"), ",") + "]}"),
		"headers":                   fill("role: worker\n"),
		"header blocks":             fill("role: worker\ntask_id: 2.1\n\n"),
		"headers after text":        "x\n" + fill("role: worker\ntask_id: 2.1\nstatus: pass\n\n"),
		"headers far apart":         fill("role: x\n\n\n\n\n\n\n\n\n\n\n\n\n\n"),
		"unknown headers":           "role: worker\n" + fill("a: b\n"),
		"issues":                    "role: worker\ntask_id: 2.1\nstatus: gaps\nissues: " + fill("x;"),
		"no issues":                 "role: worker\ntask_id: 2.1\nstatus: gaps\nissues: " + fill(";"),
		"listed issues":             "role: worker\ntask_id: 2.1\nstatus: gaps\nissues:\n" + fill("- x\n"),
		"blank lines":               "role: worker\n" + fill("\n") + "x",
		"fences":                    fill("```\n"),
		"statements":                fill("APPROVED\n"),
		"one line of statements":    fill("APPROVED. "),
		"mentions":                  fill("it is not approved "),
		"bullets":                   "FAILED\n" + fill("- x\n"),
		"dots":                      "APPROVED\n" + fill("."),
		"ranges":                    "APPROVED\n" + fill("abc..def.."),
		"hexadecimal":               "APPROVED\n" + fill("a") + ".." + fill("b"),
		"broken UTF-8":              fill("\xff"),
		"line feeds":                "x" + fill("\n") + "x",
		"carriage returns":          fill("\r\n") + "x",
		"no-break spaces":           fill("\u00a0") + "x",
		"colons":                    fill(":"),
		"turns":                     fill("however "),
	}
}

// What is allocated while the worst megabyte is judged, nearly all of it for a moment only, is at most
// forty times its size.
// What is slower than in proportion to the text would be seen here as a test that does not end.
func TestAMegabyteTakesModestMemory(t *testing.T) {
	for name, text := range hostile(megabyte) {
		t.Run(name, func(t *testing.T) {
			for _, role := range []core.Role{core.Worker, core.SpecReviewer} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				j := verdict.Judge(text, asked(role))
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40*megabyte))
				require.LessOrEqual(t, len(j.Errors), 51)
				require.Less(t, len(j.Warnings), 40)
				require.Less(t, len(verdict.RetryPrompt("", asked(core.Worker), j.Errors)), 64<<10)
			}
		})
	}
}

// Allocations do not depend on the machine: four times the text must not take more than about four
// times as many.
func TestWorkGrowsWithTheTextAndNotFaster(t *testing.T) {
	small, large := hostile(megabyte/32), hostile(megabyte/8)
	for name := range large {
		t.Run(name, func(t *testing.T) {
			few := testing.AllocsPerRun(1, func() { verdict.Judge(small[name], asked(core.SpecReviewer)) })
			many := testing.AllocsPerRun(1, func() { verdict.Judge(large[name], asked(core.SpecReviewer)) })
			require.LessOrEqual(t, many, 4.5*few+500)
		})
	}
}

func TestErrorsOverTheLimitAreCounted(t *testing.T) {
	text := block(`{"task_id":"2.1","status":"completed","summary":"","files_changed":[` + strings.TrimSuffix(strings.Repeat("1,", 400), ",") + `],"tests":[],"follow_up_actions":[]}`)
	j := verdict.Judge(text, asked(core.Worker))
	require.Len(t, j.Errors, 51)
	require.Equal(t, verdict.AndMore, j.Errors[50].Fault)
	require.Equal(t, "350 more errors are not listed", j.Errors[50].Message)
}

func TestWarningsOverTheLimitAreCounted(t *testing.T) {
	text := strings.Replace(workerHeaders, "\n\n", "\n"+strings.Repeat("odd: x\n", 40)+"\n", 1)
	j := verdict.Judge(text, asked(core.Worker))
	require.Equal(t, verdict.Pass, j.Verdict)
	require.Len(t, j.Warnings, 6)
	require.Equal(t, verdict.Warning{Remark: "and_more", Line: 1, Message: "35 more of unknown_key"}, j.Warnings[5])
	five := strings.Replace(workerHeaders, "\n\n", "\n"+strings.Repeat("odd: x\n", 5)+"\n", 1)
	require.Len(t, verdict.Judge(five, asked(core.Worker)).Warnings, 5)
}

// A list is cut where it is too long for anybody, and the cut is said.
func TestListsOverTheLimitAreCut(t *testing.T) {
	for name, text := range map[string]string{
		"v2":         strings.Replace(gapsHeaders, "too long", strings.Repeat("x;", 1500), 1),
		"json_block": block(strings.Replace(gapsObject, `"strengths":[]`, `"strengths":["x"`+strings.Repeat(`,"x"`, 1500)+`]`, 1)),
		"legacy":     "FAILED\n" + strings.Repeat("- x\n", 1500),
	} {
		j := verdict.Judge(text, asked(core.SpecReviewer))
		require.Equal(t, verdict.Gaps, j.Verdict, name)
		require.Equal(t, name, string(j.Grammar))
		require.Equal(t, 1000, max(len(j.Result.Issues), len(j.Result.Strengths)), name)
		require.True(t, remarked(j, "list_cut"), name)
		require.False(t, remarked(j, "and_more"), "the cut is said once")
	}
}

func TestErrorsNameTheIdsThatWouldBeRight(t *testing.T) {
	for _, c := range []struct {
		asked verdict.Asked
		want  string
	}{
		{verdict.Asked{Role: core.Worker, ItemID: "3"}, "3"},
		{verdict.Asked{Role: core.Worker, ItemID: "3", TaskID: "3"}, "3"},
		{verdict.Asked{Role: core.Worker, ItemID: "3", TaskID: "tsk_1"}, "3 or tsk_1"},
	} {
		j := verdict.Judge(workerHeaders, c.asked)
		require.Len(t, j.Errors, 1)
		require.Equal(t, verdict.TaskIDMismatch, j.Errors[0].Fault)
		require.Equal(t, c.want, j.Errors[0].Expected)
	}
	j := verdict.Judge(strings.Replace(workerHeaders, "2.1", "", 1), verdict.Asked{Role: core.Worker, ItemID: "3"})
	require.Equal(t, verdict.Missing, j.Errors[0].Fault, "an empty id is never that of a task that was not named")
}

func TestNestingHasALimit(t *testing.T) {
	for n, want := range map[int]verdict.Verdict{126: verdict.Pass, 127: verdict.Pass, 128: verdict.Invalid} {
		extra := `"deep":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"status"`
		j := verdict.Judge(block(strings.Replace(workerObject, `"status"`, extra, 1)), asked(core.Worker))
		require.Equal(t, want, j.Verdict, fmt.Sprint(n, j.Errors))
	}
}
