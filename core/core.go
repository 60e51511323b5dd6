// Package core says what a thing becomes when something happens to it, and what must follow.
//
// Everything here is a value: Step takes a value and an event and gives the next value, the effects
// that have to be carried out with it, and a refusal if the event is not allowed. The package refuses
// to know where values are kept, what time it is, who is asking, or how an effect is performed:
// instants and ids arrive inside the events.
package core

// An Instant is a moment in microseconds since 1970-01-01T00:00:00Z. The zero Instant means "never".
type Instant int64

// An Effect is something that must happen together with a state change: it is performed in the same
// transaction as the change, or not at all. Deliver, Keep, Record, Decide and Post are the only effects.
type Effect interface{ effect() }

// Deliver hands the instruction out to the host as its n-th send.
type Deliver struct{ Send int }

// Keep saves an attempt of the task that stepped.
type Keep struct{ Attempt Attempt }

// Record appends an event of the given type, about the thing that stepped, to the event log.
type Record struct{ Type EventType }

// Post leaves a notice of the given kind, about the thing that stepped, for the host.
type Post struct{ Kind NoticeKind }

func (Deliver) effect() {}
func (Keep) effect()    {}
func (Record) effect()  {}
func (Post) effect()    {}

// An EventType names what happened, as noun.verb. It is the type of a record in the event log and
// the word that the wire shows.
type EventType string

// The events of the log.
const (
	InstructionQueued       EventType = "instruction.queued"       // accepted, waits for a dispatch
	InstructionSent         EventType = "instruction.sent"         // handed out, for the first time or again
	InstructionAcknowledged EventType = "instruction.acknowledged" // the effect was confirmed
	InstructionFailed       EventType = "instruction.failed"       // its sends are used up
	InstructionCancelled    EventType = "instruction.cancelled"    // withdrawn by the host
	InstructionUndelivered  EventType = "instruction.undelivered"  // a send that never reached the host is taken back
	InstructionLateAck      EventType = "instruction.late_ack"     // confirmed after it had failed

	TaskCreated         EventType = "task.created"          // accepted, waits to be claimed
	TaskReleased        EventType = "task.released"         // nothing that it depends on is missing any more
	TaskCancelRequested EventType = "task.cancel_requested" // its end was asked for; the worker has to report it
	TaskSettled         EventType = "task.settled"          // it is over, or waits for a person
	TaskReplied         EventType = "task.replied"          // a person answered, and it goes on
	TaskRetried         EventType = "task.retried"          // somebody set it going again

	AttemptStarted   EventType = "attempt.started"   // a worker claimed it
	AttemptReturned  EventType = "attempt.returned"  // the worker never learned of it, and it is pending again
	AttemptBound     EventType = "attempt.bound"     // its session and model are known
	AttemptProgress  EventType = "attempt.progress"  // its worker told how far it is
	AttemptReported  EventType = "attempt.reported"  // the host told something about its session
	AttemptFinished  EventType = "attempt.finished"  // it is over
	AttemptScheduled EventType = "attempt.scheduled" // it takes over from one that failed or was lost
	AttemptStale     EventType = "attempt.stale"     // somebody reported about it when it was not his any more

	BreakerOpened EventType = "breaker.opened" // a model failed so often that it is left alone for a while
	BreakerClosed EventType = "breaker.closed" // it works again

	RunStarted    EventType = "run.started"    // the journey of an item began
	RunSuperseded EventType = "run.superseded" // a newer run of the same item took over
	RunOutcome    EventType = "run.outcome"    // an agent reported, or was lost, and the run goes on accordingly
	RunReplanned  EventType = "run.replanned"  // a new version of the plan was recorded
	RunLedger     EventType = "run.ledger"     // the progress facts of a run were read anew from its plan

	LedgerChanged EventType = "ledger.changed" // a plan file reads differently than before

	NoticePosted   EventType = "notice.posted"   // the host has something to consume
	NoticeConsumed EventType = "notice.consumed" // the host has seen it
)

// EventTypes lists every event type, in the order of their declaration.
func EventTypes() []EventType {
	return []EventType{
		InstructionQueued, InstructionSent, InstructionAcknowledged, InstructionFailed,
		InstructionCancelled, InstructionUndelivered, InstructionLateAck,
		TaskCreated, TaskReleased, TaskCancelRequested, TaskSettled, TaskReplied, TaskRetried,
		AttemptStarted, AttemptReturned, AttemptBound, AttemptProgress, AttemptReported, AttemptFinished,
		AttemptScheduled, AttemptStale,
		BreakerOpened, BreakerClosed,
		RunStarted, RunSuperseded, RunOutcome, RunReplanned, RunLedger,
		LedgerChanged,
		NoticePosted, NoticeConsumed,
	}
}

// A NoticeKind says why the host is told something.
type NoticeKind string

// The kinds of notices.
const (
	NoticeInstructionFailed NoticeKind = "instruction.failed"       // a tracked instruction was never acknowledged
	NoticeTaskFinished      NoticeKind = "task.finished"            // a task is over, in whatever way
	NoticeTaskAwaiting      NoticeKind = "task.awaiting_response"   // a task asks a person
	NoticeRetryScheduled    NoticeKind = "task.retry_scheduled"     // an attempt failed, and the next one is queued
	NoticeRetryReady        NoticeKind = "task.retry_session_ready" // the next one has its session
	NoticeAllFinished       NoticeKind = "tasks.all_finished"       // every task that a session started is over
	NoticeRunBlocked        NoticeKind = "run.blocked"              // a run waits for a person's decision
	NoticeRunStalled        NoticeKind = "run.stalled"              // a run moves in circles, or not at all, and wants a new plan
	NoticePlanCompleted     NoticeKind = "plan.completed"           // every item of a plan is done
)

// NoticeKinds lists every notice kind.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{
		NoticeInstructionFailed, NoticeTaskFinished, NoticeTaskAwaiting, NoticeRetryScheduled,
		NoticeRetryReady, NoticeAllFinished, NoticeRunBlocked, NoticeRunStalled, NoticePlanCompleted,
	}
}
