package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

func (h *host) resume(plan, item string) object {
	h.t.Helper()
	return h.call("resume_run", `{"plan": %q, "item_id": %q}`, plan, item)
}

// Another process finds a run without its id.
func TestResumeRun(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	last := h.walk(run, "worker pass", "spec gaps:the minute hand is missing")
	h.stop()
	h = p.host(t)
	resumed := h.resume("tasks.md", "1")
	require.Equal(t, last.at("run"), resumed.at("run"))
	require.Equal(t, last.at("task_ledger"), resumed.at("task_ledger"))
	require.Equal(t, last.at("next"), resumed.at("next"))
	resumed.has("dispatch_worker_fixes", "next_action")
	resumed.has(false, "stale")
	resumed.lacks("progress_ledger_error")
	resumed.lacks("retry_prompt")
	prompt := resumed.str("resumption_prompt")
	for _, part := range []string{"1 Draw the face", "needs_changes", "the minute hand is missing", "do what the reviewers ask for"} {
		require.Contains(t, prompt, part)
	}
	require.NotContains(t, prompt, "Stale")
	require.Equal(t, prompt, h.resume("./tasks.md", "1").str("resumption_prompt"))
}

func TestResumeOfTheNewestRun(t *testing.T) {
	h, first := hostWithClock(t, setup{})
	h.walk(first, "worker pass", "spec pass", "quality pass").has("done", "run.state")
	done := h.resume("tasks.md", "1")
	done.has(first, "run.run_id")
	done.has("advance_to_next_item", "next_action")
	done.has([]any{"2", "3"}, "next.item_ids")
	h.start("1", "").has(first, "run.run_id") // what is approved is not begun again by chance
	second := h.start("1", `"resume": "new"`).str("run.run_id")
	require.NotEqual(t, first, second)
	h.resume("tasks.md", "1").has(second, "run.run_id")
}

func TestResumeOfAnInvalidResultGivesTheRetryPrompt(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	last := h.walk(run, "worker invalid")
	resumed := h.resume("tasks.md", "1")
	resumed.has("retry_with_preamble", "next_action")
	require.Contains(t, resumed.str("retry_prompt"), "found I had a look around.")
	require.Equal(t, last.str("retry_prompt")[:500], resumed.str("retry_prompt")[:500])
}

// An edit makes a run stale once; a touch does not.
func TestTouchIsNotStale(t *testing.T) {
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
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	h.walk(run, "worker gaps:there is no ink")
	h.stop()
	h = p.host(t)
	h.remove("tasks.md")
	resumed := h.resume("tasks.md", "1")
	resumed.has(run, "run.run_id")
	resumed.has(true, "stale")
	resumed.has("progress_ledger_missing_tasks", "progress_ledger_error.code")
	resumed.has("missing", "progress_ledger_error.reason")
	resumed.has("retry_worker", "next_action")
	for _, part := range []string{"1 Draw the face", "there is no ink", "cannot be read"} {
		require.Contains(t, resumed.str("resumption_prompt"), part)
	}
	h.write("tasks.md", "nothing that would be a plan\n", time.Hour)
	broken := h.resume("tasks.md", "1")
	broken.has("progress_ledger_parse_failed", "progress_ledger_error.code")
	broken.has(true, "stale")
}

func TestResumeOfAnItemThatIsGone(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.write("tasks.md", "- [ ] 2. Draw the hands\n", time.Minute)
	for range 2 {
		resumed := h.resume("tasks.md", "1")
		resumed.has(run, "run.run_id")
		resumed.has("item_not_found", "progress_ledger_error.code")
		require.NotContains(t, resumed.str("resumption_prompt"), "Draw the face")
	}
}

func TestResumeOfWhatWasNeverBegun(t *testing.T) {
	h, _ := hostWithClock(t, setup{})
	for _, item := range []string{"2", "99"} {
		fault := h.refused(schema.RunGone, "resume_run", `{"plan": "tasks.md", "item_id": %q}`, item)
		require.Contains(t, fault.str("message"), "init_run")
	}
	h.refused(schema.RunGone, "resume_run", `{"plan": "other/tasks.md", "item_id": "1"}`)
	h.refused(schema.PlanGone, "resume_run", `{"plan": "nobody", "item_id": "1"}`) // neither a plan nor a run of one
}

func TestResumeByTheNameOfAFolderThatIsGone(t *testing.T) {
	for _, under := range []string{"specs", ".kiro/specs", ".spec-context/specs"} {
		dir, st := t.TempDir(), newSharedStore(t)
		h := newHost(t, setup{dir: dir, store: st})
		h.write(under+"/clock/tasks.md", clockPlan, time.Hour)
		run := h.call("init_run", `{"plan": "clock", "item_id": "1"}`).str("run.run_id")
		require.NoError(t, os.RemoveAll(filepath.Join(dir, filepath.FromSlash(under))))
		for range 2 {
			resumed := h.resume("clock", "1")
			resumed.has(run, "run.run_id")
			resumed.has("progress_ledger_missing_tasks", "progress_ledger_error.code")
			h.refused(schema.PlanGone, "resume_run", `{"plan": "clock", "item_id": "2"}`)
			h.stop()
			h = newHost(t, setup{dir: dir, store: st})
		}
	}
}

// The resumption prompt has a key and a form.
func TestResumedAgentIsAskedForTheResultLikeAnyOther(t *testing.T) {
	for _, form := range []string{"headers", "json"} {
		h := newHost(t, setup{})
		h.write("tasks.md", clockPlan, time.Hour)
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
		require.NotContains(t, h.resume("tasks.md", "1").str("resumption_prompt"), "Result key", "nobody is asked for a result")
	}
}

func TestResumedRetryAsksForTheKeyOfItsRound(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	last := h.walk(run, "worker pass", "spec gaps:the hand is missing", "worker pass", "spec invalid")
	require.Equal(t, last.str("retry_prompt"), h.resume("tasks.md", "1").str("retry_prompt"))
}
