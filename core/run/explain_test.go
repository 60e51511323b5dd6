package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/test/golden"
)

// A runChapter is a run together with its past.
type runChapter struct {
	title   string
	run     run.Run
	history core.History
}

// livedThrough plays the moves, one second after the other, on a new run.
func livedThrough(t require.TestingT, policy run.Policy, moves ...runMove) (run.Run, *coretest.Log) {
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

func runChapters(t *testing.T) []runChapter {
	var all []runChapter
	tell := func(title string, policy run.Policy, moves ...runMove) {
		run, d := livedThrough(t, policy, moves...)
		all = append(all, runChapter{title, run, d.History})
	}
	usual, long := run.DefaultPolicy(), patient()
	steady := patient()
	steady.StalledThreshold = 9

	tell("running", usual)
	read, d := livedThrough(t, usual)
	read, effects := read.Reread(coretest.Noon + 1_000_000)
	d.Record(coretest.Noon+1_000_000, effects)
	all = append(all, runChapter{"running, its plan was read again", read, d.History})
	tell("running, submitted", usual, works)
	tell("running, spec approved", usual, works, specOK)
	tell("running, both rejected", usual, works, specFinds("a"), codeFinds("b"))
	tell("running, the findings are mended", usual, works, specFinds("a"), works)
	tell("running, the worker's result was invalid", usual, babbles)
	tell("running, a reviewer is asked once more", usual, works, specBabbles)
	tell("running, a reviewer is replaced", usual, works, specOK, codeBabbles, codeBabbles)
	tell("running, the worker is stuck", usual, sticks)
	tell("running, a worker was lost", usual, losesWorker)
	tell("running, with the only reviewer of its host", usual, works, anyFinds)
	tell("running, every counter has begun", usual,
		babbles, works, specBabbles, codeBabbles, specBabbles, codeFinds("a"), specFinds("a2"), workerFails)
	tell("running, planned anew after its block", usual, sticks, sticks, replansOther)
	tell("running, planned anew before the last failure", steady, workerFails, replansAlike, sticks)
	tell("blocked by invalid results", usual, works, specBabbles, specBabbles, specBabbles)
	tell("blocked by failures", usual, workerFails, losesWorker)
	tell("blocked by rejections", usual, works, specFinds("a"), works, specFinds("b"), works, codeFinds("c"))
	tell("blocked by a reviewer who gave up", usual, works, specOK, codeGivesUp)
	tell("blocked by a reviewer of whom no more is said", usual, works, anyGivesUp)
	tell("blocked by a stall", usual, sticks, sticks)
	tell("blocked by a stall that a failure completed", usual, sticks, workerFails)
	tell("blocked by a review loop", usual, works, specFinds("a"), works, specFinds("a"))
	tell("blocked by a review loop, which a stall had hidden", long, works, specFinds("a"), works, specFinds("a"), sticks, sticks, works)
	tell("blocked by findings that take turns", long,
		works, specFinds("a"), works, specFinds("b"), works, specFinds("a"), works, specFinds("b"))
	tell("blocked, and the same plan did not help", usual, sticks, sticks, replansAlike)
	tell("running, a check is red", checks(usual), works, lintGreen, testRed)
	tell("running, checks are due", checks(usual), works, lintGreen)
	tell("blocked by check failures", checks(usual), works, testRed, works, testRed, works, testRed)
	tell("blocked by a protected file", checks(usual), works, lintGreen, testAsks)
	tell("blocked by an untrusted check", checks(usual), works, testNot)
	tell("done with checks", checks(reviewedBy(core.Worker)), works, lintGreen, testGreen)
	tell("done", usual, works, codeOK, specOK)

	superseded, d := livedThrough(t, usual, works, specFinds("a"), works, specFinds("a"))
	superseded, effects = superseded.Supersede(coretest.Noon + 9_000_000)
	d.Record(coretest.Noon+9_000_000, effects)
	return append(
		all,
		runChapter{"failed: a newer run took over", superseded, d.History},
		runChapter{"failed, and the log does not go back so far", superseded, nil},
	)
}

func TestExplainRun(t *testing.T) {
	var b strings.Builder
	for _, c := range runChapters(t) {
		fmt.Fprintf(&b, "== %s ==\n%s\n", c.title, coretest.Written(t, c.run.Explain(c.history, "run_2")))
	}
	golden.Equal(t, "explain.golden", b.String())
}

// The chapters tell of every halt and every standing.
func TestExplainRunLeavesNothingUntold(t *testing.T) {
	halts, stands := map[run.Halt]bool{}, map[run.Standing]bool{}
	for _, c := range runChapters(t) {
		halts[c.run.Halt] = true
		for _, s := range c.run.Standing {
			stands[s] = true
		}
	}
	for _, halt := range run.Halts() {
		require.True(t, halts[halt], halt)
	}
	for s := run.Awaited; s <= run.Broken; s++ {
		require.True(t, stands[s], s)
	}
}

// What an explanation promises, Step keeps.
func TestExplainPromisesWhatMovesARun(t *testing.T) {
	for _, c := range runChapters(t) {
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
			require.Equal(t, run.Running, went(t, c.run, replansOther).State, c.title)
			require.Equal(t, run.Running, went(t, c.run, unblocks).State, c.title)
			mended := went(t, c.run, works).State == run.Running || went(t, c.run, specOK).State == run.Running
			require.Equal(t, mended, coretest.Promises(explained, "ingest_output"), c.title)
		}
	}
}

