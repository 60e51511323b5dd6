package api_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine/resultfile"
	"waybill/schema"
	"waybill/store"
)

func TestResultMayNameItsTask(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	id := h.create(`"run_id": %q, "role": "worker"`, run)
	output := says("worker", id, "pass", "")
	h.ingest(run, "worker", output).has("task_id_mismatch", "errors.0.code") // the call named no task
	last := h.ingest(run, "worker", output, `"task_id": `+quoted(id))
	last.has("pass", "verdict", "running", "run.state")
	h.is("QUEUED", id)                                                         // a result without a lease does not move the task
	h.ingest(run, "worker", worked(), `"task_id": "1"`).has("pass", "verdict") // a host that takes the item for the task
}

func TestResultOfAnotherTaskOrRunIsRefused(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	other := h.run("3")
	mine, foreign, free := h.create(`"run_id": %q`, run), h.create(`"run_id": %q`, other), h.create(``)
	attempt := func(id string) string { return h.task(id).str("attempts.0.attempt_id") }
	refused := func(pointer string, more ...string) {
		t.Helper()
		h.bad(pointer, "ingest_output", "%s", ingestParams(run, "worker", worked(), more...))
	}
	for _, id := range []string{foreign, free} {
		refused("/task_id", `"task_id": `+quoted(id))
		refused("/attempt_id", `"attempt_id": `+quoted(attempt(id)))
		refused("/attempt_id", `"task_id": `+quoted(mine), `"attempt_id": `+quoted(attempt(id)))
		refused("/attempt_id", `"task_id": "1"`, `"attempt_id": `+quoted(attempt(id)))
	}
	h.refused(schema.TaskGone, "ingest_output", "%s", ingestParams(run, "worker", worked(), `"task_id": "tsk_nobody"`))
	h.refused(schema.AttemptGone, "ingest_output", "%s", ingestParams(run, "worker", worked(), `"attempt_id": "att_nobody"`))
	for _, role := range []string{"cook", "", "Worker", "spec_reviewer"} {
		h.bad("/role", "ingest_output", "%s", ingestParams(run, role, worked()))
	}
	h.telemetry(run).has(0, "dispatch.results")

	first, second, third := h.claim("w"), h.claim("w"), h.claim("w")
	third.has(free, "claim.task.task_id")
	token := func(c object) string { return `"lease_token": ` + quoted(c.str("claim.lease.token")) }
	also := h.create(`"run_id": %q`, run)
	refused("/lease_token", `"task_id": `+quoted(also), token(first))
	refused("/lease_token", token(second))
	refused("/lease_token", token(third))
	refused("/lease_token", token(first), `"attempt_id": `+quoted(attempt(also)))
	require.Equal(t, 1.0, h.snapshot(run).at("revision"))
	h.ingest(run, "implementer", says("implementer", "1", "pass", "")+"git_range: a..b\n",
		`"task_id": `+quoted(mine), `"attempt_id": `+quoted(attempt(mine))).has("pass", "verdict")
}

func TestResultForAFinishedRunIsRefused(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass", "spec pass", "quality pass").has("done", "run.state")
	superseded := h.run("3")
	id, claim := h.leased(superseded, "worker")
	h.start("3", `"resume": "new"`)
	for id, state := range map[string]string{run: "done", superseded: "failed"} {
		fault := h.refused(schema.InvalidState, "ingest_output", "%s", ingestParams(id, "worker", "nonsense"))
		fault.has(state, "data.details.state", id, "data.details.run_id")
		require.Contains(t, fault.str("message"), `init_run with resume "new"`)
	}
	h.refused(schema.InvalidState, "ingest_output", "%s", ingestParams(superseded, "worker", worked(), lease(claim)))
	h.is("RUNNING", id)
	h.finish(claim, completed).has("COMPLETE", "task.status")
}

