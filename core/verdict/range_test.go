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
