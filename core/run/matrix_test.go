package run_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/proof"
	"waybill/core/run"
)

// frontier is what the plan wants done next when a run of these tests starts.
const frontier = "write the parser"

// A move is something that can happen to a run. It returns nil where it cannot.
type move func(run run.Run, at core.Instant) run.Event

func reports(role core.Role, said run.Said) move {
	return func(_ run.Run, at core.Instant) run.Event {
		return run.TakeResult{At: at, Role: role, Said: said}
	}
}

// finds is a review that finds the given set of issues.
func finds(role core.Role, issues string) move {
	return func(_ run.Run, at core.Instant) run.Event {
		return run.TakeResult{At: at, Role: role, Said: run.SaidGaps, Issues: issues}
	}
}

// findsAgain is a review that finds what the last one of the same reviewer found.
func findsAgain(role core.Role) move {
	return func(run run.Run, at core.Instant) run.Event {
		issues := run.Findings[role-core.SpecReviewer].Last
		if issues == "" {
			return nil
		}
		return finds(role, issues)(run, at)
	}
}

// namelessAgain is the same by a reviewer of whom the host says no more.
func namelessAgain(run run.Run, at core.Instant) run.Event {
	return nameless(findsAgain(run.Reviewer(0)))(run, at)
}

// nameless is the same from a host that says no more than "reviewer".
func nameless(move move) move {
	return func(r run.Run, at core.Instant) run.Event {
		e, ok := move(r, at).(run.TakeResult)
		if !ok {
			return nil
		}
		e.Role, e.Generic = 0, true
		return e
	}
}

// calledReviewer is a review from a host that says no more than "reviewer", by one that names itself.
func calledReviewer(move move) move {
	return func(r run.Run, at core.Instant) run.Event {
		e, ok := move(r, at).(run.TakeResult)
		if !ok {
			return nil
		}
		e.Generic = true
		return e
	}
}

// asOf is a result that comes when the plan wants that next.
func asOf(frontier string, move move) move {
	return func(r run.Run, at core.Instant) run.Event {
		e := move(r, at).(run.TakeResult)
		e.Frontier = frontier
		return e
	}
}

func replans(frontier string) move {
	return func(_ run.Run, at core.Instant) run.Event { return run.Replan{At: at, Frontier: frontier} }
}

// checked is a receipt for the last submission, of a check that left the files as they are.
func checked(check string, outcome proof.Outcome, tree string) move {
	return func(r run.Run, at core.Instant) run.Event {
		return run.TakeReceipt{At: at, Receipt: proof.Receipt{Check: check, Round: r.Proof.Round, Outcome: outcome, Before: tree, After: tree}}
	}
}

// on is a result that comes with the tree of the present files.
func on(tree string, move move) move {
	return func(r run.Run, at core.Instant) run.Event {
		e := move(r, at).(run.TakeResult)
		e.Tree = tree
		return e
	}
}

// checks is the policy of a run that requires two checks.
func checks(policy run.Policy) run.Policy {
	policy.RequireChecks, _ = proof.ParseNames("lint", "test")
	return policy
}

func withFacts(policy run.Policy) run.Policy {
	policy.RequireChecks = proof.Facts
	return policy
}

func unblocks(_ run.Run, at core.Instant) run.Event { return run.Unblock{At: at} }

func replansAlike(run run.Run, at core.Instant) run.Event { return replans(run.Frontier)(run, at) }

func workerLost(_ run.Run, at core.Instant) run.Event { return run.LoseWorker{At: at} }

func attemptLost(_ run.Run, at core.Instant) run.Event {
	return run.LoseWorker{At: at, Requeued: true}
}

var (
	workerDone    = reports(core.Worker, run.SaidPass)
	workerStuck   = reports(core.Worker, run.SaidGaps)
	workerError   = reports(core.Worker, run.SaidError)
	workerInvalid = reports(core.Worker, run.SaidInvalid)
	specOK        = reports(core.SpecReviewer, run.SaidPass)
	specError     = reports(core.SpecReviewer, run.SaidError)
	specInvalid   = reports(core.SpecReviewer, run.SaidInvalid)
	codeOK        = reports(core.CodeQualityReviewer, run.SaidPass)
	codeError     = reports(core.CodeQualityReviewer, run.SaidError)
	codeInvalid   = reports(core.CodeQualityReviewer, run.SaidInvalid)
	anyFinds      = nameless(finds(core.SpecReviewer, "a"))
	anyError      = nameless(specError)
	anyInvalid    = nameless(specInvalid)
	replansOther  = replans("write a smaller parser")

	lintGreen = checked("lint", proof.Green, "A")
	testGreen = checked("test", proof.Green, "A")
	testRed   = checked("test", proof.Red, "A")
	testAsks  = checked("test", proof.Protected, "A")
	testNot   = checked("test", proof.NotRun, "")
)

