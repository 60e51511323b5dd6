package store

import "fmt"

// A Kind classifies a failure of the store.
type Kind uint8

// The kinds of store errors.
const (
	Full        Kind = iota + 1 // no space left; nothing was applied
	IO                          // reading or writing failed; see Outcome
	ReadOnly                    // the store is read-only; nothing was applied
	Corrupt                     // it is not a database, or its contents were changed from outside
	NewerSchema                 // written by a newer waybill; it is never downgraded
	Busy                        // another process holds it for longer than we wait
	Lost                        // its file was removed or replaced under us
	Unsafe                      // its location or its owner forbids using it
	Closed                      // Close was called
	Cancelled                   // the call's context, or the time for a View, ended; nothing was applied
)

// String returns the kind's name.
func (k Kind) String() string {
	switch k {
	case Full:
		return "full"
	case IO:
		return "io"
	case ReadOnly:
		return "read_only"
	case Corrupt:
		return "corrupt"
	case NewerSchema:
		return "newer_schema"
	case Busy:
		return "busy"
	case Lost:
		return "lost"
	case Unsafe:
		return "unsafe"
	case Closed:
		return "closed"
	case Cancelled:
		return "cancelled"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// An Outcome says whether a change that ended in an error took effect.
type Outcome uint8

// The outcomes.
const (
	NotApplied Outcome = iota // it did not, and never will
	Unknown                   // it may have; the same idempotency key finds out
)

// An Error is what every store operation returns when the store is at fault.
type Error struct {
	Kind    Kind
	Outcome Outcome
	Message string // the problem and the remedy, one sentence
	Err     error  // the cause, or nil
}

// Error returns the message and the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
