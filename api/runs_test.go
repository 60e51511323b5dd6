package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

func TestInitRunReturnsTheLiveRun(t *testing.T) {
	h := clockHost(t, setup{})
	first := h.start("1", `"policy": {"review_rejections": 7}`)
	first.has(true, "created", 1, "run.plan_version", 7, "run.policy.review_rejections")
	first.has(2, "run.policy.stalled_threshold", "dispatch_worker", "next_action", 1, "seq")
	run := first.str("run.run_id")
	moved := h.walk(run, "worker pass")
	h = h.restart()
	again := h.call("init_run", `{"plan": "./tasks.md", "item_id": "1", "resume": "existing", "policy": {"review_rejections": 1}}`)
	again.has(false, "created")
	require.Equal(t, moved.at("run"), again.at("run"))
	again.has("spec-reviewer", "next.role")

	h.walk(run, "spec error").has("blocked", "run.state")
	h.start("1", "").has("halt_and_escalate", "next_action")
	renewed := h.start("1", `"resume": "new"`)
	renewed.has(true, "created", "dispatch_worker", "next_action")
	h.snapshot(run).has("failed", "status")
	require.Len(t, h.logged("run.superseded", run), 1)
	require.Empty(t, h.call("list_notices", `{}`).each("items", "kind"), "the notice of the block goes with it")
	h.start("1", "").has(renewed.str("run.run_id"), "run.run_id")
}

// An unknown id never stands for another item.
func TestRunOfAnAbsentItemIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [-] 1. In progress\n- [ ] 2. Second\n", time.Hour)
	for _, id := range []string{"3", "1.1", "01", " 1"} {
		fault := h.refused(schema.ItemGone, "init_run", `{"plan": "tasks.md", "item_id": %q}`, id)
		fault.has(id, "data.details.item_id")
	}
	h.refused(schema.InvalidParams, "init_run", `{"plan": "tasks.md", "item_id": "1", "resume": "maybe"}`)
}

func TestUnknownRunIsRefused(t *testing.T) {
	h, _ := hostWithClock(t, setup{})
	for method, more := range map[string]string{
		"compile_prompt": `, "role": "worker"`, "get_ledger": ``, "get_snapshot": ``, "get_telemetry": ``, "list_runs": ``, "list_receipts": ``,
		"ingest_output": `, "role": "worker", "output": "x"`, "report_check": `, "check": "test", "outcome": "green"`,
		"replan": `, "summary": "x"`, "unblock_run": ``, "create_task": `, "prompt": "x"`,
	} {
		h.refused(schema.RunGone, method, `{"run_id": "run_nobody"%s}`, more).has("run_nobody", "data.details.run_id")
	}
	for _, item := range []string{"2", "99"} {
		require.Contains(t, h.refused(schema.RunGone, "resume_run", `{"plan": "tasks.md", "item_id": %q}`, item).str("message"), "init_run")
	}
	h.refused(schema.RunGone, "resume_run", `{"plan": "other/tasks.md", "item_id": "1"}`)
	h.refused(schema.PlanGone, "resume_run", `{"plan": "nobody", "item_id": "1"}`) // neither a plan nor a run of one
}

// resume calls resume_run.
func (h *host) resume(plan, item string) object {
	h.t.Helper()
	return h.call("resume_run", `{"plan": %q, "item_id": %q}`, plan, item)
}

func TestResumedRunIsWhereItWas(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	last := h.walk(run, "worker pass", "spec gaps:the minute hand is missing")
	h = h.restart()
	resumed := h.resume("tasks.md", "1")
	require.Equal(t, last.at("run"), resumed.at("run"))
	require.Equal(t, last.at("task_ledger"), resumed.at("task_ledger"))
	require.Equal(t, last.at("next"), resumed.at("next"))
	resumed.has("dispatch_worker_fixes", "next_action", false, "stale")
	resumed.lacks("progress_ledger_error", "retry_prompt")
	prompt := resumed.str("resumption_prompt")
	for _, part := range []string{"1 Draw the face", "needs_changes", "the minute hand is missing", "do what the reviewers ask for"} {
		require.Contains(t, prompt, part)
	}
	require.NotContains(t, prompt, "Stale")
	require.Equal(t, prompt, h.resume("./tasks.md", "1").str("resumption_prompt"))
}