func TestExplainHasAReasonForEveryRunState(t *testing.T) {
	for _, state := range run.States() {
		r := run.Run{ID: "run_1", State: state}
		if state == run.Blocked {
			r.Halt = run.HaltGaveUp
		}
		explained := r.Explain(nil, "")
		require.Equal(t, string(state), explained.State)
		require.NotEmpty(t, explained.Because, state)
	}
}

// The event of a reason is the one by which it came to hold, also if another rule decided it.
func TestExplainNamesTheEventThatMovedTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, d := livedThrough(t, drawnPolicy(t))
		w := newRunModel(r)
		last := map[string]int64{}
		for _, b := range rapid.SliceOfN(rapid.Byte(), 1, 25).Draw(t, "walk") {
			before := w.run
			event := runMoves()[int(b)%len(runMoves())].event(before, coretest.Noon)
			if event == nil || !before.Live() || isUnblock(event) && before.State != run.Blocked {
				continue
			}
			role, said := w.hears(event)
			_, effects, err := before.Step(event)
			require.NoError(t, err)
			d.Record(coretest.Noon, effects)
			if len(effects) == 0 {
				continue // a straggler
			}
			require.Empty(t, w.advance(event))
			for _, reason := range reasonsMoved(before, w.run, role, said) {
				last[reason] = d.Seq
			}
		}
		for _, reason := range w.run.Explain(d.History, "").Because {
			name := reason.Rule
			if name == "identical_review_issues" {
				name += " of " + foundTheSameMost(w.run).String()
			}
			if seq, known := last[name]; known {
				require.Equal(t, seq, reason.EventSeq, reason.Rule)
			}
		}
	})
}

// foundTheSameMost returns the reviewer whose findings the explanation counts.
func foundTheSameMost(run run.Run) core.Role {
	if run.Findings[0].Same >= run.Findings[1].Same {
		return core.SpecReviewer
	}
	return core.CodeQualityReviewer
}

// reasonsMoved names the reasons that a report brought up to date. Of failures it says nothing: one that
// completes a stall is told as the stall.
func reasonsMoved(before, after run.Run, role core.Role, said run.Said) []string {
	var reasons []string
	switch {
	case after.State == run.Done && after.Policy.Reviewers == run.NoReviewers:
		reasons = append(reasons, "nobody_has_to_approve")
	case after.State == run.Done:
		reasons = append(reasons, "every_reviewer_has_approved")
	}
	if role == 0 {
		return reasons
	}
	name := strings.ReplaceAll(role.String(), "-", "_")
	reasons = append(reasons, "what_the_"+name+"_reported")
	if said == run.SaidInvalid {
		reasons = append(reasons, "invalid_results_of_"+name)
	}
	if after.Counters.ReviewRejections > before.Counters.ReviewRejections {
		reasons = append(reasons, "review_rejections", "identical_review_issues of "+role.String())
	}
	if after.Counters.Stalled > before.Counters.Stalled {
		reasons = append(reasons, "outcomes_without_progress")
	}
	return reasons
}
