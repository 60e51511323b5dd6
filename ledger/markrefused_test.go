package ledger_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
)

// Who asks for what cannot be said is told what can, and how to have more.
func TestRefusalSaysWhatTheDialectCanSay(t *testing.T) {
	for text, want := range map[string]string{
		"- [ ] a\n":                "the dialect loose has no mark for blocked, only for pending, completed; say one in a legend of the plan, such as \"[!] = blocked\", to have it",
		"[S] = skipped\n- [ ] a\n": "only for pending, completed, skipped; say one",
		"- ✅ a\n":                  "the dialect loose has no mark for blocked, only for in_progress, completed",
	} {
		_, err := markOf(t, text, "item/1", 0, ledger.Blocked)
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
		to     ledger.Status
		reason ledger.MarkReason
	}{
		"blocked":  {"- [ ] 1 a\n", "1", 0, ledger.Blocked, ledger.MarkInexpressible},
		"skipped":  {"- [ ] 1 a\n", "1", 0, ledger.Skipped, ledger.MarkInexpressible},
		"twice":    {twice, "1", 0, ledger.Completed, ledger.MarkAmbiguous},
		"no such":  {twice, "1", 2, ledger.Completed, ledger.MarkElsewhere},
		"quote":    {"> - [ ] 1 a\n", "1", 0, ledger.Completed, ledger.MarkQuoted},
		"fence":    {"- [ ] 2 b\n  - **Dependencies**: Task 1\n\n```\n- [ ] 1 a\n```\n", "1", 0, ledger.Completed, ledger.MarkHidden},
		"comment":  {"- [ ] 2 b\n  - **Dependencies**: Task 1\n\n<!--\n- [ ] 1 a\n-->\n", "1", 0, ledger.Completed, ledger.MarkHidden},
		"the same": {"> - [x] 1 a\n", "1", 0, ledger.Completed, ledger.MarkQuoted},
		"sign":     {"> - ✅ a\n", "item/1", 0, ledger.InProgress, ledger.MarkQuoted},
		"struck":   {"- [ ] ~~1. a~~\n- [ ] 2. b (P)\n", "1", 0, ledger.Completed, ledger.MarkWithdrawn},
		"title":    {"- [x] 1. ~~a~~\n- [ ] 2. b (P)\n", "1", 0, ledger.Skipped, ledger.MarkWithdrawn},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := markOf(t, c.text, c.id, c.line, c.to)
			refusal, ok := errors.AsType[*ledger.MarkError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.reason, refusal.Reason)
			require.Equal(t, "tasks.md", refusal.Plan)
			require.NotEmpty(t, refusal.Lines)
			require.ErrorContains(t, err, `item "`+c.id+`" of plan "tasks.md" cannot be set: `)
		})
	}
	marked, err := markOf(t, twice, "1", 3, ledger.Completed)
	require.NoError(t, err)
	require.Equal(t, "- [ ] 1 a\n- [ ] 2 b\n- [x] 1 c\n", marked.Text)
}

func TestUnknownItemIsNotSet(t *testing.T) {
	for _, text := range []string{"- [ ] 1 a\n", " \n"} {
		_, err := markOf(t, text, "7", 0, ledger.Completed)
		unknown, ok := errors.AsType[*ledger.ItemError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, ledger.ItemError{Plan: "tasks.md", ItemID: "7"}, *unknown)
	}
}
