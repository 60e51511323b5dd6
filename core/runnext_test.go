package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

const nextActionLegend = `What has to be done next in a run that is running, by how its worker (the table), its spec reviewer (row)
and its code quality reviewer (column) stand. "done" is a run that is over, because whoever has to approve
has approved.

At the end: what has to be done next when a run is done, by how its plan stands. A run that is running, and
whose item the plan has no more, halts and escalates however it stands.

`

var (
	workerStandings   = []core.Standing{core.Awaited, core.Submitted, core.Unusable, core.Stuck, core.Broken}
	reviewerStandings = []core.Standing{core.Awaited, core.Approved, core.Rejected, core.Unusable, core.Replaced}
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
	} {
		for _, worker := range workerStandings {
			fmt.Fprintf(&b, "== %s; worker %s ==\n\n%s\n", part.title, worker, drawNext(worker, part.wanted))
		}
	}
	fmt.Fprintf(&b, "== Done ==\n\n%s", drawOutlooks())
	golden(t, "next-action.golden", b.String())
}

func drawNext(worker core.Standing, wanted core.RoleSet) string {
	table := [][]string{{""}}
	for _, code := range reviewerStandings {
		table[0] = append(table[0], "quality "+code.String())
	}
	for _, spec := range reviewerStandings {
		cells := []string{"spec " + spec.String()}
		for _, code := range reviewerStandings {
			run := newRun(core.DefaultPolicy())
			run.Policy.Reviewers = wanted
			run.Standing = [core.Roles]core.Standing{worker, spec, code}
			cells = append(cells, nextOrDone(run))
		}
		table = append(table, cells)
	}
	return ruled(table)
}

func nextOrDone(run core.Run) string {
	if allApproved(run) {
		return "done"
	}
	n := run.Next(core.Outlook{})
	if n.Role == 0 {
		return string(n.Action)
	}
	return fmt.Sprintf("%s\n(%s)", n.Action, n.Role)
}

// allApproved reports whether whoever has to approve stands as approving.
func allApproved(run core.Run) bool {
	for _, role := range []core.Role{core.SpecReviewer, core.CodeQualityReviewer} {
		if wantedOf(run).Has(role) && run.Standing[role-1] != core.Approved {
			return false
		}
	}
	return true
}

// wantedOf gives who has to approve.
func wantedOf(run core.Run) core.RoleSet {
	switch {
	case run.Policy.Reviewers != 0:
		return run.Policy.Reviewers
	case run.Sole:
		return core.RolesOf(core.SpecReviewer)
	}
	return core.RolesOf(core.SpecReviewer, core.CodeQualityReviewer)
}

func outlooks() []core.Outlook {
	var all []core.Outlook
	for _, left := range []int{0, 1, 2} {
		for ready := range left + 1 {
			for underWay := range left - ready + 1 {
				all = append(all, core.Outlook{Left: left, Ready: ready, UnderWay: underWay})
			}
		}
	}
	return append(all, core.Outlook{Ready: 1, UnderWay: 1}) // optional items are not among those that are left
}

func drawOutlooks() string {
	table := [][]string{{"items left", "of them to begin", "under way", "next"}}
	done := core.Run{State: core.RunDone}
	for _, o := range outlooks() {
		table = append(table, []string{
			fmt.Sprint(o.Left), fmt.Sprint(o.Ready), fmt.Sprint(o.UnderWay), nextWord(done.Next(o)),
		})
	}
	return ruled(table)
}

// Its item was taken out of the plan while the run was under way: nobody knows any more what is to be worked
// on or reviewed, and whoever asked was sent to an item that there is not.
func TestRunWhoseItemIsGoneSendsNobody(t *testing.T) {
	for _, moves := range [][]runMove{nil, {works}, {works, specFinds("a")}, {works, specBabbles}, {sticks}} {
		run := went(t, newRun(core.DefaultPolicy()), moves...)
		require.Equal(t, core.Next{Action: core.HaltAndEscalate}, run.Next(core.Outlook{Left: 1, Ready: 1, Gone: true}))
	}
	done := went(t, newRun(core.DefaultPolicy()), works, specOK, codeOK)
	require.Equal(t, core.Next{Action: core.PlanCompleted}, done.Next(core.Outlook{Gone: true}), "it was approved before")
}

// A standing that no event gives to a role is a defect, which must not lead to an answer.
func TestNextOfAnImpossibleStandingIsAPanic(t *testing.T) {
	for _, standings := range [][core.Roles]core.Standing{
		{core.Approved, core.Awaited, core.Awaited},
		{core.Rejected, core.Awaited, core.Awaited},
		{core.Replaced, core.Awaited, core.Awaited},
		{core.Submitted, core.Submitted, core.Awaited},
		{core.Submitted, core.Stuck, core.Awaited},
		{core.Submitted, core.Approved, core.Broken},
		{core.Submitted, core.Approved, core.Approved},
	} {
		run := newRun(core.DefaultPolicy())
		run.Standing = standings
		require.Panics(t, func() { run.Next(core.Outlook{}) }, "%v", standings)
	}
}
