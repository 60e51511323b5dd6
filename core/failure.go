package core

// A Failure is what went wrong in an attempt. The zero Failure is none.
type Failure struct {
	Class   Class
	Name    string // the error's name, as the provider or the host gives it
	HTTP    int    // the status code, or 0
	Message string
}

// A Class says what may help against a failure.
type Class string

// The classes.
const (
	ClassTransient Class = "transient" // the same again may succeed
	ClassProvider  Class = "provider"  // another model may succeed
	ClassTerminal  Class = "terminal"  // nothing of that kind succeeds
	ClassUser      Class = "user"      // a person stopped it, or has to change something first
)

// Classes lists the classes.
func Classes() []Class { return []Class{ClassTransient, ClassProvider, ClassTerminal, ClassUser} }

// A RetryMode says what a worker wants to happen after its failure.
type RetryMode string

// The modes.
const (
	RetryAuto  RetryMode = "auto"       // what the failure's class says
	RetryNever RetryMode = "never"      // nothing
	RetrySame  RetryMode = "same_model" // the same model again, within the budget
)

// RetryModes lists the modes.
func RetryModes() []RetryMode { return []RetryMode{RetryAuto, RetryNever, RetrySame} }

// A Successor is what the next attempt needs that is not known to the task: its id, and how long a
// retry on the same model waits.
type Successor struct {
	AttemptID string
	// Base is the first wait, in microseconds; 0 means that nothing waits.
	Base int64
	// Jitter, from 0 to 999, spreads the waits of tasks that failed together.
	Jitter int
}

// backoff is the wait before the n-th retry on one model, from 1: it doubles from Base, has up to half
// of itself added, and ends at a minute.
func (s Successor) backoff(n int) int64 {
	wait := s.Base
	for ; n > 1 && wait < MaxBackoff; n-- {
		wait *= 2
	}
	wait = min(wait, MaxBackoff)
	return min(wait+wait/2*int64(s.Jitter)/999, MaxBackoff)
}

// A plan for the time after a failure.
type retry struct {
	link  int
	delay int64
}

// share is how many attempts in a row may fail on one model before the next one is tried. The last
// model has what is left.
func (t Task) share() int {
	return max(1, t.Launch.MaxAttempts/max(1, t.Launch.Chain.Len()))
}

// retry decides what follows a failure of the current attempt, which Spent counts already. If nothing
// does, the reason says why.
func (t Task) retry(class Class, mode RetryMode, next Successor) (retry, ErrorReason) {
	if mode == RetryNever {
		return retry{}, ReasonFailed
	}
	link := t.Current.Link
	again := retry{link, next.backoff(t.Spent.OnModel)}
	exhausted := t.Spent.Failures >= t.Launch.MaxAttempts
	switch class {
	case ClassTerminal, ClassUser:
		return retry{}, ReasonFailed
	case ClassTransient:
		switch {
		case exhausted:
			return retry{}, ReasonExhausted
		case mode == RetrySame || t.Spent.OnModel < t.share() || !t.hasNext():
			return again, ""
		}
		return retry{link: link + 1}, ""
	case ClassProvider:
		switch {
		case exhausted || mode != RetrySame && !t.hasNext():
			return retry{}, ReasonExhausted
		case mode == RetrySame:
			return again, ""
		}
		return retry{link: link + 1}, ""
	}
	panic("core: unknown class " + string(class))
}

// hasNext reports whether the chain goes on behind the current attempt's model.
func (t Task) hasNext() bool { return t.Current.Link+1 < t.Launch.Chain.Len() }
