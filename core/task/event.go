package task

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"waybill/core"
)

// An Event is something that happens to a task. The types below are the only events.
type Event interface{ event() }

// Claim hands the newest attempt to a worker.
type Claim struct {
	At     core.Instant
	Worker string
	Token  string // new and unique
	Length int64  // of the lease, in microseconds
}

// Return takes back a claim that never reached the worker.
type Return struct {
	At    core.Instant
	Token string
}

// Bind says in which session, and on which model, an attempt runs.
type Bind struct {
	At        core.Instant
	AttemptID string
	Token     string
	Session   string
	Model     Model // the zero Model leaves what the attempt has
}

// Heartbeat says that the worker is alive.
type Heartbeat struct {
	At     core.Instant
	Token  string
	Length int64 // of the lease from now on, in microseconds; 0 leaves it
	// Progress reports whether the heartbeat carries progress.
	Progress bool
}

// Expire says that an observer that has watched without a gap since Calm saw the lease run out at At.
type Expire struct {
	At, Calm core.Instant
	Next     Successor
}

// Finish is a worker's report that its attempt is over.
type Finish struct {
	At       core.Instant
	Token    string
	Status   AttemptStatus // completed, error, cancelled, interrupted or awaiting_response
	Output   string
	Question string
	Offer    Offer
	Failure  Failure // of an error; with a class
	Mode     RetryMode
	// NextModel is the model that a host with its own schedule tries after an error. The zero Model leaves the choice
	// to the chain.
	NextModel Model
	Next      Successor
}

// ReportSession is a host's observation of the session of an attempt.
type ReportSession struct {
	At      core.Instant
	Session string
	Kind    SessionKind
	Failure Failure // of SessionError; with a class
	// Telling reports whether the observation carries a message.
	Telling bool
	Next    Successor
}

// Retry queues an ended task again.
type Retry struct {
	At    core.Instant
	Model Model // the zero Model begins the chain again
	Next  Successor
}

// Cancel withdraws a task.
type Cancel struct {
	At     core.Instant
	Reason string
}

// Reply is a person's answer. It continues the task.
type Reply struct {
	At     core.Instant
	Text   string // not blank, unless there is an Option
	Option string // the label of an option of the question, or ""
	// AttemptID is the attempt whose question is answered; "" means the newest attempt.
	AttemptID string
	Next      Successor
}

// TakeDefault says that time has passed. The default of a question answers it once its time has come.
type TakeDefault struct {
	At   core.Instant
	Next Successor
}

// Block stops a task because its run is blocked.
type Block struct {
	At     core.Instant
	Reason string
}

// DependencyDone says that one of the tasks that the task waits for has completed.
type DependencyDone struct{ At core.Instant }

func (Claim) event()          {}
func (Return) event()         {}
func (Bind) event()           {}
func (Heartbeat) event()      {}
func (Expire) event()         {}
func (Finish) event()         {}
func (ReportSession) event()  {}
func (Retry) event()          {}
func (Cancel) event()         {}
func (Reply) event()          {}
func (TakeDefault) event()    {}
func (Block) event()          {}
func (DependencyDone) event() {}

// A SessionKind names an event of a session that a host saw.
type SessionKind string

// The kinds.
const (
	SessionStarted  SessionKind = "started"
	SessionProgress SessionKind = "progress"
	SessionIdle     SessionKind = "idle"  // nothing happens; that is not an end
	SessionError    SessionKind = "error" // ends the attempt unless the session may recover by itself
	SessionDeleted  SessionKind = "deleted"
)

// digest returns a digest of the report without its time.
func (e Finish) digest() string {
	text, err := json.Marshal([]any{e.Status, e.Output, e.Question, e.Offer.text, e.Failure, e.Mode, e.NextModel})
	if err != nil {
		panic("task: strings do not encode: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