func TestResumeReturnsTheNewestRun(t *testing.T) {
	h, first := hostWithClock(t, setup{})
	h.walk(first, "worker pass", "spec pass", "quality pass").has("done", "run.state")
	done := h.resume("tasks.md", "1")
	done.has(first, "run.run_id", "advance_to_next_item", "next_action", []any{"2", "3"}, "next.item_ids")
	h.start("1", "").has(first, "run.run_id") // an approved item is not begun again by chance
	second := h.start("1", `"resume": "new"`).str("run.run_id")
	require.NotEqual(t, first, second)
	h.resume("tasks.md", "1").has(second, "run.run_id")
}

// An edit makes a run stale once; a touch does not.
func TestEditedPlanIsStaleOnce(t *testing.T) {
	h, _ := hostWithClock(t, setup{})
	h.write("tasks.md", clockPlan, time.Minute)
	touched := h.resume("tasks.md", "1")
	touched.has(false, "stale")
	require.NotContains(t, touched.str("resumption_prompt"), "Stale")
	h.write("tasks.md", strings.Replace(clockPlan, "the face of", "a circle for", 1), time.Minute)
	edited := h.resume("tasks.md", "1")
	edited.has(true, "stale")
	require.Contains(t, edited.str("resumption_prompt"), "reads differently")
	again := h.resume("tasks.md", "1")
	again.has(false, "stale")
	require.NotContains(t, again.str("resumption_prompt"), "reads differently")
}

// The stored facts are enough to resume a run whose plan is gone.
func TestResumeWithoutThePlan(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker gaps:there is no ink")
	h = h.restart()
	h.remove("tasks.md")
	resumed := h.resume("tasks.md", "1")
	resumed.has(run, "run.run_id", true, "stale", "progress_ledger_missing_tasks", "progress_ledger_error.code")
	resumed.has("missing", "progress_ledger_error.reason", "retry_worker", "next_action")
	for _, part := range []string{"1 Draw the face", "there is no ink", "cannot be read"} {
		require.Contains(t, resumed.str("resumption_prompt"), part)
	}
	h.write("tasks.md", "nothing that would be a plan\n", time.Hour)
	broken := h.resume("tasks.md", "1")
	broken.has("progress_ledger_parse_failed", "progress_ledger_error.code", true, "stale")
}

func TestRunOfARemovedItemHalts(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.write("tasks.md", "- [ ] 2. Draw the hands\n", time.Minute)
	for range 2 {
		resumed := h.resume("tasks.md", "1")
		resumed.has(run, "run.run_id", "item_not_found", "progress_ledger_error.code")
		resumed.has("halt_and_escalate", "next_action")
		require.NotContains(t, resumed.str("resumption_prompt"), "Draw the face")
	}
	last := h.ingest(run, "worker", "I had a look.")
	last.has("halt_and_escalate", "next_action")
	last.lacks("retry_prompt")
}

func TestResumeByTheNameOfARemovedFolder(t *testing.T) {
	for _, under := range []string{"specs", ".kiro/specs", ".spec-context/specs"} {
		h := newHost(t, setup{})
		h.write(under+"/clock/tasks.md", clockPlan, time.Hour)
		run := h.call("init_run", `{"plan": "clock", "item_id": "1"}`).str("run.run_id")
		require.NoError(t, os.RemoveAll(filepath.Join(h.dir, filepath.FromSlash(under))))
		for range 2 {
			resumed := h.resume("clock", "1")
			resumed.has(run, "run.run_id", "progress_ledger_missing_tasks", "progress_ledger_error.code")
			h.refused(schema.PlanGone, "resume_run", `{"plan": "clock", "item_id": "2"}`)
			h = h.restart()
		}
	}
}

