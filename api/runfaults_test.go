package api_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/core"
	"waybill/schema"
	"waybill/store"
)

// refact changes the stored facts of a run directly.
func (h *host) refact(run string, change func(facts []store.Fact) []store.Fact) {
	h.t.Helper()
	require.NoError(h.t, h.store.Update(h.t.Context(), func(tx store.Tx) error {
		facts, err := tx.Facts(run)
		if err != nil {
			return err
		}
		if err := tx.PutFacts(run, change(facts)); err != nil {
			return err
		}
		_, err = tx.Append(store.Event{Type: core.RunLedger, Subject: run, Data: "{}"})
		return err
	}))
}

// A worker's report is taken even if the facts of its run are damaged.
func TestDamagedFactsDelayNoTask(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	id, claim := h.leased(run, "worker")
	h.refact(run, func([]store.Fact) []store.Fact { return nil })
	h.finish(claim, `"status": "error", "error": {"message": "x", "class": "terminal"}`).has("ERROR", "task.status")
	h.is("ERROR", id)
}

func TestDamagedFactsOfAnotherRunDelayNoPlan(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [ ] 1. First\n- [ ] 2. Second\n", time.Hour)
	first := h.run("1")
	h.walk(first, "worker pass", "spec pass", "quality pass").has("done", "run.state")
	h.refact(first, func([]store.Fact) []store.Fact { return nil })
	second := h.run("2")
	for _, role := range []string{"worker", "spec-reviewer"} {
		h.ingest(second, role, says(role, "2", "pass", ""))
	}
	last := h.ingest(second, "code-quality-reviewer", says("code-quality-reviewer", "2", "pass", ""))
	last.has("plan_completed", "next_action")
	require.Equal(t, []string{"1", "2"}, last.each("evidence.outcomes", "item_id"))
	last.has(first, "evidence.outcomes.0.run_id")
	require.Contains(t, last.str("evidence.outcomes.0.summary"), "cannot be read")
}

// Facts of other tools are kept.
func TestUnknownFactsAreKept(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	unknown := map[string]string{"a.key.of.others": "x", "ledger.task.mood": "bright", "ledger.progress.weather": `{"rain": true}`, "zz": ""}
	h.refact(run, func(facts []store.Fact) []store.Fact {
		for key, value := range unknown {
			facts = append(facts, store.Fact{Key: key, Value: value})
		}
		return facts
	})
	h.walk(run, "worker invalid", "worker pass", "spec gaps")
	h.replan(run, `"plan_items": ["a"]`)
	h.write("tasks.md", clockPlan+"- [ ] 4. New\n", time.Hour)
	h.compile(run)
	for key, value := range unknown {
		require.Equal(t, value, h.snapshotFact(run, key), key)
	}
}

// A damaged or missing fact is refused by name: it must not count as none, nor make old result keys valid again.
func TestDamagedFactsNeverLookEmpty(t *testing.T) {
	for key, value := range map[string]string{
		"attempts": "many", "reviews": "[]", "plan_items": "a, b", "required_fixes": "", "accepted_results": `{"counts":`, "taken_attempts": `{"counts":`,
		"invalid_result.spec-reviewer": `{"counts":`,
	} {
		h, run := hostWithClock(t, setup{})
		h.replan(run, `"plan_items": ["buy ink"]`)
		_, claim := h.leased(run, "worker")
		h.ingest(run, "worker", worked(), `"attempt_id": `+quoted(claim.str("claim.attempt.attempt_id")))
		h.walk(run, "quality gaps:a", "worker pass", "spec invalid")
		var whole []store.Fact
		h.refact(run, func(facts []store.Fact) []store.Fact {
			whole = append(whole, facts...)
			i := slices.IndexFunc(facts, func(f store.Fact) bool { return f.Key == "ledger.task."+key })
			require.NotEqual(t, -1, i, "there is no fact %s", key)
			if facts[i].Value = value; value == "" {
				facts = slices.Delete(facts, i, i+1)
			}
			return facts
		})
		before := h.snapshot(run).text
		for method, params := range map[string]string{
			"ingest_output": ingestParams(run, "worker", "x"), "get_ledger": `{"run_id": ` + quoted(run) + `}`,
			"compile_prompt": `{"run_id": ` + quoted(run) + `, "role": "worker"}`,
			"replan":         `{"run_id": ` + quoted(run) + `, "summary": "x"}`,
			"resume_run":     `{"plan": "tasks.md", "item_id": "1"}`,
		} {
			h.refused(schema.LedgerIncomplete, method, "%s", params).has("ledger.task."+key, "data.details.key")
		}
		require.Equal(t, value, h.snapshotFact(run, "ledger.task."+key), "a snapshot shows it as it is")
		require.Equal(t, before, h.snapshot(run).text)
		h.start("1", "").has(false, "created") // which needs no facts
		h.refact(run, func([]store.Fact) []store.Fact { return whole })
		h.walk(run, "spec pass").has("dispatch_reviewer", "next_action")
	}
}

