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
type Tx interface {
	// Writes counts the verbs that have put, appended, consumed or pruned something so far in this
	// transaction.
	Writes() int

	// Instruction returns an instruction; ok is false if none has that id.
	Instruction(id string) (in instruction.Instruction, ok bool, err error)
	// PutInstruction creates an instruction, or replaces the phase of the one with its id. The other
	// fields are fixed when it is created: putting another value for one is refused. So is a
	// Position that another instruction has, or one below 1.
	PutInstruction(in instruction.Instruction) error
	// Instructions returns the instructions that the query selects, in its order.
	Instructions(q InstructionQuery) ([]instruction.Instruction, error)
	// CountInstructions counts the results of the query without After and Limit.
	CountInstructions(q InstructionQuery) (int, error)
	// InstructionCounts counts all instructions by state; every state has an entry. It takes no
	// longer for many instructions than for few.
	InstructionCounts() (map[instruction.State]int, error)

	// Run returns a run; ok is false if none has that id.
	Run(id string) (run run.Run, ok bool, err error)
	// LatestRun returns the newest run of the item, whatever its state.
	LatestRun(plan, itemID string) (run run.Run, ok bool, err error)
	// LatestRuns returns the result of LatestRun for each item of the plan, in ascending byte order of the item ids. It
	// leaves out an item whose newest run is damaged, because an earlier run must not stand in for it.
	LatestRuns(plan string) ([]run.Run, error)
	// Runs returns the runs that the query selects, by their first put, the last first.
	Runs(q RunQuery) ([]run.Run, error)
	// PutRun creates or replaces a run.
	PutRun(run run.Run) error
	// RunCounts counts all runs by state; every state has an entry.
	RunCounts() (map[run.State]int, error)
	// Facts returns the facts of a run, by key in ascending order of its bytes.
	Facts(runID string) ([]Fact, error)
	// PutFacts replaces all facts of a run. It refuses a run that does not exist and a duplicate key.
	PutFacts(runID string, facts []Fact) error
	// AddTallies adds to counters of a run, each of which begins at 0: see Tally.Plus. A duplicate name is added twice.
	// AddTallies refuses a run that does not exist and a Tally that fails Check; then nothing is added. Additions to a
	// damaged counter are lost.
	AddTallies(runID string, counts []Tally) error
	// Tallies returns the counters of a run, by name in ascending order; with "" for the run, the sums over
	// all runs.
	Tallies(runID string) ([]Tally, error)
	// Prompt returns the last prompt that PutPrompt stored for a role of a run; ok is false without one.
	Prompt(runID string, role core.Role) (p Prompt, ok bool, err error)
	// PutPrompt stores the prompt of a role of a run and replaces the one before, even a damaged one. It refuses a run
	// that does not exist and a Prompt that fails Check; then the one before stays.
	PutPrompt(p Prompt) error

	// Task returns a task with its newest attempt; ok is false if none has that id.
	Task(id string) (t task.Task, ok bool, err error)
	// PutTask creates a task, or replaces the changeable fields of the one with its id. Launch, Position and CreatedAt
	// never change: PutTask refuses another value for them, a Position below 1, and the Position of another task. It
	// does not store Current: see PutAttempt, which requires the task of a first attempt to exist. At the end of the
	// transaction, each task that it changed or whose attempt it changed must be Coherent.
	PutTask(t task.Task) error
	// Tasks returns the tasks that the query selects, by Position in the direction that it says, each with its
	// newest attempt.
	Tasks(q TaskQuery) ([]task.Task, error)
	// CountTasks counts the results of the query without Newest, After and Limit.
	CountTasks(q TaskQuery) (int, error)
	// NextReady returns the earliest moment after the given instant at which time alone moves a task on, or 0: a queued
	// task without dependencies may begin its retry, or a question takes its default.
	NextReady(after core.Instant) (core.Instant, error)
	// TaskCounts counts all tasks by status; every status has an entry. It takes no longer for many
	// tasks than for few.
	TaskCounts() (map[task.Status]int, error)
	// AddDependency records that a task waits for another one. It refuses a task that does not exist. Adding a
	// dependency twice has no further effect.
	AddDependency(taskID, on string) error
	// DropTask removes a task with its attempts, its replies and its dependencies; ok is false if there is none with
	// that id. It refuses a task whose status is not task.Status.Forgettable and a task with such a dependent. It also
	// refuses an incomplete task with an incomplete dependent, because the dependent may still be told to continue.
	DropTask(id string) (ok bool, err error)
	// Dependents returns at most limit ids, greater than after, of the tasks that wait for the given one, in
	// ascending order.
	Dependents(on, after string, limit int) ([]string, error)

	// Attempt returns an attempt; ok is false if none has that id.
	Attempt(id string) (a task.Attempt, ok bool, err error)
	// PutAttempt creates an attempt of an existing task, or replaces the one with its id. TaskID, Number, Cause and
	// CreatedAt of an attempt never change. A new attempt has the next number of its task, from 1. It is refused while
	// another attempt of the task is not finished, so the end of one is put before the start of the next. A finished
	// attempt changes only in Stale. A token of another attempt is refused; so is a session of another task's attempt
	// or of an unfinished one.
	PutAttempt(a task.Attempt) error
	// Attempts returns at most limit attempts of a task with numbers above after, in order.
	Attempts(taskID string, after, limit int) ([]task.Attempt, error)
	// AttemptOf gets the newest attempt that runs or ran in a session; all of them are of one task.
	AttemptOf(session string) (a task.Attempt, ok bool, err error)
	// AttemptUnder gets the attempt that is or was under the lease with that token.
	AttemptUnder(token string) (a task.Attempt, ok bool, err error)
	// Leased returns at most limit running attempts whose leases end after the given instant, in ascending order of the
	// end and then the id. Several leases may end at the same instant, so a caller that continues after the last one of
	// a page may skip some.
	Leased(after core.Instant, limit int) ([]task.Attempt, error)

	// AddReply stores an answer to an existing task. Its Number must be the next of its task, from 1. Replies are never
	// changed or removed.
	AddReply(r Reply) error
	// Replies returns at most limit replies to a task with numbers above after, in order.
	Replies(taskID string, after, limit int) ([]Reply, error)

	// Breaker returns the breaker of a model by its key; ok is false if there is none.
	Breaker(key string) (b task.Breaker, ok bool, err error)
	// PutBreaker creates or replaces a breaker.
	PutBreaker(b task.Breaker) error
	// OpenedBreakers returns the breakers that have opened and were not closed since, by key in ascending
	// order.
	OpenedBreakers() ([]task.Breaker, error)
	// Breakers returns at most limit breakers behind the key after, opened or not, by key in ascending order of
	// its bytes.
	Breakers(after string, limit int) ([]task.Breaker, error)

	// Append adds a record with the next number to the event log. Times in the log never decrease: an At before the
	// last record's is stored as that of the last record.
	Append(ev Event) (seq int64, err error)
	// Events returns at most limit records after the given number, in order, or only those of the given types. A limit
	// below 1 returns nothing, here and in the methods below.
	Events(after int64, limit int, types []core.EventType) ([]Event, error)
	// EventsOf returns at most limit records about one subject after the given number, in order.
	EventsOf(subject string, after int64, limit int) ([]Event, error)
	// Bounds returns the numbers of the oldest record that is kept and of the newest. An empty log
	// has oldest = newest+1.
	Bounds() (oldest, newest int64, err error)
	// Tip returns the point at which the log ends, including records that the current Update has appended. It costs no
	// more than Bounds.
	Tip() (Point, error)
	// SeqBefore returns the number of the last record with At < at, or oldest-1.
	SeqBefore(at core.Instant) (int64, error)

	// Root returns the record before the oldest one of the log.
	Root() (Root, error)
	// PutRoot makes an empty event log continue after a record that is stored elsewhere or lost. Its Seq is at least 1,
	// and the next record has the following number. Of a log that has a record, or had one, it is refused.
	PutRoot(r Root) error

	// PutNotice creates a notice or replaces it. A Position that another notice has, or one below
	// 1, is refused.
	PutNotice(n Notice) error
	// Notice gets a notice that was not consumed.
	Notice(id string) (n Notice, ok bool, err error)
	// Notices returns at most limit open notices after the given Position, in ascending order of Position. With a
	// session, it returns only that session's notices.
	Notices(session string, after int64, limit int) ([]Notice, error)
	// NoticesAbout returns the notices with that Subject that were not consumed, by Position in ascending order. A
	// damaged notice is left out.
	NoticesAbout(subject string) ([]Notice, error)
	// CountNotices counts the notices that were not consumed.
	CountNotices() (int, error)
	// ConsumeNotice removes a notice; ok is false if there is none with that id.
	ConsumeNotice(id string) (ok bool, err error)

	// IDs returns the ids that the query selects, in the order of their bytes, each once.
	IDs(q IDQuery) ([]string, error)
	// Answered returns the stored answer for an idempotency key.
	Answered(key string) (a Answer, ok bool, err error)
	// PutAnswer keeps the answer for its key. If the key has an answer already, that one stays.
	PutAnswer(a Answer) error
	// Answers returns at most limit answers behind the key after, by key in ascending order of its bytes.
	Answers(after string, limit int) ([]Answer, error)

	// Prune removes at most limit finished records of each kind that are older than before, oldest first. These are
	// acknowledged, cancelled and plain sent instructions by their last change, answers, prompts, and the oldest part
	// of the event log. It never touches armed, queued, outstanding or failed instructions, runs, facts, tallies, tasks,
	// attempts, replies, breakers or notices. It returns how many records it removed.
	Prune(before core.Instant, limit int) (int, error)
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
