package core

import "fmt"

// A RefusalKind says why an event is not allowed.
type RefusalKind uint8

// The kinds of refusals.
const (
	InvalidState     RefusalKind = iota + 1 // the event makes no sense in the present state
	NotFound                                // no such thing
	QueueFull                               // a bound on the number of things is reached
	KeyReused                               // an idempotency key came back with other params
	StaleAttempt                            // somebody reported about an attempt that is not his any more
	AlreadyResolved                         // somebody else has answered
	SessionTaken                            // a session runs one attempt, and an attempt in one session
	AttemptFinalized                        // the attempt is over
	RetryPending                            // the next attempt is pending already
	BadDependency                           // a task cannot depend on that
	Foreign                                 // the thing belongs to something else
)

// String gives the kind's name.
func (k RefusalKind) String() string {
	switch k {
	case InvalidState:
		return "invalid_state"
	case NotFound:
		return "not_found"
	case QueueFull:
		return "queue_full"
	case KeyReused:
		return "key_reused"
	case StaleAttempt:
		return "stale_attempt"
	case AlreadyResolved:
		return "already_resolved"
	case SessionTaken:
		return "session_taken"
	case AttemptFinalized:
		return "attempt_finalized"
	case RetryPending:
		return "retry_pending"
	case BadDependency:
		return "bad_dependency"
	case Foreign:
		return "foreign"
	}
	return fmt.Sprintf("refusal(%d)", uint8(k))
}

// A Refusal says that an event was not applied, and why. Whoever receives one may rely on nothing
// having changed.
type Refusal struct {
	Kind    RefusalKind
	Noun    string   // what kind of thing: "instruction", "run", "notice", "idempotency_key"
	Subject string   // its id
	State   string   // the state it is in, if it has one
	Message string   // one sentence for a person: what was refused and what to do instead
	Pointer string   // the JSON Pointer of the param that is to blame, if it is one
	Allowed []string // the methods that the present state allows instead, if they are known
}

// Error gives the message.
func (r *Refusal) Error() string { return r.Message }

// Missing refuses because nothing of that noun has that id.
func Missing(noun, id string) *Refusal {
	return &Refusal{
		Kind: NotFound, Noun: noun, Subject: id,
		Message: fmt.Sprintf("no %s has the id %q", noun, id),
	}
}