func TestDamagedFactsOfADoneRunCompleteNoPlan(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass", "spec pass", "quality pass").has("advance_to_next_item", "next_action")
	h.refact(run, func([]store.Fact) []store.Fact { return nil })
	h.start("1", "").has("advance_to_next_item", "next_action")
	h.start("1", `"resume": "new"`).has(true, "created") // a way out
}

// snapshotFact returns a stored fact of a run, or "".
func (h *host) snapshotFact(run, key string) string {
	h.t.Helper()
	snapshot := h.snapshot(run)
	i := slices.Index(snapshot.each("facts", "k"), key)
	if i < 0 {
		return ""
	}
	return snapshot.each("facts", "v")[i]
}

func TestLedgerRecordsOriginsOfResults(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	const key = "ledger.task.origins"
	h.ingest(run, "worker", worked()+"\nThe face is drawn.\n")
	require.Empty(t, h.snapshotFact(run, key), "nobody was named")

	task := h.create(`"run_id": %q, "role": "spec-reviewer"`, run)
	attempt := h.task(task).str("attempts.0.attempt_id")
	h.ingest(run, "spec-reviewer", says("spec-reviewer", "1", "gaps", "no hands"), `"attempt_id": `+quoted(attempt))
	require.JSONEq(t, `{"spec": {"task_id": "`+task+`", "attempt_id": "`+attempt+`"}}`, h.snapshotFact(run, key))

	work := h.create(`"run_id": %q, "role": "worker"`, run)
	h.ingest(run, "worker", worked()+"\nThe hands, too.\n", `"task_id": `+quoted(work))
	require.JSONEq(t, `{"summary": {"task_id": "`+work+`"}, "spec": {"task_id": "`+task+`", "attempt_id": "`+attempt+`"}}`,
		h.snapshotFact(run, key))
	h.ingest(run, "spec-reviewer", says("spec-reviewer", "1", "pass", ""), `"task_id": "1"`) // the item, which is no task of the queue
	require.JSONEq(t, `{"summary": {"task_id": "`+work+`"}}`, h.snapshotFact(run, key))
}

func TestItemOfALostPlanIsExplainedByItsRun(t *testing.T) {
	h := clockHost(t, setup{})
	h.run("1")
	h = h.restart()
	h.remove("tasks.md")
	h.call("explain", `{"plan": "tasks.md", "item_id": "1"}`).has("plan.unreadable", "because.0.rule")
	h.refused(schema.LedgerMissing, "explain", `{"plan": "tasks.md", "item_id": "2"}`)
}

// workedOn runs a test with a run of item 1 in fake time.
func workedOn(t *testing.T, test func(t *testing.T, h *host, run string)) {
	t.Helper()
	inFakeTime(t, func(t *testing.T, h *host) {
		h.write("tasks.md", clockPlan, time.Hour)
		test(t, h, h.run("1"))
	})
}

// expire lets all leases expire.
func expire() {
	time.Sleep(2 * time.Minute)
	synctest.Wait()
}

func TestLostLeaseIsAFailureOfTheWorker(t *testing.T) {
	workedOn(t, func(t *testing.T, h *host, run string) {
		id, claim := h.leased(run, "worker")
		review, _ := h.leased(run, "spec-reviewer")
		free := h.create(``)
		h.claim("w")
		expire()
		for _, lost := range []string{id, review, free} {
			h.is("ERROR", lost)
		}
		now := h.start("1", "")
		now.has(1, "run.counters.worker_failures", "broken", "run.standing.worker", "retry_worker", "next_action")
		outcomes := h.logged("run.outcome", run)
		require.Len(t, outcomes, 1)
		outcomes[0].has("worker_failures", "data.rule", id, "data.task_id")
		outcomes[0].has(claim.str("claim.attempt.attempt_id"), "data.attempt_id")
		h.call("get_ledger", `{"run_id": %q}`, run).has(1, "task_ledger.attempts")
		h.ingest(run, "worker", worked(), lease(claim)).has("stale_attempt", "reason")
		h.start("1", "").has("broken", "run.standing.worker")
	})
}

