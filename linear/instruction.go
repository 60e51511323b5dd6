package linear

// A letter is what an instruction is at one moment. The zero value is one that nobody has queued.
type letter struct {
	phase    string // "", queued, sent, acknowledged or failed
	sends    int
	sendsMax int
	told     bool // it was acknowledged, in time or too late
}

// after gives what the letter may be after the call, by the answer: nothing, if it cannot have been given.
func (l letter) after(name string, c Call) []letter {
	switch act := c.Act.(type) {
	case Queue:
		return either(c, l, letter{phase: "queued", sendsMax: act.SendsMax}, l.phase == "")
	case Pass:
		return l.passed(name, c, act)
	case Ack:
		return l.acked(c, act)
	case Look:
		return either(c, l, l, act.State == l.phase && act.Sends == l.sends)
	case Create, Claim, Finish, LookTask:
	}
	return []letter{l}
}

// either gives the next thing if the answer is right. If there was no answer, it is either.
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

// passed: a pass that leaves nothing to another one sends what is outstanding once, and gives up what was sent as often
// as it may be.
func (l letter) passed(name string, c Call, act Pass) []letter {
	next := l.dispatched()
	if c.Lost {
		return either(c, l, next, true)
	}
	send, sent := act.Sent[name]
	failed := act.Failed[name]
	switch {
	case !sent && !failed && !act.Whole:
		return []letter{l}
	case sent == (next.sends > l.sends) && failed == (next.phase == "failed" && l.phase != "failed") && (!sent || send == next.sends):
		return []letter{next}
	}
	return nil
}

func (l letter) dispatched() letter {
	switch {
	case l.phase != "queued" && l.phase != "sent":
	case l.sends == l.sendsMax:
		l.phase = "failed"
	default:
		l.phase, l.sends = "sent", l.sends+1
	}
	return l
}

// acked: an acknowledgement ends what is outstanding; what has failed stays failed, and is told apart
// from what nobody ever acknowledged only by the next one who does.
func (l letter) acked(c Call, act Ack) []letter {
	next := l
	next.told = true
	if l.phase == "queued" || l.phase == "sent" {
		next.phase = "acknowledged"
	}
	return either(c, l, next, l.phase != "" && (c.Lost || act.State == next.phase && act.Already == l.told))
}
