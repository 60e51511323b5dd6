package api_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/store"
)

// both reports two results at the same time.
func (h *host) both(run string, results ...step) []object {
	h.t.Helper()
	answers := make([]<-chan api.Answer, len(results))
	begin := make(chan struct{}) // closed when both are there
	var calls sync.WaitGroup
	for i, s := range results {
		role, output := s.result()
		calls.Go(func() { // ends when the call is on its way
			<-begin
			answers[i] = h.begin(h.t.Context(), "ingest_output", "%s", ingestParams(run, role, output))
		})
	}
	close(begin)
	calls.Wait()
	objects := make([]object, len(results))
	for i, answer := range answers {
		objects[i] = h.result(<-answer)
	}
	return objects
}

// Results of two reviewers at the same time are both taken, each for its own role.
func TestTwoReviewersReportAtOnce(t *testing.T) {
	says := func(who, word string) step {
		if word == "gaps" {
			return step(who + " gaps:" + who + " wants this")
		}
		return step(who + " " + word)
	}
	words := []string{"pass", "gaps", "error", "invalid"}
	for _, spec := range words {
		for _, quality := range words {
			t.Run(spec+" and "+quality, func(t *testing.T) {
				h := newHost(t, setup{})
				h.write("tasks.md", clockPlan, time.Hour)
				results := []step{says("spec", spec), says("quality", quality)}
				var serial []string
				for _, order := range [][]step{results, {results[1], results[0]}} {
					run := h.start("1", `"resume": "new"`).str("run.run_id")
					h.walk(run, "worker pass")
					h.walk(run, order...)
					serial = append(serial, h.gist(run))
				}
				for turn := range 4 {
					run := h.start("1", `"resume": "new"`).str("run.run_id")
					h.walk(run, "worker pass")
					h.both(run, results[turn%2], results[1-turn%2])
					require.Contains(t, serial, h.gist(run))
					require.Len(t, h.logged("run.outcome", run), 3, "both are in the log")
					wants := h.call("get_ledger", `{"run_id": %q}`, run).each("task_ledger.reviewer_issues", "message")
					var demanded []string
					for i, word := range []string{spec, quality} {
						who := []string{"spec", "quality"}[i]
						if word == "gaps" {
							demanded = append(demanded, who+" wants this")
						}
						if word == "error" {
							demanded = append(demanded, "something is missing")
						}
					}
					require.Equal(t, append([]string{}, demanded...), append([]string{}, wants...))
				}
			})
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

// A held store blocks updates.
type held struct {
	*sharedStore
	turn sync.Mutex
}

func (h *held) hold() (free func()) {
	h.turn.Lock()
	return h.turn.Unlock
}

func (h *held) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	return h.Update(ctx, fn)
}

func (h *held) Update(ctx context.Context, fn func(store.Tx) error) error {
	h.turn.Lock()
	defer h.turn.Unlock()
	return h.sharedStore.Update(ctx, fn)
}

// Two results with the role "reviewer" at the same time are assigned to the same reviewers in the run and in its
// ledger.
func TestTwoResultsOfAReviewerWithoutANameAtOnce(t *testing.T) {
	st := &held{sharedStore: newSharedStore(t)}
	h := newHost(t, setup{store: st})
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.start("1", `"policy": {"reviewers": ["spec-reviewer", "code-quality-reviewer"]}`).str("run.run_id")
	h.walk(run, "worker pass")
	free := st.hold()
	var answers []<-chan api.Answer
	for _, output := range []string{says("reviewer", "1", "pass", ""), says("reviewer", "1", "gaps", "a")} {
		answers = append(answers, h.begin(t.Context(), "ingest_output", "%s", ingestParams(run, "reviewer", output)))
	}
	free()
	h.result(<-answers[0]).has("approved", "run.standing.spec-reviewer")
	h.result(<-answers[1]).has("rejected", "run.standing.code-quality-reviewer")
	last := h.walk(run, "worker pass", "quality pass")
	last.has("done", "run.state")
	last.has([]any{}, "task_ledger.reviewer_issues")
}

// Each of two reviewers gets the retry prompt for its own result.
func TestRetryPromptIsOfWhoseResultItWas(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass")
	first := h.walk(run, "spec invalid")
	require.Contains(t, first.str("retry_prompt"), "role: spec-reviewer\n")
	second := h.ingest(run, "code-quality-reviewer", says("code-quality-reviewer", "7", "pass", ""))
	second.has("retry_with_preamble", "next_action")
	second.has("spec-reviewer", "next.role")
	require.Equal(t, first.str("retry_prompt"), second.str("retry_prompt"))
	third := h.walk(run, "spec pass")
	third.has("retry_with_preamble", "next_action")
	third.has("code-quality-reviewer", "next.role")
	require.Contains(t, third.str("retry_prompt"), "role: code-quality-reviewer\n")
	require.Contains(t, third.str("retry_prompt"), "found 7")
	resumed := h.call("resume_run", `{"plan": "tasks.md", "item_id": "1"}`)
	require.Equal(t, third.str("retry_prompt"), resumed.str("retry_prompt"))
}

func TestTwoReviewersOfTwoProcessesReportAtOnce(t *testing.T) {
	p := newStoreCase(t)
	one, other := p.host(t), p.host(t)
	one.write("tasks.md", clockPlan, time.Hour)
	for range 3 {
		run := one.start("1", `"resume": "new"`).str("run.run_id")
		other.walk(run, "worker pass")
		var reports sync.WaitGroup
		for _, report := range []struct {
			h    *host
			said step
		}{{one, "spec gaps:a"}, {other, "quality pass"}} {
			role, output := report.said.result()
			answer := report.h.begin(t.Context(), "ingest_output", "%s", ingestParams(run, role, output))
			reports.Go(func() { // ends when the call is answered
				if a := <-answer; a.Err != nil {
					t.Error(a.Err.Message)
				}
			})
		}
		reports.Wait()
		require.Equal(t, one.gist(run), other.gist(run))
		now := one.resume("tasks.md", "1")
		now.has("rejected", "run.standing.spec-reviewer")
		now.has("approved", "run.standing.code-quality-reviewer")
		require.Equal(t, []string{"a"}, now.each("task_ledger.reviewer_issues", "message"))
		require.Len(t, other.logged("run.outcome", run), 3)
	}
}

// The last two items are approved at the same time, and one notice says that the plan is completed.
func TestPlanIsCompletedOnce(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
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
