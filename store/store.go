// Package store states the promise that every database of waybill keeps, and the few methods that the engine calls. It does
// not decide state changes, and no database does: SQL stores and returns records, and CHECK constraints repeat the laws of
// core.
//
// # The promise
//
// Durable. When Update returns nil, everything that its function wrote has reached stable storage: it
// survives kill -9 and loss of power. A database that cannot promise this for a device says so in
// its Status.
//
// Whole. When Update returns an error of kind NotApplied, or its function returned an error, nothing
// of it is ever seen. Only an error of kind Unknown leaves that open, and then everything or nothing
// is there.
//
// Serial. Updates of all processes happen one after the other. A View sees one moment, and every
// Update that had returned before the View began.
//
// Gap-free. The event log is numbered 1, 2, 3, … in commit order, without gaps, whatever failed in between, until Prune
// cuts off its oldest part. Each record carries a hash over itself and the hash of the record before. Verify therefore
// finds a lost, changed or inserted record.
//
// Honest. Before Update returns nil it has made sure that the database it wrote is still the one
// that the next process will open. Every record is checked against a checksum stored with it.
//
// Fair. Processes that write to one store take turns.
package store

import (
	"context"
	"fmt"
	"time"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/ledger"
	"waybill/meter"
)

// A Store is one workspace's durable memory. All methods may be called from any goroutine.
type Store interface {
	// Update runs fn in a transaction and commits it durably if fn returns nil. An error or a panic of fn is returned
	// unchanged, and nothing is applied. fn may run more than once, so it must touch only tx and variables that each
	// run sets again. It must not use another method of the store, and must not keep tx. If fn leaves a task that is
	// not Coherent, Update applies nothing and returns the reason. Every other error is an *Error. If ctx ends before
	// the commit begins, nothing is applied; the commit ignores a later end of ctx.
	Update(ctx context.Context, fn func(tx Tx) error) error

	// UpdateReserved is Update for changes that only finish existing work: an acknowledgement, a failure with its
	// notice, a cancellation, a consumed notice. When there is no space left for an Update, they may use the space that
	// the store holds in reserve for them.
	UpdateReserved(ctx context.Context, fn func(tx Tx) error) error

	// View runs fn on one consistent snapshot. The writing methods of its tx return an *Error of kind ReadOnly. Views
	// run concurrently with each other and with an Update. The store may end a View that takes much too long with an
	// *Error of kind Cancelled.
	View(ctx context.Context, fn func(tx Tx) error) error

	// Changed returns a channel of size one that is signalled after commits of other processes, as
	// well as this one can notice them. It never closes.
	Changed() <-chan struct{}

	// Status describes the store as it is now.
	Status(ctx context.Context) Status

	// Verify reads everything and reports every damaged record.
	Verify(ctx context.Context) ([]Damage, error)

	// Close ends the store. Calls under way are finished first.
	Close() error
}

// Moments is a Store that reports commits without a View.
type Moments interface {
	Store
	// Moment identifies the current contents: while it returns the same value, a View sees the same. It may return
	// another value although nothing has changed. ok is false during a commit, or if one may be running. Moment costs
	// less than a View.
	Moment() (now Moment, ok bool)
}

// Moments of the same Store can be compared with each other, but not with those of another Store.
type Moment struct{ File, Commits int64 }

// A Tx is one transaction. Reading methods see earlier changes of the same transaction. A Tx must not be used by two
// goroutines at once, and not after its function has returned.
//
// A method that writes returns an error and changes nothing if it would break a rule given here, such as a duplicate
// Position. The transaction continues. Once a method has returned another *Error, the transaction is lost: Update
// returns that error whatever fn returns.
//
// A damaged record does not hold up others. A method that reads a damaged record returns an *Error of kind Corrupt. The
// transaction continues, because nothing has changed. LatestRuns, Runs, NoticesAbout, Tallies, Tasks, Attempts, Leased,
// Dependents, Replies and the breakers leave such a record out. The Status names it either way.
//
// A Tx consists of one contract for each subject. A function that needs one subject takes that contract.
type Tx struct {
	InstructionRecords
	RunRecords
	RunContents
	TaskRecords
	AttemptRecords
	BreakerRecords
	EventLog
	NoticeRecords
	AnswerRecords
	Whole
}

// An Order is an order of instructions in a list.
type Order uint8

// The orders. All are total, so that pages neither overlap nor skip.
const (
	ByPosition Order = iota // as they were queued
	ByUrgency               // priority first, then as they were queued
	ByLastSend              // never sent first, then longest unsent, then as they were queued
)

// An InstructionQuery selects instructions. The zero value of each field selects all.
type InstructionQuery struct {
	Session string
	State   instruction.State
	// SentBefore selects instructions that were sent, and last at or before this instant or after
	// Now (the clock was set back). Zero selects all.
	SentBefore, Now core.Instant
	// Exhausted selects by whether the sends are used up: nil selects all.
	Exhausted *bool
	// AckEvent selects outstanding instructions whose acknowledgement rule names this event type.
	AckEvent string
	// Trigger selects standing instructions that are not cancelled and whose trigger names this event type.
	Trigger string
	Order   Order
	// After is the Position after which the list continues. It requires the order ByPosition.
	After int64
	// Limit is the maximum number of results; 0 means 500.
	Limit int
}

