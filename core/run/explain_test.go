package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/test/golden"
)

// An example is a run with its log.
type example struct {
	title   string
	run     run.Run
	history core.History
}

// played returns a new run after the moves, one second apart, and its log.
func played(t require.TestingT, policy run.Policy, moves ...move) (run.Run, *coretest.Log) {
	run, effects := run.Start("run_1", "docs/tasks.md", "2.1", frontier, policy, coretest.Noon)
	var d coretest.Log
	d.Record(coretest.Noon, effects)
	for n, move := range moves {
		at := coretest.Noon + core.Instant(n+1)*1_000_000
		next, effects, err := run.Step(move(run, at))
		require.NoError(t, err)
		d.Record(at, effects)
		run = next
	}
	return run, &d
}

func examples(t *testing.T) []example {
	var all []example
	add := func(title string, policy run.Policy, moves ...move) {
		run, d := played(t, policy, moves...)
		all = append(all, example{title, run, d.History})
	}
	usual, long := coretest.Policy(), patient()
	steady := patient()
	steady.StalledThreshold = 9

	add("running", usual)
	read, d := played(t, usual)
	read, effects := read.Reread(coretest.Noon + 1_000_000)
	d.Record(coretest.Noon+1_000_000, effects)
	all = append(all, example{"running, its plan was read again", read, d.History})
	add("running, submitted", usual, workerDone)
	add("running, spec approved", usual, workerDone, specOK)
	add("running, both rejected", usual, workerDone, specFinds("a"), codeFinds("b"))
	add("running, the findings are mended", usual, workerDone, specFinds("a"), workerDone)
	add("running, the worker's result was invalid", usual, workerInvalid)
	add("running, a reviewer is asked once more", usual, workerDone, specInvalid)
	add("running, a reviewer is replaced", usual, workerDone, specOK, codeInvalid, codeInvalid)
	add("running, the worker is stuck", usual, workerStuck)
	add("running, a worker was lost", usual, workerLost)
	add("running, with the only reviewer of its host", usual, workerDone, anyFinds)
	add("running, every counter has begun", usual,
		workerInvalid, workerDone, specInvalid, codeInvalid, specInvalid, codeFinds("a"), specFinds("a2"), workerError)
	add("running, planned anew after its block", usual, workerStuck, workerStuck, replansOther)
	add("running, planned anew before the last failure", steady, workerError, replansAlike, workerStuck)
	add("blocked by invalid results", usual, workerDone, specInvalid, specInvalid, specInvalid)
	add("blocked by failures", usual, workerError, workerLost)
	add("blocked by rejections", usual, workerDone, specFinds("a"), workerDone, specFinds("b"), workerDone, codeFinds("c"))
	add("blocked by a reviewer who gave up", usual, workerDone, specOK, codeError)
	add("blocked by a reviewer of whom no more is said", usual, workerDone, anyError)
	add("blocked by a stall", usual, workerStuck, workerStuck)
	add("blocked by a stall that a failure completed", usual, workerStuck, workerError)
	add("blocked by a review loop", usual, workerDone, specFinds("a"), workerDone, specFinds("a"))
	add("blocked by a review loop, which a stall had hidden", long, workerDone, specFinds("a"), workerDone, specFinds("a"), workerStuck, workerStuck, workerDone)
	add("blocked by a review loop of the second reviewer", long, workerDone, codeFinds("a"), specFinds("b"), workerDone, codeFinds("a"))
	add("blocked by findings that take turns", long,
		workerDone, specFinds("a"), workerDone, specFinds("b"), workerDone, specFinds("a"), workerDone, specFinds("b"))
	add("blocked, and the same plan did not help", usual, workerStuck, workerStuck, replansAlike)
	add("running, a check is red", checks(usual), workerDone, lintGreen, testRed)
	add("running, checks are due", checks(usual), workerDone, lintGreen)
	add("blocked by check failures", checks(usual), workerDone, testRed, workerDone, testRed, workerDone, testRed)
	add("blocked by a protected file", checks(usual), workerDone, lintGreen, testAsks)
	add("blocked by an untrusted check", checks(usual), workerDone, testNot)
	add("blocked by facts that git cannot show", withFacts(usual), workerDone, checked(proof.Facts, proof.NotRun, ""))
	add("blocked by a worker that changes nothing", withFacts(usual), workerDone, checked(proof.Facts, proof.Protected, "A"))
	add("done with facts", withFacts(reviewedBy(core.Worker)), workerDone, checked(proof.Facts, proof.Green, "A"))
	add("done with checks", checks(reviewedBy(core.Worker)), workerDone, lintGreen, testGreen)
	add("done", usual, workerDone, codeOK, specOK)

	superseded, d := played(t, usual, workerDone, specFinds("a"), workerDone, specFinds("a"))
	superseded, effects = superseded.Supersede(coretest.Noon + 9_000_000)
	d.Record(coretest.Noon+9_000_000, effects)
	return append(
		all,
		example{"failed: a newer run took over", superseded, d.History},
		example{"failed, and the log does not go back so far", superseded, nil},
	)
}

