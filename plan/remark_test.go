package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// Cells that say something else than "done" were read as completed for their first word, and nothing said so.
func TestACellIsNotDoneForItsFirstWord(t *testing.T) {
	for _, cell := range []string{
		"complete: 0%", "done → reopened", "done, but tests fail", "closed - wontfix", "yes (no)", "done (not tested)", "done (reopened)",
		"✅ ⏳", "✅ (blocked)", "[x] but tests fail", "✅ done, but slow", "[x] (todo)", "done (skipped)", "done: 3/5", "skipped - done", "done (a) but (b)", "in progress - done",
		"done ❌", "done (in progress)", "merged [blocked](a.md)", "done (", "resolved (won't fix)",
	} {
		t.Run(cell, func(t *testing.T) {
			src := "| ID | Title | Status |\n|---|---|---|\n| 1 | a | " + cell + " |\n"
			r := parse(t, src)
			require.Equal(t, plan.Pending, item(t, r, "1").Status)
			require.Len(t, diagnostics(r, "unknown_mark"), 1)
			checkLaws(t, []byte(src))
		})
	}
}

// A date and a remark in brackets take nothing back, and work that is held up stays so whatever the reason.
func TestARemarkBesideAStatusInACell(t *testing.T) {
	for cell, want := range map[string]plan.Status{
		"done 2026-01-02":            plan.Completed,
		"Done on 2026-01-02":         plan.Completed,
		"done - 2026-01-02 (Ana)":    plan.Completed,
		"done, 2.1.2026":             plan.Completed,
		"done.":                      plan.Completed,
		"done (completed in May)":    plan.Completed,
		"done (no review)":           plan.Completed,
		"done [#12](https://a.b/12)": plan.Completed,
		"✅ (in May) ✅":               plan.Completed,
		"cancelled (too dear)":       plan.Skipped,
		"blocked: no wood":           plan.Blocked,
		"blocked - waiting for Ana":  plan.Blocked,
		"in progress, slowly":        plan.InProgress,
		"[x] in May":                 plan.Completed,
		"✅ since May":                plan.Completed,
	} {
		t.Run(cell, func(t *testing.T) {
			r := parse(t, "| ID | Title | Status |\n|---|---|---|\n| 1 | a | "+cell+" |\n")
			require.Equal(t, want, item(t, r, "1").Status)
			require.Empty(t, diagnostics(r, "unknown_mark"))
		})
	}
}
