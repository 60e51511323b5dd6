package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// A TaskEvent is something that happens to a task. ClaimTask, ReturnTask, BindSession, Heartbeat, ExpireLease,
// FinishAttempt, HearSession, RetryTask, CancelTask, ReplyToTask, BlockTask and DependencyDone are the
// only ones.
type TaskEvent interface{ taskEvent() }

// ClaimTask gives the newest attempt to a worker.
type ClaimTask struct {
	At     Instant
	Worker string
	Token  string // new, and nobody else's
	Length int64  // of the lease, in microseconds
}

// ReturnTask takes a claim back of which the worker never learned.
type ReturnTask struct {
	At    Instant
	Token string
}

// BindSession says in which session, and on which model, an attempt runs.
type BindSession struct {
	At        Instant
	AttemptID string
	Token     string
	Session   string
	Model     Model // the zero Model leaves what the attempt has
}

// Heartbeat says that the worker is at it.
type Heartbeat struct {
	At     Instant
	Token  string
	Length int64 // of the lease from now on, in microseconds; 0 leaves it
	// Progress reports whether there is something to tell beside the sign of life.
	Progress bool
}

// ExpireLease says that an observer found the time to be At, after he had watched without a gap since Calm.
type ExpireLease struct {
	At, Calm Instant
	Next     Successor
}

// FinishAttempt is a worker's report that its attempt is over.
type FinishAttempt struct {
	At       Instant
	Token    string
	Status   AttemptStatus // completed, error, cancelled, interrupted or awaiting_response
	Output   string
	Question string
	Failure  Failure // of an error; with a class
	Mode     RetryMode
	Next     Successor
}

// HearSession is what the host says about the session of an attempt.
type HearSession struct {
	At      Instant
	Session string
	Kind    SessionKind
	Failure Failure // of SessionError; with a class
	// Telling reports whether there is a message beside a sign of life.
	Telling bool
	Next    Successor
}

// RetryTask sets an ended task going again.
type RetryTask struct {
	At    Instant
	Model Model // the zero Model begins the chain anew
	Next  Successor
}

// CancelTask withdraws a task.
type CancelTask struct {
	At     Instant
	Reason string
}

// ReplyToTask is a person's answer. It continues the task.
type ReplyToTask struct {
	At   Instant
	Text string // not blank
	// AttemptID is the attempt whose question is answered; "" is whichever is the newest.
	AttemptID string
	Next      Successor
}

// BlockTask holds a task back, because its run does.
type BlockTask struct {
	At     Instant
	Reason string
}

// DependencyDone says that one of the tasks that the task waits for has completed.
type DependencyDone struct{ At Instant }

func (ClaimTask) taskEvent()      {}
func (ReturnTask) taskEvent()     {}
func (BindSession) taskEvent()    {}
func (Heartbeat) taskEvent()      {}
func (ExpireLease) taskEvent()    {}
func (FinishAttempt) taskEvent()  {}
func (HearSession) taskEvent()    {}
func (RetryTask) taskEvent()      {}
func (CancelTask) taskEvent()     {}
func (ReplyToTask) taskEvent()    {}
func (BlockTask) taskEvent()      {}
func (DependencyDone) taskEvent() {}

// A SessionKind says what a host saw of a session.
type SessionKind string

// The kinds.
const (
	SessionStarted  SessionKind = "started"
	SessionProgress SessionKind = "progress"
	SessionIdle     SessionKind = "idle"  // nothing happens; that is not an end
	SessionError    SessionKind = "error" // ends the attempt unless the session may recover by itself
	SessionDeleted  SessionKind = "deleted"
)

// SessionKinds lists the kinds.
func SessionKinds() []SessionKind {
	return []SessionKind{SessionStarted, SessionProgress, SessionIdle, SessionError, SessionDeleted}
}

// digest identifies what a report says, without when it came.
func (e FinishAttempt) digest() string {
	text, err := json.Marshal([]any{e.Status, e.Output, e.Question, e.Failure, e.Mode})
	if err != nil {
		panic("core: strings do not encode: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
