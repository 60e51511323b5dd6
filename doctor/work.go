package doctor

func workChecks() []Check {
	return []Check{
		{Name: "instructions", Part: TheWork, Looks: "instructions that were given up unacknowledged", judge: instructions},
		{Name: "questions", Part: TheWork, Looks: "tasks that wait for a person", judge: questions},
		{Name: "leases", Part: TheWork, Looks: "attempts that nobody reports about any more", judge: leases},
		{Name: "notices", Part: TheWork, Looks: "notices that no host has consumed", judge: notices},
	}
}

// These do not judge: work that waits is no fault of waybill. They say where to look.

func instructions(f *Facts, c *chart) {
	n := f.Store.Tables.Instructions["failed"]
	c.tell(f, n, many(n, "instruction")+" got no acknowledgement and will not be sent again", "none was given up", "waybill call get_failed_instructions")
}

func questions(f *Facts, c *chart) {
	n := f.Store.Tables.Tasks["AWAITING_RESPONSE"]
	c.tell(f, n, "a person is waited for by "+many(n, "task"), "no task waits for a person", "waybill ls --status awaiting")
}

func leases(f *Facts, c *chart) {
	n := f.Store.Tables.Overdue
	c.tell(f, n, "the lease of "+many(n, "attempt")+" is over", "no attempt runs whose lease is over",
		"nothing: the attempt is ended and its task goes on as soon as a server looks")
}

func notices(f *Facts, c *chart) {
	n := f.Store.Tables.Notices
	c.tell(f, n, many(n, "notice")+" not consumed yet", "every notice was consumed", "waybill call list_notices")
}

// tell says how many there are and where to see them, or that there are none.
func (c *chart) tell(f *Facts, n int64, some, none Known, where string) {
	switch {
	case !f.Store.Tables.Read:
	case n > 0:
		c.add(OK, where, "%s", some)
	default:
		c.ok("%s", none)
	}
}
