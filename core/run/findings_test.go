package run_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
)

// Two reviewers who looked at the same work found the same, and that was taken for two rounds of it: the run
// was blocked before anybody could mend anything.
func TestTwoReviewersWhoFindTheSameAtOnceAreNoLoop(t *testing.T) {
	r := went(t, newRun(patient()), works, specFinds("a"), codeFinds("a"))
	require.Equal(t, run.Next{Action: run.DispatchFixes, Role: core.Worker}, r.Next(run.Outlook{}))
	require.Equal(t, 1, r.Counters.ReviewLoop)
	require.Equal(t, run.HaltReviewLoop, went(t, r, works, codeFinds("a")).Halt, "and now it was found again")
}

// The spec reviewer found one thing twice and the quality reviewer another, in turns, which looked like two
// sets that take turns.
func TestTurnsOfTwoReviewersAreNoAlternation(t *testing.T) {
	policy := patient()
	policy.ReviewLoopThreshold = 3
	r := went(t, newRun(policy), works, specFinds("a"), works, codeFinds("b"), works, specFinds("a"), works, codeFinds("b"))
	require.False(t, r.Alternating())
	require.Equal(t, run.Running, r.State)
	require.Equal(t, [2]run.Findings{{Last: "a", Before: "a", Same: 2}, {Last: "b", Before: "b", Same: 2}}, r.Findings)
}

// One reviewer approved, and what the other one had found again and again was forgotten with that.
func TestApprovalEndsTheFindingsOfItsOwnReviewerOnly(t *testing.T) {
	for name, says := range map[string]runMove{"approves": specOK, "gives up": specGivesUp} {
		r := went(t, newRun(patient()), works, specFinds("a"), codeFinds("b"), works, says)
		require.Equal(t, [2]run.Findings{{}, {Last: "b", Same: 1}}, r.Findings, name)
		require.Equal(t, 1, r.Counters.ReviewLoop, name)
	}
	r := went(t, newRun(patient()), works, codeFinds("b"), works, specOK, codeFinds("b"))
	require.Equal(t, run.HaltReviewLoop, r.Halt)
}

// A reviewer reported twice about the same work, which the worker had had no chance to mend.
func TestSayingItAgainOfTheSameWorkIsNoLoop(t *testing.T) {
	again := went(t, newRun(patient()), works, specFinds("a"), specFinds("a"), specFinds("a"))
	require.Equal(t, run.Running, again.State)
	require.Equal(t, 1, again.Counters.ReviewLoop)
	require.Equal(t, 3, again.Counters.ReviewRejections, "they are rejections all the same")

	instead := went(t, again, specFinds("b"))
	require.Equal(t, run.Findings{Last: "b", Same: 1}, instead.Findings[0], "it takes the place of the other one")
	require.Equal(t, run.HaltReviewLoop, went(t, instead, works, specFinds("b")).Halt)

	loop := went(t, newRun(patient()), works, specFinds("a"), works, specFinds("a"))
	require.Equal(t, run.Running, went(t, loop, specFinds("b")).State, "other findings end a loop")
}

// Findings that take turns blocked a run after four reviews, also where its policy allows more of the same.
func TestTheLimitOfTurnsFollowsThePolicy(t *testing.T) {
	for threshold, reviews := range map[int]int{2: 4, 3: 6, 4: 8} {
		policy := generous()
		policy.ReviewLoopThreshold = threshold
		r := newRun(policy)
		for n := 1; n < reviews; n++ {
			r = went(t, r, works, specFinds(string("ab"[n%2])))
			require.Equal(t, run.Running, r.State, "%d of %d", n, reviews)
		}
		broken := went(t, r, works, specFinds("c"), works, specFinds("a"))
		require.Equal(t, run.Running, broken.State)
		require.Zero(t, broken.Findings[0].Swaps)
		last := r.Findings[0].Before
		_, effects, err := went(t, r, works).Step(specFinds(last)(r, coretest.CreatedAt))
		require.NoError(t, err)
		limit := 2 * (threshold - 1)
		require.Equal(t, run.Decide{Type: core.RunOutcome, Decision: run.Decision{
			Rule: run.RuleAlternation, Role: core.SpecReviewer, Count: limit, Limit: limit,
		}}, effects[0])
	}
}

// A rejection was told with the count of the other reviewer.
func TestDecisionGivesTheCountOfItsOwnReviewer(t *testing.T) {
	r := went(t, newRun(patient()), works, specFinds("a"), works, specFinds("a"), works)
	_, effects, err := r.Step(codeFinds("b")(r, coretest.CreatedAt))
	require.NoError(t, err)
	require.Equal(t, run.RuleRejections, effects[0].(run.Decide).Decision.Rule)
	require.Equal(t, run.HaltReviewLoop, r.Halt, "the spec reviewer still finds the same")
}

// The lease of a worker ran out after another one had submitted, and the work was thrown away.
func TestStragglerUndoesNothing(t *testing.T) {
	for name, moves := range map[string][]runMove{
		"submitted":     {works},
		"spec approved": {works, specOK},
		"invalid spec":  {works, specBabbles},
		"gave up":       {works, specGivesUp},
		"done":          {works, specOK, codeOK},
	} {
		run := went(t, newRun(run.DefaultPolicy()), moves...)
		for _, lost := range []runMove{losesWorker, losesAttempt} {
			next, effects, err := run.Step(lost(run, coretest.MatrixNow))
			require.NoError(t, err, name)
			require.Empty(t, effects, name)
			require.True(t, next == run, name)
		}
	}
	asked := went(t, newRun(run.DefaultPolicy()), works, specFinds("a"), losesWorker)
	require.Equal(t, 1, asked.Counters.WorkerFailures, "the fixes were waited for")
}

