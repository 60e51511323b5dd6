package core

// A Breaker keeps the tasks of a store from trying a model of a provider again and again while it is in
// trouble. After breakerThreshold failures of class provider in a row it opens: for a while nobody
// tries. Then one attempt may, the probe, for as long as it lasts. If it succeeds, everybody may again; if
// it fails, the next while is twice as long, up to maxCooling, so that nothing is held back for ever. Two
// breakers compare with ==; the zero Breaker but for its Key is closed.
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
	// longestProbe is when somebody else may try beside a probe of which no end was ever heard: its lease
	// ends every silent one long before, unless its records are damaged.
	longestProbe = 86_400_000_000 // µs
)

// Open reports whether the breaker holds attempts back at that moment.
func (b Breaker) Open(at Instant) bool {
	if b.Opened == 0 {
		return false
	}
	if b.cools(at) {
		return true
	}
	return b.Probe != "" && at >= b.ProbedAt && at < b.ProbedAt+longestProbe
}

// cools reports whether nobody may try yet. An end further ahead than the longest while is a clock that
// was set back.
func (b Breaker) cools(at Instant) bool { return b.Until > at && b.Until <= at+maxCooling }

// Frees gives the moment at which time alone makes an open breaker let an attempt through.
func (b Breaker) Frees(at Instant) Instant {
	if b.cools(at) {
		return b.Until
	}
	return b.ProbedAt + longestProbe
}

// Admit gives the breaker as it is when the attempt, which it does not hold back, is claimed or bound.
func (b Breaker) Admit(attemptID string, at Instant) Breaker {
	if b.Opened > 0 {
		b.Probe, b.ProbedAt = attemptID, at
	}
	return b
}

// Leave gives the breaker as it is when the attempt does not try its model any more, or never did. If it
// was the probe, the next one may try.
func (b Breaker) Leave(attemptID string) Breaker {
	if b.Probe == attemptID {
		b.Probe, b.ProbedAt = "", 0
	}
	return b
}

// Note gives the breaker as it is when an attempt on its model has ended, or its claim was taken back,
// and what is to be recorded. A success closes it if the attempt was claimed when it had opened already.
// Whatever else becomes of an attempt that is not the probe says nothing while it is open.
func (b Breaker) Note(a Attempt) (Breaker, []Effect) {
	over, ended := a.Phase.(Ended)
	_, back := a.Phase.(Pending)
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
	case over.Status != AttemptError || over.Failure.Class != ClassProvider || over.Failure.guessed():
		return b.Leave(a.ID), nil // it says nothing about the model
	}
	b.Failures++
	if b.Failures < breakerThreshold {
		return b, nil
	}
	b.Opened++
	b.Until = over.At + cooling(b.Opened)
	return b.Leave(a.ID), []Effect{Record{BreakerOpened}}
}

func (b Breaker) closed() (Breaker, []Effect) {
	if b.Opened == 0 {
		return Breaker{Key: b.Key}, nil
	}
	return Breaker{Key: b.Key}, []Effect{Record{BreakerClosed}}
}

// openedAt is when an open breaker opened last.
func (b Breaker) openedAt() Instant { return b.Until - cooling(b.Opened) }

// succeeded reports whether the model did what it was asked.
func (p Ended) succeeded() bool { return p.Status == AttemptCompleted || p.Status == AttemptAwaiting }

func cooling(opened int) Instant {
	wait := Instant(firstCooling)
	for ; opened > 1 && wait < maxCooling; opened-- {
		wait *= 2
	}
	return min(wait, maxCooling)
}