// The resumption prompt has a key and a form.
func TestResumptionPromptAsksForAResult(t *testing.T) {
	for _, form := range []string{"headers", "json"} {
		h := clockHost(t, setup{})
		run := h.start("1", `"policy": {"require_key": true, "result_form": %q}`, form).str("run.run_id")
		for _, role := range []string{"worker", "spec-reviewer", "code-quality-reviewer"} {
			compiled := h.call("compile_prompt", `{"run_id": %q, "role": %q}`, run, role)
			resumed := h.resume("tasks.md", "1").str("resumption_prompt")
			require.True(t, strings.HasPrefix(resumed, compiled.str("stable_prefix")), "%s: %s", role, resumed)
			_, now, _ := strings.Cut(compiled.str("prompt"), "\n[Now] ")
			require.True(t, strings.HasSuffix(resumed, "\n[Now] "+now), "%s: %s", role, resumed)
			_, key, _ := strings.Cut(now, "\nResult key: ")
			key, _, _ = strings.Cut(key, "\n")
			result := strings.Replace(says(role, "1", "pass", ""), "status:", "key: "+key+"\nstatus:", 1)
			h.ingest(run, role, result).has("pass", "verdict")
		}
		require.NotContains(t, h.resume("tasks.md", "1").str("resumption_prompt"), "Result key", "no result is awaited")
	}
}

// replan calls replan; rest are further params.
func (h *host) replan(run, rest string, args ...any) object {
	h.t.Helper()
	if rest != "" {
		rest = ", " + rest
	}
	return h.call("replan", `{"run_id": `+quoted(run)+`, "summary": "another way"`+rest+`}`, args...)
}

// Only different steps or a different item end a block.
func TestReplanEndsABlockOnlyWithANewPlan(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	blocked := func() { h.walk(run, "worker gaps", "worker gaps").has("stalled", "run.reason") }
	blocked()
	for version, rest := range []string{"", `"plan_items": []`, ""} {
		same := h.replan(run, rest)
		same.has(false, "frontier_changed", "blocked", "run.state", "halt_and_escalate", "next_action")
		same.has(version+2, "run.plan_version", version+2, "task_ledger.plan_version")
		same.has("another way", "task_ledger.plan_summary")
	}
	after := h.replan(run, `"plan_items": ["buy ink", "draw"]`)
	after.has(true, "frontier_changed", "running", "run.state")
	after.lacks("run.reason", "task_ledger.replan_hint")
	after.has(0, "run.counters.stalled")
	require.Contains(t, h.compile(run).str("prompt"), "buy ink")
	events := h.logged("run.replanned", run)
	require.Len(t, events, 4)
	events[3].has("new_plan_clears_the_way", "data.rule", 5, "data.plan_version")

	blocked()
	h.replan(run, `"plan_items": [" buy  ink", "draw"]`).has(false, "frontier_changed") // but for spacing
	h.replan(run, `"plan_items": []`).has([]any{"buy  ink", "draw"}, "task_ledger.plan_items")
	for _, other := range []string{
		clockPlan + "- [ ] 4. Something else\n", strings.Replace(clockPlan, "[ ] 1.", "[-] 1.", 1),
	} {
		h.write("tasks.md", other, time.Minute)
		h.replan(run, "").has(false, "frontier_changed")
	}
	h.remove("tasks.md")
	h.replan(run, "").has(false, "frontier_changed")
	h.write("tasks.md", "- [ ] 2. Draw the hands\n", time.Minute)
	h.snapshot(run) // it reads the file
	h.refused(schema.ItemGone, "replan", `{"run_id": %q, "summary": "x", "plan_items": ["a"]}`, run)
	h.write("tasks.md", clockPlan, time.Minute)
	h.replan(run, "").has("blocked", "run.state")
	h.write("tasks.md", strings.Replace(clockPlan, "Draw the face of the clock.", "Draw a circle.", 1), time.Second)
	h.replan(run, "").has("running", "run.state")

	h.walk(run, "worker pass", "spec pass", "quality pass").has("done", "run.state")
	h.refused(schema.InvalidState, "replan", `{"run_id": %q, "summary": "x", "plan_items": ["c"]}`, run).has("done", "data.details.state")
}

