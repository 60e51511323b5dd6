package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// Seen: the plan asked for one reviewer and for a model, and nobody read it.
func TestDirectivesOfAnItem(t *testing.T) {
	reading, err := plan.Parse([]byte(`# Plan

### Task 1: Count
**Model:** anthropic/opus (the fast one)
**review:** Spec-Only
**Depends on:** none

### Task 2: Report
**Review:** maybe
**Model:** big one
` + "```markdown\n**Review:** full\n```" + `

### Task 3: Alarm
- **Review**: none
- **Review:** full
- **Model:** ` + "`small`" + `
- Review: the code of others
`))
	require.NoError(t, err)
	want := []plan.Directives{{Review: plan.ReviewSpecOnly, Model: "anthropic/opus"}, {}, {Review: plan.ReviewFull, Model: "small"}}
	for i, it := range reading.Items() {
		require.Equal(t, want[i], it.Directives(), it.Title)
	}
	var odd []string
	for _, d := range reading.Diagnostics {
		require.Equal(t, plan.SeverityWarning, d.Severity)
		odd = append(odd, d.Code+" "+d.Message)
	}
	require.Equal(t, []string{
		"unknown_directive maybe is ignored: a review must be spec-only, none or full",
		"unknown_directive big one is ignored: a model must be one name, such as provider/model",
		"contradictory_directive the item asks for the reviews none and full: full counts because it is stricter",
	}, odd)
	require.Equal(t, 9, reading.Diagnostics[0].Line)
}

// Of two lines the first counted in silence, even if it asked for less.
func TestOfTwoDirectivesTheStricterCounts(t *testing.T) {
	for lines, want := range map[string]struct {
		plan.Directives
		reports int
	}{
		"**Review:** none\n**Review:** full":                                                {plan.Directives{Review: plan.ReviewFull}, 1},
		"**Review:** full\n**Review:** none":                                                {plan.Directives{Review: plan.ReviewFull}, 1},
		"**Review:** none\n**Review:** spec-only":                                           {plan.Directives{Review: plan.ReviewSpecOnly}, 1},
		"**Review:** none\n**Review:** none":                                                {plan.Directives{Review: plan.ReviewNone}, 0},
		"**Review:** none\n**Review:** maybe":                                               {plan.Directives{Review: plan.ReviewNone}, 0},
		"**Review:** none\n### Task 2: b\n**Review:** full":                                 {plan.Directives{Review: plan.ReviewNone}, 0},
		"**Review:** none\n#### Details\n**Review:** full":                                  {plan.Directives{Review: plan.ReviewFull}, 1},
		"**Review:** none\n- [ ] **Step 1: b**\n\n**Acceptance:**\n- c\n\n**Review:** full": {plan.Directives{Review: plan.ReviewFull}, 1},
		"**Model:** a/b\n**Model:** c/d":                                                    {plan.Directives{Model: "a/b"}, 1},
		"**Review: spec-only**\n**Model: a/b**":                                             {plan.Directives{Review: plan.ReviewSpecOnly, Model: "a/b"}, 0},
		"**Review:** `none`.":                                                               {plan.Directives{Review: plan.ReviewNone}, 0},
		"**Review:** none\n```\n**Review:** full\n```\nAnd so":                              {plan.Directives{Review: plan.ReviewNone}, 0},
	} {
		r := parse(t, "### Task 1: a\n"+lines+"\n")
		require.Equal(t, want.Directives, r.Items()[0].Directives(), lines)
		require.Len(t, diagnostics(r, "contradictory_directive"), want.reports, lines)
	}
}

func TestDirectivesOfABox(t *testing.T) {
	reading, err := plan.Parse([]byte("- [ ] 1. Count\n  - **Review:** full\n  - **Model:** a/b\n- [ ] 2. Report\n"))
	require.NoError(t, err)
	require.Empty(t, reading.Diagnostics)
	require.Equal(t, plan.Directives{Review: plan.ReviewFull, Model: "a/b"}, reading.Items()[0].Directives())
	require.Zero(t, reading.Items()[1].Directives())
}
