package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/audit"
	"waybill/schema"
)

const requiresChecks = `"policy": {"require_checks": ["test", "lint"], "reviewers": [], "check_failures": 2}`

// reported reports an execution of a check on a tree.
func (h *host) reported(run, check, outcome, tree, more string) object {
	h.t.Helper()
	return h.call("report_check", `{"run_id": %q, "check": %q, "outcome": %q, "tree_before": %q, "tree_after": %q%s}`,
		run, check, outcome, tree, tree, more)
}

// Between the receipts and the last approval, files may have changed.
func TestApprovalNeedsReceiptsForItsTree(t *testing.T) {
	for tree, state := range map[string]string{``: "running", `, "tree": "C"`: "running", `, "tree": "A"`: "done"} {
		h := clockHost(t, setup{})
		run := h.start("1", `"policy": {"require_checks": ["test"], "reviewers": ["spec-reviewer"]}`).str("run.run_id")
		h.walk(run, "worker pass")
		h.reported(run, "test", "green", "A", "").has("dispatch_reviewer", "next_action")
		last := h.call("ingest_output", `{"run_id": %q, "role": "spec-reviewer", "output": %q%s}`, run, says("spec-reviewer", "1", "pass", ""), tree)
		last.has(state, "run.state")
		if state == "running" {
			last.has("stale", "run.proof.state", "run_checks", "next_action")
			h.reported(run, "test", "green", "B", "").has("done", "run.state")
		}
	}
}

// A plan with a proven item and one that is only said to be done tells them apart everywhere.
func TestWhatIsProvenIsToldApartFromWhatIsSaid(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [ ] 1. First\n- [ ] 2. Second\n", time.Hour)
	alone := `"policy": {"reviewers": [], "require_checks": %s}`
	proven := h.start("1", fmt.Sprintf(alone, `["test"]`)).str("run.run_id")
	task := h.call("create_task", `{"prompt": "Do it.", "run_id": %q, "role": "worker"}`, proven).str("task.task_id")
	h.ingest(proven, "worker", says("worker", "1", "pass", "")).has("missing", "run.proof.state")
	h.reported(proven, "test", "red", "A", "").has("refuted", "run.proof.state")
	h.call("get_task", `{"task_id": %q}`, task).has("refuted", "task.proof")
	require.Contains(t, h.call("explain", `{"subject_id": %q}`, proven).text, "its proof is refuted")
	h.ingest(proven, "worker", says("worker", "1", "pass", ""))
	h.reported(proven, "test", "green", "B", "")
	h.call("ready_items", `{"plan": "tasks.md"}`).has(1, "runs.approved", 1, "runs.proven")
	log := h.call("events_since", `{"cursor": "0", "subject_id": %q, "types": ["run.outcome", "proof.changed"]}`, proven)
	require.Equal(t, []string{"missing", "refuted", "missing", "proven"}, log.each("events", "data.proof"))

	said := h.start("2", fmt.Sprintf(alone, `[]`)).str("run.run_id")
	last := h.ingest(said, "worker", says("worker", "2", "pass", ""))
	last.has("plan_completed", "next_action", "proven", "evidence.outcomes.0.proof")
	last.lacks("evidence.outcomes.1.proof")
	h.call("ready_items", `{"plan": "tasks.md"}`).has(2, "runs.approved", 1, "runs.proven")
	completed := h.call("list_notices", `{}`)
	completed.has("plan.completed", "items.1.kind", 2, "items.1.data.approved", 1, "items.1.data.proven")
	require.Contains(t, completed.str("items.1.text"), "2 approved (1 proven)")
}

// A notice that a run is blocked says how much is proven.
func TestNoticeOfABlockHasTheProof(t *testing.T) {
	h := clockHost(t, setup{})
	run := h.start("1", `"policy": {"require_checks": ["test"], "check_failures": 1}`).str("run.run_id")
	h.walk(run, "worker pass")
	h.reported(run, "test", "red", "A", "").has("blocked", "run.state")
	h.call("list_notices", `{}`).has("run.blocked", "items.0.kind", "refuted", "items.0.data.proof")
}

func TestReceiptsAreListedAndShown(t *testing.T) {
	h := clockHost(t, setup{})
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
	shown.has(other, "run_id", "1", "tree_after", "CI", "runner", 0, "round")
	for _, id := range []string{"rcp_1", "rcp_999999", "rcp_x", "run_1"} {
		h.refused(schema.ReceiptGone, "get_receipt", `{"receipt_id": %q}`, id)
	}
}

func TestInvalidReceiptsAreRefused(t *testing.T) {
	h := clockHost(t, setup{})
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
	h := clockHost(t, setup{})
	run := h.start("1", requiresChecks).str("run.run_id")
	h.walk(run, "worker pass")
	before := h.call("list_runs", `{"run_id": %q}`, run)
	for _, more := range []string{`"check": "bench", "outcome": "red"`, `"check": "test", "outcome": "green", "round": 0`} {
		h.call("report_check", `{"run_id": %q, %s}`, run, more).lacks("decision")
	}
	require.Equal(t, before.text, h.call("list_runs", `{"run_id": %q}`, run).text)
	require.Len(t, h.logged("receipt.recorded", run), 2)
}