func TestReplanHasBounds(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	for _, blank := range []string{" ", "\\n\\t"} {
		h.refused(schema.EmptyContent, "replan", `{"run_id": %q, "summary": "%s"}`, run, blank).has("/summary", "data.details.pointer")
	}
	h.bad("/summary", "replan", `{"run_id": %q, "summary": ""}`, run)
	h.bad("/plan_items/1", "replan", `{"run_id": %q, "summary": "x", "plan_items": ["a", " "]}`, run)
	h.bad("/plan_items", "replan", `{"run_id": %q, "summary": "x", "plan_items": ["a"%s]}`, run, strings.Repeat(`,"a"`, 1000))
	h.replan(run, `"plan_items": ["a"%s]`, strings.Repeat(`,"a"`, 999))
	h.refused(schema.TooLarge, "replan", `{"run_id": %q, "summary": %q}`, run, strings.Repeat("x", schema.MaxReplyBytes+1))
	h.refused(schema.TooLarge, "replan", `{"run_id": %q, "summary": "x", "plan_items": [%q]}`, run, strings.Repeat("x", schema.MaxContentBytes+1))
}

func TestUnblockedRunBeginsItsCountersAgain(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker gaps", "worker gaps").has("stalled", "run.reason")
	require.Contains(t, h.call("list_notices", `{"peek": true}`).text, `"kind":"run.`)
	after := h.call("unblock_run", `{"run_id": %q, "reason": "the font is there"}`, run)
	after.has("running", "run.state")
	after.lacks("run.reason")
	after.has(0, "run.counters.stalled", "retry_worker", "next_action")
	require.NotContains(t, h.call("list_notices", `{"peek": true}`).text, `"kind":"run.`, "the block is over")
	events := h.logged("run.unblocked", run)
	require.Len(t, events, 1)
	events[0].has("person_unblocks", "data.rule", "the font is there", "data.why")
	h.refused(schema.InvalidState, "unblock_run", `{"run_id": %q}`, run).has("running", "data.details.state")
	h.refused(schema.TooLarge, "unblock_run", `{"run_id": %q, "reason": %q}`, run, strings.Repeat("x", schema.MaxReplyBytes+1))

	h.walk(run, "worker gaps", "worker gaps").has("blocked", "run.state")
	h.write("tasks.md", "- [ ] 9. Something else\n", time.Minute)
	h.snapshot(run) // it reads the file
	h.refused(schema.ItemGone, "unblock_run", `{"run_id": %q}`, run)
}

// The tasks of a run are blocked, released and cancelled with the run. A running task is left to its end.
func TestTasksFollowTheirRun(t *testing.T) {
	h, _ := hostWithClock(t, setup{})
	run := h.start("1", `"resume": "new", "policy": {"invalid_retries": 0}`).str("run.run_id")
	running, claim := h.leased(run, "worker")
	before := h.create(`"run_id": %q, "role": "spec-reviewer"`, run)
	behind := h.create(`"run_id": %q, "depends_on": [%q]`, run, running)
	others := h.create(`"run_id": %q`, h.run("3"))
	h.walk(run, "worker invalid").has("blocked", "run.state")
	created := h.create(`"run_id": %q, "role": "worker"`, run)
	for id, status := range map[string]string{running: "RUNNING", before: "BLOCKED", behind: "BLOCKED", created: "BLOCKED", others: "QUEUED"} {
		h.is(status, id)
	}
	require.Contains(t, h.task(before).str("task.reason"), run)
	last := h.ingest(run, "worker", worked(), lease(claim))
	last.has("COMPLETE", "task.status", "blocked", "run.state")
	h.claim("w").has(others, "claim.task.task_id")
	h.nothing()

	h.call("unblock_run", `{"run_id": %q}`, run)
	for _, id := range []string{before, behind, created} {
		h.is("QUEUED", id)
	}
	claim = h.claim("w")
	next := h.start("1", `"resume": "new"`)
	h.is("CANCELLED", created)
	h.task(claim.str("claim.task.task_id")).at("task.cancel_requested_at")
	h.refused(schema.InvalidState, "create_task", `{"prompt": "x", "run_id": %q}`, run)
	left := h.create(`"run_id": %q, "role": "worker"`, next.str("run.run_id"))
	h.walk(next.str("run.run_id"), "worker pass", "spec pass", "quality pass")
	h.is("CANCELLED", left)
}

