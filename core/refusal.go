package core

import "fmt"

// A RefusalKind says why an event is not allowed.
type RefusalKind uint8

// The kinds of refusals.
const (
	InvalidState RefusalKind = iota + 1 // the event makes no sense in the present state
	NotFound                            // no such thing
	QueueFull                           // a bound on the number of things is reached
	KeyReused                           // an idempotency key came back with other params
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
	}
	return fmt.Sprintf("refusal(%d)", uint8(k))
}

// A Refusal says that an event was not applied, and why. Whoever receives one may rely on nothing
// having changed.
type Refusal struct {
	Kind    RefusalKind
	Noun    string // what kind of thing: "instruction", "run", "notice", "idempotency_key"
	Subject string // its id
	State   string // the state it is in, if it has one
	Message string // one sentence for a person: what was refused and what to do instead
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