// keyed puts the key of a prompt into headers.
func keyed(t *testing.T, prompt, text string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^(?:Result key|key): ([A-Z2-7]{8})$`).FindStringSubmatch(prompt)
	require.NotNil(t, found, prompt)
	return strings.Replace(text, "\nstatus:", "\nkey: "+found[1]+"\nstatus:", 1)
}

// promptOf compiles the prompt of a role.
func (h *host) promptOf(run, role string) string {
	h.t.Helper()
	return h.call("compile_prompt", `{"run_id": %q, "role": %q}`, run, role).str("prompt")
}

// A text that names no reviewer counts for one of them, whichever process takes it.
func TestSameTextCountsForOneRole(t *testing.T) {
	h := clockHost(t, setup{})
	run := h.start("3", `"policy": {"invalid_retries": 9}`).str("run.run_id")
	h.ingest(run, "worker", says("worker", "3", "pass", "")).has("pass", "verdict")
	approval := says("reviewer", "3", "pass", "")
	h.ingest(run, "spec-reviewer", approval).has("pass", "verdict")
	h = h.restart()
	for _, again := range []string{approval, "\n" + strings.ReplaceAll(approval, "\n", " \r\n")} {
		answer := h.ingest(run, "code-quality-reviewer", again)
		answer.has("invalid", "verdict", "role_mismatch", "errors.0.code")
	}
	h.ingest(run, "code-quality-reviewer", approval+"\nIt is clear, too.\n").has("done", "run.state")
}

// The key is the same for all prompts of a round, and changes afterwards.
func TestKeyIsOfOneRound(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	first := h.promptOf(run, "worker")
	require.Equal(t, first, h.promptOf(run, "worker"))
	h.write("tasks.md", clockPlan+"\nA remark.\n", time.Minute)
	late := keyed(t, first, worked())
	require.Equal(t, late, keyed(t, h.promptOf(run, "worker"), worked()), "the plan has changed")
	answer := h.ingest(run, "worker", "I am done!")
	require.Equal(t, late, keyed(t, answer.str("retry_prompt"), worked()))
	answer = h.ingest(run, "worker", late)
	answer.has("pass", "verdict", []any{}, "warnings")

	review := h.promptOf(run, "spec-reviewer")
	h.write("tasks.md", clockPlan+"- [ ] 4. Wind it up\n", 30*time.Second)
	h.call("resume_run", `{"plan": "tasks.md", "item_id": "1"}`) // which waits until the facts of the plan are stored
	require.Equal(t, keyed(t, review, worked()), keyed(t, h.promptOf(run, "spec-reviewer"), worked()))
	spec := keyed(t, h.promptOf(run, "spec-reviewer"), says("spec-reviewer", "1", "gaps", "no numerals"))
	h.ingest(run, "spec-reviewer", spec).has("gaps", "verdict")
	stale := strings.Replace(spec, "gaps\nissues: no numerals", "pass", 1)
	h.walk(run, "worker pass")
	answer = h.ingest(run, "spec-reviewer", stale)
	answer.has("invalid", "verdict", "key_mismatch", "errors.0.code")
	h.ingest(run, "spec-reviewer", keyed(t, h.promptOf(run, "spec-reviewer"), says("spec-reviewer", "1", "pass", ""))).has("pass", "verdict")
	h.ingest(run, "code-quality-reviewer", keyed(t, h.promptOf(run, "spec-reviewer"), says("code-quality-reviewer", "1", "pass", ""))).
		has("key_mismatch", "errors.0.code")
}

func TestRepeatedKeyedResultChangesNothing(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	text := keyed(t, h.promptOf(run, "worker"), worked())
	h.ingest(run, "worker", text).has("dispatch_reviewer", "next_action")
	before := h.start("1", "").at("run")
	answer := h.ingest(run, "worker", text)
	answer.has(true, "already", "pass", "verdict")
	require.Equal(t, before, h.start("1", "").at("run"))
}

func TestPolicyMayRequireTheKey(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.ingest(run, "worker", worked()).has("key_missing", "warnings.0.code")
	strict := h.start("3", `"policy": {"require_key": true}`).str("run.run_id")
	answer := h.ingest(strict, "worker", says("worker", "3", "pass", ""))
	answer.has("invalid", "verdict", "key_missing", "errors.0.code")
	h.ingest(strict, "worker", keyed(t, answer.str("retry_prompt"), says("worker", "3", "pass", ""))).has("pass", "verdict")
}

// repeated returns the text between the first and the last separator of a retry prompt.
func repeated(t *testing.T, o object) string {
	t.Helper()
	reason, rest, ok := strings.Cut(o.str("retry_prompt"), "\n---\n")
	require.True(t, ok)
	require.True(t, strings.HasPrefix(reason, "RETRY CONTEXT:"))
	last := strings.LastIndex(rest, "\n---\n")
	require.Positive(t, last, rest)
	return rest[:last]
}

// A retry prompt repeats the prompt of the call, otherwise of the task, otherwise the compiled one. A prompt that was
// compiled for another key or form is compiled again.
func TestRetryPromptRepeatsTheOriginal(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	compiled := h.compile(run).str("prompt")
	fresh := func() { run = h.start("1", `"resume": "new"`).str("run.run_id") }

	require.Equal(t, compiled, repeated(t, h.ingest(run, "worker", "nonsense")))
	fresh()
	id := h.create(`"run_id": %q`, run)
	require.Equal(t, "do it", repeated(t, h.ingest(run, "worker", "nonsense", `"task_id": `+quoted(id))))
	h.claim("w")
	fresh()
	_, claim := h.leased(run, "worker")
	require.Equal(t, "do it", repeated(t, h.ingest(run, "worker", "nonsense", `"lease_token": `+quoted(claim.str("claim.lease.token")))))
	fresh()
	_, claim = h.leased(run, "worker")
	given := h.ingest(run, "worker", "nonsense", lease(claim), `"prompt": "draw\n---\na line\n"`)
	require.Equal(t, "draw\n---\na line\n", repeated(t, given))
	for _, again := range []object{h.resume("tasks.md", "1"), h.start("1", ""), h.replan(run, "")} {
		require.Equal(t, given.str("retry_prompt"), again.str("retry_prompt"))
	}
	blocks := h.start("3", `"policy": {"result_form": "json"}`).str("run.run_id")
	require.Contains(t, h.ingest(blocks, "worker", "nonsense", `"prompt": "draw"`).str("retry_prompt"), "\nBEGIN_DISPATCH_RESULT\n")
	other := h.promptOf(blocks, "worker")
	fresh()
	anew := repeated(t, h.ingest(run, "worker", "I had a look.", `"prompt": `+quoted(other)))
	require.Equal(t, h.promptOf(run, "worker"), anew)
}

// A compiled prompt that contains text of the host is not compiled again, but it must ask for the form of this run.
func TestRetryPromptAskedForTwoForms(t *testing.T) {
	h := clockHost(t, setup{})
	const words = "Draw the hands.\nResult key: of the clock"
	block := h.start("1", `"policy": {"result_form": "json"}`).str("run.run_id")
	given := h.call("compile_prompt", `{"run_id": %q, "role": "worker", "task_prompt": %q}`, block, words).str("prompt")
	require.Contains(t, given, "one result block at the very end")

	run := h.start("1", `"resume": "new", "policy": {"invalid_retries": 2}`).str("run.run_id")
	again := repeated(t, h.ingest(run, "worker", "nonsense", `"prompt": `+quoted(given)))
	compiled := h.promptOf(run, "worker")
	prefix, _, _ := strings.Cut(compiled, "\n[Task] ")
	require.True(t, strings.HasPrefix(again, prefix), again)
	require.Contains(t, again, words)
	_, key, _ := strings.Cut(compiled, "\nResult key: ")
	require.Contains(t, again, "\nResult key: "+key[:8]+"\n")
	require.Equal(t, 2, strings.Count(again, "\nResult key: "), "one is the host's")

	own := h.ingest(run, "worker", "again nonsense", `"prompt": `+quoted("Draw.\nBEGIN_DISPATCH_RESULT\n{}\nEND_DISPATCH_RESULT"))
	require.Equal(t, "Draw.\n│ BEGIN_DISPATCH_RESULT\n{}\n│ END_DISPATCH_RESULT", repeated(t, own), "nothing is cut")
	block = h.start("3", `"policy": {"result_form": "json"}`).str("run.run_id")
	own = h.ingest(block, "worker", "nonsense", `"prompt": `+quoted("Draw.\nstatus: <pass or gaps>\nstatus: early"))
	require.Equal(t, "Draw.\n│ status: <pass or gaps>\nstatus: early", repeated(t, own))
}

// A second retry repeats the original prompt without the first reason.
func TestRetryPromptOfARetryHasOneReason(t *testing.T) {
	h, _ := hostWithClock(t, setup{})
	run := h.start("1", `"resume": "new", "policy": {"invalid_retries": 3}`).str("run.run_id")
	first := h.ingest(run, "worker", "nonsense", `"prompt": "draw"`)
	first.lacks("retry_context")
	second := h.ingest(run, "worker", says("worker", "9", "pass", ""), `"prompt": `+quoted(first.str("retry_prompt")))
	second.has(true, "retry_context")
	require.Equal(t, "draw", repeated(t, second))
	require.NotContains(t, second.str("retry_prompt"), "nothing in the text is a result")
	h.walk(run, "worker pass").lacks("retry_prompt")
	h.resume("tasks.md", "1").lacks("retry_prompt")
}

// No file is read inside a transaction, because other changes wait for it.
func TestRetryPromptReadsNoFileInATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where only the calls use the store
		st := newSharedStore(t)
		h := newHost(t, setup{store: st})
		h.write("tasks.md", gaugePlan, time.Hour)
		h.write("requirements.md", gaugeCriteria, time.Hour)
		run := h.run("1")
		h.ingest(run, "worker", worked())
		long := strings.Repeat("word ", 60<<10) // too long to store, so the prompt is compiled again
		st.set(func(s *sharedStore) {
			s.inUpdate = func(tx store.Tx, fn func(store.Tx) error) error {
				h.write("requirements.md", strings.ReplaceAll(gaugeCriteria, "strike", "sleep"), time.Minute)
				return fn(tx)
			}
		})
		for _, call := range []func() object{
			func() object { return h.ingest(run, "spec-reviewer", "nonsense", `"prompt": `+quoted(long)) },
			func() object { return h.start("1", "") },
			func() object { return h.replan(run, "") },
		} {
			synctest.Wait() // until the call before has stored everything
			h.write("requirements.md", gaugeCriteria, time.Hour)
			original := repeated(t, call())
			require.Contains(t, original, "it is noon the clock SHALL strike")
			require.NotContains(t, original, "SHALL sleep")
		}
	})
}

// leased returns a task of a run in a role, and its claim.
func (h *host) leased(run, role string) (id string, claim object) {
	h.t.Helper()
	if role == "" {
		id = h.create(`"run_id": %q`, run)
	} else {
		id = h.create(`"run_id": %q, "role": %q`, run, role)
	}
	claim = h.claim("w")
	claim.has(id, "claim.task.task_id")
	return id, claim
}

// lease returns the params with which a result finishes a claimed attempt.
func lease(claim object) string {
	return `"task_id": ` + quoted(claim.str("claim.task.task_id")) + `, "lease_token": ` + quoted(claim.str("claim.lease.token"))
}

// A result ends its attempt as completed if the work can continue, and otherwise as an error without retry.
func TestResultFinishesItsAttempt(t *testing.T) {
	for said, want := range map[step]string{
		"worker pass": "COMPLETE", "worker gaps": "ERROR", "worker error": "ERROR", "worker invalid": "ERROR",
		"spec pass": "COMPLETE", "spec gaps": "COMPLETE", "spec error": "ERROR", "spec invalid": "ERROR",
	} {
		h, run := hostWithClock(t, setup{})
		role, output := said.result()
		id := h.create(`"run_id": %q, "role": %q, "max_attempts": 5`, run, role)
		claim := h.claim("w")
		last := h.ingest(run, role, output, lease(claim))
		last.has(true, "applied", id, "task.task_id", want, "task.status")
		last.has(claim.str("claim.attempt.attempt_id"), "attempt.attempt_id")
		if want == "COMPLETE" {
			last.has("completed", "attempt.status")
		} else {
			last.has("error", "attempt.status", "terminal", "attempt.error_class")
			h.nothing() // the queue does not try it again
		}
		outcome := h.logged("run.outcome", run)
		require.Len(t, outcome, 1)
		outcome[0].has(id, "data.task_id", claim.str("claim.attempt.attempt_id"), "data.attempt_id")
	}
}

func TestResultUnderAStaleLeaseMovesNothing(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	id, claim := h.leased(run, "worker")
	h.finish(claim, `"status": "error", "error": {"message": "429", "http_status": 429}`)
	before := h.snapshot(run).text
	for i, output := range []string{worked(), "nonsense"} {
		last := h.ingest(run, "worker", output, lease(claim))
		last.has(false, "applied", "stale_attempt", "reason")
		last.lacks("decision", "next_action", "next", "retry_prompt")
		h.task(id).has(i+1, "attempts.0.stale_events")
	}
	last := h.ingest(run, "worker", worked(), `"lease_token": "lease_of_nobody"`)
	last.has(false, "applied", "stale_attempt", "reason")
	last.lacks("task")
	require.Equal(t, before, h.snapshot(run).text)
	require.Empty(t, h.logged("run.outcome", run))
	h.call("get_telemetry", `{}`).has(0, "dispatch.results")
}

func TestRepeatedResultOfAnAttemptMovesTheRunOnce(t *testing.T) {
	for _, s := range []step{"worker pass", "worker invalid"} {
		h, run := hostWithClock(t, setup{})
		_, claim := h.leased(run, "worker")
		role, output := s.result()
		first := h.ingest(run, role, output, lease(claim))
		again := h.ingest(run, role, output, lease(claim))
		for _, same := range []string{"next", "counters", "run", "task_ledger", "verdict", "applied", "task", "attempt"} {
			require.Equal(t, first.at(same), again.at(same), same)
		}
		prompt, given := first.find("retry_prompt")
		repeated, still := again.find("retry_prompt")
		require.Equal(t, given, still)
		require.Equal(t, prompt, repeated)
		again.lacks("decision")
		require.Len(t, h.logged("run.outcome", run), 1)
		h.call("get_telemetry", `{}`).has(1, "dispatch.results")

		other := h.ingest(run, role, output+"\nand more\n", lease(claim))
		other.has("stale_attempt", "reason")
		require.Equal(t, first.at("run"), other.at("run"))
	}
}

func TestResultOfAReviewerEndsNoTaskOfAWorker(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	work, working := h.leased(run, "implementer")
	review, reviewing := h.leased(run, "reviewer")
	approval := says("spec-reviewer", "1", "pass", "")
	h.bad("/role", "ingest_output", "%s", ingestParams(run, "spec-reviewer", approval, lease(working)))
	h.bad("/role", "ingest_output", "%s", ingestParams(run, "spec-reviewer", approval, `"task_id": `+quoted(work)))
	h.bad("/role", "ingest_output", "%s", ingestParams(run, "worker", worked(), lease(reviewing)))
	h.bad("/role", "ingest_output", "%s", ingestParams(run, "worker", worked(),
		`"lease_token": `+quoted(reviewing.str("claim.lease.token"))))
	h.is("RUNNING", work)
	h.is("RUNNING", review)
	h.ingest(run, "worker", worked(), lease(working)).has("COMPLETE", "task.status")
	h.ingest(run, "code-quality-reviewer", says("code-quality-reviewer", "1", "pass", ""), lease(reviewing)).has("COMPLETE", "task.status")
	_, anybody := h.leased(run, "")
	h.ingest(run, "spec-reviewer", approval, lease(anybody)).has("done", "run.state")
}

// fromFile returns params that ingest a result file.
func fromFile(run, path string) string {
	return `{"run_id": ` + quoted(run) + `, "role": "worker", "output_path": ` + quoted(path) + `}`
}

// hostWithOutputDir returns a host with an output folder, and another folder. Their paths have no links.
func hostWithOutputDir(t *testing.T) (h *host, run, elsewhere string) {
	t.Helper()
	dir, outputs := folders(t)
	elsewhere, _ = folders(t)
	h = newHost(t, setup{dir: dir, outputDir: outputs})
	h.write("tasks.md", clockPlan, time.Hour)
	h.outputs = outputs
	return h, h.run("1"), elsewhere
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestResultFromAFileIsItsText(t *testing.T) {
	h, _, _ := hostWithOutputDir(t)
	for i, text := range []string{worked(), "\ufeff" + worked(), "no result", ""} {
		put(t, filepath.Join(h.dir, "out", "1.txt"), text)
		put(t, filepath.Join(h.outputs, "1.txt"), text)
		run := h.start("1", `"resume": "new", "policy": {"invalid_retries": 9}`).str("run.run_id")
		said := h.ingest(run, "worker", text)
		for _, path := range []string{"out/1.txt", filepath.Join(h.outputs, "1.txt")} {
			run = h.start("1", `"resume": "new", "policy": {"invalid_retries": 9}`).str("run.run_id")
			read := h.call("ingest_output", "%s", fromFile(run, path))
			for _, same := range []string{"verdict", "grammar", "errors", "warnings", "counters", "output_tokens", "next"} {
				require.Equal(t, said.at(same), read.at(same), "%d: %s", i, same)
			}
		}
	}
}

func TestResultFileThatCannotBeReadIsRefused(t *testing.T) {
	h, run, elsewhere := hostWithOutputDir(t)
	secret := put(t, filepath.Join(elsewhere, "secret"), worked())
	for _, path := range []string{secret, "../secret", "out/../../secret", h.outputs + "x/secret", "/"} {
		fault := h.refused(schema.PathOutside, "ingest_output", "%s", fromFile(run, path))
		fault.has("/output_path", "data.details.pointer")
		require.Contains(t, fault.str("message"), "--output-dir")
	}
	require.NoError(t, os.Mkdir(filepath.Join(h.dir, "folder"), 0o755))
	for path, reason := range map[string]string{"missing": "missing", filepath.Join(h.outputs, "missing"): "missing", "folder": "not_regular"} {
		fault := h.refused(schema.OutputGone, "ingest_output", "%s", fromFile(run, path))
		fault.has(reason, "data.details.reason", "/output_path", "data.details.pointer")
	}
	require.NoError(t, os.Remove(h.outputs))
	h.refused(schema.OutputGone, "ingest_output", "%s", fromFile(run, filepath.Join(h.outputs, "1.txt")))
	for _, path := range []string{"a\x00b", strings.Repeat("x", 5000)} {
		a := <-h.begin(t.Context(), "ingest_output", "%s", fromFile(run, path))
		require.NotNil(t, a.Err)
		require.Less(t, len(a.Err.Message), 300, "it repeats all of the path")
	}
	if err := os.Symlink(secret, filepath.Join(h.dir, "link")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	h.refused(schema.PathOutside, "ingest_output", "%s", fromFile(run, "link"))
}

func TestResultIsATextOrAFile(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	put(t, filepath.Join(h.dir, "out"), worked())
	h.bad("/output_path", "ingest_output", `{"run_id": %q, "role": "worker", "output": "x", "output_path": "out"}`, run)
	h.bad("/output", "ingest_output", `{"run_id": %q, "role": "worker"}`, run)             // a host that forgot something
	none := h.call("ingest_output", `{"run_id": %q, "role": "worker", "output": ""}`, run) // an agent that printed nothing
	none.has("invalid", "verdict", "retry_with_preamble", "next_action")
}

func TestHugeResultIsRefused(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	path := put(t, filepath.Join(h.dir, "huge"), "")
	require.NoError(t, os.Truncate(path, resultfile.MaxBytes+1))
	for pointer, params := range map[string]string{
		"/output_path": fromFile(run, path), "/output": ingestParams(run, "worker", strings.Repeat("x", resultfile.MaxBytes+1)),
	} {
		fault := h.refused(schema.TooLarge, "ingest_output", "%s", params)
		fault.has(resultfile.MaxBytes+1, "data.details.size", resultfile.MaxBytes, "data.details.limit")
		fault.has(pointer, "data.details.pointer")
	}
}

func TestLongOutputIsKeptInPart(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	_, claim := h.leased(run, "worker")
	put(t, filepath.Join(h.dir, "long"), worked()+"\n"+strings.Repeat("ü", 2<<20)+"the end\n")
	params := strings.TrimSuffix(fromFile(run, "long"), "}") + ", " + lease(claim) + "}"
	h.call("ingest_output", "%s", params).has("COMPLETE", "task.status")
	output := h.task(claim.str("claim.task.task_id")).str("task.output")
	require.True(t, strings.HasPrefix(output, worked()))
	require.True(t, strings.HasSuffix(output, "the end\n"))
	require.Contains(t, output, "bytes of this output were not kept")
	require.LessOrEqual(t, len(output), 1<<20)
}
