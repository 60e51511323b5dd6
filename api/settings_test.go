package api_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/prompt"
	"waybill/schema"
	"waybill/store"
)

// limited returns settings for everything that compile_prompt takes.
func limited() schema.Settings {
	worker, reviewer, output, off := 9000, 7000, 1000, false
	return schema.Settings{Prompt: &schema.PromptSettings{
		MaxInputTokens: &schema.InputSettings{Worker: &worker, Reviewer: &reviewer}, MaxOutputTokens: &output,
		Tokenizer: api.O200k, Compaction: &schema.CompactionSettings{Auto: &off},
	}}
}

func TestPromptsKeepToTheSettings(t *testing.T) {
	h, run := planned(t, setup{settings: limited()})
	for role, budget := range map[string]int{"worker": 8000, "implementer": 8000, "reviewer": 6000, "spec-reviewer": 6000, "code-quality-reviewer": 6000} {
		prompt := h.call("compile_prompt", `{"run_id":%q,"role":%q}`, run, role)
		prompt.has(budget, "prompt_token_budget", api.O200k, "tokenizer")
	}
	call := h.call("compile_prompt", `{"run_id":%q,"role":"worker","max_output_tokens":10,"max_input_tokens":3010,"tokenizer":"estimate"}`, run)
	call.has(3000, "prompt_token_budget", api.Estimate, "tokenizer")

	h, run = planned(t, setup{})
	h.call("compile_prompt", `{"run_id":%q,"role":"worker"}`, run).has(3600, "prompt_token_budget")
	h.call("compile_prompt", `{"run_id":%q,"role":"reviewer"}`, run).has(2800, "prompt_token_budget")
}

func TestCompactionKeepsToTheSettings(t *testing.T) {
	const small = `{"run_id":%q,"role":"worker","max_output_tokens":1,"max_input_tokens":%d%s}`
	begun := func(s schema.Settings) (h *host, run string, size int) {
		h, run = planned(t, setup{settings: s})
		return h, run, int(h.call("compile_prompt", small, run, 100_000, "").at("prompt_tokens_after").(float64)) // one too many for the budget
	}
	h, run, size := begun(schema.Settings{})
	require.NotEqual(t, "none", h.call("compile_prompt", small, run, size, "").str("compaction.stage"))

	off := false
	h, run, size = begun(schema.Settings{Prompt: &schema.PromptSettings{Compaction: &schema.CompactionSettings{Auto: &off}}})
	h.refused(schema.PromptOverflow, "compile_prompt", small, run, size, "")
	h.call("compile_prompt", small, run, size, `,"compaction":{"auto":true}`)
	h.refused(schema.PromptOverflow, "compile_prompt", small, run, size, `,"compaction":{"prune":true}`)

	h, run, size = begun(schema.Settings{Prompt: &schema.PromptSettings{Compaction: &schema.CompactionSettings{Prune: &off}}})
	require.NotContains(t, h.call("compile_prompt", small, run, size, "").each("compaction.trace", "stage"), "prune_packet")
	require.Contains(t, h.call("compile_prompt", small, run, size, `,"compaction":{"prune":true}`).each("compaction.trace", "stage"), "prune_packet")
}

func TestRetryPromptKeepsToTheSettings(t *testing.T) {
	long := "- [ ] 1. First\n  - " + strings.Repeat("A long detail. ", 2000) + "\n"
	for _, roomy := range []bool{false, true} {
		var s schema.Settings
		if input := 20_000; roomy {
			s.Prompt = &schema.PromptSettings{MaxInputTokens: &schema.InputSettings{Worker: &input}}
		}
		h := newHost(t, setup{settings: s})
		h.write("tasks.md", long, time.Hour)
		run := h.start("1", "").str("run.run_id")
		answer := h.call("ingest_output", `{"run_id":%q,"role":"worker","output":"hm"}`, run)
		require.Equal(t, roomy, strings.Contains(answer.str("retry_prompt"), "A long detail."), "room for the prompt: %t", roomy)
	}
}

func TestRunsKeepTheSettingsTheyBeganWith(t *testing.T) {
	three, seven := 3, 7
	shared := newSharedStore(t)
	policy := &schema.Policy{WorkerFailures: &three, StalledThreshold: &seven, Reviewers: []string{"spec-reviewer"}, RequireChecks: []string{"test"}, Facts: "require"}
	h := clockHost(t, setup{store: shared, settings: schema.Settings{Policy: policy}, checks: []string{"test", "vet"}})
	want := map[string]any{
		"invalid_retries": 1.0, "reviewer_fresh_runs": 1.0, "worker_failures": 3.0, "review_rejections": 3.0,
		"stalled_threshold": 7.0, "review_loop_threshold": 2.0, "reviewers": []any{"spec-reviewer"},
		"result_form": "headers", "require_key": false, "check_failures": 3.0, "require_checks": []any{"facts", "test", "vet"},
	}
	h.start("1", "").has(want, "run.policy")
	other := h.start("3", `"policy": {"worker_failures": 0, "reviewers": ["code-quality-reviewer"], "require_checks": ["lint"]}`)
	other.has([]any{"facts", "lint", "test", "vet"}, "run.policy.require_checks", 0, "run.policy.worker_failures")
	other.has(7, "run.policy.stalled_threshold", []any{"code-quality-reviewer"}, "run.policy.reviewers")

	h.stop()
	h = newHost(t, setup{dir: h.dir, store: shared})
	again := h.start("1", "")
	again.has(false, "created", want, "run.policy")
	h.start("1", `"resume": "new"`).has(1, "run.policy.worker_failures")
}

