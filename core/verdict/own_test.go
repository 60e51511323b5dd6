package verdict_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

// The role in a text was lost, so that the reviewer was unknown.
func TestTheTextsOwnRoleIsKept(t *testing.T) {
	for name, want := range map[string]core.Role{
		"worker": core.Worker, "spec-reviewer": core.SpecReviewer, "code-quality-reviewer": core.CodeQualityReviewer,
		"**Spec-Reviewer**": core.SpecReviewer,
		"reviewer":          0, "implementer": 0, "spec": 0, "": 0, "spec-reviewer, worker": 0,
	} {
		for i := range core.Roles {
			j := verdict.Judge(strings.Replace(gapsHeaders, "spec-reviewer", name, 1), asked(core.Role(i+1)))
			require.Equal(t, want, j.Result.Own, name)
			require.Equal(t, core.Role(i+1), j.Result.Role, "the role that was asked is another matter")
		}
	}
	require.Zero(t, verdict.Judge(block(gapsObject), asked(core.SpecReviewer)).Result.Own, "a block does not say who speaks")
	require.Zero(t, verdict.Judge("Code quality review passed.", asked(core.SpecReviewer)).Result.Own)
}

// A statement was taken for a result without a word about it.
func TestAStatementIsRemarkedOn(t *testing.T) {
	for _, text := range []string{"APPROVED", "Spec review failed.", "error: no disk"} {
		j := verdict.Judge(text, asked(core.SpecReviewer))
		require.Equal(t, []string{"the result has no form; a clear statement was taken for one"}, warningsOf(j, "legacy_statement"), text)
	}
	require.False(t, remarked(verdict.Judge(gapsHeaders, asked(core.SpecReviewer)), "legacy_statement"))
}
