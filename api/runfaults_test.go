package api_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
