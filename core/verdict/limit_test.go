package verdict_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/test/slow"
)

const megabyte = 1 << 20

// hostile returns texts of about a size, each of which may be slow to judge or make a large result.
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
		"details":                   fill("<details></details>"),
		"angle brackets":            fill("<"),
		"statements":                fill("APPROVED\n"),
		"one line of statements":    fill("APPROVED. "),
		"mentions":                  fill("it is not approved "),
		"dots":                      "APPROVED\n" + fill("."),
		"ranges":                    "APPROVED\n" + fill("abc..def.."),
		"hexadecimal":               "APPROVED\n" + fill("a") + ".." + fill("b"),
		"broken UTF-8":              fill("\xff"),
		"line feeds":                "x" + fill("\n") + "x",
		"carriage returns":          fill("\r\n") + "x",
		"no-break spaces":           fill("\u00a0") + "x",
		"colons":                    fill(":"),
		"turns":                     fill("however "),
		"blocks on one line":        fill("BEGIN_DISPATCH_RESULT {} END_DISPATCH_RESULT "),
		"lists that go on":          "issues: a" + fill("\n  b"),
	}
}

// Judging the worst megabyte allocates at most forty times its size. A judge that is slower than in proportion to the
// text would not end here.
func TestAMegabyteTakesModestMemory(t *testing.T) {
	slow.Test(t)
	size := slow.Size(megabyte)
	for name, text := range hostile(size) {
		t.Run(name, func(t *testing.T) {
			for _, role := range []core.Role{core.Worker, core.SpecReviewer} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				j := verdict.Judge(text, asked(role))
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40*size))
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

// controlled returns results that are nearly all control characters, written in about a size.
func controlled(size int) map[string]string {
	raw, escaped := strings.Repeat("\x01", size), strings.Repeat(`\u0001`, size/6)
	many := strings.TrimSuffix(strings.Repeat(`"`+escaped[:6*1000]+`",`, size/6000), ",")
	return map[string]string{
		"an issue":             strings.Replace(gapsHeaders, "too long", raw, 1),
		"issues":               strings.Replace(gapsHeaders, "too long", strings.Repeat("\x01\x01\x01;", size/4), 1),
		"an id":                strings.Replace(gapsHeaders, "2.1", raw, 1),
		"bullets":              "FAILED\n" + strings.Repeat("- \x01\x01\x01\x01\n", size/7),
		"a message":            block(strings.Replace(gapsObject, `"m"`, `"`+escaped+`"`, 1)),
		"strengths":            block(strings.Replace(gapsObject, `[]`, `[`+many+`]`, 1)),
		"a summary":            block(strings.Replace(workerObject, "drew", escaped, 1)),
		"tests":                block(strings.Replace(workerObject, `"tests":[]`, `"tests":[`+strings.TrimSuffix(strings.Repeat(`{"command":"`+escaped[:6*1000]+`","passed":true},`, size/6000), ",")+`]`, 1)),
		"a key":                block(strings.Replace(gapsObject, `"task_id"`, `"`+escaped+`":1,"task_id"`, 1)),
		"a word":               block(strings.Replace(gapsObject, "needs_changes", escaped, 1)),
		"lines that end twice": block(strings.Replace(workerObject, "drew", strings.Repeat(`\r\n`, size/4), 1)),
	}
}

// Eight megabytes of control characters once made an answer of ninety-five.
func TestAHostileTextMakesASmallResult(t *testing.T) {
	for name, text := range controlled(megabyte) {
		t.Run(name, func(t *testing.T) {
			for _, role := range []core.Role{core.Worker, core.SpecReviewer} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				j := verdict.Judge(text, asked(role))
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*megabyte))
				require.Empty(t, isBounded(text, asked(role)))
				j.Result.Body = ""
				answer, err := json.Marshal(j)
				require.NoError(t, err)
				require.Less(t, len(answer), 128<<10)
			}
		})
	}
	for name, text := range hostile(megabyte / 8) {
		require.Empty(t, isBounded(text, asked(core.SpecReviewer)), name)
	}
}

// warningsOf returns the messages of a kind of warning.
func warningsOf(j verdict.Judgement, remark verdict.Remark) (messages []string) {
	for _, w := range j.Warnings {
		if w.Remark == remark {
			messages = append(messages, w.Message)
		}
	}
	return messages
}