// A lost worker that the queue retries counts, and no other is asked for.
func TestRunIsBlockedByLostWorkers(t *testing.T) {
	workedOn(t, func(t *testing.T, h *host, run string) {
		id := h.create(`"run_id": %q, "role": "worker", "max_attempts": 9`, run)
		h.claim("w").has(id, "claim.task.task_id")
		expire()
		h.is("QUEUED", id)
		at := h.resume("tasks.md", "1")
		at.has(1, "run.counters.worker_failures", "dispatch_worker", "next_action")
		h.claim("w").has(id, "claim.task.task_id")
		expire()
		now := h.start("1", "")
		now.has("worker_failures", "run.reason")
		require.Contains(t, h.call("list_notices", `{}`).each("items", "kind"), "run.blocked")
		h.is("BLOCKED", id)
		h.nothing()
	})
}

func TestOnlyTerminalErrorsAreFailuresOfTheWorker(t *testing.T) {
	for report, failures := range map[string]int{
		`"status": "error", "error": {"message": "x", "class": "terminal"}`:  1,
		`"status": "error", "error": {"message": "x", "class": "transient"}`: 0,
		`"status": "error", "error": {"message": "x", "class": "provider"}`:  0,
		`"status": "error", "error": {"message": "x", "class": "user"}`:      0,
		`"status": "completed"`: 0, `"status": "cancelled"`: 0, `"status": "interrupted"`: 0,
	} {
		h, run := hostWithClock(t, setup{})
		_, claim := h.leased(run, "worker")
		h.finish(claim, report)
		h.finish(claim, report) // whose answer was lost
		h.start("1", "").has(failures, "run.counters.worker_failures")
		require.Len(t, h.logged("run.outcome", run), failures, report)
		_, claim = h.leased(run, "code-quality-reviewer")
		h.finish(claim, report)
		require.Len(t, h.logged("run.outcome", run), failures, "a reviewer is no worker")
	}
	h, run := hostWithClock(t, setup{})
	_, claim := h.leased(run, "worker")
	h.bind(claim, "ses_1")
	h.tell("ses_1", `"type": "error", "message": "context too long", "data": {"name": "ContextLengthError"}`).has(true, "applied")
	h.ingest(run, "worker", says("worker", "1", "error", "x"), lease(claim)).has(false, "applied")
	h.start("1", "").has(1, "run.counters.worker_failures")
}

func TestResultOfALostAttemptByItsIDMovesNothing(t *testing.T) {
	workedOn(t, func(t *testing.T, h *host, run string) {
		h.create(`"run_id": %q, "role": "worker", "max_attempts": 3`, run)
		lost := h.claim("a").str("claim.attempt.attempt_id")
		expire()
		now := `"attempt_id": ` + quoted(h.claim("b").str("claim.attempt.attempt_id"))
		late := h.ingest(run, "worker", worked(), `"attempt_id": `+quoted(lost))
		late.has(false, "applied", "stale_attempt", "reason")
		late.lacks("next_action")
		h.ingest(run, "worker", "I had a look.", now).has("retry_with_preamble", "next_action")
		h.ingest(run, "worker", "I had a look.", now).has(true, "already")
		better := h.ingest(run, "worker", worked(), now) // another result of the attempt counts
		better.lacks("already")
		better.has("dispatch_reviewer", "next_action", 1, "counters.invalid_results.worker")
		again := h.ingest(run, "worker", worked(), now)
		again.has(true, "already")
		again.lacks("decision")
		require.Len(t, h.logged("run.outcome", run), 3, "the loss of the first attempt, and two results of the second")
	})
}

// A lease that expires after the result must not undo it.
func TestLossAfterTheResultUndoesNothing(t *testing.T) {
	workedOn(t, func(t *testing.T, h *host, run string) {
		h.create(`"run_id": %q, "role": "worker"`, run)
		attempt := h.claim("a").str("claim.attempt.attempt_id")
		h.ingest(run, "worker", "I had a look.", `"attempt_id": `+quoted(attempt)).has("retry_with_preamble", "next_action")
		expire()
		h.call("list_tasks", `{}`).has("ERROR", "items.0.status")
		at := h.resume("tasks.md", "1")
		at.has("retry_with_preamble", "next_action", 0, "run.counters.worker_failures")
	})
}

