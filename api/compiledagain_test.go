package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// A cached prompt is returned only if none of its inputs changed. Calls with a compaction are always compiled, which
// the test uses for comparison.
func TestPromptsAreGivenAgainOnlyForTheSame(t *testing.T) {
	slow.Test(t)
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	other := h.run("3")
	seen := map[string]bool{}
	agree := func(when string) {
		t.Helper()
		cursor := h.compile(run).str("packet.cursor")
		for _, id := range []string{run, other} {
			for _, role := range []string{"worker", "spec-reviewer", "code-quality-reviewer"} {
				for _, rest := range []string{
					"", `,"task_prompt":"Draw it in ink."`, `,"task_prompt":"Draw it in oil."`, `,"since":` + quoted(cursor),
					`,"max_output_tokens":900`, `,"max_input_tokens":9000`, `,"tokenizer":"o200k"`, `,"blocks":true`, `,"preview":true`,
				} {
					params := `{"run_id":` + quoted(id) + `,"role":` + quoted(role) + rest
					for range 2 {
						fresh := h.call("compile_prompt", "%s", params+`,"compaction":{}}`)
						cached := h.call("compile_prompt", "%s", params+"}")
						require.True(t, settled(fresh) == settled(cached), "%s: %s", when, params)
						seen[fresh.str("full_prompt_hash")] = true
					}
				}
			}
		}
	}
	before := 0
	for _, change := range []struct {
		what string
		make func()
	}{
		{"at the beginning", func() {}},
		{"the title is another", func() { h.write("tasks.md", strings.Replace(clockPlan, "the face", "the dial", 1), time.Minute) }},
		{"the title is as it was", func() { h.write("tasks.md", clockPlan, 30*time.Second) }},
		{"the worker has answered", func() { h.walk(run, "worker pass") }},
		{"a reviewer wants more", func() { h.walk(run, "spec gaps:no numerals") }},
		{"something else has happened", func() { h.call("queue_instruction", `{"content":"Wait."}`) }},
		{"another item is done", func() { h.set("3", "completed") }},
		{"the plan cannot be read", h.breakPlan},
		{"the plan is back", func() { h.repairPlan(clockPlan + "- [ ] 4. Wind it up\n") }},
	} {
		change.make()
		agree(change.what)
		if change.what != "something else has happened" && change.what != "the title is as it was" {
			require.Greater(t, len(seen), before, "%s: nothing has changed", change.what)
		}
		before = len(seen)
	}
}

// settled returns an answer as it is once the facts are stored.
func settled(o object) string { return strings.Replace(o.text, `"rebuilt":true`, `"rebuilt":false`, 1) }