// The next agent is told how much of a list or a text was left out. Each grammar counts it, and says it once.
func TestLeftOutPartsAreCounted(t *testing.T) {
	long := strings.Repeat("é", 3000)
	gaps := func(issues string) string { return strings.Replace(gapsHeaders, " too long; no test", issues, 1) }
	object := func(old, new string) string { return block(strings.Replace(gapsObject, old, new, 1)) }
	for name, c := range map[string]struct {
		text   string
		kept   int // issues or strengths
		lost   verdict.Lost
		lists  []string
		texts  []string
		longer string // the first issue, if it was cut
	}{
		"nothing":      {gapsHeaders, 2, verdict.Lost{}, nil, nil, ""},
		"headers":      {gaps(strings.Repeat(" wet;", 1200) + " cold"), 1000, verdict.Lost{Issues: 201}, []string{"issues: 201 of 1201 entries were left out"}, nil, ""},
		"listed items": {gaps(strings.Repeat("\n- x", 1500)), 1000, verdict.Lost{Issues: 500}, []string{"issues: 500 of 1500 entries were left out"}, nil, ""},
		"a block":      {object(`"strengths":[]`, `"strengths":["x"`+strings.Repeat(`,"x"`, 1500)+`]`), 1000, verdict.Lost{}, []string{"strengths: 501 of 1501 entries were left out"}, nil, ""},
		"fixes":        {object(`["f"]`, `["f"`+strings.Repeat(`,"y"`, 1200)+`]`), 1, verdict.Lost{RequiredFixes: 201}, []string{"required_fixes: 201 of 1201 entries were left out"}, nil, ""},
		"a statement":  {"Issues found:\n" + strings.Repeat("- wet\n", 1200), 1000, verdict.Lost{Issues: 200}, []string{"issues: 200 of 1200 entries were left out"}, nil, ""},
		"a long entry": {gaps(" " + long), 1, verdict.Lost{Issues: 1}, nil, []string{"issues: a text of 6000 bytes was cut to 4095"}, strings.Repeat("é", 2046) + "…"},
		"a long fix":   {object(`"fix":"f"`, `"fix":"`+long+`"`), 1, verdict.Lost{Issues: 1}, nil, []string{"issues[0].fix: a text of 6000 bytes was cut to 4095"}, ""},
		"many bytes":   {gaps(" " + strings.Repeat(strings.Repeat("x", 4096)+";", 40)), 16, verdict.Lost{Issues: 24}, []string{"issues: 24 of 40 entries were left out"}, nil, ""},
	} {
		j := verdict.Judge(c.text, asked(core.SpecReviewer))
		require.Equal(t, verdict.Gaps, j.Verdict, "%s: %v", name, j.Errors)
		require.Equal(t, c.kept, max(len(j.Result.Issues), len(j.Result.Strengths)), name)
		require.Equal(t, c.lost, j.Lost, name)
		require.Equal(t, c.lists, warningsOf(j, "list_cut"), name)
		require.Equal(t, c.texts, warningsOf(j, "entry_cut"), name)
		require.False(t, remarked(j, "and_more"), name)
		if c.longer != "" {
			require.Equal(t, c.longer, j.Result.Issues[0].Message, name)
		}
	}
	summary := verdict.Judge(block(strings.Replace(workerObject, "drew", strings.Repeat(`\u00e9\n`, 10000), 1)), asked(core.Worker))
	require.True(t, summary.Result.Summary == strings.Repeat("é\n", 5460)+"…", "it ends with a whole character and a mark")
	require.Equal(t, []string{"summary: a text of 80000 bytes was cut to 16383"}, warningsOf(summary, "entry_cut"))
}

func TestControlCharactersAreReplaced(t *testing.T) {
	j := verdict.Judge(block(strings.Replace(workerObject, "drew", `a\u0000b\tc\r\nd\re\u001b\u0085`, 1)), asked(core.Worker))
	require.Equal(t, "a\uFFFDb\tc\nd\uFFFDe\uFFFD\uFFFD", j.Result.Summary)
	require.Equal(t, []string{"summary: control characters were replaced"}, warningsOf(j, "control_characters"))
	require.Equal(t, verdict.Pass, j.Verdict)
}

func TestALongIdIsRefused(t *testing.T) {
	for length, want := range map[int]verdict.Verdict{128: verdict.Pass, 129: verdict.Invalid} {
		id := strings.Repeat("7", length)
		for _, text := range []string{workerHeaders, block(workerObject)} {
			j := verdict.Judge(strings.Replace(text, "2.1", id, 1), verdict.Asked{Role: core.Worker, ItemID: id})
			require.Equal(t, want, j.Verdict, length)
			require.Equal(t, want == verdict.Invalid, remarked(j, "entry_cut"))
		}
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

func TestRangeIsWholeAndInItsForm(t *testing.T) {
	judged := func(text string) verdict.Result {
		return verdict.Judge("role: worker\ntask_id: 1\nstatus: pass\ngit_range: "+text+"\n", asked(core.Worker)).Result
	}
	for _, good := range []string{"a1b2c3d..e4f5a6b", "main..feature/mail", "HEAD~2..HEAD"} {
		require.Equal(t, good, judged(good).Range())
	}
	for _, bad := range []string{
		"a1b2c3d", "a..", "..b", "a...b", "a..b..c", "a..b and more", "<base>..<head>", "a..b;c..d", "a..b\x00",
		"a.." + strings.Repeat("b", 5000),
	} {
		result := judged(bad)
		require.Empty(t, result.Range(), bad)
		require.Equal(t, bad != "<base>..<head>", result.GitRange != "", "the text is kept: %q", bad)
	}
	require.Equal(t, "a1b2c3d..e4f5a6b", verdict.Judge("Implementation complete.\n\nGit range: a1b2c3d..e4f5a6b\n", asked(core.Worker)).Result.Range())
	require.Empty(t, verdict.Result{}.Range())
}

// Headers whose git_range was too long passed without one, although a block with it was invalid.
func TestFinishedWorkWithARangeThatIsTooLongIsInvalid(t *testing.T) {
	j := verdict.Judge("role: worker\ntask_id: 2.1\nstatus: pass\ngit_range: a.."+strings.Repeat("b", 5000)+"\n", asked(core.Worker))
	require.Equal(t, verdict.Invalid, j.Verdict)
	require.Contains(t, fields(j.Errors), "git_range")
}