func TestStatusTellsWhatIsNotBuiltIn(t *testing.T) {
	newHost(t, setup{}).call("get_status", `{}`).has([]any{}, "settings")
	h := newHost(t, setup{changed: []schema.Setting{{Name: "plans.poll", Value: []byte("true"), Origin: "--poll"}}})
	h.call("get_status", `{}`).has([]any{map[string]any{"name": "plans.poll", "value": true, "origin": "--poll"}}, "settings")
}

func TestNewChecksTheSettings(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(s *schema.Settings)
	}{
		{"/prompt/max_output_tokens must be a whole number from 1 to 1000000000, not 0", func(s *schema.Settings) { *s.Prompt.MaxOutputTokens = 0 }},
		{"/prompt/max_output_tokens must be smaller than prompt.max_input_tokens.worker (1000), and is 1000", func(s *schema.Settings) { *s.Prompt.MaxInputTokens.Worker = 1000 }},
		{"/prompt/max_output_tokens must be smaller than prompt.max_input_tokens.reviewer (4000), and is 4000", func(s *schema.Settings) {
			*s.Prompt.MaxOutputTokens, s.Prompt.MaxInputTokens.Reviewer = 4000, nil
		}},
		{"/prompt/tokenizer must be one of estimate, o200k", func(s *schema.Settings) { s.Prompt.Tokenizer = "o300k" }},
		{"/policy/reviewers/0 must be one of", func(s *schema.Settings) { s.Policy = &schema.Policy{Reviewers: []string{"worker"}} }},
	} {
		s := limited()
		c.change(&s)
		_, err := api.New(api.Options{Settings: s, Start: func(workspace.Workspace) (*engine.Engine, *engine.Plans, error) { return nil, nil, nil }})
		require.ErrorContains(t, err, "api: Options.Settings: "+c.want)
	}
}

const directedPlan = `# Plan

### Task 1: Count
**Review:** spec-only
**Model:** acme/large (the slow one)

### Task 2: Report
**Review:** none
**Model:** small
**Depends on:** none

### Task 3: Alarm

### Task 4: Ring
**Review:** full
`

func TestPlanNamesReviewersAndModel(t *testing.T) {
	h := newHost(t, setup{settings: schema.Settings{Policy: &schema.Policy{Reviewers: []string{"code-quality-reviewer"}}}})
	h.write("tasks.md", directedPlan, time.Hour)
	first := h.call("init_run", `{"plan": "tasks.md", "item_id": "1"}`)
	first.has([]any{"spec-reviewer"}, "run.policy.reviewers", "spec-only", "directives.review")
	first.has("acme/large", "directives.model")
	id := h.create(`"run_id": %q`, first.str("run.run_id"))
	h.task(id).has([]any{map[string]any{"provider_id": "acme", "model_id": "large"}}, "task.models")
	named := h.create(`"run_id": %q, "models": [{"provider_id": "umbra", "model_id": "tiny"}]`, first.str("run.run_id"))
	h.task(named).has("tiny", "task.models.0.model_id")

	second := h.call("init_run", `{"plan": "tasks.md", "item_id": "2"}`)
	second.has([]any{}, "run.policy.reviewers", "small", "directives.model")
	h.task(h.create(`"run_id": %q`, second.str("run.run_id"))).has([]any{}, "task.models")
	third := h.call("init_run", `{"plan": "tasks.md", "item_id": "3"}`)
	third.lacks("directives")
	third.has([]any{"code-quality-reviewer"}, "run.policy.reviewers")
	h.call("init_run", `{"plan": "tasks.md", "item_id": "4"}`).
		has([]any{"spec-reviewer", "code-quality-reviewer"}, "run.policy.reviewers", "full", "directives.review")
	h.call("init_run", `{"plan": "tasks.md", "item_id": "1", "resume": "new", "policy": {"reviewers": ["code-quality-reviewer"]}}`).
		has([]any{"code-quality-reviewer"}, "run.policy.reviewers")
}