// The log says at which commit the work began and which files a result claims, so that another process can ask git.
func TestLogHasTheStartOfARunAndTheClaimsOfItsResults(t *testing.T) {
	h := clockHost(t, setup{})
	began := h.start("1", `"commit": "c0ffee1", "tree": "git:abc", "policy": {"facts": "require", "reviewers": []}`)
	began.has([]any{"facts"}, "run.policy.require_checks")
	run := began.str("run.run_id")
	again := h.start("1", `"commit": "decade2", "tree": "git:def"`)
	again.has(false, "created")

	h.ingest(run, "worker", says("worker", "1", "pass", "")+"files_changed: face.go, hands.go\n\nAll tests pass.\n").has("run_checks", "next_action")
	h.ingest(run, "worker", says("worker", "1", "gaps", "no ink"))
	about := h.call("events_since", `{"cursor": "0", "subject_id": %q, "types": ["run.started", "run.outcome"]}`, run)
	require.Len(t, about.each("events", "type"), 3)
	about.has("c0ffee1", "events.0.data.start.commit", "git:abc", "events.0.data.start.tree")
	about.has("a1b2c3d..e4f5a6b", "events.1.data.said.git_range")
	about.has([]any{"face.go", "hands.go"}, "events.1.data.said.files_changed")
	about.has("All tests pass.", "events.1.data.said.tested")
	about.lacks("events.2.data.said")

	h.start("2", `"policy": {"facts": "warn"}`).lacks("run.policy.require_checks")
	h.refused(schema.InvalidParams, "init_run", `{"plan": "tasks.md", "item_id": "2", "policy": {"facts": "maybe"}}`)
}

// The tool calls of an attempt are on the log, for an audit. Events of other kinds, and of sessions without an attempt, are not.
func TestToolCallsOfAnAttemptAreOnTheLog(t *testing.T) {
	h := clockHost(t, setup{})
	run := h.start("1", `"policy": {"require_checks": ["test"]}`).str("run.run_id")
	h.call("create_task", `{"prompt": "Draw it.", "run_id": %q, "role": "worker"}`, run).has("missing", "task.proof")
	claim := h.claim("w")
	h.bind(claim, "ses_1")
	tool := `{"type": "tool", "session_id": %q, "data": {"tool_name": "Bash", "tool_input": {"command": "go test ./..."}, "tool_response": "ok"}}`
	h.call("report_event", tool, "ses_1").has(true, "unmatched")
	h.call("report_event", tool, "ses_2")
	h.call("report_event", `{"type": "tool", "data": {"tool_name": "Bash"}}`)
	h.call("report_event", `{"type": "said", "session_id": "ses_1", "data": {"text": "done"}}`)

	task := claim.str("claim.task.task_id")
	require.Len(t, h.logged("tool.reported", task), 1)
	page := h.call("events_since", `{"cursor": "0", "types": ["tool.reported"]}`)
	require.Len(t, page.each("events", "type"), 1)
	page.has("go test ./...", "events.0.data.command", "Bash", "events.0.data.tool", run, "events.0.data.run_id")
	page.has(claim.str("claim.attempt.attempt_id"), "events.0.data.attempt_id")
	page.lacks("events.0.data.tool_response")
}

// A log as the program writes it can be audited.
func TestLogCanBeAudited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := clockHost(t, setup{})
		run := h.start("1", `"commit": "c0ffee1", "policy": {"require_checks": ["facts", "test"], "reviewers": []}`).str("run.run_id")
		h.call("create_task", `{"prompt": "Draw it.", "run_id": %q, "role": "worker"}`, run)
		claim := h.claim("w")
		h.bind(claim, "ses_1")
		h.call("report_event", `{"type": "tool", "session_id": "ses_1", "data": {"tool_name": "Read"}}`)
		h.call("ingest_output", `{"run_id": %q, "role": "worker", "task_id": %q, "lease_token": %q, "output": %q}`,
			run, claim.str("claim.task.task_id"), claim.str("claim.lease.token"), says("worker", "1", "pass", "")+"\nAll tests pass.\n")
		h.reported(run, "facts", "red", "A", `, "output": "git_range: no such commit.\n"`)
		h.reported(run, "test", "red", "A", `, "output": "no dial, 1 s"`)
		h.walk(run, "worker pass")
		h.reported(run, "test", "red", "B", `, "output": "no dial, 2 s"`)

		var events []audit.Event
		all := h.call("events_since", `{"cursor": "0"}`)
		for i := range all.each("events", "type") {
			ev := object{t, all.text, all.at(fmt.Sprintf("events.%d", i))}
			data, err := json.Marshal(ev.at("data"))
			require.NoError(t, err)
			events = append(events, audit.Event{
				Seq: int64(ev.at("seq").(float64)), At: core.Instant(ev.instant("at").UnixMicro()), Type: core.EventType(ev.str("type")),
				Subject: ev.str("subject_id"), Data: string(data),
			})
		}
		works := audit.Read(events)
		require.Len(t, works, 1)
		require.Equal(t, "c0ffee1", works[0].Start.Commit)
		kinds := []audit.FlagKind{}
		for _, f := range audit.Flags(works[0]) {
			kinds = append(kinds, f.Kind)
		}
		require.Equal(t, []audit.FlagKind{audit.FalseRange, audit.NotTested, audit.TooFast, audit.RepeatedFailure}, kinds)
	})
}
