package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

// Honest answers were refused, or lost a part, because of how they were laid out.
func TestHonestAnswersAreRead(t *testing.T) {
	const head = "role: spec-reviewer\ntask_id: 2.1\n"
	for text, want := range map[string][]string{
		head + "key: key2test\nstatus: gaps\nissues: a; b\n":                                         {"a", "b"},
		head + "key: [KEY2TEST]\nstatus: gaps.\nissues: a\n":                                         {"a"},
		head + "Result key: KEY2TEST\nstatus: gaps\nissues: a\n":                                     {"a"},
		head + "key: 'KEY2TEST'.\nstatus: gaps\nissues:\n\n- a\n- b\n":                               {"a", "b"},
		head + "key: KEY2TEST\nstatus: gaps\nissues:\n- status: header is wrong\n- b\n":              {"status: header is wrong", "b"},
		head + "key: KEY2TEST\nstatus: gaps\nissues:\n- key: the map key\n- Role: gone\n":            {"key: the map key", "Role: gone"},
		head + "key: KEY2TEST\nstatus: gaps\nissues: a\n  b; c\n":                                    {"a", "b; c"},
		head + "key: KEY2TEST\nstatus: gaps\nissues: |\n  a\n  b\n":                                  {"a", "b"},
		"- role: spec-reviewer\n- task_id: 2.1\n- key: KEY2TEST\n- issues:\n  - a\n- status: gaps\n": {"a"},
	} {
		question := asked(core.SpecReviewer)
		question.Keys = []string{theKey}
		j := verdict.Judge(text, question)
		require.Equal(t, verdict.Gaps, j.Verdict, "%s\n%v", text, j.Errors)
		require.Equal(t, theKey, j.Key, text)
		var issues []string
		for _, issue := range j.Result.Issues {
			issues = append(issues, issue.Message)
		}
		require.Equal(t, want, issues, text)
	}
}

// A body below a list was taken for a part of it.
func TestABodyIsNoIssue(t *testing.T) {
	for _, body := range []string{"I looked at all of it.", "- a list\n- in the body", "    indented code"} {
		j := verdict.Judge("role: spec-reviewer\ntask_id: 2.1\nstatus: gaps\nissues: a\n\n"+body+"\n", asked(core.SpecReviewer))
		require.Equal(t, verdict.Gaps, j.Verdict, "%v", j.Errors)
		require.Len(t, j.Result.Issues, 1, body)
	}
}

// A worker's statement named commits that are none.
func TestAStatementWithAFalseRangeIsInvalid(t *testing.T) {
	for text, want := range map[string]verdict.Verdict{
		"Implementation complete. Git range: abc":              verdict.Invalid,
		"execute-2 complete. Git range: nonsense":              verdict.Invalid,
		"Implementation complete.\n\nGit range: a..$(x)":       verdict.Invalid,
		"execute-2 complete. Git range: a1b2c3d..e4f5a6b":      verdict.Pass,
		"Implementation complete.\n\n**Git range:** `a1..b2`.": verdict.Pass,
		"Implementation complete.":                             verdict.Pass,
	} {
		require.Equal(t, want, verdict.Judge(text, asked(core.Worker)).Verdict, text)
	}
}

// An approval that denies rejections in its text was taken for one, or would be by rules that see only words.
func TestAnApprovalMayDenyRejections(t *testing.T) {
	for _, denial := range []string{
		"Issues found: none.", "Issues found: no blocking issues", "Failed: 0", "No changes requested.", "Zero issues found.",
		"The ❌ marks are gone.", "Nothing needs changes.",
		"It now strikes where the former run\nfailed.", "The `<pre>` element is gone.", "A <preview> follows.",
	} {
		for _, text := range []string{passHeader + "\n" + denial + "\n", denial + "\n\n" + block(approving)} {
			j := verdict.Judge(text, asked(core.SpecReviewer))
			require.Equal(t, verdict.Pass, j.Verdict, "%s\n%v", text, j.Errors)
		}
	}
	j := verdict.Judge(" "+passHeader, asked(core.SpecReviewer))
	require.Equal(t, verdict.Pass, j.Verdict, "an answer that begins with a space is no quotation: %v", j.Errors)
}
