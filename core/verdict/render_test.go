package verdict_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/verdict"
)

// A result that is written is read as the same result, without an error; and a result of the forms
// that the generators know can always be written.
func TestRenderedResultsReadBack(t *testing.T) {
	for g, generate := range map[verdict.Grammar]func(*rapid.T) verdict.Result{
		verdict.JSONBlock: aResultBlock, verdict.V2: aHeaderResult,
	} {
		t.Run(string(g), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := generate(t)
				text, err := verdict.Render(r, g)
				require.NoError(t, err)
				j := verdict.Judge(text, verdict.Asked{Role: r.Role, ItemID: r.TaskID})
				require.Empty(t, j.Errors, text)
				require.Equal(t, g, j.Grammar, text)
				require.Equal(t, r, j.Result, text)
				require.NotEqual(t, verdict.Invalid, j.Verdict)
				again, err := verdict.Render(j.Result, g)
				require.NoError(t, err)
				require.Equal(t, text, again)
			})
		})
	}
}

func TestRenderIsReadable(t *testing.T) {
	text, err := verdict.Render(verdict.Result{
		Role: core.CodeQualityReviewer, Own: core.CodeQualityReviewer, TaskID: "2.1", Status: "gaps", Confidence: "high", GitRange: "a..b",
		Issues:       []verdict.Issue{{Message: "too long"}, {Message: "no test"}},
		FilesChanged: []string{"a.go", "b.go"}, Body: "See above.",
	}, verdict.V2)
	require.NoError(t, err)
	require.Equal(t, `role: code-quality-reviewer
task_id: 2.1
status: gaps
git_range: a..b
issues: too long; no test
files_changed: a.go, b.go
confidence: high

See above.
`, text)
	text, err = verdict.Render(verdict.Result{Role: core.SpecReviewer, TaskID: "2.1", Status: "approved"}, verdict.JSONBlock)
	require.NoError(t, err)
	require.Equal(t, block(`{"task_id":"2.1","assessment":"approved","strengths":[],"issues":[],"required_fixes":[]}`), text)
}

// What a grammar cannot carry is refused and never changed on the way.
func TestRenderRefusesWhatWouldBeReadDifferently(t *testing.T) {
	worker := verdict.Result{Role: core.Worker, Own: core.Worker, TaskID: "2.1", Status: "pass", GitRange: "a..b"}
	reviewer := verdict.Result{Role: core.SpecReviewer, TaskID: "2.1", Status: "approved"}
	with := func(r verdict.Result, change func(*verdict.Result)) verdict.Result {
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		grammar verdict.Grammar
		result  verdict.Result
		err     string
	}{
		"nothing":             {verdict.V2, verdict.Result{}, "the role that was asked is none"},
		"no id":               {verdict.V2, with(worker, func(r *verdict.Result) { r.TaskID = "" }), "task_id is required"},
		"no range":            {verdict.V2, with(worker, func(r *verdict.Result) { r.GitRange = "" }), "git_range is required where a worker says pass"},
		"a word of a block":   {verdict.V2, with(worker, func(r *verdict.Result) { r.Status = "completed" }), "status is none of the words allowed here"},
		"a word of headers":   {verdict.JSONBlock, worker, "status is none of the words allowed"},
		"another line":        {verdict.V2, with(worker, func(r *verdict.Result) { r.GitRange = "a..b\nstatus: pass\nrole: worker" }), "the grammar v2 cannot carry this GitRange"},
		"a separator":         {verdict.V2, with(worker, func(r *verdict.Result) { r.FilesChanged = []string{"a,b"} }), "the grammar v2 cannot carry this FilesChanged"},
		"a placeholder":       {verdict.V2, with(worker, func(r *verdict.Result) { r.FilesChanged = []string{"none"} }), "the grammar v2 cannot carry this FilesChanged"},
		"an own role":         {verdict.JSONBlock, with(reviewer, func(r *verdict.Result) { r.Own = core.SpecReviewer }), "the grammar json_block cannot carry this Own"},
		"a control character": {verdict.JSONBlock, with(reviewer, func(r *verdict.Result) { r.Strengths = []string{"\x1b"} }), "the grammar json_block cannot carry this Strengths"},
		"a summary":           {verdict.V2, with(worker, func(r *verdict.Result) { r.Summary = "x" }), "the grammar v2 cannot carry this Summary"},
		"a severity":          {verdict.V2, with(worker, func(r *verdict.Result) { r.Issues = []verdict.Issue{{Severity: "minor", Message: "x"}} }), "the grammar v2 cannot carry this Issues"},
		"a block in the body": {verdict.V2, with(worker, func(r *verdict.Result) { r.Body = block(strings.Replace(workerObject, "completed", "failed", 1)) }), "the text has two results that say different things"},
		"a blank body":        {verdict.V2, with(worker, func(r *verdict.Result) { r.Body = "\n x" }), "the grammar v2 cannot carry this Body"},
		"a body in a block":   {verdict.JSONBlock, with(reviewer, func(r *verdict.Result) { r.Body = "x" }), "the grammar json_block cannot carry this Body"},
		"broken UTF-8":        {verdict.JSONBlock, with(reviewer, func(r *verdict.Result) { r.Strengths = []string{"\xff"} }), "the grammar json_block cannot carry this Strengths"},
		"an empty list":       {verdict.JSONBlock, with(reviewer, func(r *verdict.Result) { r.Strengths = []string{} }), ""},
		"an id with a blank":  {verdict.JSONBlock, with(reviewer, func(r *verdict.Result) { r.TaskID = "2.1 " }), "the result is about another task"},
		"a statement":         {verdict.Legacy, reviewer, `a result cannot be written in the grammar "legacy"`},
		"no grammar":          {verdict.None, reviewer, `a result cannot be written in the grammar "none"`},
		"a stranger":          {"xml", reviewer, `a result cannot be written in the grammar "xml"`},
		"a thousand and one":  {verdict.JSONBlock, with(reviewer, func(r *verdict.Result) { r.Strengths = strings.Split(strings.Repeat("x ", 1001), " ") }), "the grammar json_block cannot carry this Strengths"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := verdict.Render(c.result, c.grammar)
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.err)
			require.Empty(t, text)
		})
	}
}
