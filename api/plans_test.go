package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/store"
)

const twoItems = "# Plan\n\n- [ ] 1. First\n  - _Prompt: Do the first thing._\n- [x] 2. Second\n"

// planned returns a host with a plan and a run of its item 1.
func planned(t *testing.T, s setup) (h *host, run string) {
	t.Helper()
	h = newHost(t, s)
	h.write("tasks.md", twoItems, time.Hour)
	return h, h.run("1")
}

// run starts a run of an item of tasks.md.
func (h *host) run(item string) string {
	h.t.Helper()
	return h.call("init_run", `{"plan":"tasks.md","item_id":%q}`, item).str("run.run_id")
}

// compile compiles the worker's prompt of a run.
func (h *host) compile(run string) object {
	h.t.Helper()
	return h.call("compile_prompt", `{"run_id":%q,"role":"worker"}`, run)
}

func TestInitRun(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", twoItems, time.Hour)
	first := h.call("init_run", `{"plan":"tasks.md","item_id":"1","policy":{"review_rejections":7}}`)
	first.has(true, "created")
	first.has("running", "run.state")
	first.has("tasks.md", "run.plan")
	first.has("1", "run.item_id")
	first.has(1, "run.plan_version")
	first.has(7, "run.policy.review_rejections")
	first.has(2, "run.policy.stalled_threshold")
	first.has(0, "run.counters.invalid_results.worker")
	first.has(1, "seq")
	same := h.call("init_run", `{"plan":"./tasks.md","item_id":"1"}`)
	same.has(false, "created")
	require.Equal(t, first.at("run"), same.at("run"))
	renewed := h.call("init_run", `{"plan":"tasks.md","item_id":"1","resume":"new"}`)
	renewed.has(true, "created")
	require.NotEqual(t, first.str("run.run_id"), renewed.str("run.run_id"))
	h.call("get_snapshot", `{"run_id":%q}`, first.str("run.run_id")).has("failed", "status")
	h.call("init_run", `{"plan":"tasks.md","item_id":"1"}`).has(renewed.str("run.run_id"), "run.run_id")
	h.call("init_run", `{"plan":"tasks.md","item_id":"2"}`).has(true, "created")
	require.Equal(t, []string{"run.started", "run.superseded", "run.started", "run.started"},
		h.call("events_since", `{"cursor":"0"}`).each("events", "type"))
}

// An unknown id never stands for another item.
func TestRunNeedsAnItemOfThePlan(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [-] 1. In progress\n- [ ] 2. Second\n", time.Hour)
	fault := h.refused(schema.ItemGone, "init_run", `{"plan":"tasks.md","item_id":"3"}`)
	fault.has(4220, "code")
	fault.has("item_not_found", "data.code")
	fault.has("3", "data.details.item_id")
	h.refused(schema.RunGone, "compile_prompt", `{"run_id":"run_nobody","role":"worker"}`)
	h.refused(schema.RunGone, "get_ledger", `{"run_id":"run_nobody"}`)
	h.refused(schema.RunGone, "get_snapshot", `{"run_id":"run_nobody"}`).has(4040, "code")
}

func TestUnknownPlan(t *testing.T) {
	h := newHost(t, setup{})
	fault := h.refused(schema.PlanGone, "get_plan", `{"plan":"login"}`)
	fault.has(4040, "code")
	fault.has("login", "data.details.plan")
	h.refused(schema.PlanGone, "init_run", `{"plan":"login","item_id":"1"}`)
	h.refused(schema.PlanGone, "explain", `{"plan":"login","item_id":"1"}`)
}