func specFinds(issues string) move { return finds(core.SpecReviewer, issues) }

func codeFinds(issues string) move { return finds(core.CodeQualityReviewer, issues) }

// newRun is a run that was just started.
func newRun(policy run.Policy) run.Run {
	run, _ := run.Start("run_1", "tasks.md", "2.1", frontier, policy, coretest.CreatedAt)
	return run
}

// patient is the default policy, but for a number of rejections that is seldom reached.
func patient() run.Policy {
	p := coretest.Policy()
	p.ReviewRejections = 9
	return p
}

func reviewedBy(roles ...core.Role) run.Policy {
	p := coretest.Policy()
	p.Reviewers = core.RolesOf(roles...)
	return p
}

// A situation is a row of the matrix: a run that got where it is by events alone.
type situation struct {
	name  string
	model model
}

func situations(t testing.TB) []situation {
	var rows []situation
	row := func(name string, policy run.Policy, moves ...move) {
		w := newModel(newRun(policy))
		at := coretest.CreatedAt
		for _, move := range moves {
			at += 100
			require.Empty(t, w.advance(move(w.run, at), at), name)
		}
		rows = append(rows, situation{name, w})
	}
	usual, long := coretest.Policy(), patient()

	row("fresh", usual)
	row("submitted", usual, workerDone)
	row("the worker is stuck", usual, workerStuck)
	row("a worker failed", usual, workerError)
	row("a worker failed, the next one did it", usual, workerLost, workerDone)
	row("invalid: the worker", usual, workerInvalid)
	row("invalid: the spec reviewer", usual, workerDone, specInvalid)
	row("invalid: the spec reviewer, twice", usual, workerDone, specInvalid, specInvalid)
	row("invalid: the quality reviewer", usual, workerDone, specOK, codeInvalid)
	row("invalid: the quality reviewer, twice", usual, workerDone, specOK, codeInvalid, codeInvalid)
	row("spec approved", usual, workerDone, specOK)
	row("quality approved first", usual, workerDone, codeOK)
	row("spec rejected", usual, workerDone, specFinds("a"))
	row("spec rejected, mended", usual, workerDone, specFinds("a"), workerDone)
	row("spec rejected, the worker is stuck", usual, workerDone, specFinds("a"), workerStuck)
	row("both rejected", usual, workerDone, specFinds("a"), codeFinds("b"))
	row("both found the same", long, workerDone, specFinds("a"), codeFinds("a"))
	row("spec rejected twice, the same work", long, workerDone, specFinds("a"), specFinds("a"))
	row("a worker was lost, its task goes on", usual, attemptLost)
	row("two rejections, mended", usual, workerDone, specFinds("a"), workerDone, specFinds("b"), workerDone)
	row("findings a, b, a, mended", long, workerDone, specFinds("a"), workerDone, specFinds("b"), workerDone, specFinds("a"), workerDone)
	row("one reviewer: rejected, mended", usual, workerDone, anyFinds, workerDone)
	row("one reviewer: invalid", usual, workerDone, anyInvalid)
	row("policy of quality alone: submitted", reviewedBy(core.CodeQualityReviewer), workerDone)
	row("policy of nobody: fresh", reviewedBy(core.Worker))
	row("policy of nobody: approved before there was work", reviewedBy(core.Worker), specOK)
	row("policy of both: submitted", reviewedBy(core.SpecReviewer, core.CodeQualityReviewer), workerDone)
	row("blocked: invalid_results, worker", usual, workerInvalid, workerInvalid)
	row("blocked: invalid_results, spec", usual, workerDone, specInvalid, specInvalid, specInvalid)
	row("blocked: worker_failures", usual, workerError, workerLost)
	row("blocked: review_rejections", usual, workerDone, specFinds("a"), workerDone, specFinds("b"), workerDone, specFinds("c"))
	row("blocked: review_rejections, spec approved since", usual,
		workerDone, specFinds("a"), workerDone, specFinds("b"), workerDone, specFinds("c"), specOK)
	row("blocked: reviewer_gave_up", usual, workerDone, specError)
	row("blocked: stalled", usual, workerStuck, workerStuck)
	row("blocked: review_loop", long, workerDone, specFinds("a"), workerDone, specFinds("a"))
	row("blocked: review_loop, then stalled", long, workerDone, specFinds("a"), workerDone, specFinds("a"), workerStuck, workerStuck)
	row("blocked: alternating_reviews", long,
		workerDone, specFinds("a"), workerDone, specFinds("b"), workerDone, specFinds("a"), workerDone, specFinds("b"))
	row("invalid_results, then a new plan", usual, workerInvalid, workerInvalid, replansOther)
	row("review_rejections, then a new plan", usual,
		workerDone, specFinds("a"), workerDone, specFinds("b"), workerDone, specFinds("c"), replansOther)
	row("blocked: review_loop of quality, spec rejected and mended", long,
		workerDone, codeFinds("a"), specFinds("a"), workerDone, codeFinds("a"), specFinds("b"))
	row("worker_failures, then unblocked", usual, workerError, workerLost, unblocks)
	row("reviewer_gave_up, then unblocked", usual, workerDone, specError, unblocks)
	row("checks: fresh", checks(usual))
	row("checks: submitted", checks(usual), workerDone)
	row("checks: one is green", checks(usual), workerDone, lintGreen)
	row("checks: one is red", checks(usual), workerDone, lintGreen, testRed)
	row("checks: one is red, mended", checks(usual), workerDone, testRed, workerDone)
	row("checks: all are green", checks(usual), workerDone, lintGreen, testGreen)
	row("checks: all are green, one reviewer has approved", checks(usual), workerDone, lintGreen, testGreen, specOK)
	row("checks: approved, and the files are not known", checks(usual), workerDone, lintGreen, testGreen, specOK, codeOK)
	row("checks: approved before they ran", checks(usual), workerDone, specOK, codeOK)
	row("checks without reviewers: one is green", checks(reviewedBy(core.Worker)), workerDone, lintGreen)
	row("blocked: check_failures", checks(usual), workerDone, testRed, workerDone, testRed, workerDone, testRed)
	row("blocked: untrusted_checks, a protected file changed", checks(usual), workerDone, lintGreen, testAsks)
	row("blocked: untrusted_checks, not run", checks(usual), workerDone, lintGreen, testNot)
	row("done", usual, workerDone, specOK, codeOK)
	row("failed", usual, workerDone, specFinds("a"))
	last := &rows[len(rows)-1]
	last.model.run, _ = last.model.run.Supersede(coretest.MatrixNow)
	return rows
}

