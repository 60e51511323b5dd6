package api_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// keyed puts the key of a prompt into headers.
func keyed(t *testing.T, prompt, text string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^(?:Result key|key): ([A-Z2-7]{8})$`).FindStringSubmatch(prompt)
	require.NotNil(t, found, prompt)
	return strings.Replace(text, "\nstatus:", "\nkey: "+found[1]+"\nstatus:", 1)
}

func (h *host) promptOf(run, role string) string {
	h.t.Helper()
	return h.call("compile_prompt", `{"run_id": %q, "role": %q}`, run, role).str("prompt")
}

// One text must not count as the work and as its reviews.
func TestSameTextCountsForOneRole(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	h.ingest(run, "worker", worked()).has("pass", "verdict")
	for _, role := range []string{"spec-reviewer", "code-quality-reviewer", "reviewer"} {
		answer := h.ingest(run, role, worked())
		answer.has("invalid", "verdict")
		answer.has("role_mismatch", "errors.0.code")
		answer.has("running", "run.state")
	}
	h.stop()

	// A text that names no reviewer is remembered, by whichever process.
	h = p.host(t)
	run = h.start("3", `"policy": {"invalid_retries": 9}`).str("run.run_id")
	h.ingest(run, "worker", says("worker", "3", "pass", "")).has("pass", "verdict")
	approval := says("reviewer", "3", "pass", "")
	h.ingest(run, "spec-reviewer", approval).has("pass", "verdict")
	h.stop()
	h = p.host(t)
	for _, again := range []string{approval, "\n" + strings.ReplaceAll(approval, "\n", " \r\n")} {
		answer := h.ingest(run, "code-quality-reviewer", again)
		answer.has("invalid", "verdict")
		answer.has("role_mismatch", "errors.0.code")
	}
	h.ingest(run, "code-quality-reviewer", approval+"\nIt is clear, too.\n").has("done", "run.state")
	h.stop()
}

// The key is the same for all prompts of a round, and changes afterwards.
func TestAKeyIsOfOneRound(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	first := h.promptOf(run, "worker")
	require.Equal(t, first, h.promptOf(run, "worker"))
	h.write("tasks.md", clockPlan+"\nA remark.\n", time.Minute)
	late := keyed(t, first, worked())
	require.Equal(t, late, keyed(t, h.promptOf(run, "worker"), worked()), "the plan has changed")
	answer := h.ingest(run, "worker", "I am done!")
	require.Equal(t, late, keyed(t, answer.str("retry_prompt"), worked()))
	answer = h.ingest(run, "worker", late)
	answer.has("pass", "verdict")
	answer.has([]any{}, "warnings")

	review := h.promptOf(run, "spec-reviewer")
	h.write("tasks.md", clockPlan+"- [ ] 4. Wind it up\n", 30*time.Second)
	h.call("resume_run", `{"plan": "tasks.md", "item_id": "1"}`) // which waits until the facts of the plan are stored
	require.Equal(t, keyed(t, review, worked()), keyed(t, h.promptOf(run, "spec-reviewer"), worked()))
	spec := keyed(t, h.promptOf(run, "spec-reviewer"), says("spec-reviewer", "1", "gaps", "no numerals"))
	h.ingest(run, "spec-reviewer", spec).has("gaps", "verdict")
	stale := strings.Replace(spec, "gaps\nissues: no numerals", "pass", 1)
	h.walk(run, "worker pass")
	answer = h.ingest(run, "spec-reviewer", stale)
	answer.has("invalid", "verdict")
	answer.has("key_mismatch", "errors.0.code")
	h.ingest(run, "spec-reviewer", keyed(t, h.promptOf(run, "spec-reviewer"), says("spec-reviewer", "1", "pass", ""))).has("pass", "verdict")
	h.ingest(run, "code-quality-reviewer", keyed(t, h.promptOf(run, "spec-reviewer"), says("code-quality-reviewer", "1", "pass", ""))).
		has("key_mismatch", "errors.0.code")
}

// A repeated result changes nothing.
func TestAKeyedResultThatComesAgainIsTheSame(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	text := keyed(t, h.promptOf(run, "worker"), worked())
	h.ingest(run, "worker", text).has("dispatch_reviewer", "next_action")
	before := h.runIs("1").at("run")
	answer := h.ingest(run, "worker", text)
	answer.has(true, "already")
	answer.has("pass", "verdict")
	require.Equal(t, before, h.runIs("1").at("run"))
}

func TestAResultWithoutAKeyHasAWarning(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.ingest(run, "worker", worked()).has("key_missing", "warnings.0.code")
	strict := h.start("3", `"policy": {"require_key": true}`).str("run.run_id")
	answer := h.ingest(strict, "worker", says("worker", "3", "pass", ""))
	answer.has("invalid", "verdict")
	answer.has("key_missing", "errors.0.code")
	h.ingest(strict, "worker", keyed(t, answer.str("retry_prompt"), says("worker", "3", "pass", ""))).has("pass", "verdict")
}

func TestPromptsAndRetryPromptsTeachOneForm(t *testing.T) {
	const block, headers = "\nBEGIN_DISPATCH_RESULT\n", "\nstatus: <pass, gaps or error>\n"
	for form, other := range map[string][2]string{"headers": {headers, block}, "json": {block, headers}} {
		h := newHost(t, setup{})
		h.write("tasks.md", clockPlan, time.Hour)
		run := h.start("1", `"policy": {"result_form": %q, "invalid_retries": 9, "reviewer_fresh_runs": 0}`, form).str("run.run_id")
		for _, role := range []string{"worker", "spec-reviewer", "code-quality-reviewer"} {
			prompt := h.promptOf(run, role)
			require.Contains(t, prompt, other[0], role)
			require.NotContains(t, prompt, other[1], role)
		}
		for _, original := range []string{"", "Do it."} {
			retry := h.ingest(run, "worker", "I had a look around.", `"prompt": `+quoted(original)).str("retry_prompt")
			require.Equal(t, 0, strings.Count(retry, other[1]), "%s, %q:\n%s", form, original, retry)
			require.Contains(t, retry, other[0])
		}
		h.stop()
	}
}
