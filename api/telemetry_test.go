package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/prompt"
	"waybill/schema"
)

// telemetry calls get_telemetry for a run, or for all runs.
func (h *host) telemetry(run string) object {
	h.t.Helper()
	if run == "" {
		return h.call("get_telemetry", `{}`)
	}
	return h.call("get_telemetry", `{"run_id": %q}`, run)
}

func TestTelemetryOfAScriptedRun(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
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
	mine.has(map[string]any{prompt.PromptVersion: 3.0}, "prompt_versions")
	mine.has(map[string]any{}, "cut")
	mine.has(map[string]any{"none": 3.0}, "compaction_stages")
	mine.has(map[string]any{"ledger_only": 3.0}, "ledger_modes")
	mine.has(map[string]any{"total": 0.0, "fallbacks": map[string]any{}, "fallback_ms": 0.0}, "rebuilds")
	mine.has(map[string]any{"pass": 5.0, "gaps": 2.0, "invalid": 3.0}, "verdicts")
	mine.has(map[string]any{"v2": 7.0, "none": 3.0}, "grammars")
	mine.has(map[string]any{"nothing_recognised": 3.0}, "errors")
	mine.has(map[string]any{
		"retry_with_preamble": 2.0, "spawn_fresh_reviewer": 1.0, "dispatch_reviewer": 4.0, "dispatch_worker_fixes": 2.0,
		"advance_to_next_item": 1.0,
	}, "next_actions")
	all.has(5, "dispatch.prompts")
	all.has(11, "dispatch.results")
	all.has(4, "verdicts.invalid")
	all.has(1, "errors.task_id_mismatch")
	all.has(map[string]any{"ledger_only": 4.0, "ledger_plus_fallback": 1.0}, "ledger_modes")
	all.has(1, "rebuilds.total")
	all.has(map[string]any{"rebuild_failed": 1.0}, "rebuilds.fallbacks")
	all.has(3, "dispatch.retry_prompts")

	h.stop() // which stores what was only gathered
	h = p.host(t)
	require.Equal(t, mine.text, h.telemetry(run).text)
	require.Equal(t, all.text, h.telemetry("").text)
	h.write("tasks.md", clockPlan, time.Hour)
	require.Empty(t, h.telemetry(h.start("1", `"resume": "new"`).str("run.run_id")).at("verdicts"), "a new run begins at nothing")
}