func TestCompilePrompt(t *testing.T) {
	h, run := planned(t, setup{})
	prompt := h.compile(run)
	text := prompt.str("prompt")
	require.Contains(t, text, "Do the first thing.")
	require.Contains(t, text, run)
	require.Equal(t, prompt.str("stable_prefix"), text[:len(prompt.str("stable_prefix"))])
	require.Len(t, prompt.str("stable_prefix_hash"), 64)
	require.Len(t, prompt.str("full_prompt_hash"), 64)
	prompt.has("ledger_only", "ledger_mode")
	prompt.lacks("fallback_reason")
	prompt.has(false, "rebuilt")
	prompt.has("full", "packet.mode")
	prompt.has([]any{}, "packet.removed")
	prompt.has([]any{}, "omitted")
	prompt.has("none", "compaction.stage")
	prompt.has(false, "compaction.applied")
	prompt.has(3600, "prompt_token_budget")
	require.Equal(t, prompt.at("prompt_tokens_before"), prompt.at("prompt_tokens_after"))
	require.Equal(t, text, h.compile(run).str("prompt"))

	steered := h.call("compile_prompt", `{"run_id":%q,"role":"worker","compaction":{"auto":true,"context":["c"],"prompt_override":"o"}}`, run)
	require.Equal(t, text, steered.str("prompt"))
	steered.has("compaction.context", "omitted.0.what")
	steered.has("compaction.prompt_override", "omitted.1.what")

	since := h.call("compile_prompt", `{"run_id":%q,"role":"implementer","since":%q}`, run, prompt.str("packet.cursor"))
	since.has("delta", "packet.mode")
	since.has(prompt.str("packet.cursor"), "packet.base")
	since.has(map[string]any{"ledger.progress.item_id": prompt.at("packet.facts").(map[string]any)["ledger.progress.item_id"]}, "packet.facts")
	since.has(prompt.str("packet.cursor"), "packet.cursor")
	prompt.has("estimate", "tokenizer")
	require.Equal(t, prompt.at("prompt_tokens_after"), prompt.at("prompt_tokens_estimate"))
	counted := h.call("compile_prompt", `{"run_id":%q,"role":"worker","tokenizer":"o200k"}`, run)
	counted.has("o200k", "tokenizer")
	require.Equal(t, prompt.at("prompt_tokens_after"), counted.at("prompt_tokens_estimate"))
	require.NotEqual(t, counted.at("prompt_tokens_after"), counted.at("prompt_tokens_estimate"))
	other := h.call("compile_prompt", `{"run_id":%q,"role":"spec-reviewer","since":%q}`, run, prompt.str("packet.cursor"))
	other.has("full", "packet.mode")
	other.has("other_prompt", "packet.why_full")
	own := h.call("compile_prompt", `{"run_id":%q,"role":"reviewer","task_prompt":"Look at it."}`, run)
	require.Contains(t, own.str("prompt"), "Look at it.")
	require.NotContains(t, own.str("prompt"), "Do the first thing.")
	require.NotEqual(t, prompt.str("stable_prefix_hash"), own.str("stable_prefix_hash"))
}

func TestPromptOverItsBudget(t *testing.T) {
	h, run := planned(t, setup{})
	fault := h.refused(schema.PromptOverflow, "compile_prompt",
		`{"run_id":%q,"role":"worker","max_input_tokens":100,"max_output_tokens":90}`, run)
	fault.has("dispatch_prompt_overflow_terminal", "data.code")
	fault.has(10, "data.details.budget")
	fault.has(false, "data.retryable")
	h.refused(schema.InvalidParams, "compile_prompt", `{"run_id":%q,"role":"cook"}`, run)
}

func TestRebuiltSaysThatThePlanReallyChanged(t *testing.T) {
	h, run := planned(t, setup{})
	before := h.call("get_snapshot", `{"run_id":%q}`, run)
	before.has(1, "revision")
	h.write("tasks.md", twoItems, time.Minute) // touched
	h.compile(run).has(false, "rebuilt")
	require.Equal(t, before.text, h.call("get_snapshot", `{"run_id":%q}`, run).text)
	h.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	h.compile(run).has(true, "rebuilt")
	h.compile(run).has(false, "rebuilt")
	h.call("get_snapshot", `{"run_id":%q}`, run).has(2, "revision")
}

func TestLedgers(t *testing.T) {
	h, run := planned(t, setup{})
	both := h.call("get_ledger", `{"run_id":%q}`, run)
	both.has(run, "task_ledger.run_id")
	both.has("1", "task_ledger.item_id")
	both.has([]any{}, "task_ledger.required_fixes")
	both.has("First", "progress_ledger.current_item.title")
	both.has("tasks.md", "progress_ledger.source_path")
	both.has(1, "progress_ledger.totals.completed")
	both.lacks("not_modified")
	h.call("get_ledger", `{"run_id":%q,"kind":"task"}`, run).lacks("progress_ledger")
	h.call("get_ledger", `{"run_id":%q,"kind":"progress"}`, run).lacks("task_ledger")

	etag := both.str("etag")
	same := h.call("get_ledger", `{"run_id":%q,"if_none_match":%q}`, run, etag)
	same.has(true, "not_modified")
	same.has(etag, "etag")
	same.lacks("task_ledger")
	h.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	moved := h.call("get_ledger", `{"run_id":%q,"if_none_match":%q}`, run, etag)
	moved.lacks("not_modified")
	moved.has(3, "progress_ledger.totals.total")
	require.NotEqual(t, etag, moved.str("etag"))
}

