package core

import "fmt"

// A RefusalKind names the reason for a refusal.
type RefusalKind uint8

// The kinds of refusals.
const (
	InvalidState     RefusalKind = iota + 1 // the state does not allow the event
	NotFound                                // no such thing
	QueueFull                               // a bound on the number of things is reached
	KeyReused                               // an idempotency key was used with other params
	StaleAttempt                            // the lease in a report is no longer valid
	AlreadyResolved                         // another answer came first
	SessionTaken                            // a session runs one attempt at a time
	AttemptFinalized                        // the attempt is over
	RetryPending                            // the next attempt is pending already
	BadDependency                           // a task cannot depend on that task
	BadAnswer                               // the question does not take that answer
	Foreign                                 // the thing belongs to another session or run
)

// String returns the kind's name.
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
	case BadAnswer:
		return "bad_answer"
	case Foreign:
		return "foreign"
	}
	return fmt.Sprintf("refusal(%d)", uint8(k))
}

// A Refusal says why an event was not applied. Nothing has changed.
type Refusal struct {
	Kind    RefusalKind
	Noun    string   // kind of thing: "instruction", "run", "notice", "idempotency_key"
	Subject string   // its id
	State   string   // its state, if it has one
	Message string   // one sentence for a person: the refused call and the alternative
	Pointer string   // the JSON Pointer of the param at fault, if there is one
	Allowed []string // methods that the state allows instead, if known
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

// Missing returns the refusal for an unknown id.
func Missing(noun, id string) *Refusal {
	return &Refusal{
		Kind: NotFound, Noun: noun, Subject: id,
		Message: fmt.Sprintf("no %s has the id %q", noun, id),
	}
}