func TestExplainRun(t *testing.T) {
	var b strings.Builder
	for _, c := range examples(t) {
		fmt.Fprintf(&b, "== %s ==\n%s\n", c.title, coretest.Written(t, c.run.Explain(c.history, "run_2")))
	}
	golden.Equal(t, "explain.golden", b.String())
}

// after returns the run after a move.
func after(t *testing.T, r run.Run, m move) run.Run {
	t.Helper()
	next, _, err := r.Step(m(r, coretest.MatrixNow))
	require.NoError(t, err)
	return next
}

// Step keeps what an explanation promises.
func TestExplainPromisesWhatMovesARun(t *testing.T) {
	for _, c := range examples(t) {
		explained := c.run.Explain(c.history, "run_2")
		require.Equal(t, string(c.run.State), explained.State, c.title)
		require.NotEmpty(t, explained.Because, c.title)
		require.True(t, coretest.Promises(explained, "init_run"), c.title)
		retries := c.run.State == run.Running && c.run.Next(run.Outlook{}).Action == run.RetryWithPreamble
		require.Equal(t, retries, coretest.Promises(explained, "resume_run"), c.title)
		due := c.run.State == run.Running && c.run.Next(run.Outlook{}).Action == run.RunChecks
		require.Equal(t, due, coretest.Promises(explained, "report_check"), c.title)
		require.Equal(t, c.run.State == run.Running && !retries && !due, coretest.Promises(explained, "compile_prompt"), c.title)
		require.Equal(t, c.run.State == run.Done, coretest.Promises(explained, "ready_items"), c.title)
		require.Equal(t, c.run.State == run.Blocked, coretest.Promises(explained, "replan"), c.title)
		require.Equal(t, c.run.State == run.Blocked, coretest.Promises(explained, "unblock_run"), c.title)
		if c.run.State == run.Blocked {
			require.Equal(t, run.Running, after(t, c.run, replansOther).State, c.title)
			require.Equal(t, run.Running, after(t, c.run, unblocks).State, c.title)
			mended := slices.ContainsFunc([]move{workerDone, specOK, codeOK}, func(m move) bool { return after(t, c.run, m).State == run.Running })
			require.Equal(t, mended, coretest.Promises(explained, "ingest_output"), c.title)
		}
	}
}

// Sentences about counts once read "failed 1 times, and its policy allows 0".
func TestWhyARunIsBlocked(t *testing.T) {
	strict := run.Policy{ReviewRejections: 1, StalledThreshold: 1, ReviewLoopThreshold: 1}
	high := func(change func(p *run.Policy)) run.Policy {
		p := run.Policy{InvalidRetries: 50, WorkerFailures: 50, ReviewRejections: 50, StalledThreshold: 50, ReviewLoopThreshold: 50}
		change(&p)
		return p
	}
	usual := coretest.Policy()
	turns := []move{workerDone, specFinds("a"), workerDone, specFinds("b"), workerDone, specFinds("a"), workerDone, specFinds("b")}
	for _, c := range []struct {
		policy run.Policy
		moves  []move
		why    string
	}{
		{strict, nil, ""},
		{strict, []move{workerError}, "its workers failed once, and its policy allows no failure"},
		{usual, []move{workerError, workerError}, "its workers failed 2 times, and its policy allows one failure"},
		{strict, []move{workerDone, specFinds("a")}, "its work was rejected once, and its policy allows no rejection"},
		{usual, turns[:6], "its work was rejected 3 times, and its policy allows 2 rejections"},
		{strict, []move{workerInvalid}, "1 result of the worker could not be read, and its policy allows no such result"},
		{usual, []move{specInvalid, specInvalid, specInvalid}, "3 results of the spec-reviewer could not be read, and its policy allows 2 such results"},
		{strict, []move{specError}, "a reviewer cannot judge it"},
		{high(func(p *run.Policy) { p.StalledThreshold = 1 }), []move{workerStuck}, "its outcomes brought no progress once, and its policy allows no such outcome"},
		{usual, []move{workerStuck, workerStuck}, "its outcomes brought no progress 2 times in a row, and its policy allows one such outcome"},
		{
			high(func(p *run.Policy) { p.ReviewLoopThreshold = 1 }),
			[]move{workerDone, codeFinds("a")},
			"the code-quality-reviewer found something, and its policy allows no such review",
		},
		{patient(), []move{workerDone, specFinds("a"), workerDone, specFinds("a")}, "the spec-reviewer found the same 2 times in a row, and its policy allows one such review"},
		{
			patient(), turns,
			"two sets of issues of the spec-reviewer alternate: it returned to the one before the last 2 times in a row, and its policy allows one such review",
		},
	} {
		r, _ := played(t, c.policy, c.moves...)
		require.Equal(t, c.why, r.WhyBlocked())
	}
}