// After the item is gone, the second prompt fails like the first.
func TestItemThatIsGoneGetsNoPrompt(t *testing.T) {
	dir, st := t.TempDir(), newSharedStore(t)
	h, run := planned(t, setup{dir: dir, store: st})
	h.write("tasks.md", "- [x] 2. Second\n", time.Minute)
	gone := func() {
		t.Helper()
		for range 3 {
			a := <-h.begin(t.Context(), "compile_prompt", `{"run_id":%q,"role":"worker"}`, run)
			require.Equal(t, schema.ItemGone, a.Err.Data.Code)
		}
		ledger := h.call("get_ledger", `{"run_id":%q}`, run)
		ledger.lacks("progress_ledger.current_item")
		ledger.has(1, "progress_ledger.totals.total")
		ledger.has("1", "task_ledger.item_id")
	}
	gone()
	h.call("get_snapshot", `{"run_id":%q}`, run).has(2, "revision")
	h.stop()
	h = newHost(t, setup{dir: dir, store: st})
	gone()
	h.remove("tasks.md")
	gone()
	h.write("tasks.md", twoItems, time.Minute)
	require.Contains(t, h.compile(run).str("prompt"), "Do the first thing.")
}

func TestReadOnlyStoreStillGivesPrompts(t *testing.T) {
	st := newSharedStore(t)
	h, run := planned(t, setup{store: st})
	etag := h.call("get_ledger", `{"run_id":%q}`, run).str("etag")
	st.fail(&store.Error{Kind: store.ReadOnly, Message: "the store can be read only"})
	h.write("tasks.md", "- [ ] 1. Another first\n", time.Minute)
	for range 2 {
		prompt := h.compile(run)
		require.Contains(t, prompt.str("prompt"), "Another first")
		prompt.has("ledger_only", "ledger_mode")
	}
	moved := h.call("get_ledger", `{"run_id":%q,"if_none_match":%q}`, run, etag)
	moved.lacks("not_modified") // although nothing could be stored
	moved.has("Another first", "progress_ledger.current_item.title")
	h.refused(schema.StoreReadOnly, "init_run", `{"plan":"tasks.md","item_id":"1"}`).has(5071, "code")
}

func TestListPlans(t *testing.T) {
	h := newHost(t, setup{})
	h.call("list_plans", `{}`).has([]any{}, "items")
	h.write("specs/login/tasks.md", twoItems, time.Hour)
	h.write("specs/logout/tasks.md", "no plan\n", time.Hour)
	list := h.call("list_plans", `{}`)
	list.has("specs/login/tasks.md", "items.0.plan")
	list.has("specs/login/tasks.md", "items.0.path")
	list.has(2, "items.0.totals.total")
	list.has(0, "items.0.diagnostics_count")
	list.lacks("items.0.error")
	list.has("progress_ledger_parse_failed", "items.1.error.code")
	list.has("no_items", "items.1.error.reason")
	plan := h.call("get_plan", `{"plan":"login"}`)
	plan.has("specs/login/tasks.md", "plan")
	plan.has(list.at("items.0.fingerprint"), "fingerprint")
	plan.has(list.at("items.0.dialect"), "dialect")
	plan.has([]any{}, "diagnostics")
	plan.has("Do the first thing.", "items.0.prompt")
	plan.has([]any{}, "items.0.depends_on")
	plan.has("completed", "items.1.status")
	plan.lacks("stale")
	h.write("specs/login/tasks.md", "", time.Minute)
	list = h.call("list_plans", `{}`)
	list.has("empty", "items.0.error.reason")
	list.has("progress_ledger_parse_failed", "items.0.error.code")
	list.has(2, "items.0.totals.total")
	h.call("get_plan", `{"plan":"login"}`).has("empty", "stale")
	require.NoError(t, os.RemoveAll(filepath.Join(h.dir, "specs")))
	h.call("list_plans", `{}`).has([]any{}, "items")
}

func TestPlanShowsWhatItDidNotTakeAtFaceValue(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [x] 1. Parent\n  - [x] 1.1 Child\n  - [ ] 1.2 Other\n- [ ] no id\n", time.Hour)
	plan := h.call("get_plan", `{"plan":"tasks.md"}`)
	plan.has("completed", "items.0.status")
	plan.has("in_progress", "items.0.derived_status")
	plan.has("1", "items.1.parent_id")
	plan.has(1, "items.1.level")
	plan.lacks("items.1.derived_status")
	plan.has(1, "totals.groups")
	lines := []any{}
	for i := range plan.each("diagnostics", "code") {
		lines = append(lines, plan.at(fmt.Sprintf("diagnostics.%d.line", i)))
	}
	require.Contains(t, lines, 4.0)
	h.call("list_plans", `{}`).has(len(lines), "items.0.diagnostics_count")
}
