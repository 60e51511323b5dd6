package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// Words that a task is about were taken for its status, and the work counted as done.
func TestWhatATaskIsAboutIsNotItsStatus(t *testing.T) {
	for _, title := range []string{
		"Solve f(x)", "Solve f (x)", "Call back(done)", "Use the x [x]", "Use array[x]", "Add option (done: bool)", "states (done, open)",
		"[done] handler", "(done) handler", "Render the check mark ✅", "Replace it with ✅", "✅ sign in the list", "✅ and ⏳", "⏳ ✅", "Read (Blocked, see 2)",
		"Count (done 3/5)", "Say (done-ish)", "Show the state (cancelled)", "(x) marks", "Quote `✅`", "Offer [ ](a.md)", "Print ✅ rows",
	} {
		t.Run(title, func(t *testing.T) {
			r := parse(t, "### Task 1: "+title+"\n### Task 2: b\n")
			require.Equal(t, title, item(t, r, "1").Title)
			require.Equal(t, plan.Pending, item(t, r, "1").Status)
			require.Empty(t, diagnostics(r, "status_from_title"))
		})
	}
}

// What was read from a title was taken in silence.
func TestAStatusInATitleIsReported(t *testing.T) {
	for heading, want := range map[string]plan.Status{
		"Task 1: Seed (COMPLETED 2026-01-02)":   plan.Completed,
		"Task 1: Seed (Done, 2.1.2026)":         plan.Completed,
		"Task 1: Seed (✅ done)":                 plan.Completed,
		"Task 1: Seed (done ✅)":                 plan.Completed,
		"Task 1: Seed [X]":                      plan.Completed,
		"Task 1: [x] Seed":                      plan.Completed,
		"Task 1 (DONE): Seed":                   plan.Completed,
		"[DONE] Task 1: Seed":                   plan.Completed,
		"Task 1: Seed ✅":                        plan.Completed,
		"Task 1: Seed (in-progress)":            plan.InProgress,
		"Task 1: Seed (cancelled)":              plan.Skipped,
		"Task 1: Seed (Blocked)":                plan.Blocked,
		"Task 1: Seed (not started)":            plan.Pending,
		"Task 1: Seed (a, b) (withdrawn)":       plan.Skipped,
		"Task 1: a ✅":                           plan.Completed,
		"Task 1: b ✅":                           plan.Completed,
		"Task 1: Replace it with a ✅":           0,
		"Task 1: Seed of the x (obsolete)":      0,
		"Task 1: Seed in the column (finished)": 0,
	} {
		t.Run(heading, func(t *testing.T) {
			r := parse(t, "### "+heading+"\n")
			found := diagnostics(r, "status_from_title")
			if want == 0 {
				require.Empty(t, found)
				return
			}
			require.Equal(t, want, item(t, r, "1").Status)
			require.Len(t, found, 1)
			require.Equal(t, plan.SeverityInfo, found[0].Severity)
			require.Contains(t, found[0].Message, "sets the task to "+want.String())
		})
	}
}

// A box and the words beside it may differ: the box counts, and the words were dropped without a trace.
func TestAStatusInATitleBesideABoxIsReported(t *testing.T) {
	r := parse(t, "### [ ] Task 1: Seed (COMPLETED)\n### [x] Task 2: Sow (done)\n")
	require.Equal(t, plan.Pending, item(t, r, "1").Status)
	found := diagnostics(r, "status_from_title")
	require.Len(t, found, 1)
	require.Contains(t, found[0].Message, "mean completed, but its box counts")
}
