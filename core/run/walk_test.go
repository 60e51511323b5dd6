package run_test

import (
	"testing"

	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/proof"
	"waybill/core/run"
)

// moves are the moves of a walk: all columns of the matrix, and reviews with several sets of issues.
func moves() []column {
	var all []column
	for _, table := range tables() {
		all = append(all, table.columns...)
	}
	for _, issues := range []string{"a", "b", "c"} {
		all = append(all, column{"spec: gaps, " + issues, specFinds(issues)}, column{"quality: gaps, " + issues, codeFinds(issues)})
	}
	return append(
		all,
		column{"replan, as at the start", replans(frontier)},
		column{"spec: pass, the plan was edited", asOf("edited", specOK)},
		column{"quality: pass, the plan was edited", asOf("edited", codeOK)},
		column{"reviewer (quality): pass", calledReviewer(codeOK)},
		column{"facts: green on A", checked(proof.Facts, proof.Green, "A")},
		column{"lint: green without a tree", checked("lint", proof.Green, "")},
	)
}

// Every two moves from every row of the matrix keep the laws.
func TestShortWalksKeepTheLaws(t *testing.T) {
	all := moves()
	var explore func(w model, path string, depth int)
	explore = func(w model, path string, depth int) {
		for _, m := range all {
			next := w
			event := m.event(next.run, coretest.MatrixNow)
			if event == nil {
				continue
			}
			steps := path + "; " + m.name
			if broken := next.advance(event, coretest.MatrixNow); len(broken) > 0 {
				t.Fatalf("%s breaks %q", steps, broken)
			}
			if depth > 1 {
				explore(next, steps, depth-1)
			}
		}
	}
	for _, start := range situations(t) {
		explore(start.model, start.name, 2)
	}
}

// drawnPolicy draws a policy, each limit within the bounds of a host's.
func drawnPolicy(t *rapid.T) run.Policy {
	within := func(low, high int, name string) int { return rapid.IntRange(low, high).Draw(t, name) }
	return run.Policy{
		InvalidRetries: within(0, 3, "invalid"), ReviewerFreshRuns: within(0, 3, "fresh"), WorkerFailures: within(0, 4, "failures"),
		ReviewRejections: within(1, 12, "rejections"), StalledThreshold: within(1, 6, "stalled"),
		ReviewLoopThreshold: within(1, 4, "loop"), CheckFailures: within(1, 3, "checks"),
		Reviewers: rapid.SampledFrom([]core.RoleSet{
			0, core.RolesOf(core.SpecReviewer), core.RolesOf(core.CodeQualityReviewer),
			core.RolesOf(core.SpecReviewer, core.CodeQualityReviewer), run.NoReviewers,
		}).Draw(t, "reviewers"),
		RequireChecks: rapid.SampledFrom([]proof.Names{"", "test", "lint,test", "facts,test"}).Draw(t, "required"),
	}
}

func TestLongWalksKeepTheLaws(t *testing.T) {
	all := moves()
	rapid.Check(t, func(t *rapid.T) {
		w := newModel(newRun(drawnPolicy(t)))
		for n := range rapid.IntRange(1, 80).Draw(t, "length") {
			at := coretest.CreatedAt + core.Instant(n)
			m := all[rapid.IntRange(0, len(all)-1).Draw(t, "move")]
			if event := m.event(w.run, at); event != nil {
				if broken := w.advance(event, at); len(broken) > 0 {
					t.Fatalf("%s breaks %q", m.name, broken)
				}
			}
		}
	})
}
