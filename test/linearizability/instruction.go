package linearizability

// A instructionState is the state of an instruction. The zero value was never queued.
type instructionState struct {
	phase    string // "", queued, sent, acknowledged or failed
	sends    int
	sendsMax int
	told     bool // it was acknowledged, in time or late
}

// after returns the possible states after the call. There are none if the answer is impossible.
func (l instructionState) after(name string, c Call) []instructionState {
	switch act := c.Act.(type) {
	case Queue:
		return either(c, l, instructionState{phase: "queued", sendsMax: act.SendsMax}, l.phase == "")
	case Pass:
		return l.passed(name, c, act)
	case Ack:
		return l.acked(c, act)
	case Look:
		return either(c, l, l, act.State == l.phase && act.Sends == l.sends)
	case Create, Claim, Finish, LookTask:
	}
	return []instructionState{l}
}

// either returns the next state if the answer matches, and both states if there was no answer.
func either[T any](c Call, now, next T, right bool) []T {
	switch {
	case c.Lost && right:
		return []T{now, next}
	case c.Lost:
		return []T{now}
	case right:
		return []T{next}
	}
	return nil
}

// passed: a pass that leaves nothing behind sends each outstanding instruction once, and fails those without sends
// left.
func (l instructionState) passed(name string, c Call, act Pass) []instructionState {
	next := l.dispatched()
	if c.Lost {
		return either(c, l, next, true)
	}
	send, sent := act.Sent[name]
	failed := act.Failed[name]
	switch {
	case !sent && !failed && !act.Whole:
		return []instructionState{l}
	case sent == (next.sends > l.sends) && failed == (next.phase == "failed" && l.phase != "failed") && (!sent || send == next.sends):
		return []instructionState{next}
	}
	return nil
}

func (l instructionState) dispatched() instructionState {
	switch {
	case l.phase != "queued" && l.phase != "sent":
	case l.sends == l.sendsMax:
		l.phase = "failed"
	default:
		l.phase, l.sends = "sent", l.sends+1
	}
	return l
}

// acked: an acknowledgement ends an outstanding instruction. A failed one stays failed, and its next acknowledgement
// reports the first.
func (l instructionState) acked(c Call, act Ack) []instructionState {
	next := l
	next.told = true
	if l.phase == "queued" || l.phase == "sent" {
		next.phase = "acknowledged"
	}
	return either(c, l, next, l.phase != "" && (c.Lost || act.State == next.phase && act.Already == l.told))
}
