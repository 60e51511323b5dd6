// Package core holds the parts that core/instruction, core/task and core/run share: instants, effects, events of the
// log, refusals, roles and explanations.
//
// A state machine is a value. Step takes an event and returns the next value with its effects, or a refusal. No
// machine knows storage, time or callers: instants and ids arrive inside the events.
package core

// An Instant is a moment in microseconds since 1970-01-01T00:00:00Z. The zero Instant means "never".
type Instant int64

// An Effect must happen in the same transaction as a state change. Record, Post and Withdraw may follow any step.
// Deliver is only for instructions, Keep for tasks and Decide for runs; there are no others.
type Effect interface{ Effect() }

// Record appends an event of the type about the changed object to the event log.
type Record struct{ Type EventType }

// Post adds a notice of the kind about the changed object, for the host.
type Post struct{ Kind NoticeKind }

// Withdraw removes the notices of the kind about the changed object, because they no longer hold.
type Withdraw struct{ Kind NoticeKind }

// Effect marks Record as an effect.
func (Record) Effect() {}

// Effect marks Post as an effect.
func (Post) Effect() {}

// Effect marks Withdraw as an effect.
func (Withdraw) Effect() {}

// An EventType names an event of the log as noun.verb, in the log and on the wire.
type EventType string

// The events of the log.
const (
	InstructionQueued       EventType = "instruction.queued"       // accepted, waits for a dispatch
	InstructionDue          EventType = "instruction.due"          // the trigger of a standing instruction fired, so that it waits for a dispatch
	InstructionSent         EventType = "instruction.sent"         // handed out, for the first time or again
	InstructionAcknowledged EventType = "instruction.acknowledged" // the effect was confirmed
	InstructionFailed       EventType = "instruction.failed"       // its sends are used up
	InstructionCancelled    EventType = "instruction.cancelled"    // withdrawn by the host
	InstructionUndelivered  EventType = "instruction.undelivered"  // a send that never reached the host is taken back
	InstructionLateAck      EventType = "instruction.late_ack"     // confirmed after it had failed

	TaskCreated         EventType = "task.created"          // accepted, waits to be claimed
	TaskReleased        EventType = "task.released"         // its last dependency is complete
	TaskCancelRequested EventType = "task.cancel_requested" // the host asked for its end; the worker has to report it
	TaskSettled         EventType = "task.settled"          // it ended, or waits for a person
	TaskReplied         EventType = "task.replied"          // a person answered, and it continues
	TaskDefaulted       EventType = "task.default_taken"    // no person answered in time, and it continues with the default of its question
	TaskRetried         EventType = "task.retried"          // it was queued again

	AttemptStarted   EventType = "attempt.started"   // a worker claimed it
	AttemptReturned  EventType = "attempt.returned"  // the worker never learned of it, and it is pending again
	AttemptBound     EventType = "attempt.bound"     // its session and model are known
	AttemptProgress  EventType = "attempt.progress"  // its worker reported progress
	AttemptReported  EventType = "attempt.reported"  // the host reported on its session
	AttemptFinished  EventType = "attempt.finished"  // it ended
	AttemptScheduled EventType = "attempt.scheduled" // it follows one that failed or was lost
	AttemptStale     EventType = "attempt.stale"     // a report came after the lease was lost
	ToolReported     EventType = "tool.reported"     // the host reported a tool call of its session

	BreakerOpened EventType = "breaker.opened" // a model failed too often and gets no attempts for a while
	BreakerClosed EventType = "breaker.closed" // it works again

	RunStarted    EventType = "run.started"    // work on an item began
	RunSuperseded EventType = "run.superseded" // a newer run of the same item replaced it
	RunOutcome    EventType = "run.outcome"    // an agent reported or was lost
	RunReplanned  EventType = "run.replanned"  // a new version of the plan was recorded
	RunUnblocked  EventType = "run.unblocked"  // a person solved the problem that blocked it
	RunLedger     EventType = "run.ledger"     // its progress facts were read again from the plan

	ReceiptRecorded EventType = "receipt.recorded" // a check was run for it, and this is the outcome
	ProofChanged    EventType = "proof.changed"    // a receipt changed how much is proven

	LedgerChanged EventType = "ledger.changed" // a plan file reads differently from before

	NoticePosted   EventType = "notice.posted"   // the host has something to consume
	NoticeConsumed EventType = "notice.consumed" // the host has seen it
)

// EventTypes lists every event type, in the order of their declaration.
func EventTypes() []EventType {
	return []EventType{
		InstructionQueued, InstructionDue, InstructionSent, InstructionAcknowledged, InstructionFailed,
		InstructionCancelled, InstructionUndelivered, InstructionLateAck,
		TaskCreated, TaskReleased, TaskCancelRequested, TaskSettled, TaskReplied, TaskDefaulted, TaskRetried,
		AttemptStarted, AttemptReturned, AttemptBound, AttemptProgress, AttemptReported, AttemptFinished,
		AttemptScheduled, AttemptStale, ToolReported,
		BreakerOpened, BreakerClosed,
		RunStarted, RunSuperseded, RunOutcome, RunReplanned, RunUnblocked, RunLedger,
		ReceiptRecorded, ProofChanged, LedgerChanged,
		NoticePosted, NoticeConsumed,
	}
}

// A NoticeKind names the subject of a notice to the host.
type NoticeKind string

// The kinds of notices.
const (
	NoticeInstructionFailed NoticeKind = "instruction.failed"       // a tracked instruction was never acknowledged
	NoticeTaskFinished      NoticeKind = "task.finished"            // a task ended
	NoticeTaskAwaiting      NoticeKind = "task.awaiting_response"   // a task asks a person
	NoticeRetryScheduled    NoticeKind = "task.retry_scheduled"     // an attempt failed, and the next one is queued
	NoticeRetryReady        NoticeKind = "task.retry_session_ready" // the next attempt has its session
	NoticeAllFinished       NoticeKind = "tasks.all_finished"       // every task of a parent session ended
	NoticeRunBlocked        NoticeKind = "run.blocked"              // a run waits for a person's decision
	NoticeRunStalled        NoticeKind = "run.stalled"              // a run makes no progress and needs a new plan
	NoticePlanCompleted     NoticeKind = "plan.completed"           // every item of a plan is done
	NoticeHostReported      NoticeKind = "host.reported"            // a host or its hook reported an event that a person must know of
)
