package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/test/golden"
)

const nextActionLegend = `The next action of a running run, by the standing of its worker (the table), its spec reviewer (row) and its code
quality reviewer (column). "done" is a run that is over, because every required reviewer has approved.

At the end: the next action of a run that is done, by the state of its plan. A running run halts and escalates
when the plan no longer has its item.

`

var (
	workerStandings   = []run.Standing{run.Awaited, run.Submitted, run.Unusable, run.Stuck, run.Broken}
	reviewerStandings = []run.Standing{run.Awaited, run.Approved, run.Rejected, run.Unusable, run.Replaced}
)

func TestNextAction(t *testing.T) {
	var b strings.Builder
	b.WriteString(nextActionLegend)
	for _, part := range []struct {
		title  string
		wanted core.RoleSet
	}{
		{"Both reviewers have to approve", core.RolesOf(core.SpecReviewer, core.CodeQualityReviewer)},
		{"The spec reviewer alone has to approve", core.RolesOf(core.SpecReviewer)},
		{"The code quality reviewer alone has to approve", core.RolesOf(core.CodeQualityReviewer)},
		{"No reviewer has to approve", run.NoReviewers},
	} {
		for _, worker := range workerStandings {
			fmt.Fprintf(&b, "== %s; worker %s ==\n\n%s\n", part.title, worker, drawNext(worker, part.wanted))
		}
	}
	fmt.Fprintf(&b, "== Done ==\n\n%s", drawOutlooks())
	golden.Equal(t, "next-action.golden", b.String())
}

func drawNext(worker run.Standing, wanted core.RoleSet) string {
	table := [][]string{{""}}
	for _, code := range reviewerStandings {
		table[0] = append(table[0], "quality "+code.String())
	}
	for _, spec := range reviewerStandings {
		cells := []string{"spec " + spec.String()}
		for _, code := range reviewerStandings {
			r := newRun(coretest.Policy())
			r.Policy.Reviewers = wanted
			r.Standing = [core.Roles]run.Standing{worker, spec, code}
			cells = append(cells, nextOrDone(r))
		}
		table = append(table, cells)
	}
	return golden.Table(table)
}

func nextOrDone(r run.Run) string {
	if allApproved(r) {
		return "done"
	}
	n := r.Next(run.Outlook{})
	if n.Role == 0 {
		return string(n.Action)
	}
	return fmt.Sprintf("%s\n(%s)", n.Action, n.Role)
}

// allApproved reports whether every required reviewer has approved.
func allApproved(r run.Run) bool {
	for _, role := range []core.Role{core.SpecReviewer, core.CodeQualityReviewer} {
		if wantedOf(r).Has(role) && r.Standing[role-1] != run.Approved {
			return false
		}
	}
	return r.Policy.Reviewers != run.NoReviewers || r.Standing[core.Worker-1] == run.Submitted
}

// wantedOf returns who has to approve.
func wantedOf(r run.Run) core.RoleSet {
	switch {
	case r.Policy.Reviewers != 0:
		return r.Policy.Reviewers
	case r.Naming == run.OneReviewer:
		return core.RolesOf(core.SpecReviewer)
	}
	return core.RolesOf(core.SpecReviewer, core.CodeQualityReviewer)
}

func outlooks() []run.Outlook {
	var all []run.Outlook
	for _, left := range []int{0, 1, 2} {
		for ready := range left + 1 {
			for underWay := range left - ready + 1 {
				all = append(all, run.Outlook{Left: left, Ready: ready, UnderWay: underWay})
			}
		}
	}
	return append(all, run.Outlook{Ready: 1, UnderWay: 1}) // optional items are not among those that are left
}

func drawOutlooks() string {
	table := [][]string{{"items left", "of them to begin", "under way", "next"}}
	done := run.Run{State: run.Done}
	for _, o := range outlooks() {
		table = append(table, []string{
			fmt.Sprint(o.Left), fmt.Sprint(o.Ready), fmt.Sprint(o.UnderWay), nextWord(done.Next(o)),
		})
	}
	return golden.Table(table)
}

// A standing that no event produces is a defect and must not lead to an answer.
func TestNextOfAnImpossibleStandingIsAPanic(t *testing.T) {
	for _, standings := range [][core.Roles]run.Standing{
		{run.Approved, run.Awaited, run.Awaited},
		{run.Rejected, run.Awaited, run.Awaited},
		{run.Replaced, run.Awaited, run.Awaited},
		{run.Submitted, run.Submitted, run.Awaited},
		{run.Submitted, run.Stuck, run.Awaited},
		{run.Submitted, run.Approved, run.Broken},
		{run.Submitted, run.Approved, run.Approved},
	} {
		r := newRun(coretest.Policy())
		r.Standing = standings
		require.Panics(t, func() { r.Next(run.Outlook{}) }, "%v", standings)
	}
}
