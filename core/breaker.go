package core

// A Breaker keeps the tasks of a store from trying a model of a provider again and again while it is in
// trouble. After breakerThreshold failures of class provider in a row it opens: for a while nobody
// tries. Then one attempt may, the probe. If it succeeds, everybody may again; if it fails, the next
// while is twice as long, up to maxCooling, so that nothing is held back for ever. Two breakers compare
// with ==; the zero Breaker but for its Key is closed.
type Breaker struct {
	Key      string // of the model
	Failures int    // in a row
	Opened   int    // how often in a row it opened
	Until    Instant
	Probe    string  // the id of the attempt that may try, or ""
	ProbedAt Instant // when it was let through
}

const (
	breakerThreshold = 5
	firstCooling     = 30_000_000  // µs
	maxCooling       = 300_000_000 // µs
)

// Open reports whether the breaker holds attempts back at that moment.
func (b Breaker) Open(at Instant) bool {
	if b.Opened == 0 {
		return false
	}
	if b.Until > at && b.Until <= at+maxCooling { // a later one is a clock that was set back
		return true
	}
	// A probe of which nothing is heard is given up after the longest while.
	return b.Probe != "" && at >= b.ProbedAt && at < b.ProbedAt+maxCooling
}

// Frees gives the moment at which time alone makes an open breaker let an attempt through.
func (b Breaker) Frees(at Instant) Instant {
	if b.Until > at && b.Until <= at+maxCooling {
		return b.Until
	}
	return b.ProbedAt + maxCooling
}

// Admit gives the breaker as it is when the attempt, which it does not hold back, is claimed.
func (b Breaker) Admit(attemptID string, at Instant) Breaker {
	if b.Opened > 0 {
		b.Probe, b.ProbedAt = attemptID, at
	}
	return b
}

// Note gives the breaker as it is when an attempt on its model has ended, or its claim was taken back,
// and what is to be recorded. An attempt that was let through before the breaker opened says nothing
// any more.
func (b Breaker) Note(a Attempt) (Breaker, []Effect) {
	over, ended := a.Phase.(Ended)
	_, back := a.Phase.(Pending)
	if b.Opened > 0 && b.Probe != a.ID {
		return b, nil
	}
	switch {
	case back:
		b.Probe, b.ProbedAt = "", 0
		return b, nil
	case !ended:
		return b, nil
	case over.Status == AttemptCompleted || over.Status == AttemptAwaiting:
		closed := b.Opened > 0
		b = Breaker{Key: b.Key}
		if closed {
			return b, []Effect{Record{BreakerClosed}}
		}
		return b, nil
	case over.Status != AttemptError || over.Failure.Class != ClassProvider:
		b.Probe, b.ProbedAt = "", 0 // it says nothing about the model: the next one may try
		return b, nil
	}
	b.Failures++
	if b.Failures < breakerThreshold {
		return b, nil
	}
	b.Opened++
	b.Until = over.At + cooling(b.Opened)
	b.Probe, b.ProbedAt = "", 0
	return b, []Effect{Record{BreakerOpened}}
}

func cooling(opened int) Instant {
	wait := Instant(firstCooling)
	for ; opened > 1 && wait < maxCooling; opened-- {
		wait *= 2
	}
	return min(wait, maxCooling)
}
