package api_test

import (
	"strings"
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

// Facts of other tools are kept.
func TestUnknownFactsAreKept(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	unknown := map[string]string{
		"a.key.of.others": "x", "ledger.task.mood": "bright", "ledger.progress.weather": `{"rain": true}`, "zz": "",
	}
	h.refact(run, func(facts []store.Fact) []store.Fact {
		for key, value := range unknown {
			facts = append(facts, store.Fact{Key: key, Value: value})
		}
		return facts
	})
	kept := func() {
		t.Helper()
		snapshot := h.snapshot(run)
		got := map[string]string{}
		for i, key := range snapshot.each("facts", "k") {
			if _, ours := unknown[key]; ours {
				got[key] = snapshot.each("facts", "v")[i]
			}
		}
		require.Equal(t, unknown, got)
	}
	kept()
	h.walk(run, "worker invalid", "worker pass", "spec gaps", "worker pass")
	kept()
	h.replan(run, `"plan_items": ["a"]`)
	h.write("tasks.md", clockPlan+"- [ ] 4. New\n", time.Hour)
	h.compile(run)
	kept()
	h.walk(run, "spec pass", "quality pass").has("done", "run.state")
	h.stop()
	h = p.host(t)
	kept()
}

// Unreadable facts must not count as missing.
func TestDamagedFactsNeverLookEmpty(t *testing.T) {
	keys := map[string]string{
		"ledger.task.attempts": "many", "ledger.task.blockers": "none", "ledger.task.required_fixes": `{"a"`,
		"ledger.task.reviews": "[]", "ledger.task.plan_version": "", "ledger.task.stalled": "2", "ledger.task.plan_items": "a, b",
	}
	for key, value := range keys {
		t.Run(strings.TrimPrefix(key, "ledger.task."), func(t *testing.T) {
			h, run := hostWithClock(t, setup{})
			h.walk(run, "worker pass", "spec gaps:a")
			var whole []store.Fact
			h.refact(run, func(facts []store.Fact) []store.Fact {
				whole = append(whole, facts...)
				for i := range facts {
					if facts[i].Key == key {
						facts[i].Value = value
					}
				}
				require.NotEqual(t, whole, facts, "there is no such fact")
				return facts
			})
			before := h.snapshot(run).text
			for method, params := range map[string]string{
				"ingest_output": ingestParams(run, "worker", worked()), "get_ledger": `{"run_id": ` + quoted(run) + `}`,
				"compile_prompt": `{"run_id": ` + quoted(run) + `, "role": "worker"}`,
				"replan":         `{"run_id": ` + quoted(run) + `, "summary": "x"}`,
				"resume_run":     `{"plan": "tasks.md", "item_id": "1"}`,
			} {
				fault := h.refused(schema.LedgerIncomplete, method, "%s", params)
				fault.has(key, "data.details.key")
			}
			require.Equal(t, before, h.snapshot(run).text)
			h.start("1", "").has(false, "created") // which needs no facts
			h.refact(run, func([]store.Fact) []store.Fact { return whole })
			h.walk(run, "worker pass").has("dispatch_reviewer", "next_action")
		})
	}
}

// A missing required fact is damage, too.
func TestMissingFactsNeverLookEmpty(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.refact(run, func(facts []store.Fact) []store.Fact {
		var rest []store.Fact
		for _, f := range facts {
			if f.Key != "ledger.task.required_fixes" {
				rest = append(rest, f)
			}
		}
		return rest
	})
	h.refused(schema.LedgerIncomplete, "ingest_output", "%s", ingestParams(run, "worker", worked())).
		has("ledger.task.required_fixes", "data.details.key")
	h.refact(run, func([]store.Fact) []store.Fact { return nil })
	h.refused(schema.LedgerIncomplete, "ingest_output", "%s", ingestParams(run, "worker", worked()))
	h.start("1", `"resume": "new"`).has(true, "created") // a way out
}

// A worker's report is taken even if the facts of its run are damaged.
func TestDamagedFactsHoldUpNoTask(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	id, claim := h.leased(run, "worker")
	h.refact(run, func([]store.Fact) []store.Fact { return nil })
	h.finish(claim, `"status": "error", "error": {"message": "x", "class": "terminal"}`).has("ERROR", "task.status")
	h.is("ERROR", id)
}

func TestDamagedFactsOfAnotherRunHoldUpNoPlan(t *testing.T) {
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
