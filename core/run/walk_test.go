package run_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/proof"
	"waybill/core/run"
)

// runMoves are the moves of a walk: all columns of the matrix, and reviews that find this or that.
func runMoves() []runHappening {
	var all []runHappening
	for _, table := range runTables() {
		all = append(all, table.columns...)
	}
	for _, issues := range []string{"a", "b", "c"} {
		all = append(
			all,
			runHappening{"spec: gaps, " + issues, specFinds(issues)},
			runHappening{"quality: gaps, " + issues, codeFinds(issues)},
		)
	}
	return append(
		all,
		runHappening{"replan, as at the start", replans(frontier)},
		runHappening{"spec: pass, the plan was edited", asOf("edited", specOK)},
		runHappening{"quality: pass, the plan was edited", asOf("edited", codeOK)},
		runHappening{"reviewer (quality): pass", calledReviewer(codeOK)},
		runHappening{"facts: green on A", checked(proof.Facts, proof.Green, "A")},
		runHappening{"lint: green without a tree", checked("lint", proof.Green, "")},
	)
}

// A runViolation is a law together with a walk that breaks it.
type runViolation struct {
	law  string
	walk []string
}

// searchRunWalks tries every walk of at most depth moves and returns the violations.
func searchRunWalks(start runModel, depth int) []runViolation {
	all := runMoves()
	var found []runViolation
	var walk func(w runModel, path []string)
	walk = func(w runModel, path []string) {
		if len(path) == depth {
			return
		}
		for _, m := range all {
			next := w
			event := m.event(next.run, coretest.MatrixNow+core.Instant(len(path)))
			if event == nil {
				continue
			}
			steps := append(slices.Clone(path), m.name)
			broken := next.advance(event)
			for _, law := range broken {
				found = append(found, runViolation{law, steps})
			}
			if len(broken) == 0 {
				walk(next, steps)
			}
		}
	}
	walk(start, nil)
	return found
}

func TestEveryShortWalkOfARunKeepsTheLaws(t *testing.T) {
	for _, start := range runSituations(t) {
		require.Empty(t, searchRunWalks(start.model, 2), start.name)
	}
}

// randomRunWalk follows a walk that is written as bytes, one for a move, and returns the laws that are broken and
// the moves up to there.
func randomRunWalk(w runModel, walk []byte) (laws, path []string) {
	all := runMoves()
	for i, b := range walk {
		m := all[int(b)%len(all)]
		event := m.event(w.run, coretest.CreatedAt+core.Instant(i))
		if event == nil {
			continue
		}
		path = append(path, m.name)
		if laws = w.advance(event); len(laws) > 0 {
			return laws, path
		}
	}
	return nil, path
}

// policyOf reads a policy from bytes, each limit within the bounds of a host's.
func policyOf(b [8]byte) run.Policy {
	within := func(b byte, low, high int) int { return low + int(b)%(high-low+1) }
	reviewers := []core.RoleSet{
		0, core.RolesOf(core.SpecReviewer), core.RolesOf(core.CodeQualityReviewer),
		core.RolesOf(core.SpecReviewer, core.CodeQualityReviewer), run.NoReviewers,
	}
	required := []proof.Names{"", "test", "lint,test", "facts,test"}
	return run.Policy{
		InvalidRetries: within(b[0], 0, 3), ReviewerFreshRuns: within(b[1], 0, 3), WorkerFailures: within(b[2], 0, 4),
		ReviewRejections: within(b[3], 1, 12), StalledThreshold: within(b[4], 1, 6), ReviewLoopThreshold: within(b[5], 1, 4),
		Reviewers:     reviewers[int(b[6])%len(reviewers)],
		RequireChecks: required[int(b[7])%len(required)], CheckFailures: within(b[7]/4, 1, 3),
	}
}

func drawnPolicy(t *rapid.T) run.Policy {
	return policyOf([8]byte(rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "policy")))
}

func TestLongWalksOfARunKeepTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newRunModel(newRun(drawnPolicy(t)))
		if laws, path := randomRunWalk(w, rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(t, "walk")); len(laws) > 0 {
			t.Fatalf("%q is broken by %q", laws, path)
		}
	})
}

func FuzzRunLaws(f *testing.F) {
	f.Add([]byte{1, 1, 1, 2, 1, 1, 0}, []byte{0, 5, 10})
	f.Add([]byte{1, 1, 1, 2, 1, 1, 3}, []byte{3, 0, 9, 9, 9, 20, 21, 9})
	f.Add([]byte{0, 0, 0, 8, 1, 1, 0}, []byte{0, 22, 0, 24, 0, 22, 0, 24, 1, 1, 21, 0, 15})
	f.Add([]byte{2, 2, 4, 11, 5, 3, 1}, []byte{4, 1, 2, 0, 16, 19, 15, 28, 15, 15})
	f.Fuzz(func(t *testing.T, policy, walk []byte) {
		var limits [8]byte
		copy(limits[:], policy)
		laws, path := randomRunWalk(newRunModel(newRun(policyOf(limits))), walk[:min(len(walk), 200)])
		require.Empty(t, laws, "broken by %q", path)
	})
}
