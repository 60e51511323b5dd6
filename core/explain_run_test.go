package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
)

// A runChapter is a run together with its past.
type runChapter struct {
	title   string
	run     core.Run
	history []core.Occurrence
}

// livedThrough plays the moves, one second after the other, on a new run.
func livedThrough(t require.TestingT, policy core.Policy, moves ...runMove) (core.Run, *diary) {
	run, effects := core.StartRun("run_1", "docs/tasks.md", "2.1", frontier, policy, noon)
	var d diary
	d.record(noon, effects)
	for n, move := range moves {
		at := noon + core.Instant(n+1)*1_000_000
		next, effects, err := run.Step(move(run, at))
		require.NoError(t, err)
		d.record(at, effects)
		run = next
	}
	return run, &d
}

func runChapters(t *testing.T) []runChapter {
	var all []runChapter
	tell := func(title string, policy core.Policy, moves ...runMove) {
		run, d := livedThrough(t, policy, moves...)
		all = append(all, runChapter{title, run, d.kept})
	}
	usual, long := core.DefaultPolicy(), patient()
	steady := patient()
	steady.StalledThreshold = 9

	tell("running", usual)
	read, d := livedThrough(t, usual)
	read, effects := read.Reread(noon + 1_000_000)
	d.record(noon+1_000_000, effects)
	all = append(all, runChapter{"running, its plan was read again", read, d.kept})
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
	tell("done", usual, works, codeOK, specOK)

	superseded, d := livedThrough(t, usual, works, specFinds("a"), works, specFinds("a"))
	superseded, effects = superseded.Supersede(noon + 9_000_000)
	d.record(noon+9_000_000, effects)
	return append(
		all,
		runChapter{"failed: a newer run took over", superseded, d.kept},
		runChapter{"failed, and the log does not go back so far", superseded, nil},
	)
}

func TestExplainRun(t *testing.T) {
	var b strings.Builder
	for _, c := range runChapters(t) {
		fmt.Fprintf(&b, "== %s ==\n%s\n", c.title, written(c.run.Explain(c.history)))
	}
	golden(t, "explain-run.golden", b.String())
}

// The chapters tell of every halt and every standing.
func TestExplainRunLeavesNothingUntold(t *testing.T) {
	halts, stands := map[core.Halt]bool{}, map[core.Standing]bool{}
	for _, c := range runChapters(t) {
		halts[c.run.Halt] = true
		for _, s := range c.run.Standing {
			stands[s] = true
		}
	}
	for _, halt := range core.Halts() {
		require.True(t, halts[halt], halt)
	}
	for s := core.Awaited; s <= core.Broken; s++ {
		require.True(t, stands[s], s)
	}
}

// What an explanation promises, Step keeps.
func TestExplainPromisesWhatMovesARun(t *testing.T) {
	for _, c := range runChapters(t) {
		explained := c.run.Explain(c.history)
		require.Equal(t, string(c.run.State), explained.State, c.title)
		require.NotEmpty(t, explained.Because, c.title)
		require.True(t, promises(explained, "init_run"), c.title)
		retries := c.run.State == core.RunRunning && c.run.Next(core.Outlook{}).Action == core.RetryWithPreamble
		require.Equal(t, retries, promises(explained, "resume_run"), c.title)
		require.Equal(t, c.run.State == core.RunRunning && !retries, promises(explained, "compile_prompt"), c.title)
		require.Equal(t, c.run.State == core.RunDone, promises(explained, "ready_items"), c.title)
		require.Equal(t, c.run.State == core.RunBlocked, promises(explained, "replan"), c.title)
		if c.run.State == core.RunBlocked {
			require.Equal(t, core.RunRunning, went(t, c.run, replansOther).State, c.title)
			mended := went(t, c.run, works).State == core.RunRunning || went(t, c.run, specOK).State == core.RunRunning
			require.Equal(t, mended, promises(explained, "ingest_output"), c.title)
		}
	}
}

func TestExplainHasAReasonForEveryRunState(t *testing.T) {
	for _, state := range core.RunStates() {
		run := core.Run{ID: "run_1", State: state}
		if state == core.RunBlocked {
			run.Halt = core.HaltGaveUp
		}
		explained := run.Explain(nil)
		require.Equal(t, string(state), explained.State)
		require.NotEmpty(t, explained.Because, state)
	}
}

// The event of a reason is the one by which it came to hold, also if another rule decided it.
func TestExplainNamesTheEventThatMovedTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run, d := livedThrough(t, drawnPolicy(t))
		w := watchRun(run)
		last := map[string]int64{}
		for _, b := range rapid.SliceOfN(rapid.Byte(), 1, 25).Draw(t, "walk") {
			before := w.run
			event := runStrides()[int(b)%len(runStrides())].event(before, noon)
			if event == nil || !before.Live() {
				continue
			}
			role, said := w.hears(event)
			_, effects, err := before.Step(event)
			require.NoError(t, err)
			d.record(noon, effects)
			if len(effects) == 0 {
				continue // a straggler
			}
			require.Empty(t, w.advance(soundRuns, event))
			for _, reason := range reasonsMoved(before, w.run, role, said) {
				last[reason] = d.seq
			}
		}
		for _, reason := range w.run.Explain(d.kept).Because {
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

// foundTheSameMost gives the reviewer whose findings the explanation counts.
func foundTheSameMost(run core.Run) core.Role {
	if run.Findings[0].Same >= run.Findings[1].Same {
		return core.SpecReviewer
	}
	return core.CodeQualityReviewer
}

// reasonsMoved names the reasons that a report brought up to date. Of failures it says nothing: one that
// completes a stall is told as the stall.
func reasonsMoved(before, after core.Run, role core.Role, said core.Said) []string {
	var reasons []string
	if after.State == core.RunDone {
		reasons = append(reasons, "every_reviewer_has_approved")
	}
	if role == 0 {
		return reasons
	}
	name := strings.ReplaceAll(role.String(), "-", "_")
	reasons = append(reasons, "what_the_"+name+"_reported")
	if said == core.SaidInvalid {
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
