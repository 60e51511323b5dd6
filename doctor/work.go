package doctor

import (
	"strings"

	"waybill/core"
)

func workChecks() []Check {
	return []Check{
		{Name: "questions", Part: TheWork, Looks: "tasks that wait for a person", judge: concern(core.ConcernQuestions, "no task waits for a person")},
		{Name: "runs", Part: TheWork, Looks: "runs that are blocked", judge: concern(core.ConcernRuns, "no run is blocked")},
		{Name: "tasks", Part: TheWork, Looks: "failed tasks with an open notice", judge: concern(core.ConcernTasks, "none needs attention")},
		{Name: "instructions", Part: TheWork, Looks: "failed instructions with an open notice", judge: concern(core.ConcernInstructions, "none needs attention")},
		{Name: "leases", Part: TheWork, Looks: "running attempts with an expired lease", judge: leases},
		{Name: "notices", Part: TheWork, Looks: "notices that no host has consumed", judge: notices},
	}
}

// concern returns the check for one kind of concern; core.Attention decides.
func concern(kind core.ConcernKind, none Known) func(f *Facts, c *chart) {
	return func(f *Facts, c *chart) {
		if !f.Store.Tables.Read {
			return
		}
		for _, found := range core.Attention(f.Store.Tables.Work, nil) {
			if found.Kind == kind {
				c.warn("waybill "+strings.Join(found.Next, " "), "%s", found.Text)
				return
			}
		}
		c.ok("%s", none)
	}
}

func leases(f *Facts, c *chart) {
	n := f.Store.Tables.Overdue
	c.tell(f, n, "the lease of "+many(n, "attempt")+" is over", "no running attempt has an expired lease",
		"nothing: the next server ends the attempt, and its task continues")
}

func notices(f *Facts, c *chart) {
	n := f.Store.Tables.Notices
	c.tell(f, n, many(n, "notice")+" not consumed yet", "every notice was consumed", "waybill call list_notices")
}

// tell returns the number of records and where to see them, or that there are none.
func (c *chart) tell(f *Facts, n int64, some, none Known, where string) {
	switch {
	case !f.Store.Tables.Read:
	case n > 0:
		c.add(OK, where, "%s", some)
	default:
		c.ok("%s", none)
	}
}
