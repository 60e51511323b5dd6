package run_test

import (
	"waybill/core"
	"waybill/core/proof"
	"waybill/core/run"
)

// A runStory is a whole journey of a run.
type runStory struct {
	title  string
	policy run.Policy
	moves  []runHappening
}

func runStories() []runStory {
	pass, ok, good := runHappening{"worker: pass", works}, runHappening{"spec: pass", specOK}, runHappening{"quality: pass", codeOK}
	spec := func(issues string) runHappening { return runHappening{"spec: gaps " + issues, specFinds(issues)} }
	code := func(issues string) runHappening { return runHappening{"quality: gaps " + issues, codeFinds(issues)} }
	lost, failed := runHappening{"worker is lost", losesWorker}, runHappening{"worker: error", workerFails}
	stuck, badWorker := runHappening{"worker: gaps", sticks}, runHappening{"worker: invalid", babbles}
	badSpec, badCode := runHappening{"spec: invalid", specBabbles}, runHappening{"quality: invalid", codeBabbles}
	again := runHappening{"worker is lost, its task goes on", losesAttempt}
	other, alike := runHappening{"replan, another frontier", replansOther}, runHappening{"replan, same frontier", replansAlike}
	usual, long, zero := run.DefaultPolicy(), patient(), run.DefaultPolicy()
	zero.InvalidRetries, zero.ReviewerFreshRuns, zero.WorkerFailures = 0, 0, 0

	return []runStory{
		{"Worker, spec, quality, done", usual, []runHappening{pass, ok, good}},
		{"Two reviewers at once, spec first", usual, []runHappening{pass, spec("a"), code("b"), pass, ok, good}},
		{"Two reviewers at once, quality first", usual, []runHappening{pass, code("b"), spec("a"), pass, good, ok}},
		{"An approval stays while the other reviewer's fixes are made", usual, []runHappening{pass, ok, code("a"), pass, good}},
		{"Invalid results that heal", usual, []runHappening{badWorker, pass, badSpec, ok, badCode, badCode, good}},
		{"The third invalid result of a reviewer", usual, []runHappening{pass, badSpec, badSpec, badSpec, alike, other, badSpec}},
		{"The second failure", usual, []runHappening{failed, lost, pass, other, ok, good}},
		{"The third rejection", usual, []runHappening{pass, spec("a"), pass, spec("b"), pass, spec("c"), pass, ok, good}},
		{"After the third rejection there is one more chance with each new plan", usual, []runHappening{
			pass, spec("a"), pass, spec("b"), pass, spec("c"), other, pass, spec("d"),
		}},
		{"Identical findings twice", usual, []runHappening{pass, spec("a"), pass, spec("a"), pass, ok, good}},
		{"Identical findings twice, then others", long, []runHappening{pass, spec("a"), pass, spec("a"), pass, spec("b"), pass, ok, good}},
		{"A stall upon a loop ends, and the loop is still there", long, []runHappening{pass, spec("a"), pass, spec("a"), stuck, stuck, pass, ok}},
		{"Findings that take turns: a, b, a, b", long, []runHappening{
			pass, spec("a"), pass, spec("b"), pass, spec("a"), pass, spec("b"), pass, ok, good,
		}},
		{"Two reviewers who find the same at once, twice", long, []runHappening{pass, spec("a"), code("a"), pass, spec("a"), code("a")}},
		{"Turns of two reviewers are no alternation", long, []runHappening{
			pass, spec("a"), pass, code("b"), pass, spec("c"), pass, code("b"),
		}},
		{"A reviewer who says it again of the same work, and then says more", long, []runHappening{
			pass, spec("a"), spec("a"), spec("b"), pass, spec("b"),
		}},
		{"A straggler is lost after the work was submitted", usual, []runHappening{pass, lost, again, ok, lost, good}},
		{"The queue tries again by itself, until it does no more", usual, []runHappening{again, alike, again}},
		{"A reviewer who names itself does not stand in for the other", reviewedBy(core.SpecReviewer, core.CodeQualityReviewer), []runHappening{
			pass,
			{"reviewer (spec): pass", calledReviewer(specOK)},
			{"reviewer (spec): pass", calledReviewer(specOK)},
			{"reviewer (quality): pass", calledReviewer(codeOK)},
		}},
		{"A stall, ended by a new plan", usual, []runHappening{stuck, stuck, alike, other, stuck, pass}},
		{"A stall, ended by work", usual, []runHappening{stuck, failed, pass, ok, good}},
		{"The only reviewer that the host knows", usual, []runHappening{
			pass, {"reviewer: gaps a", anyFinds}, pass, {"reviewer: invalid", anyBabbles}, {"reviewer: pass", anyOK},
		}},
		{"Two reviewers, of whom the host says no more", reviewedBy(core.SpecReviewer, core.CodeQualityReviewer), []runHappening{
			pass, {"reviewer: pass", anyOK}, {"reviewer: gaps a", anyFinds}, pass, {"reviewer: pass", anyOK},
		}},
		{"A host that names its reviewer first, and then no more", usual, []runHappening{
			pass, spec("a"), pass, {"reviewer: pass", anyOK}, {"reviewer: pass", anyOK},
		}},
		{"A policy with one reviewer, and another one who is heard all the same", reviewedBy(core.SpecReviewer), []runHappening{
			pass, code("a"), pass, good, ok,
		}},
		{"A red check is mended, and the files are as they were approved", checks(usual), []runHappening{
			pass,
			{"lint: green", lintGreen},
			{"test: red", testRed},
			pass,
			{"lint: green", lintGreen},
			{"test: green", testGreen},
			{"spec: pass on A", on("A", specOK)},
			{"quality: pass on A", on("A", codeOK)},
		}},
		{"The files changed before the last approval", checks(usual), []runHappening{
			pass,
			{"lint: green", lintGreen},
			{"test: green", testGreen},
			ok,
			{"quality: pass on B", on("B", codeOK)},
			{"lint: green on B", checked("lint", proof.Green, "B")},
			{"test: green on B", checked("test", proof.Green, "B")},
		}},
		{"A protected file changed, and a person accepts it", checks(reviewedBy(core.Worker)), []runHappening{
			pass, {"lint: green", lintGreen}, {"test: a protected file changed", testAsks}, {"unblock", unblocks},
		}},
		{"A policy without retries: the worker's invalid result", zero, []runHappening{badWorker}},
		{"A policy without retries: the reviewer's invalid result", zero, []runHappening{pass, badSpec}},
		{"A policy without retries: a failure", zero, []runHappening{lost}},
		{"Everything that the policy allows, and done", usual, []runHappening{
			badWorker, failed, pass, badSpec, badSpec, spec("a"), pass, badCode, ok, badCode, code("b"), stuck, pass, good,
		}},
	}
}