// limits are the numbers of a policy and their minimum.
var limits = map[string]int{
	"invalid_retries": 0, "reviewer_fresh_runs": 0, "worker_failures": 0,
	"review_rejections": 1, "stalled_threshold": 1, "review_loop_threshold": 1, "check_failures": 1,
}

func TestPolicyIsStoredWithItsRun(t *testing.T) {
	h := clockHost(t, setup{})
	own := h.start("1", `"policy": {"invalid_retries": 11, "reviewer_fresh_runs": 12, "worker_failures": 13, "review_rejections": 14,
		"stalled_threshold": 15, "review_loop_threshold": 16, "reviewers": ["code-quality-reviewer"], "result_form": "json",
		"check_failures": 17, "require_checks": ["test", "lint"]}`)
	own.has(map[string]any{
		"invalid_retries": 11.0, "reviewer_fresh_runs": 12.0, "worker_failures": 13.0, "review_rejections": 14.0,
		"stalled_threshold": 15.0, "review_loop_threshold": 16.0, "reviewers": []any{"code-quality-reviewer"},
		"result_form": "json", "require_key": false, "check_failures": 17.0, "require_checks": []any{"lint", "test"},
	}, "run.policy")
	ledger := h.call("get_ledger", `{"run_id": %q}`, own.str("run.run_id"))
	ledger.has(15, "task_ledger.stalled.threshold", 16, "task_ledger.review_loop.threshold")
	h.stop()

	h = h.restart()
	require.Equal(t, own.at("run"), h.start("1", `"policy": {"worker_failures": 0}`).at("run"), "it is under way already")
	h.walk(own.str("run.run_id"), "worker gaps", "worker gaps").has("running", "run.state")
}

// Each number of a policy limits the outcomes of its name.
func TestEachLimitOfAPolicyBlocks(t *testing.T) {
	for halt, c := range map[string]struct {
		policy string
		step   step
	}{
		"invalid_results":   {`"invalid_retries": 0`, "worker invalid"},
		"worker_failures":   {`"worker_failures": 0`, "worker error"},
		"review_rejections": {`"review_rejections": 1`, "spec gaps"},
		"stalled":           {`"stalled_threshold": 1`, "worker gaps"},
		"review_loop":       {`"review_loop_threshold": 1`, "quality gaps"},
	} {
		h := clockHost(t, setup{})
		h.walk(h.start("1", `"policy": {`+c.policy+`}`).str("run.run_id"), c.step).has(halt, "run.reason")
	}
	h := clockHost(t, setup{})
	run := h.start("1", `"policy": {"invalid_retries": 0, "reviewer_fresh_runs": 1, "reviewers": ["code-quality-reviewer", "code-quality-reviewer"]}`).str("run.run_id")
	h.walk(run, "worker pass").has("code-quality-reviewer", "next.role")
	h.walk(run, "quality invalid").has("spawn_fresh_reviewer", "next_action")
	h.walk(run, "quality pass").has("done", "run.state")
	run = h.start("1", `"resume": "new", "policy": {"check_failures": 1, "require_checks": ["test"]}`).str("run.run_id")
	h.walk(run, "worker pass")
	h.reported(run, "test", "red", "A", "").has("check_failures", "run.reason", 1, "run.counters.check_failures")
}

func TestHostThatKnowsOneReviewer(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass")
	h.ingest(run, "reviewer", says("reviewer", "1", "gaps", "a")).has("dispatch_worker_fixes", "next_action")
	h.walk(run, "worker pass").has("spec-reviewer", "next.role")
	h.ingest(run, "reviewer", says("reviewer", "1", "pass", "")).has("done", "run.state")

	run = h.start("1", `"resume": "new", "policy": {"reviewers": ["spec-reviewer", "code-quality-reviewer"]}`).str("run.run_id")
	h.walk(run, "worker pass")
	h.ingest(run, "reviewer", says("reviewer", "1", "pass", "")).has("code-quality-reviewer", "next.role")
	h.ingest(run, "reviewer", says("reviewer", "1", "pass", "")+"\nIt is clear, too.\n").has("done", "run.state")
}