// DefaultLimit is the Limit of a query that names none.
const DefaultLimit = 500

// A TaskQuery selects tasks. The zero value of each field selects all.
type TaskQuery struct {
	Status task.Status
	// Live selects tasks that are not over: QUEUED, RUNNING and AWAITING_RESPONSE.
	Live   bool
	RunID  string
	Role   string
	Parent string
	// ReadyAt selects tasks that task.Task.Claimable allows to be claimed at this instant.
	ReadyAt core.Instant
	// DefaultBy selects questions whose default is due at this instant.
	DefaultBy core.Instant
	// Except leaves out tasks whose newest attempt is for a model with one of these keys.
	Except []string
	// Newest returns the tasks by descending Position, the newest first, instead of the oldest first.
	Newest bool
	// After is the Position after which the list continues, in the direction of the query; 0 starts at the beginning.
	After int64
	// Limit is the maximum number of results; 0 means 500.
	Limit int
}

// A RunQuery selects runs. The zero value of each field selects all.
type RunQuery struct {
	Plan  string
	State run.State
	// Behind is the id of the run after which the list continues. After a run that does not exist, the list is empty.
	Behind string
	// Limit is the maximum number of results; 0 means 500.
	Limit int
}

// An IDKind is the kind of record that an id belongs to. The zero value is unknown.
type IDKind int

// The kinds of ids. A session is known as far as a task names it as its parent.
const (
	TaskID IDKind = iota + 1
	AttemptID
	RunID
	InstructionID
	NoticeID
	SessionID
)

// An IDQuery selects ids of one kind that have both a beginning and an end; an empty one fits all. A query with a Prefix
// reads as much as it finds; one with a Suffix alone reads all ids of the kind.
type IDQuery struct {
	Kind           IDKind
	Prefix, Suffix string
	// Limit is the maximum number of results.
	Limit int
}

// A Reply is an answer to a task.
type Reply struct {
	TaskID    string
	Number    int    // from 1
	AttemptID string // the attempt that asked the question, or the newest one
	Question  string // the question before the reply, or ""
	Text      string
	Option    string // the label of the option that it takes, or ""
	ByTime    bool   // whether time took the default; no person answered then
	By        string // the person who answered, if known
	At        core.Instant
}

// An Event is a record of the event log. Seq, At (see Append) and Hash are given by the store.
type Event struct {
	Seq     int64
	At      core.Instant
	Type    core.EventType
	Subject string // the id of the thing that it is about
	Data    string // a JSON object: the change
	Hash    Hash
}

// A Root is the record before the oldest one in the event log.
type Root struct {
	Seq  int64 // its number; 0 if the log begins with the first record there ever was
	Hash Hash  // its hash, which the oldest record's hash includes
	// At is, while the log is empty, the earliest that its next record can have. Otherwise it is 0.
	At core.Instant
}

// A Fact is one fact of a run.
type Fact = ledger.Fact

// A Notice is a message to the host that stays until it is consumed.
type Notice struct {
	ID         string
	Kind       core.NoticeKind
	Session    string // whom it concerns, or ""
	Subject    string
	Text       string // one sentence for a person
	Data       string // a JSON object
	CreatedAt  core.Instant
	Position   int64 // orders the notices of a store
	Deliveries int   // how often it was handed to a host
}

// An Answer is the stored answer to a call with an idempotency key.
type Answer struct {
	Key         string
	Fingerprint string // of the method and the params; the same key with another one is a mistake
	Result      string // the answer, as JSON
	At          core.Instant
}

// A Status describes a store.
type Status struct {
	Kind          string // "sqlite", "memory"
	Path          string // where it is, or ""
	SizeBytes     int64
	ReadOnly      bool
	SchemaVersion int
	Degraded      []string // present problems, a sentence each
	Peers         []Peer   // the others that work on it now, as far as they can be known
	Stats         Stats
}

// Stats counts the work of a store since it was opened: its disk, and waits for other processes.
type Stats struct {
	// Commits counts the successful updates by their duration. The duration includes the sync to the disk, if the store
	// has one.
	Commits meter.Spread[time.Duration]
	// Waits counts the waits for a write of another process by their duration, including abandoned ones. Writes without
	// a wait are not counted.
	Waits meter.Spread[time.Duration]
	// WALBytes is the size of the write-ahead log, where there is one; it is a part of SizeBytes.
	WALBytes int64
}

// Latencies are the bounds that Stats count by, in ascending order.
var Latencies = [...]time.Duration{
	250 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 10 * time.Millisecond, 50 * time.Millisecond,
	250 * time.Millisecond, time.Second, 5 * time.Second,
}

// A Peer is another process that has a store open.
type Peer struct {
	PID     int
	Version string // of its waybill
	Host    string // the machine that it runs on, or "" for this one
}

// String names the process.
func (p Peer) String() string {
	if p.Host == "" {
		return fmt.Sprintf("process %d", p.PID)
	}
	return fmt.Sprintf("process %d on %s", p.PID, p.Host)
}

// A Damage is a record that differs from what was written.
type Damage struct {
	What   string // which record, e.g. "event 17" or "instruction ins_…"
	Detail string
}
