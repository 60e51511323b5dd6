package linearizability

// A taskState is the state of a task. The zero value was never created.
type taskState struct {
	status  string // "", QUEUED, RUNNING, COMPLETE or ERROR
	attempt int
	tries   int
	token   string // of the running attempt; "" if its claim was never answered
}

// after returns the possible states after the call. There are none if the answer is impossible.
func (j taskState) after(name string, c Call) []taskState {
	switch act := c.Act.(type) {
	case Create:
		return either(c, j, taskState{status: "QUEUED", attempt: 1, tries: act.Tries}, j.status == "")
	case Claim:
		return j.claimed(name, c, act)
	case Finish:
		return j.finished(c, act)
	case LookTask:
		return either(c, j, j, act.Status == j.status && act.Attempt == j.attempt)
	case Queue, Pass, Ack, Look:
	}
	return []taskState{j}
}

// claimed: a claim takes a queued task, and returns none only if none is queued.
func (j taskState) claimed(name string, c Call, act Claim) []taskState {
	next := j
	next.status, next.token = "RUNNING", act.Token
	switch {
	case c.Lost:
		return either(c, j, next, j.status == "QUEUED")
	case act.Name == "":
		return either(c, j, j, j.status != "QUEUED")
	case act.Name != name:
		return []taskState{j}
	}
	return either(c, j, next, j.status == "QUEUED" && act.Attempt == j.attempt)
}

// finished: the token of the running attempt ends it; another token changes nothing.
func (j taskState) finished(c Call, act Finish) []taskState {
	if j.status != "RUNNING" || act.Token != j.token {
		return either(c, j, j, c.Lost || !act.Applied)
	}
	next := taskState{status: "COMPLETE", attempt: j.attempt, tries: j.tries}
	switch {
	case act.Completed:
	case j.attempt < j.tries:
		next.status, next.attempt = "QUEUED", j.attempt+1
	default:
		next.status = "ERROR"
	}
	return either(c, j, next, c.Lost || act.Applied && act.Status == next.status)
}
