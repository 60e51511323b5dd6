package run_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
)

// went returns the run after the moves, each of which it takes.
func went(t require.TestingT, run run.Run, moves ...runMove) run.Run {
	for i, move := range moves {
		next, _, err := run.Step(move(run, coretest.CreatedAt+core.Instant(i)))
		require.NoError(t, err)
		run = next
	}
	return run
}

// generous is a policy whose limits are all out of the way of a few events.
func generous() run.Policy {
	return run.Policy{
		InvalidRetries: 50, ReviewerFreshRuns: 50, WorkerFailures: 50,
		ReviewRejections: 50, StalledThreshold: 50, ReviewLoopThreshold: 50,
	}
}

// A limit one off is a run that halts while it may go on, or goes on when it may not.
func TestFaultD23_ThresholdsFireAtTheirNumber(t *testing.T) {
	for name, limit := range map[string]struct {
		set  func(p *run.Policy, n int)
		move runMove
		halt run.Halt
	}{
		"stalled, stuck workers":  {func(p *run.Policy, n int) { p.StalledThreshold = n }, sticks, run.HaltStalled},
		"stalled, failed workers": {func(p *run.Policy, n int) { p.StalledThreshold = n }, workerFails, run.HaltStalled},
		"stalled, lost workers":   {func(p *run.Policy, n int) { p.StalledThreshold = n }, losesWorker, run.HaltStalled},
		"identical, spec":         {func(p *run.Policy, n int) { p.ReviewLoopThreshold = n }, specFinds("a"), run.HaltReviewLoop},
		"identical, quality":      {func(p *run.Policy, n int) { p.ReviewLoopThreshold = n }, codeFinds("a"), run.HaltReviewLoop},
		"stalled, lost attempts":  {func(p *run.Policy, n int) { p.StalledThreshold = n }, losesAttempt, run.HaltStalled},
		"lost attempts":           {func(p *run.Policy, n int) { p.WorkerFailures = n - 1 }, losesAttempt, run.HaltFailures},
		"rejections":              {func(p *run.Policy, n int) { p.ReviewRejections = n }, specFinds("a"), run.HaltRejections},
		"failed workers":          {func(p *run.Policy, n int) { p.WorkerFailures = n - 1 }, workerFails, run.HaltFailures},
		"invalid, worker":         {func(p *run.Policy, n int) { p.InvalidRetries = n - 1 }, babbles, run.HaltInvalid},
		"invalid, spec":           {func(p *run.Policy, n int) { p.InvalidRetries, p.ReviewerFreshRuns = 0, n-1 }, specBabbles, run.HaltInvalid},
		"invalid, quality":        {func(p *run.Policy, n int) { p.InvalidRetries, p.ReviewerFreshRuns = n-1, 0 }, codeBabbles, run.HaltInvalid},
	} {
		for n := 1; n <= 4; n++ {
			policy := generous()
			limit.set(&policy, n)
			r := newRun(policy)
			for i := 1; i < n; i++ {
				r = went(t, r, limit.move)
				if r.Counters.ReviewRejections > 0 {
					r = went(t, r, works) // nobody finds anything again in work that is not new
				}
				require.Equal(t, run.Running, r.State, "%s: %d of %d", name, i, n)
			}
			require.Equal(t, limit.halt, went(t, r, limit.move).Halt, "%s: %d of %d", name, n, n)
		}
	}
}

// An unreadable result is no progress: it must not reset the counters.
func TestFaultD23_UnknownResultsResetNothing(t *testing.T) {
	usual, long := run.DefaultPolicy(), patient()
	usual.InvalidRetries, long.InvalidRetries = 5, 5
	for _, unknown := range []runMove{babbles, specBabbles, codeBabbles, anyBabbles} {
		stalled := went(t, newRun(usual), works, sticks, unknown, sticks)
		require.Equal(t, run.HaltStalled, stalled.Halt)
		looping := went(t, newRun(usual), works, specFinds("a"), unknown, works, specFinds("a"))
		require.Equal(t, run.HaltReviewLoop, looping.Halt)
		failing := went(t, newRun(usual), workerFails, unknown, workerFails)
		require.Equal(t, run.HaltFailures, failing.Halt)
		turning := went(t, newRun(long), works, specFinds("a"), works, specFinds("b"), unknown, works, specFinds("a"),
			works, unknown, specFinds("b"))
		require.Equal(t, run.HaltAlternation, turning.Halt)
	}
}

// A word that the machine does not know is a defect of the caller, and never taken for one that it knows.
func TestFaultD23_UnknownWordsAreNoResult(t *testing.T) {
	r := newRun(run.DefaultPolicy())
	for _, role := range []core.Role{core.Worker, core.SpecReviewer, core.CodeQualityReviewer} {
		for _, word := range []run.Said{0, run.SaidInvalid + 1} {
			require.Panics(t, func() { _, _, _ = r.Step(run.TakeResult{Role: role, Said: word, Issues: "a"}) }, "%s %d", role, word)
		}
	}
	require.Panics(t, func() { _, _, _ = r.Step(nil) })
	require.Panics(t, func() { _, _, _ = r.Step(specFinds("")(r, coretest.CreatedAt)) }, "all findings would be the same")
}

