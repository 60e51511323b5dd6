package task

import "waybill/core"

// A Breaker is the circuit breaker of one model. After breakerThreshold failures of class provider in a row it opens,
// and no attempt starts for a while. Then one trial attempt may start, the probe. If the probe succeeds, the breaker
// closes. If it fails, the next while is twice as long, up to maxCooling. Two breakers compare with ==; a Breaker with
// nothing but a Key is closed.
type Breaker struct {
	Key      string // of the model
	Failures int    // in a row
	Opened   int    // how often in a row it opened
	Until    core.Instant
	Probe    string       // the id of the attempt that may try, or ""
	ProbedAt core.Instant // when it was let through
}

const (
	breakerThreshold = 5
	firstCooling     = 30_000_000  // µs
	maxCooling       = 300_000_000 // µs
	// longestProbe is the time after which another attempt may start during a probe without a known end. A lease ends
	// every silent probe long before, unless its records are damaged.
	longestProbe = 86_400_000_000 // µs
)

// Open reports whether the breaker holds attempts back at that moment.
func (b Breaker) Open(at core.Instant) bool {
	if b.Opened == 0 {
		return false
	}
	if b.cools(at) {
		return true
	}
	return b.Probe != "" && at >= b.ProbedAt && at < b.ProbedAt+longestProbe
}

// cools reports whether no attempt may start yet. An end further ahead than maxCooling means that a clock was set back.
func (b Breaker) cools(at core.Instant) bool { return b.Until > at && b.Until <= at+maxCooling }

// HalfOpenAt returns when an open breaker allows the next probe.
func (b Breaker) HalfOpenAt(at core.Instant) core.Instant {
	if b.cools(at) {
		return b.Until
	}
	return b.ProbedAt + longestProbe
}

// Admit returns the breaker after an attempt that it does not hold back was claimed or bound.
func (b Breaker) Admit(attemptID string, at core.Instant) Breaker {
	if b.Opened > 0 {
		b.Probe, b.ProbedAt = attemptID, at
	}
	return b
}

// Leave returns the breaker after an attempt gave its model up without a result. If the attempt was the probe, another
// one may start.
func (b Breaker) Leave(attemptID string) Breaker {
	if b.Probe == attemptID {
		b.Probe, b.ProbedAt = "", 0
	}
	return b
}

// Note returns the breaker after an attempt on its model ended or its claim was taken back, and the effects. A success
// closes an open breaker if the attempt was claimed after the opening. Other results of an attempt that is not the
// probe are ignored while the breaker is open.
func (b Breaker) Note(a Attempt) (Breaker, []core.Effect) {
	over, ended := a.Phase.(EndedAttempt)
	_, back := a.Phase.(PendingAttempt)
	probe := b.Opened == 0 || b.Probe == a.ID
	switch {
	case back:
		return b.Leave(a.ID), nil
	case !ended:
		return b, nil
	case over.succeeded() && (probe || over.StartedAt >= b.openedAt()):
		return b.closed()
	case !probe:
		return b, nil
	case over.Status != AttemptError || over.Failure.Class != ClassProvider || over.Failure.guessed() || over.Failure.ofAccount():
		// A guessed class is no evidence against the model. A refused account holds no other task back, because each
		// continues with another provider at once.
		return b.Leave(a.ID), nil
	}
	b.Failures++
	if b.Failures < breakerThreshold {
		return b, nil
	}
	b.Opened++
	b.Until = over.At + cooling(b.Opened)
	return b.Leave(a.ID), []core.Effect{core.Record{Type: core.BreakerOpened}}
}

func (b Breaker) closed() (Breaker, []core.Effect) {
	if b.Opened == 0 {
		return Breaker{Key: b.Key}, nil
	}
	return Breaker{Key: b.Key}, []core.Effect{core.Record{Type: core.BreakerClosed}}
}

// openedAt returns when an open breaker opened.
func (b Breaker) openedAt() core.Instant { return b.Until - cooling(b.Opened) }

// succeeded reports whether the attempt completed or asked a question.
func (p EndedAttempt) succeeded() bool {
	return p.Status == AttemptCompleted || p.Status == AttemptAwaiting
}

func cooling(opened int) core.Instant {
	wait := core.Instant(firstCooling)
	for ; opened > 1 && wait < maxCooling; opened-- {
		wait *= 2
	}
	return min(wait, maxCooling)
}
