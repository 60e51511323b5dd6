package linear

// A job is what a task is at one moment. The zero value is one that nobody has created.
type job struct {
	status  string // "", QUEUED, RUNNING, COMPLETE or ERROR
	attempt int
	tries   int
	token   string // of the attempt that runs; "" if its claim was never answered
}

// after gives what the task may be after the call, by the answer: nothing, if it cannot have been given.
func (j job) after(name string, c Call) []job {
	switch act := c.Act.(type) {
	case Create:
		return either(c, j, job{status: "QUEUED", attempt: 1, tries: act.Tries}, j.status == "")
	case Claim:
		return j.claimed(name, c, act)
	case Finish:
		return j.finished(c, act)
	case LookTask:
		return either(c, j, j, act.Status == j.status && act.Attempt == j.attempt)
	case Queue, Pass, Ack, Look:
	}
	return []job{j}
}

// claimed: a claim takes a queued task, and comes back without any only if none is queued.
func (j job) claimed(name string, c Call, act Claim) []job {
	next := j
	next.status, next.token = "RUNNING", act.Token
	switch {
	case c.Lost:
		return either(c, j, next, j.status == "QUEUED")
	case act.Name == "":
		return either(c, j, j, j.status != "QUEUED")
	case act.Name != name:
		return []job{j}
	}
	return either(c, j, next, j.status == "QUEUED" && act.Attempt == j.attempt)
}

// finished: who shows the token of the attempt that runs ends it; who shows another one changes nothing.
func (j job) finished(c Call, act Finish) []job {
	if j.status != "RUNNING" || act.Token != j.token {
		return either(c, j, j, c.Lost || !act.Applied)
	}
	next := job{status: "COMPLETE", attempt: j.attempt, tries: j.tries}
	switch {
	case act.Completed:
	case j.attempt < j.tries:
		next.status, next.attempt = "QUEUED", j.attempt+1
	default:
		next.status = "ERROR"
	}
	return either(c, j, next, c.Lost || act.Applied && act.Status == next.status)
}
