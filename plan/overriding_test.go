package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

func TestSpacesInTheCommentThatSetsTheDialectCountForNothing(t *testing.T) {
	for _, comment := range []string{
		"<!-- waybill: dialect = kiro -->", "<!--waybill:dialect=kiro-->", "  <!--  waybill:  dialect  =kiro  -->", "- <!-- waybill: dialect=kiro -->",
	} {
		r := parse(t, "# Plan\n"+comment+"\n- [ ] 1. a\n  - _Prompt: b_\n")
		require.Equal(t, "kiro", r.Dialect, comment)
		require.Empty(t, diagnostics(r, "override_unread"), comment)
	}
}

// What wants to set a dialect and cannot was passed over without a word.
func TestACommentThatSetsNoDialectIsReported(t *testing.T) {
	const list = "\n- [ ] 1. a\n  - _Prompt: b_\n"
	for text, at := range map[string][2]int{
		"<!-- waybill:\n dialect=kiro -->":              {1, 6},
		"<!--\nwaybill: dialect=kiro\n-->":              {2, 1},
		"# Plan <!-- waybill: dialect=kiro -->":         {1, 13},
		"<!-- waybill: kiro -->":                        {1, 6},
		"x\n<!-- waybill: skip=yes -->":                 {2, 6},
		"<!-- a\n<!-- waybill: dialect=kiro -->":        {2, 6},
		"---\ntitle: x\n---\n<!-- waybill: dialect -->": {4, 6},
	} {
		r := parse(t, text+list)
		require.Equal(t, "spec-context", r.Dialect, text)
		found := diagnostics(r, "override_unread")
		require.Len(t, found, 1, text)
		require.Equal(t, at, [2]int{found[0].Line, found[0].Column}, text)
		require.Equal(t, plan.SeverityError, found[0].Severity)
		require.Contains(t, found[0].Message, "<!-- waybill: dialect=NAME -->")
	}
	for _, text := range []string{
		"```\n# Plan <!-- waybill: dialect=kiro -->\n```", "Begin it with `<!-- waybill: dialect=kiro -->`.", "waybill: dialect=kiro", "It says waybill: so",
		"<!-- as waybill: says -->", "<!-- waybill: dialect=kiro -->\n<!-- waybill: dialect=spec-kit -->",
	} {
		require.Empty(t, diagnostics(parse(t, text+list), "override_unread"), text)
	}
}

func TestACommentInAFileOfAFolderThatSetsNoDialectIsReported(t *testing.T) {
	r := parse(t, "---\nid: A-1\nlabels: []\nstatus: Done\n---\nx <!-- waybill: dialect=backlog -->\n")
	require.Equal(t, []int{6}, []int{diagnostics(r, "override_unread")[0].Line})
}
