package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
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
			require.Equal(t, ledger.Pending, item(t, r, "1").Status)
			require.Len(t, diagnostics(r, "unknown_mark"), 1)
			checkLaws(t, []byte(src))
		})
	}
}

// A date and a remark in brackets take nothing back, and work that is held up stays so whatever the reason.
func TestARemarkBesideAStatusInACell(t *testing.T) {
	for cell, want := range map[string]ledger.Status{
		"done 2026-01-02":            ledger.Completed,
		"Done on 2026-01-02":         ledger.Completed,
		"done - 2026-01-02 (Ana)":    ledger.Completed,
		"done, 2.1.2026":             ledger.Completed,
		"done.":                      ledger.Completed,
		"done (completed in May)":    ledger.Completed,
		"done (no review)":           ledger.Completed,
		"done [#12](https://a.b/12)": ledger.Completed,
		"✅ (in May) ✅":               ledger.Completed,
		"cancelled (too dear)":       ledger.Skipped,
		"blocked: no wood":           ledger.Blocked,
		"blocked - waiting for Ana":  ledger.Blocked,
		"in progress, slowly":        ledger.InProgress,
		"[x] in May":                 ledger.Completed,
		"✅ since May":                ledger.Completed,
	} {
		t.Run(cell, func(t *testing.T) {
			r := parse(t, "| ID | Title | Status |\n|---|---|---|\n| 1 | a | "+cell+" |\n")
			require.Equal(t, want, item(t, r, "1").Status)
			require.Empty(t, diagnostics(r, "unknown_mark"))
		})
	}
}
