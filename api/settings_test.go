package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/schema"
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
		prompt.has(budget, "prompt_token_budget")
		prompt.has(api.O200k, "tokenizer")
	}
	call := h.call("compile_prompt", `{"run_id":%q,"role":"worker","max_output_tokens":10,"max_input_tokens":3010,"tokenizer":"estimate"}`, run)
	call.has(3000, "prompt_token_budget")
	call.has(api.Estimate, "tokenizer")

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
	h := newHost(t, setup{store: shared, settings: schema.Settings{Policy: policy}, checks: []string{"test", "vet"}})
	h.write("tasks.md", clockPlan, time.Hour)
	want := map[string]any{
		"invalid_retries": 1.0, "reviewer_fresh_runs": 1.0, "worker_failures": 3.0, "review_rejections": 3.0,
		"stalled_threshold": 7.0, "review_loop_threshold": 2.0, "reviewers": []any{"spec-reviewer"},
		"result_form": "headers", "require_key": false, "check_failures": 3.0, "require_checks": []any{"facts", "test", "vet"},
	}
	h.start("1", "").has(want, "run.policy")
	other := h.start("3", `"policy": {"worker_failures": 0, "reviewers": ["code-quality-reviewer"], "require_checks": ["lint"]}`)
	other.has([]any{"facts", "lint", "test", "vet"}, "run.policy.require_checks")
	other.has(0, "run.policy.worker_failures")
	other.has(7, "run.policy.stalled_threshold")
	other.has([]any{"code-quality-reviewer"}, "run.policy.reviewers")

	h.stop()
	h = newHost(t, setup{dir: h.dir, store: shared})
	again := h.start("1", "")
	again.has(false, "created")
	again.has(want, "run.policy")
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
