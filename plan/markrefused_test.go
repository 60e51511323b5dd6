package plan_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// Who asks for what cannot be said is told what can, and how to have more.
func TestRefusalSaysWhatTheDialectCanSay(t *testing.T) {
	for text, want := range map[string]string{
		"- [ ] a\n":                "the dialect loose has no mark for blocked, only for pending, completed; define one in a legend of the plan, such as",
		"[S] = skipped\n- [ ] a\n": "only for pending, completed, skipped; define one",
		"- ✅ a\n":                  "the dialect loose has no mark for blocked, only for in_progress, completed",
	} {
		_, err := markOf(t, text, "item/1", 0, plan.Blocked)
		require.ErrorContains(t, err, want)
	}
}

// What cannot be set is refused with what, why and where.
func TestItemsThatAreNotSet(t *testing.T) {
	const twice = "- [ ] 1 a\n- [ ] 2 b\n- [ ] 1 c\n"
	for name, c := range map[string]struct {
		text   string
		id     string
		line   int
		to     plan.Status
		reason plan.MarkReason
	}{
		"blocked":  {"- [ ] 1 a\n", "1", 0, plan.Blocked, plan.MarkInexpressible},
		"skipped":  {"- [ ] 1 a\n", "1", 0, plan.Skipped, plan.MarkInexpressible},
		"twice":    {twice, "1", 0, plan.Completed, plan.MarkAmbiguous},
		"no such":  {twice, "1", 2, plan.Completed, plan.MarkElsewhere},
		"quote":    {"> - [ ] 1 a\n", "1", 0, plan.Completed, plan.MarkQuoted},
		"fence":    {"- [ ] 2 b\n  - **Dependencies**: Task 1\n\n```\n- [ ] 1 a\n```\n", "1", 0, plan.Completed, plan.MarkHidden},
		"comment":  {"- [ ] 2 b\n  - **Dependencies**: Task 1\n\n<!--\n- [ ] 1 a\n-->\n", "1", 0, plan.Completed, plan.MarkHidden},
		"the same": {"> - [x] 1 a\n", "1", 0, plan.Completed, plan.MarkQuoted},
		"sign":     {"> - ✅ a\n", "item/1", 0, plan.InProgress, plan.MarkQuoted},
		"struck":   {"- [ ] ~~1. a~~\n- [ ] 2. b (P)\n", "1", 0, plan.Completed, plan.MarkWithdrawn},
		"title":    {"- [x] 1. ~~a~~\n- [ ] 2. b (P)\n", "1", 0, plan.Skipped, plan.MarkWithdrawn},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := markOf(t, c.text, c.id, c.line, c.to)
			refusal, ok := errors.AsType[*plan.MarkError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.reason, refusal.Reason)
			require.Equal(t, "tasks.md", refusal.Plan)
			require.NotEmpty(t, refusal.Lines)
			require.ErrorContains(t, err, `item "`+c.id+`" of plan "tasks.md" cannot be set: `)
		})
	}
	marked, err := markOf(t, twice, "1", 3, plan.Completed)
	require.NoError(t, err)
	require.Equal(t, "- [ ] 1 a\n- [ ] 2 b\n- [x] 1 c\n", marked.Text)
}

func TestUnknownItemIsNotSet(t *testing.T) {
	for _, text := range []string{"- [ ] 1 a\n", " \n"} {
		_, err := markOf(t, text, "7", 0, plan.Completed)
		unknown, ok := errors.AsType[*plan.ItemError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, plan.ItemError{Plan: "tasks.md", ItemID: "7"}, *unknown)
	}
}