// The queue tried again by itself, and the host was told to send another worker beside that.
func TestLossThatTheQueueMendsAsksForNobody(t *testing.T) {
	for _, moves := range [][]runMove{nil, {works, specFinds("a")}, {sticks}, {babbles}} {
		policy := run.DefaultPolicy()
		policy.StalledThreshold = 3
		r := went(t, newRun(policy), moves...)
		lost := went(t, r, losesAttempt)
		require.Equal(t, r.Next(run.Outlook{}), lost.Next(run.Outlook{}))
		require.Equal(t, r.Standing, lost.Standing)
		require.Equal(t, r.Counters.WorkerFailures+1, lost.Counters.WorkerFailures)
		require.Equal(t, r.Counters.Stalled+1, lost.Counters.Stalled)
		require.Equal(t, run.HaltFailures, went(t, lost, losesAttempt).Halt)
	}
}

// The item was edited while it was reviewed, and the run that was done knew it as it had been at first.
func TestRunThatIsDoneKnowsWhatWasApproved(t *testing.T) {
	run := went(t, newRun(run.DefaultPolicy()), works, asOf("edited", specOK))
	require.Equal(t, frontier, run.Frontier, "it is not done yet")
	require.Equal(t, "edited", went(t, run, asOf("edited", codeOK)).Frontier)
	require.Equal(t, frontier, went(t, run, codeOK).Frontier)
}

// One spec review was sent twice under the name "reviewer", and the second one stood in for the quality reviewer.
func TestOneReviewSentTwiceIsNoSecondReviewer(t *testing.T) {
	both := reviewedBy(core.SpecReviewer, core.CodeQualityReviewer)
	r := went(t, newRun(both), works, calledReviewer(specOK), calledReviewer(specOK))
	require.Equal(t, run.Running, r.State)
	require.Equal(t, run.Next{Action: run.DispatchReviewer, Role: core.CodeQualityReviewer}, r.Next(run.Outlook{}))
	require.Equal(t, run.Done, went(t, r, calledReviewer(codeOK)).State)
	require.Equal(t, run.Done, went(t, newRun(both), works, anyOK, anyOK).State, "who names itself nothing is the next one")

	named := went(t, newRun(run.DefaultPolicy()), works, specOK, calledReviewer(specOK))
	require.Equal(t, run.Running, named.State)
	sole := went(t, newRun(run.DefaultPolicy()), works, calledReviewer(codeOK))
	require.Equal(t, run.OneReviewer, sole.Naming)
	require.Equal(t, run.Done, sole.State, "a host with one reviewer has no other")
}

// Sentences about counts read "failed 1 times, and its policy allows 0", and made claims without evidence.
func TestWhyARunIsBlockedIsToldWithItsCounts(t *testing.T) {
	strict := run.Policy{ReviewRejections: 1, StalledThreshold: 1, ReviewLoopThreshold: 1}
	loop := generous()
	loop.ReviewLoopThreshold = 1
	stall := generous()
	stall.StalledThreshold = 1
	turns := []runMove{works, specFinds("a"), works, specFinds("b"), works, specFinds("a"), works, specFinds("b")}
	for _, c := range []struct {
		policy run.Policy
		moves  []runMove
		why    string
	}{
		{strict, nil, ""},
		{strict, []runMove{workerFails}, "its workers failed once, and its policy allows no failure"},
		{run.DefaultPolicy(), []runMove{workerFails, workerFails}, "its workers failed 2 times, and its policy allows one failure"},
		{strict, []runMove{works, specFinds("a")}, "its work was rejected once, and its policy allows no rejection"},
		{run.DefaultPolicy(), turns[:6], "its work was rejected 3 times, and its policy allows 2 rejections"},
		{strict, []runMove{babbles}, "1 result of the worker could not be read, and its policy allows no such result"},
		{
			run.DefaultPolicy(),
			[]runMove{specBabbles, specBabbles, specBabbles},
			"3 results of the spec-reviewer could not be read, and its policy allows 2 such results",
		},
		{strict, []runMove{specGivesUp}, "a reviewer cannot judge it"},
		{stall, []runMove{sticks}, "its outcomes brought no progress once, and its policy allows no such outcome"},
		{run.DefaultPolicy(), []runMove{sticks, sticks}, "its outcomes brought no progress 2 times in a row, and its policy allows one such outcome"},
		{loop, []runMove{works, codeFinds("a")}, "the code-quality-reviewer found something, and its policy allows no such review"},
		{patient(), []runMove{works, specFinds("a"), works, specFinds("a")}, "the spec-reviewer found the same 2 times in a row, and its policy allows one such review"},
		{
			patient(), turns,
			"two sets of issues of the spec-reviewer alternate: it returned to the one before the last 2 times in a row, and its policy allows one such review",
		},
	} {
		r := went(t, newRun(c.policy), c.moves...)
		require.Equal(t, c.why, r.WhyBlocked())
		require.Equal(t, c.why == "", r.State == run.Running, c.why)
		if c.why != "" {
			require.True(t, strings.Contains(r.Explain(nil, "").Because[0].Text, c.why), c.why)
		}
	}
}