func TestPolicyHasBounds(t *testing.T) {
	h := clockHost(t, setup{})
	for limit, least := range limits {
		for _, bad := range []string{fmt.Sprint(least - 1), "101", "1000000000000000000000", "1.5", `"2"`, "true"} {
			h.bad("/policy/"+limit, "init_run", `{"plan": "tasks.md", "item_id": "1", "policy": {%q: %s}}`, limit, bad)
		}
		for _, good := range []int{least, 100} {
			h.start("1", `"resume": "new", "policy": {%q: %d}`, limit, good).has(good, "run.policy."+limit)
		}
	}
	h.refused(schema.UnknownField, "init_run", `{"plan": "tasks.md", "item_id": "1", "policy": {"stalled_treshold": 2}}`).
		has("stalled_threshold", "data.details.did_you_mean.0")
	for _, name := range []string{"worker", "implementer", "cook", "", "Spec-Reviewer"} {
		fault := h.bad("/policy/reviewers/1", "init_run",
			`{"plan": "tasks.md", "item_id": "1", "policy": {"reviewers": ["spec-reviewer", %q]}}`, name)
		require.Contains(t, fault.str("message"), "code-quality-reviewer")
	}
}

// The list has the runs of all plans, newest first, or those of a plan by its path or short name.
func TestListOfRuns(t *testing.T) {
	h := clockHost(t, setup{})
	h.write("specs/tower/tasks.md", clockPlan, time.Hour)
	start := func(plan, item string) string {
		return h.call("init_run", `{"plan":%q,"item_id":%q,"resume":"new"}`, plan, item).str("run.run_id")
	}
	superseded, first := start("tasks.md", "1"), start("tasks.md", "1")
	tower := start("specs/tower/tasks.md", "1")
	other := start("tasks.md", "2")
	list := func(params string) [][]string { return h.pages("list_runs", "run_id", params) }
	require.Equal(t, [][]string{{other, tower}, {first, superseded}}, list(""))
	require.Equal(t, [][]string{{other, first}, {superseded}}, list(`,"plan":"./tasks.md"`))
	require.Equal(t, [][]string{{tower}}, list(`,"plan":"tower"`))
	require.Equal(t, [][]string{{other, first}}, list(`,"plan":"tasks.md","state":"running"`))
	require.Equal(t, [][]string{{superseded}}, list(`,"state":"failed"`))
	require.Equal(t, [][]string{{}}, list(`,"state":"done"`))
	require.Equal(t, h.resume("tower", "1").at("run"), h.call("list_runs", `{"plan":"tower"}`).at("items.0"))

	require.NoError(t, os.RemoveAll(filepath.Join(h.dir, "specs")))
	require.Equal(t, []string{tower}, h.call("list_runs", `{"run_id":%q}`, tower).each("items", "run_id"), "its plan is gone")
	require.Equal(t, [][]string{{tower}}, list(`,"plan":"specs/tower/tasks.md"`))
	require.Equal(t, [][]string{{}}, list(`,"plan":"specs/none/tasks.md"`))

	for _, cursor := range []string{"1", "run_none", "ins_1"} {
		h.bad("/cursor", "list_runs", `{"cursor":%q}`, cursor)
	}
	h.refused(schema.InvalidParams, "list_runs", `{"state":"lost"}`)
	h.refused(schema.PlanGone, "list_runs", `{"plan":"nowhere"}`)
	for _, more := range []string{`"plan":"tasks.md"`, `"state":"done"`, `"cursor":"run_1"`} {
		fault := h.refused(schema.InvalidParams, "list_runs", `{"run_id":"run_none",%s}`, more)
		fault.has("absent when run_id is given", "data.details.errors.0.expected")
	}
}
