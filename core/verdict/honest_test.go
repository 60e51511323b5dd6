package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

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
