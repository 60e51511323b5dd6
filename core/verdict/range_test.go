package verdict_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

func TestRangeIsGivenOnlyWholeAndInItsForm(t *testing.T) {
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
		require.Equal(t, bad != "<base>..<head>", result.GitRange != "", "what was said is kept: %q", bad)
	}
	require.Equal(t, "a1b2c3d..e4f5a6b", verdict.Judge("Implementation complete.\n\nGit range: a1b2c3d..e4f5a6b\n", asked(core.Worker)).Result.Range())
	require.Empty(t, verdict.Result{}.Range())
}

// A block may name the commits, too. Other text in their place was taken for the commits of finished work.
func TestABlockMayNameTheCommits(t *testing.T) {
	block := func(member string) verdict.Judgement {
		return verdict.Judge("BEGIN_DISPATCH_RESULT\n"+`{"task_id":"2.1","status":"completed","summary":"s","files_changed":[],"tests":[],"follow_up_actions":[]`+
			member+"}\nEND_DISPATCH_RESULT\n", asked(core.Worker))
	}
	j := block(`, "git_range": "a1b2c3d..e4f5a6b"`)
	require.Equal(t, "a1b2c3d..e4f5a6b", j.Result.Range())
	require.Empty(t, j.Warnings)
	require.Empty(t, block("").Warnings, "it may be absent")
	for _, none := range []string{`""`, `null`} {
		j := block(`, "git_range": ` + none)
		require.Equal(t, verdict.Pass, j.Verdict, none)
		require.Empty(t, j.Result.Range(), none)
	}
	for _, odd := range []string{`"HEAD"`, `7`, `["a..b"]`, `{"a\u0041":"\n"}`, `"a.."`, `"..b"`, `".."`, `"a...b"`, `"--output=x..b"`, `"a..b c"`} {
		j := block(`, "git_range": ` + odd)
		require.Equal(t, verdict.Invalid, j.Verdict, odd)
		require.Equal(t, []string{"git_range"}, fields(j.Errors), odd)
	}
}