// Reports of workers and reviewers may come in any order. What one counter comes to is then what it comes
// to from those reports alone that it is about.
func TestFaultD23_InterleavedReportsCountAsIfAlone(t *testing.T) {
	workers := []runMove{works, sticks, workerFails, babbles} // whether a loss counts depends on whose turn it is
	specs := []runMove{specFinds("a"), specFinds("b"), specBabbles}
	codes := []runMove{codeFinds("c"), codeBabbles}
	rapid.Check(t, func(t *rapid.T) {
		var alone [3][]runMove
		whole := newRun(generous())
		for _, who := range rapid.SliceOfN(rapid.IntRange(0, 2), 1, 30).Draw(t, "who") {
			move := rapid.SampledFrom([][]runMove{workers, specs, codes}[who]).Draw(t, "what")
			alone[who] = append(alone[who], move)
			whole = went(t, whole, move)
		}
		worker, spec, code := went(t, newRun(generous()), alone[0]...), went(t, newRun(generous()), alone[1]...), went(t, newRun(generous()), alone[2]...)
		require.Equal(t, worker.Counters.WorkerFailures, whole.Counters.WorkerFailures)
		require.Equal(t, worker.Counters.Stalled, whole.Counters.Stalled)
		require.Equal(t, spec.Counters.ReviewRejections+code.Counters.ReviewRejections, whole.Counters.ReviewRejections)
		for i := range core.Roles {
			of := []run.Run{worker, spec, code}[i]
			require.Equal(t, of.Counters.InvalidResults[i], whole.Counters.InvalidResults[i])
		}
	})
}

// One counter one short of its limit takes nothing from the others.
func TestEachCounterLeavesTheLimitsOfTheOthersAlone(t *testing.T) {
	policy := run.DefaultPolicy()
	policy.StalledThreshold = 3
	used := went(t, newRun(policy), babbles, losesWorker, works, specBabbles, specBabbles, codeBabbles, codeBabbles,
		specFinds("a"), works, codeFinds("b"), sticks)
	require.Equal(t, run.Running, used.State)
	for halt, move := range map[run.Halt]runMove{
		run.HaltFailures: losesWorker, run.HaltRejections: codeFinds("c"), run.HaltInvalid: specBabbles,
	} {
		require.Equal(t, halt, went(t, used, move).Halt)
	}
	require.Equal(t, run.Running, went(t, used, sticks).State)
	require.Equal(t, run.HaltStalled, went(t, used, sticks, sticks).Halt)
}

// A stall that came upon a loop hid it, and took it along when it ended.
func TestLoopIsStillThereWhenAStallEnds(t *testing.T) {
	both := went(t, newRun(patient()), works, specFinds("a"), works, specFinds("a"), sticks, sticks)
	require.Equal(t, run.HaltStalled, both.Halt)
	r, effects, err := both.Step(works(both, coretest.MatrixNow))
	require.NoError(t, err)
	require.Equal(t, run.HaltReviewLoop, r.Halt)
	require.Equal(t, run.Blocked, r.State)
	require.Empty(t, coretest.Notices(effects), "it was blocked before")
	require.Equal(t, run.Running, went(t, r, specOK).State)
}

// A loop ended with other findings, but the run stayed blocked by it.
func TestOtherFindingsEndALoop(t *testing.T) {
	loop := went(t, newRun(patient()), works, specFinds("a"), works, specFinds("a"))
	require.True(t, loop.Looping())
	other := went(t, loop, works, specFinds("b"))
	require.False(t, other.Looping())
	require.Equal(t, run.Halt(""), other.Halt)
	require.Equal(t, run.Next{Action: run.DispatchFixes, Role: core.Worker}, other.Next(run.Outlook{}))

	turns := went(t, newRun(patient()), works, specFinds("a"), works, specFinds("b"), works, specFinds("a"), works, specFinds("b"))
	require.Equal(t, run.HaltAlternation, turns.Halt)
	require.Equal(t, run.Running, went(t, turns, works, specFinds("c")).State)
}

// A reviewer whose findings were mended is awaited again, as if there had been no review yet.
func TestHostThatNamedAReviewerHasTwoOfThem(t *testing.T) {
	r := went(t, newRun(run.DefaultPolicy()), works, specFinds("a"), works, anyOK)
	require.NotEqual(t, run.OneReviewer, r.Naming)
	require.Equal(t, run.Running, r.State)
	require.Equal(t, run.Done, went(t, r, anyOK).State)
}

func TestSteppingLeavesTheRunAsItWas(t *testing.T) {
	run := went(t, newRun(patient()), works, specFinds("a"))
	kept := run
	_ = went(t, run, works, specFinds("b"), specOK, replansOther, codeOK)
	require.True(t, kept == run)
}

func TestStepSetsWhenItHappened(t *testing.T) {
	for name, move := range map[string]runMove{"result": works, "loss": losesWorker, "plan": replansAlike} {
		run, _, err := newRun(run.DefaultPolicy()).Step(move(run.Run{}, 777))
		require.NoError(t, err)
		require.Equal(t, core.Instant(777), run.UpdatedAt, name)
	}
}

func TestRoleSetsHaveTheirRolesAndNoOthers(t *testing.T) {
	require.Equal(t, core.RoleSet(0), core.RolesOf())
	set := core.RolesOf(core.SpecReviewer, core.SpecReviewer)
	require.True(t, set.Has(core.SpecReviewer))
	require.False(t, set.Has(core.Worker))
	require.False(t, set.Has(core.CodeQualityReviewer))
	require.False(t, core.Worker.Reviewer())
	require.True(t, core.SpecReviewer.Reviewer())
	require.True(t, core.CodeQualityReviewer.Reviewer())
}