func TestTaskTakesTheModelOfThePlanAsItIsNow(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", directedPlan, 2*time.Hour)
	run := h.call("init_run", `{"plan": "tasks.md", "item_id": "1"}`).str("run.run_id")
	h.write("tasks.md", strings.Replace(directedPlan, "acme/large", "acme/huge", 1), time.Hour)
	h.call("init_run", `{"plan": "tasks.md", "item_id": "1"}`).has("acme/huge", "directives.model")
	h.task(h.create(`"run_id": %q`, run)).has("huge", "task.models.0.model_id")
	h.write("tasks.md", strings.Replace(directedPlan, "acme/large", "acme/small", 1), time.Minute)
	h.task(h.create(`"run_id": %q`, run)).has("small", "task.models.0.model_id")

	h.refact(run, func(facts []store.Fact) []store.Fact {
		return slices.DeleteFunc(facts, func(f store.Fact) bool { return f.Key == "ledger.task.attempts" })
	})
	h.refused(schema.LedgerIncomplete, "create_task", `{"prompt": "x", "run_id": %q}`, run)
	h.create(`"run_id": %q, "models": [{"provider_id": "umbra", "model_id": "tiny"}]`, run)
}

// telemetry calls get_telemetry for a run, or for all runs.
func (h *host) telemetry(run string) object {
	h.t.Helper()
	if run == "" {
		return h.call("get_telemetry", `{}`)
	}
	return h.call("get_telemetry", `{"run_id": %q}`, run)
}

func TestTelemetryOfAScriptedRun(t *testing.T) {
	h := clockHost(t, setup{})
	run, other := h.run("1"), h.run("3")
	before, after, sent, resend := 0.0, 0.0, 0.0, 0.0
	since := ""
	for range 3 {
		prompt := h.call("compile_prompt", `{"run_id": %q, "role": "worker", "since": %q}`, run, since)
		since = prompt.str("packet.cursor")
		sent += prompt.at("prompt_tokens_estimate").(float64)
		resend += prompt.at("prompt_tokens_resend").(float64)
		before += prompt.at("prompt_tokens_before").(float64)
		after += prompt.at("prompt_tokens_after").(float64)
	}
	a := <-h.begin(t.Context(), "compile_prompt", `{"run_id": %q, "role": "worker", "max_input_tokens": 100, "max_output_tokens": 90}`, run)
	require.Equal(t, schema.PromptOverflow, a.Err.Data.Code)
	tokens := 0.0
	for _, s := range []step{
		"worker invalid", "worker pass", "spec invalid", "spec invalid", "spec gaps:a", "worker pass", "spec pass", "quality gaps:b",
		"worker pass", "quality pass",
	} {
		tokens += h.walk(run, s).at("output_tokens").(float64)
	}
	h.ingest(other, "worker", says("worker", "7", "pass", "")).has("invalid", "verdict")
	h.write("tasks.md", clockPlan+"- [ ] 4. New\n", time.Hour)
	h.compile(other).has(true, "rebuilt")
	h.remove("tasks.md")
	h.compile(other).has("ledger_plus_fallback", "ledger_mode")

	mine, all := h.telemetry(run), h.telemetry("")
	mine.has(map[string]any{
		"prompts": 3.0, "overflows": 1.0, "results": 10.0, "retry_prompts": 2.0, "review_rejections": 2.0,
	}, "dispatch")
	mine.has(map[string]any{
		"prompts_before": before, "prompts_after": after, "results": tokens, "sent": sent, "resend": resend, "saved": resend - sent,
	}, "tokens")
	require.Greater(t, resend, sent)
	mine.has(map[string]any{"full": 1.0, "delta": 2.0, "why_full": map[string]any{"no_cursor": 1.0}}, "packets")
	mine.has(map[string]any{prompt.PromptVersion: 3.0}, "prompt_versions", map[string]any{}, "cut")
	mine.has(map[string]any{"none": 3.0}, "compaction_stages", map[string]any{"ledger_only": 3.0}, "ledger_modes")
	mine.has(map[string]any{"total": 0.0, "fallbacks": map[string]any{}, "fallback_ms": 0.0}, "rebuilds")
	mine.has(map[string]any{"pass": 5.0, "gaps": 2.0, "invalid": 3.0}, "verdicts")
	mine.has(map[string]any{"v2": 7.0, "none": 3.0}, "grammars", map[string]any{"nothing_recognised": 3.0}, "errors")
	mine.has(map[string]any{
		"retry_with_preamble": 2.0, "spawn_fresh_reviewer": 1.0, "dispatch_reviewer": 4.0, "dispatch_worker_fixes": 2.0,
		"advance_to_next_item": 1.0,
	}, "next_actions")
	all.has(5, "dispatch.prompts", 11, "dispatch.results", 4, "verdicts.invalid", 1, "errors.task_id_mismatch")
	all.has(map[string]any{"ledger_only": 4.0, "ledger_plus_fallback": 1.0}, "ledger_modes", 1, "rebuilds.total")
	all.has(map[string]any{"rebuild_failed": 1.0}, "rebuilds.fallbacks", 3, "dispatch.retry_prompts")

	h = h.restart() // the end of a process stores its counts
	require.Equal(t, mine.text, h.telemetry(run).text)
	require.Equal(t, all.text, h.telemetry("").text)
	h.write("tasks.md", clockPlan, time.Hour)
	require.Empty(t, h.telemetry(h.start("1", `"resume": "new"`).str("run.run_id")).at("verdicts"), "a new run begins at nothing")
}
