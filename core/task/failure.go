package task

// A Failure describes the error of an attempt. The zero Failure is none.
type Failure struct {
	Class   Class
	Name    string // the error's name as the provider or host reports it
	HTTP    int    // the status code, or 0
	Message string
}

// A Class names the remedy that may help after a failure.
type Class string

// The classes.
const (
	ClassTransient Class = "transient" // the same model may succeed
	ClassProvider  Class = "provider"  // another model may succeed
	ClassTerminal  Class = "terminal"  // no retry succeeds
	ClassUser      Class = "user"      // a person stopped it, or must change something first
)

// Classes lists the classes.
func Classes() []Class { return []Class{ClassTransient, ClassProvider, ClassTerminal, ClassUser} }

// A RetryMode is the retry that a worker asks for after its failure.
type RetryMode string

// The modes.
const (
	RetryAuto  RetryMode = "auto"       // by the class of the failure
	RetryNever RetryMode = "never"      // no retry
	RetrySame  RetryMode = "same_model" // the same model again, within the budget
)

// A Successor holds the facts of the next attempt that the task cannot know: its id and the wait before a retry on the
// same model.
type Successor struct {
	AttemptID string
	// Base is the first wait, in microseconds; 0 means that nothing waits.
	Base int64
	// Jitter, from 0 to 999, spreads the waits of tasks that failed together.
	Jitter int
}

// backoff returns the wait before the n-th retry on one model, from 1: Base doubled each time, plus up to a half of it
// as jitter, at most MaxBackoff.
func (s Successor) backoff(n int) int64 {
	wait := s.Base
	for ; n > 1 && wait < MaxBackoff; n-- {
		wait *= 2
	}
	wait = min(wait, MaxBackoff)
	return min(wait+wait/2*int64(s.Jitter)/999, MaxBackoff)
}

// A retry is the chain index and the wait of the attempt after a failure.
type retry struct {
	link  int
	delay int64
}

// share returns how many attempts in a row may fail on one model before the next model is tried. The last model has the
// attempts that are left.
func (t Task) share() int {
	return max(1, t.Spec.MaxAttempts/max(1, t.Spec.Chain.Len()))
}

// retry returns the attempt that follows a failure of the current one, which Spent already counts. If there is none,
// the reason says why.
func (t Task) retry(why Failure, mode RetryMode, next Successor) (retry, ErrorReason) {
	if mode == RetryNever {
		return retry{}, ReasonFailed
	}
	link := t.Current.Link
	again := retry{link, next.backoff(t.Spent.OnModel)}
	exhausted := t.Spent.Failures >= t.Spec.MaxAttempts
	switch why.Class {
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
		following := t.following(why)
		switch {
		case exhausted || mode != RetrySame && following >= t.Spec.Chain.Len():
			return retry{}, ReasonExhausted
		case mode == RetrySame:
			return again, ""
		}
		return retry{link: following}, ""
	}
	panic("task: unknown class " + string(why.Class))
}

// following returns the link after the current one that may succeed after a failure of the provider, or the length of
// the chain or more if there is none. After a failure of the account, models of the same provider are skipped.
func (t Task) following(why Failure) int {
	models := t.Spec.Chain.Models()
	link := t.Current.Link + 1
	for why.ofAccount() && link < len(models) && models[link].sameProvider(t.Current.Model) {
		link++
	}
	return link
}

// hasNext reports whether the chain has a model after that of the current attempt.
func (t Task) hasNext() bool { return t.Current.Link+1 < t.Spec.Chain.Len() }
