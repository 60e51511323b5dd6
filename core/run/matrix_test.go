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

// A runMove is something that can happen to a run. It returns nil where it cannot.
type runMove func(run run.Run, at core.Instant) run.Event

func reports(role core.Role, said run.Said) runMove {
	return func(_ run.Run, at core.Instant) run.Event {
		return run.TakeResult{At: at, Role: role, Said: said}
	}
}

// finds is a review that finds the given set of issues.
func finds(role core.Role, issues string) runMove {
	return func(_ run.Run, at core.Instant) run.Event {
		return run.TakeResult{At: at, Role: role, Said: run.SaidGaps, Issues: issues}
	}
}

// findsAgain is a review that finds what the last one of the same reviewer found.
func findsAgain(role core.Role) runMove {
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
func nameless(move runMove) runMove {
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
func calledReviewer(move runMove) runMove {
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
func asOf(frontier string, move runMove) runMove {
	return func(r run.Run, at core.Instant) run.Event {
		e := move(r, at).(run.TakeResult)
		e.Frontier = frontier
		return e
	}
}

func replans(frontier string) runMove {
	return func(_ run.Run, at core.Instant) run.Event { return run.Replan{At: at, Frontier: frontier} }
}

// checked is a receipt for the last submission, of a check that left the files as they are.
func checked(check string, outcome proof.Outcome, tree string) runMove {
	return func(r run.Run, at core.Instant) run.Event {
		return run.TakeReceipt{At: at, Receipt: proof.Receipt{Check: check, Round: r.Proof.Round, Outcome: outcome, Before: tree, After: tree}}
	}
}

// on is a result that comes with the tree of the present files.
func on(tree string, move runMove) runMove {
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

func unblocks(_ run.Run, at core.Instant) run.Event { return run.Unblock{At: at} }

func replansAlike(run run.Run, at core.Instant) run.Event { return replans(run.Frontier)(run, at) }

func losesWorker(_ run.Run, at core.Instant) run.Event { return run.LoseWorker{At: at} }

func losesAttempt(_ run.Run, at core.Instant) run.Event {
	return run.LoseWorker{At: at, Requeued: true}
}

var (
	works        = reports(core.Worker, run.SaidPass)
	sticks       = reports(core.Worker, run.SaidGaps)
	workerFails  = reports(core.Worker, run.SaidError)
	babbles      = reports(core.Worker, run.SaidInvalid)
	specOK       = reports(core.SpecReviewer, run.SaidPass)
	specGivesUp  = reports(core.SpecReviewer, run.SaidError)
	specBabbles  = reports(core.SpecReviewer, run.SaidInvalid)
	codeOK       = reports(core.CodeQualityReviewer, run.SaidPass)
	codeGivesUp  = reports(core.CodeQualityReviewer, run.SaidError)
	codeBabbles  = reports(core.CodeQualityReviewer, run.SaidInvalid)
	anyOK        = nameless(specOK)
	anyFinds     = nameless(finds(core.SpecReviewer, "a"))
	anyGivesUp   = nameless(specGivesUp)
	anyBabbles   = nameless(specBabbles)
	replansOther = replans("write a smaller parser")

	lintGreen = checked("lint", proof.Green, "A")
	testGreen = checked("test", proof.Green, "A")
	testRed   = checked("test", proof.Red, "A")
	testAsks  = checked("test", proof.Protected, "A")
	testNot   = checked("test", proof.NotRun, "")
)

func specFinds(issues string) runMove { return finds(core.SpecReviewer, issues) }

func codeFinds(issues string) runMove { return finds(core.CodeQualityReviewer, issues) }

// newRun is a run that was just started.
func newRun(policy run.Policy) run.Run {
	run, _ := run.Start("run_1", "tasks.md", "2.1", frontier, policy, coretest.CreatedAt)
	return run
}

// patient is the default policy, but for a number of rejections that is seldom reached.
func patient() run.Policy {
	p := run.DefaultPolicy()
	p.ReviewRejections = 9
	return p
}

func reviewedBy(roles ...core.Role) run.Policy {
	p := run.DefaultPolicy()
	p.Reviewers = core.RolesOf(roles...)
	return p
}

// A runSituation is a row of the matrix: a run that got where it is by events alone.
type runSituation struct {
	name  string
	model runModel
}

func runSituations(t testing.TB) []runSituation {
	var rows []runSituation
	row := func(name string, policy run.Policy, moves ...runMove) {
		w := newRunModel(newRun(policy))
		at := coretest.CreatedAt
		for _, move := range moves {
			at += 100
			require.Empty(t, w.advance(move(w.run, at)), name)
		}
		rows = append(rows, runSituation{name, w})
	}
	usual, long := run.DefaultPolicy(), patient()

	row("fresh", usual)
	row("submitted", usual, works)
	row("the worker is stuck", usual, sticks)
	row("a worker failed", usual, workerFails)
	row("a worker failed, the next one did it", usual, losesWorker, works)
	row("invalid: the worker", usual, babbles)
	row("invalid: the spec reviewer", usual, works, specBabbles)
	row("invalid: the spec reviewer, twice", usual, works, specBabbles, specBabbles)
	row("invalid: the quality reviewer", usual, works, specOK, codeBabbles)
	row("invalid: the quality reviewer, twice", usual, works, specOK, codeBabbles, codeBabbles)
	row("spec approved", usual, works, specOK)
	row("quality approved first", usual, works, codeOK)
	row("spec rejected", usual, works, specFinds("a"))
	row("spec rejected, mended", usual, works, specFinds("a"), works)
	row("spec rejected, the worker is stuck", usual, works, specFinds("a"), sticks)
	row("both rejected", usual, works, specFinds("a"), codeFinds("b"))
	row("both found the same", long, works, specFinds("a"), codeFinds("a"))
	row("spec rejected twice, the same work", long, works, specFinds("a"), specFinds("a"))
	row("a worker was lost, its task goes on", usual, losesAttempt)
	row("two rejections, mended", usual, works, specFinds("a"), works, specFinds("b"), works)
	row("findings a, b, a, mended", long, works, specFinds("a"), works, specFinds("b"), works, specFinds("a"), works)
	row("one reviewer: rejected, mended", usual, works, anyFinds, works)
	row("one reviewer: invalid", usual, works, anyBabbles)
	row("policy of quality alone: submitted", reviewedBy(core.CodeQualityReviewer), works)
	row("policy of nobody: fresh", reviewedBy(core.Worker))
	row("policy of nobody: approved before there was work", reviewedBy(core.Worker), specOK)
	row("policy of both: submitted", reviewedBy(core.SpecReviewer, core.CodeQualityReviewer), works)
	row("blocked: invalid_results, worker", usual, babbles, babbles)
	row("blocked: invalid_results, spec", usual, works, specBabbles, specBabbles, specBabbles)
	row("blocked: worker_failures", usual, workerFails, losesWorker)
	row("blocked: review_rejections", usual, works, specFinds("a"), works, specFinds("b"), works, specFinds("c"))
	row("blocked: review_rejections, spec approved since", usual,
		works, specFinds("a"), works, specFinds("b"), works, specFinds("c"), specOK)
	row("blocked: reviewer_gave_up", usual, works, specGivesUp)
	row("blocked: stalled", usual, sticks, sticks)
	row("blocked: review_loop", long, works, specFinds("a"), works, specFinds("a"))
	row("blocked: review_loop, then stalled", long, works, specFinds("a"), works, specFinds("a"), sticks, sticks)
	row("blocked: alternating_reviews", long,
		works, specFinds("a"), works, specFinds("b"), works, specFinds("a"), works, specFinds("b"))
	row("invalid_results, then a new plan", usual, babbles, babbles, replansOther)
	row("review_rejections, then a new plan", usual,
		works, specFinds("a"), works, specFinds("b"), works, specFinds("c"), replansOther)
	row("blocked: review_loop of quality, spec rejected and mended", long,
		works, codeFinds("a"), specFinds("a"), works, codeFinds("a"), specFinds("b"))
	row("worker_failures, then unblocked", usual, workerFails, losesWorker, unblocks)
	row("reviewer_gave_up, then unblocked", usual, works, specGivesUp, unblocks)
	row("checks: fresh", checks(usual))
	row("checks: submitted", checks(usual), works)
	row("checks: one is green", checks(usual), works, lintGreen)
	row("checks: one is red", checks(usual), works, lintGreen, testRed)
	row("checks: one is red, mended", checks(usual), works, testRed, works)
	row("checks: all are green", checks(usual), works, lintGreen, testGreen)
	row("checks: all are green, one reviewer has approved", checks(usual), works, lintGreen, testGreen, specOK)
	row("checks: approved, and the files are not known", checks(usual), works, lintGreen, testGreen, specOK, codeOK)
	row("checks: approved before they ran", checks(usual), works, specOK, codeOK)
	row("checks without reviewers: one is green", checks(reviewedBy(core.Worker)), works, lintGreen)
	row("blocked: check_failures", checks(usual), works, testRed, works, testRed, works, testRed)
	row("blocked: untrusted_checks, a protected file changed", checks(usual), works, lintGreen, testAsks)
	row("blocked: untrusted_checks, not run", checks(usual), works, lintGreen, testNot)
	row("done", usual, works, specOK, codeOK)
	row("failed", usual, works, specFinds("a"))
	last := &rows[len(rows)-1]
	last.model.run, _ = last.model.run.Supersede(coretest.MatrixNow)
	return rows
}

// A runHappening is a column of the matrix.
type runHappening struct {
	name  string
	event runMove
}

// A runTable is a part of the matrix: some of its columns.
type runTable struct {
	title   string
	columns []runHappening
}

func runTables() []runTable {
	tables := []runTable{{"What a worker says", []runHappening{
		{"worker: pass", works},
		{"worker: gaps", sticks},
		{"worker: error", workerFails},
		{"worker: invalid", babbles},
		{"worker is lost", losesWorker},
		{"worker is lost, its task goes on", losesAttempt},
	}}}
	for _, part := range []struct {
		title, name string
		wrap        func(runMove) runMove
		role        core.Role
		again       runMove
	}{
		{"What the spec reviewer says", "spec", asItIs, core.SpecReviewer, findsAgain(core.SpecReviewer)},
		{"What the code quality reviewer says", "quality", asItIs, core.CodeQualityReviewer, findsAgain(core.CodeQualityReviewer)},
		{"What a reviewer says of whom no more is said", "reviewer", nameless, core.SpecReviewer, namelessAgain},
		{
			"What a reviewer says of whom the host says no more, and who names itself spec reviewer", "reviewer (spec)",
			calledReviewer, core.SpecReviewer, calledReviewer(findsAgain(core.SpecReviewer)),
		},
	} {
		tables = append(tables, runTable{part.title, []runHappening{
			{part.name + ": pass", part.wrap(reports(part.role, run.SaidPass))},
			{part.name + ": gaps, new", part.wrap(finds(part.role, "new"))},
			{part.name + ": gaps, as before", part.again},
			{part.name + ": error", part.wrap(reports(part.role, run.SaidError))},
			{part.name + ": invalid", part.wrap(reports(part.role, run.SaidInvalid))},
		}})
	}
	tables = append(tables, runTable{"What the receipts of checks say", []runHappening{
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
	return append(tables, runTable{"What a person decides", []runHappening{
		{"replan, same frontier", replansAlike},
		{"replan, another frontier", replansOther},
		{"unblock", unblocks},
	}})
}

func asItIs(move runMove) runMove { return move }