// A column is a column of the matrix.
type column struct {
	name  string
	event move
}

// A table is a part of the matrix: some of its columns.
type table struct {
	title   string
	columns []column
}

func tables() []table {
	tables := []table{{"What a worker says", []column{
		{"worker: pass", workerDone},
		{"worker: gaps", workerStuck},
		{"worker: error", workerError},
		{"worker: invalid", workerInvalid},
		{"worker is lost", workerLost},
		{"worker is lost, its task goes on", attemptLost},
	}}}
	for _, part := range []struct {
		title, name string
		wrap        func(move) move
		role        core.Role
		again       move
	}{
		{"What the spec reviewer says", "spec", asItIs, core.SpecReviewer, findsAgain(core.SpecReviewer)},
		{"What the code quality reviewer says", "quality", asItIs, core.CodeQualityReviewer, findsAgain(core.CodeQualityReviewer)},
		{"What a reviewer says of whom no more is said", "reviewer", nameless, core.SpecReviewer, namelessAgain},
		{
			"What a reviewer says of whom the host says no more, and who names itself spec reviewer", "reviewer (spec)",
			calledReviewer, core.SpecReviewer, calledReviewer(findsAgain(core.SpecReviewer)),
		},
	} {
		tables = append(tables, table{part.title, []column{
			{part.name + ": pass", part.wrap(reports(part.role, run.SaidPass))},
			{part.name + ": gaps, new", part.wrap(finds(part.role, "new"))},
			{part.name + ": gaps, as before", part.again},
			{part.name + ": error", part.wrap(reports(part.role, run.SaidError))},
			{part.name + ": invalid", part.wrap(reports(part.role, run.SaidInvalid))},
		}})
	}
	tables = append(tables, table{"What the receipts of checks say", []column{
		{"lint: green on A", lintGreen},
		{"test: green on A", testGreen},
		{"test: green on B", checked("test", proof.Green, "B")},
		{"test: red on A", testRed},
		{"test: a protected file changed", testAsks},
		{"test: not run", testNot},
		{"spec: pass on A", on("A", specOK)},
		{"quality: pass on A", on("A", codeOK)},
		{"quality: pass on B", on("B", codeOK)},
	}})
	return append(tables, table{"What a person decides", []column{
		{"replan, same frontier", replansAlike},
		{"replan, another frontier", replansOther},
		{"unblock", unblocks},
	}})
}

func asItIs(move move) move { return move }
