package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

const requiresChecks = `"policy": {"require_checks": ["test", "lint"], "reviewers": [], "check_failures": 2}`

// reported reports an execution of a check on a tree.
func (h *host) reported(run, check, outcome, tree, more string) object {
	h.t.Helper()
	return h.call("report_check", `{"run_id": %q, "check": %q, "outcome": %q, "tree_before": %q, "tree_after": %q%s}`,
		run, check, outcome, tree, tree, more)
}

func TestDoneNeedsGreenReceipts(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", clockPlan, time.Hour)
	began := h.start("1", requiresChecks)
	run := began.str("run.run_id")
	began.has("missing", "run.proof.state")
	said := h.walk(run, "worker pass")
	said.has("running", "run.state")
	said.has("run_checks", "next_action")
	said.has([]any{"lint", "test"}, "next.checks")

	red := h.reported(run, "test", "red", "A", `, "exit_code": 1, "command": "make test", "output": "clock_test.go:7: no second hand\n"`)
	red.has("dispatch_worker_fixes", "next_action")
	red.has(1, "run.counters.check_failures")
	red.has("check_failures", "decision.rule")
	red.has("refuted", "run.proof.state")
	prompt := h.call("compile_prompt", `{"run_id": %q, "role": "worker"}`, run).str("prompt")
	require.Contains(t, prompt, "clock_test.go:7: no second hand")
	require.Contains(t, prompt, "make test (exit status 1)")

	h.walk(run, "worker pass").has("run_checks", "next_action")
	h.reported(run, "test", "green", "B", "").has("run_checks", "next_action")
	done := h.reported(run, "lint", "green", "B", "")
	done.has("done", "run.state")
	done.has("proven", "run.proof.state")
	require.Len(t, h.logged("receipt.recorded", run), 3)
	require.Len(t, h.logged("proof.changed", run), 3)
}

// Between the receipts and the last approval, files may have changed.
func TestApprovalNeedsReceiptsForItsTree(t *testing.T) {
	for tree, state := range map[string]string{``: "running", `, "tree": "C"`: "running", `, "tree": "A"`: "done"} {
		h := newHost(t, setup{})
		h.write("tasks.md", clockPlan, time.Hour)
		run := h.start("1", `"policy": {"require_checks": ["test"], "reviewers": ["spec-reviewer"]}`).str("run.run_id")
		h.walk(run, "worker pass")
		h.reported(run, "test", "green", "A", "").has("dispatch_reviewer", "next_action")
		last := h.call("ingest_output", `{"run_id": %q, "role": "spec-reviewer", "output": %q%s}`, run, says("spec-reviewer", "1", "pass", ""), tree)
		last.has(state, "run.state")
		if state == "running" {
			last.has("stale", "run.proof.state")
			last.has("run_checks", "next_action")
			h.reported(run, "test", "green", "B", "").has("done", "run.state")
		}
	}
}

func TestUntrustedChecksWaitForAPerson(t *testing.T) {
	for outcome, c := range map[string]struct{ more, after string }{
		"untrusted": {`, "reason": ".waybill.toml has changed"`, "run_checks"},
		"protected": {`, "changed": ["Makefile"]`, "advance_to_next_item"},
	} {
		t.Run(outcome, func(t *testing.T) {
			h := newHost(t, setup{})
			h.write("tasks.md", clockPlan, time.Hour)
			run := h.start("1", `"policy": {"require_checks": ["test"], "reviewers": []}`).str("run.run_id")
			h.walk(run, "worker pass")
			blocked := h.reported(run, "test", outcome, "A", c.more)
			blocked.has("blocked", "run.state")
			blocked.has("untrusted_checks", "run.reason")
			blocked.has("untrusted", "run.proof.state")
			h.call("list_notices", `{"peek": true}`).has("run.blocked", "items.0.kind")
			h.call("unblock_run", `{"run_id": %q}`, run).has(c.after, "next_action")
		})
	}
}

func TestReceiptsAreListedAndShown(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", clockPlan, time.Hour)
	one, other := h.start("1", requiresChecks).str("run.run_id"), h.start("3", requiresChecks).str("run.run_id")
	var ids []string
	for n := range 5 {
		run := []string{one, other}[n%2]
		ids = append(ids, h.reported(run, "test", "green", fmt.Sprint(n), `, "runner": "CI"`).str("receipt.receipt_id"))
	}
	for params, want := range map[string][][]string{
		`,"run_id":` + quoted(one): {{ids[0], ids[2]}, {ids[4]}}, `,"run_id":` + quoted(other): {{ids[1], ids[3]}}, ``: {ids[:2], ids[2:4], ids[4:]},
	} {
		require.Equal(t, want, h.pages("list_receipts", "receipt_id", params))
	}
	shown := h.call("get_receipt", `{"receipt_id": %q}`, ids[1])
	shown.has(other, "run_id")
	shown.has("1", "tree_after")
	shown.has("CI", "runner")
	shown.has(0, "round")
	for _, id := range []string{"rcp_1", "rcp_999999", "rcp_x", "run_1"} {
		h.refused(schema.ReceiptGone, "get_receipt", `{"receipt_id": %q}`, id)
	}
}

func TestInvalidReceiptsAreRefused(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.start("1", requiresChecks).str("run.run_id")
	for _, c := range []string{
		`"check": "make test", "outcome": "green"`,
		`"check": "test", "outcome": "green", "exit_code": 1`,
		`"check": "test", "outcome": "protected"`,
		`"check": "test", "outcome": "blue"`,
		`"check": "test", "outcome": "green", "round": -1`,
	} {
		h.refused(schema.InvalidParams, "report_check", `{"run_id": %q, %s}`, run, c)
	}
	h.refused(schema.TooLarge, "report_check", `{"run_id": %q, "check": "test", "outcome": "red", "output": %q}`, run, strings.Repeat("x", schema.MaxCheckOutput+1))
	h.refused(schema.InvalidParams, "init_run", `{"plan": "tasks.md", "item_id": "1", "policy": {"require_checks": ["make test"]}}`)
	require.Empty(t, h.logged("receipt.recorded", run))
}

// A receipt that a run does not ask for is recorded and moves nothing.
func TestReceiptOfAnotherCheckMovesNothing(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.start("1", requiresChecks).str("run.run_id")
	h.walk(run, "worker pass")
	before := h.call("list_runs", `{"run_id": %q}`, run)
	for _, more := range []string{`"check": "bench", "outcome": "red"`, `"check": "test", "outcome": "green", "round": 0`} {
		h.call("report_check", `{"run_id": %q, %s}`, run, more).lacks("decision")
	}
	require.Equal(t, before.text, h.call("list_runs", `{"run_id": %q}`, run).text)
	require.Len(t, h.logged("receipt.recorded", run), 2)
}