// Results of two reviewers at the same time are both taken, each for its own role, also by two processes.
func TestTwoReviewersReportAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	one := clockHost(t, setup{store: onDisk(t, path)})
	other := newHost(t, setup{dir: one.dir, store: onDisk(t, path)})
	for _, h := range []*host{one, other} {
		for _, results := range [][2]step{
			{"spec gaps:a", "quality pass"}, {"spec gaps:a", "quality gaps:b"}, {"spec pass", "quality error"}, {"spec invalid", "quality gaps:b"},
		} {
			var serial []string
			for _, order := range [][2]int{{0, 1}, {1, 0}} {
				run := one.start("1", `"resume": "new"`).str("run.run_id")
				one.walk(run, "worker pass", results[order[0]], results[order[1]])
				serial = append(serial, one.gist(run))
			}
			run := one.start("1", `"resume": "new"`).str("run.run_id")
			one.walk(run, "worker pass")
			var reports sync.WaitGroup
			for i, by := range []*host{one, h} {
				role, output := results[i].result()
				answer := by.begin(t.Context(), "ingest_output", "%s", ingestParams(run, role, output))
				reports.Go(func() { // ends when the call is answered
					if a := <-answer; a.Err != nil {
						t.Error(a.Err.Message)
					}
				})
			}
			reports.Wait()
			require.Contains(t, serial, one.gist(run))
			require.Equal(t, one.gist(run), other.gist(run))
			require.Len(t, one.logged("run.outcome", run), 3)
		}
	}
}

// gist returns the state of the newest run of item 1 without ids and times.
func (h *host) gist(run string) string {
	h.t.Helper()
	about := h.call("resume_run", `{"plan": "tasks.md", "item_id": "1"}`)
	about.has(run, "run.run_id")
	return fmt.Sprint(about.at("run.state"), about.at("run.standing"), about.at("run.counters"), about.at("next"),
		about.at("task_ledger.reviewer_issues"), about.at("task_ledger.blockers"), about.at("task_ledger.rejections"))
}

// Two results with the role "reviewer" at the same time are assigned to the same reviewers in the run and in its
// ledger.
func TestTwoUnnamedReviewersReportAtOnce(t *testing.T) {
	st := newSharedStore(t)
	h := clockHost(t, setup{store: st})
	run := h.start("1", `"policy": {"reviewers": ["spec-reviewer", "code-quality-reviewer"]}`).str("run.run_id")
	h.walk(run, "worker pass")
	free := make(chan struct{})
	st.set(func(s *sharedStore) {
		s.around = func(commit func() error) error {
			<-free
			return commit()
		}
	})
	var answers []<-chan api.Answer
	for _, output := range []string{says("reviewer", "1", "pass", ""), says("reviewer", "1", "gaps", "a")} {
		answers = append(answers, h.begin(t.Context(), "ingest_output", "%s", ingestParams(run, "reviewer", output)))
	}
	close(free)
	h.result(<-answers[0]).has("approved", "run.standing.spec-reviewer")
	h.result(<-answers[1]).has("rejected", "run.standing.code-quality-reviewer")
	last := h.walk(run, "worker pass", "quality pass")
	last.has("done", "run.state", []any{}, "task_ledger.reviewer_issues")
}

func TestEachReviewerHasItsOwnRetryPrompt(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass")
	first := h.walk(run, "spec invalid")
	require.Contains(t, first.str("retry_prompt"), "role: spec-reviewer\n")
	second := h.ingest(run, "code-quality-reviewer", says("code-quality-reviewer", "7", "pass", ""))
	second.has("retry_with_preamble", "next_action", "spec-reviewer", "next.role")
	require.Equal(t, first.str("retry_prompt"), second.str("retry_prompt"))
	third := h.walk(run, "spec pass")
	third.has("retry_with_preamble", "next_action", "code-quality-reviewer", "next.role")
	require.Contains(t, third.str("retry_prompt"), "role: code-quality-reviewer\n")
	require.Contains(t, third.str("retry_prompt"), "found 7")
	resumed := h.call("resume_run", `{"plan": "tasks.md", "item_id": "1"}`)
	require.Equal(t, third.str("retry_prompt"), resumed.str("retry_prompt"))
}

// The last two items are approved at the same time, and one notice says that the plan is completed.
func TestPlanIsCompletedOnce(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [ ] 1. First\n- [ ] 2. Second\n", time.Hour)
	var answers []<-chan api.Answer
	runs := map[string]string{}
	for _, item := range []string{"1", "2"} {
		run := h.start(item, `"policy": {"reviewers": ["spec-reviewer"]}`).str("run.run_id")
		h.ingest(run, "worker", says("worker", item, "pass", ""))
		runs[item] = run
	}
	for item, run := range runs {
		answers = append(answers, h.begin(t.Context(), "ingest_output", "%s",
			ingestParams(run, "spec-reviewer", says("spec-reviewer", item, "pass", ""))))
	}
	var actions []string
	for _, answer := range answers {
		actions = append(actions, h.result(<-answer).str("next_action"))
	}
	require.Equal(t, []string{"advance_to_next_item", "plan_completed"}, actions)
	require.Equal(t, []string{"plan.completed"}, h.call("list_notices", `{}`).each("items", "kind"))
}
