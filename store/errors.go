package store

import "fmt"

// A Kind says what is wrong with the store.
type Kind uint8

// The kinds of store errors.
const (
	Full        Kind = iota + 1 // no space left; nothing was applied
	IO                          // reading or writing failed; see Outcome
	ReadOnly                    // the store can be read only; nothing was applied
	Corrupt                     // it is not a database, or not what was written
	NewerSchema                 // written by a newer waybill; it is never downgraded
	Busy                        // another process holds it for longer than we wait
	Lost                        // its file was removed or replaced under us
	Unsafe                      // where it lies or who owns it forbids using it
	Closed                      // Close was called
	Cancelled                   // the call's context, or the time for a View, ended; nothing was applied
)

// String gives the kind's name.
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
	Unknown                   // it may have; the same idempotency key tells
)

// An Error is what every store operation returns when the store is at fault.
type Error struct {
	Kind    Kind
	Outcome Outcome
	Message string // what is wrong and what to do, one sentence
	Err     error  // the cause, or nil
}

// Error gives the message and the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
