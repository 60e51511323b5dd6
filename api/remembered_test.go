package api_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

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

func TestLedgerKnowsTheCommitsOfTheWork(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	work := func(git, status string) object {
		return h.ingest(run, "worker", "role: worker\ntask_id: 1\nstatus: "+status+"\nissues: it rains\n"+git)
	}
	work("git_range: a1..b2\n", "pass").has("a1..b2", "task_ledger.git_range")
	h.ingest(run, "spec-reviewer", says("spec-reviewer", "1", "gaps", "no hands")+"git_range: r1..r2\n").
		has("a1..b2", "task_ledger.git_range") // a reviewer makes none
	work("git_range: main\n", "pass").has("a1..b2", "task_ledger.git_range")
	work("", "gaps").has("a1..b2", "task_ledger.git_range")
	work("git_range: z9..z9\n", "perhaps").has("a1..b2", "task_ledger.git_range") // which is no result
	work("git_range: b2..c3\n", "error").has("b2..c3", "task_ledger.git_range")
	h.call("get_ledger", `{"run_id": %q}`, run).has("b2..c3", "task_ledger.git_range")
	require.Equal(t, "b2..c3", h.snapshotFact(run, "ledger.task.git_range"))
}

func TestLedgerCountsTheTurnsOfEachReviewer(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	turns := func(last object, spec, quality int) {
		t.Helper()
		last.has(spec, "task_ledger.review_attempts.spec")
		last.has(quality, "task_ledger.review_attempts.quality")
	}
	turns(h.ingest(run, "worker", worked()), 0, 0)
	require.Empty(t, h.snapshotFact(run, "ledger.task.review_attempts"))
	turns(h.ingest(run, "spec-reviewer", "I had a look."), 1, 0) // which is no result, and a turn
	turns(h.ingest(run, "spec-reviewer", says("spec-reviewer", "1", "gaps", "no hands")), 2, 0)
	turns(h.ingest(run, "worker", worked()), 2, 0)
	turns(h.ingest(run, "spec-reviewer", says("spec-reviewer", "1", "pass", "")), 3, 0)
	turns(h.ingest(run, "code-quality-reviewer", says("code-quality-reviewer", "1", "gaps", "no test")), 3, 1)
	require.Equal(t, `{"spec":3,"quality":1}`, h.snapshotFact(run, "ledger.task.review_attempts"))
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
