// Package store states the promise that every database of waybill keeps, and the few verbs that the
// engine speaks to it. What a state may become is not decided here, and no database decides it:
// SQL gets and puts, and its CHECK constraints only repeat the core's laws.
//
// # The promise
//
// Durable. When Update returns nil, everything that its function put has reached stable storage: it
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
// Gap-free. The event log is numbered 1, 2, 3, … in commit order, without gaps, whatever failed in
// between, until Prune cuts off its oldest part. Each record carries a hash over itself and the hash
// of the record before, so that a lost, changed or inserted record is found by Verify.
//
// Honest. Before Update returns nil it has made sure that the database it wrote is still the one
// that the next process will open. What it reads is checked against a checksum stored with it.
//
// Fair. Processes that write to one store take turns.
package store

import (
	"context"
	"fmt"
	"time"

	"waybill/core"
	"waybill/meter"
)

// A Store is one workspace's durable memory. All methods may be called from any goroutine.
type Store interface {
	// Update runs fn in a transaction and commits it durably if fn returns nil. An error of fn is
	// returned as it is, and nothing is applied; the same holds for a panic of fn. fn may be run
	// more than once, so it must touch nothing but tx and values that it sets anew in each run, and
	// use no other method of the store. fn must not keep tx.
	// Nothing is applied either, and the error says why, if fn leaves a task that is not Coherent.
	// Every other error is an *Error. When ctx ends before the commit has begun, nothing is applied;
	// after that, the end of ctx is not heeded any more.
	Update(ctx context.Context, fn func(tx Tx) error) error

	// UpdateReserved is Update for changes that only bring to an end what is there already: an
	// acknowledgement, a failure with its notice, a cancellation, a consumed notice. When there is
	// no space left for an Update, they may use the space that the store holds in reserve for them.
	UpdateReserved(ctx context.Context, fn func(tx Tx) error) error

	// View runs fn on one consistent reading. The putting verbs of its tx return an *Error of kind
	// ReadOnly. Views run beside each other and beside an Update. A View may be ended by force, with
	// an *Error of kind Cancelled, if it goes on for much longer than a reading takes.
	View(ctx context.Context, fn func(tx Tx) error) error

	// Changed returns a channel of size one that is signalled after commits of other processes, as
	// well as this one can notice them. It never closes.
	Changed() <-chan struct{}

	// Status describes the store as it is now.
	Status(ctx context.Context) Status

	// Verify reads everything and reports every record that is not what was written.
	Verify(ctx context.Context) ([]Damage, error)

	// Close ends the store. Calls under way are finished first.
	Close() error
}

// Moments is a Store that can tell without a View whether something was committed.
type Moments interface {
	Store
	// Moment names the present contents: while it gives the same, a View sees the same. It may give another one
	// although nothing has changed. ok is false while somebody is at a commit, or may be. It costs less than a View.
	Moment() (now Moment, ok bool)
}

// A Moment is comparable with those that the same Store has given, and with no others.
type Moment struct{ File, Commits int64 }

// A Tx is one transaction. Getting verbs see what the same transaction put before. A Tx must not be
// used by two goroutines at once, and not after its function has returned.
//
// A putting verb that would break a rule given here, such as a Position that is taken, returns an
// error and changes nothing; the transaction goes on. Once a verb has returned an *Error, the
// transaction is lost: Update returns that error whatever fn returns.
//
// Damage of one record holds up no other. A getting verb that meets a record that is not what was
// written returns an *Error of kind Corrupt, and the transaction goes on: nothing has changed. LatestRuns, Runs,
// Tallies, Tasks, Attempts, Leased, Dependents, Replies and the breakers leave such a record out. The Status
// names it either way.
type Tx interface {
	// Writes counts the verbs that have put, appended, consumed or pruned something so far in this
	// transaction.
	Writes() int

	// Instruction gets an instruction; ok is false if there is none with that id.
	Instruction(id string) (in core.Instruction, ok bool, err error)
	// PutInstruction creates an instruction, or replaces the phase of the one with its id. The other
	// fields are fixed when it is created: putting another value for one is refused. So is a
	// Position that another instruction has, or one below 1.
	PutInstruction(in core.Instruction) error
	// Instructions gives the instructions that the query selects, in its order.
	Instructions(q InstructionQuery) ([]core.Instruction, error)
	// CountInstructions counts what the query selects, without regard to After and Limit.
	CountInstructions(q InstructionQuery) (int, error)
	// InstructionCounts counts all instructions by state; every state has an entry. It takes no
	// longer for many instructions than for few.
	InstructionCounts() (map[core.State]int, error)

	// Run gets a run; ok is false if there is none with that id.
	Run(id string) (run core.Run, ok bool, err error)
	// LatestRun gets the run of the item that was put first last, whatever its state.
	LatestRun(plan, itemID string) (run core.Run, ok bool, err error)
	// LatestRuns gives, of each item of the plan, the run that LatestRun gets, by item in ascending order of
	// the bytes of its id. An item whose latest run is damaged is left out: an earlier run does not stand
	// for it.
	LatestRuns(plan string) ([]core.Run, error)
	// Runs gives the runs that the query selects, by their first put, the last first.
	Runs(q RunQuery) ([]core.Run, error)
	// PutRun creates or replaces a run.
	PutRun(run core.Run) error
	// RunCounts counts all runs by state; every state has an entry.
	RunCounts() (map[core.RunState]int, error)
	// Facts gives the facts of a run, by key in ascending order of its bytes.
	Facts(runID string) ([]Fact, error)
	// PutFacts replaces all facts of a run. A run that was never put is refused, and so is a key
	// that is given twice.
	PutFacts(runID string, facts []Fact) error
	// AddTallies adds to counters of a run, each of which begins at 0: see Tally.Plus. A name that is given
	// twice is added twice. A run that was never put is refused, and so is a Tally that Check finds fault
	// with; then nothing is added. Of a counter that is damaged, what is added is lost, too.
	AddTallies(runID string, counts []Tally) error
	// Tallies gives the counters of a run, by name in ascending order; with "" for the run, the sums over
	// all runs.
	Tallies(runID string) ([]Tally, error)
	// Prompt gets what PutPrompt put last for a role of a run; ok is false if there is nothing.
	Prompt(runID string, role core.Role) (p Prompt, ok bool, err error)
	// PutPrompt keeps the prompt that was given for a role of a run, in the place of the one before, even
	// where that is damaged. A run that was never put is refused, and so is a Prompt that Check finds fault
	// with; then the one before stays.
	PutPrompt(p Prompt) error

	// Task gets a task with its newest attempt; ok is false if there is none with that id.
	Task(id string) (t core.Task, ok bool, err error)
	// PutTask creates a task, or replaces what may change of the one with its id. Launch, Position and
	// CreatedAt are fixed when it is created: putting another value for one is refused. So is a Position
	// that another task has, or one below 1. Current is not put with it: see PutAttempt, which a new
	// task has to come before. Of a task that exists, it does not matter which is put first. When the
	// transaction ends, each task that it put, or of which it put an attempt, must be Coherent.
	PutTask(t core.Task) error
	// Tasks gives the tasks that the query selects, by Position in the direction that it says, each with its
	// newest attempt.
	Tasks(q TaskQuery) ([]core.Task, error)
	// CountTasks counts what the query selects, without regard to Newest, After and Limit.
	CountTasks(q TaskQuery) (int, error)
	// NextReady gives the earliest moment behind the given instant at which a queued task that waits for
	// no other may begin its retry, or 0 if there is none.
	NextReady(after core.Instant) (core.Instant, error)
	// TaskCounts counts all tasks by status; every status has an entry. It takes no longer for many
	// tasks than for few.
	TaskCounts() (map[core.TaskStatus]int, error)
	// AddDependency notes that a task waits for another one. Both must have been put, or it is refused.
	// Twice is once.
	AddDependency(taskID, on string) error
	// DropTask removes a task with its attempts, its replies and its dependencies; ok is false if there is none with
	// that id. One whose status is not core.TaskStatus.Forgettable is refused. So is one that a task depends on which is
	// not so either, and one that is not complete itself if that one is not, because it may still be told to go on.
	DropTask(id string) (ok bool, err error)
	// Dependents gives the ids of the tasks that wait for the given one, in ascending order, at most
	// limit, behind the id after.
	Dependents(on, after string, limit int) ([]string, error)

	// Attempt gets an attempt; ok is false if there is none with that id.
	Attempt(id string) (a core.Attempt, ok bool, err error)
	// PutAttempt creates an attempt of a task that was put, or replaces the one with its id, of which
	// TaskID, Number, Cause and CreatedAt are fixed. A new one has the next number of its task, from 1,
	// and is refused while another attempt of the task is not finished: whoever ends one and begins the
	// next puts them in this order. Of a finished attempt only Stale changes: putting another value for
	// anything else is refused. So is a token that another attempt has, and a session that an attempt
	// of another task has, or an unfinished one.
	PutAttempt(a core.Attempt) error
	// Attempts gives at most limit attempts of a task behind the given number, in order.
	Attempts(taskID string, after, limit int) ([]core.Attempt, error)
	// AttemptOf gets the newest attempt that runs or ran in a session; all of them are of one task.
	AttemptOf(session string) (a core.Attempt, ok bool, err error)
	// AttemptUnder gets the attempt that is or was under the lease with that token.
	AttemptUnder(token string) (a core.Attempt, ok bool, err error)
	// Leased gives at most limit running attempts whose leases end behind the given instant, by the end
	// of the lease and then by id in ascending order. Leases may end at the same instant, so that who
	// goes on behind the last of a page may skip some.
	Leased(after core.Instant, limit int) ([]core.Attempt, error)

	// AddReply keeps an answer to a task that was put. Its Number must be the next of its task, from 1.
	// Replies are never changed or removed.
	AddReply(r Reply) error
	// Replies gives at most limit replies to a task behind the given number, in order.
	Replies(taskID string, after, limit int) ([]Reply, error)

	// Breaker gets the breaker of a model by its key; ok is false if it was never put.
	Breaker(key string) (b core.Breaker, ok bool, err error)
	// PutBreaker creates or replaces a breaker.
	PutBreaker(b core.Breaker) error
	// OpenedBreakers gives the breakers that have opened and were not closed since, by key in ascending
	// order.
	OpenedBreakers() ([]core.Breaker, error)
	// Breakers gives at most limit breakers behind the key after, opened or not, by key in ascending order of
	// its bytes.
	Breakers(after string, limit int) ([]core.Breaker, error)

	// Append adds a record to the event log and gives it the next number. The log keeps time
	// running forwards: an At before that of the last record is stored as that of the last record.
	Append(ev Event) (seq int64, err error)
	// Events gives at most limit records after the given number, in order. With types, only those
	// of these types. A limit below 1 gives nothing, here and in the verbs below.
	Events(after int64, limit int, types []core.EventType) ([]Event, error)
	// EventsOf gives at most limit records about one subject after the given number, in order.
	EventsOf(subject string, after int64, limit int) ([]Event, error)
	// Bounds gives the numbers of the oldest record that is kept and of the newest. An empty log
	// has oldest = newest+1.
	Bounds() (oldest, newest int64, err error)
	// Tip gives the point at which the log ends: in an Update, behind what was appended so far. It costs no more than
	// Bounds.
	Tip() (Point, error)
	// SeqBefore gives the number of the last record with At < at, or oldest-1.
	SeqBefore(at core.Instant) (int64, error)

	// Root gives what the event log stands on.
	Root() (Root, error)
	// PutRoot has an event log to which nothing was ever appended go on behind a record that is kept
	// elsewhere or nowhere: its Seq is at least 1, and the next record has the number behind it. Of a log
	// that has a record, or had one, it is refused.
	PutRoot(r Root) error

	// PutNotice creates a notice or replaces it. A Position that another notice has, or one below
	// 1, is refused.
	PutNotice(n Notice) error
	// Notice gets a notice that was not consumed.
	Notice(id string) (n Notice, ok bool, err error)
	// Notices gives notices that were not consumed, by Position in ascending order, at most limit,
	// after the given Position; with a session, only those for it.
	Notices(session string, after int64, limit int) ([]Notice, error)
	// CountNotices counts the notices that were not consumed.
	CountNotices() (int, error)
	// ConsumeNotice removes a notice; ok is false if there is none with that id.
	ConsumeNotice(id string) (ok bool, err error)

	// Answered gets the answer that was given for an idempotency key.
	Answered(key string) (a Answer, ok bool, err error)
	// PutAnswer keeps the answer for its key. If the key has an answer already, that one stays.
	PutAnswer(a Answer) error
	// Answers gives at most limit answers behind the key after, by key in ascending order of its bytes.
	Answers(after string, limit int) ([]Answer, error)

	// Prune removes at most limit records of each kind that nobody waits for and that are older
	// than before, the oldest first: acknowledged, cancelled and plain sent instructions (by their
	// last change), answers, prompts, and the oldest part of the event log. It never touches queued,
	// outstanding or failed instructions, runs, facts, tallies, tasks, attempts, replies, breakers or
	// notices. It gives how many records it removed.
	Prune(before core.Instant, limit int) (int, error)
}

// An Order says in which order instructions are given.
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
	State   core.State
	// Tracked selects tracked instructions only.
	Tracked bool
	// SentBefore selects instructions that were sent, and last at or before this instant or after
	// Now (the clock was set back). Zero selects all.
	SentBefore, Now core.Instant
	// Exhausted selects by whether the sends are used up: nil selects all.
	Exhausted *bool
	// AckEvent selects outstanding instructions whose acknowledgement rule names this event type.
	AckEvent string
	Order    Order
	// After is the Position behind which to go on. With another order than ByPosition it is refused.
	After int64
	// Limit is the most to give; 0 means 500.
	Limit int
}

// DefaultLimit is the Limit of a query that names none.
const DefaultLimit = 500

// A TaskQuery selects tasks. The zero value of each field selects all.
type TaskQuery struct {
	Status core.TaskStatus
	// Live selects tasks that are not over: QUEUED, RUNNING and AWAITING_RESPONSE.
	Live   bool
	RunID  string
	Role   string
	Parent string
	// ReadyAt selects tasks that core.Task.Claimable allows to be claimed at this instant.
	ReadyAt core.Instant
	// Except leaves tasks out whose newest attempt is for a model with one of these keys.
	Except []string
	// Newest gives the tasks by descending Position, the newest first, instead of the oldest first.
	Newest bool
	// After is the Position behind which to go on, in the direction of the query; 0 begins with the first.
	After int64
	// Limit is the most to give; 0 means 500.
	Limit int
}

// A RunQuery selects runs. The zero value of each field selects all.
type RunQuery struct {
	Plan  string
	State core.RunState
	// Behind is the id of the run behind which to go on; of one that was never put, nothing is behind.
	Behind string
	// Limit is the most to give; 0 means 500.
	Limit int
}

// A Reply is a person's answer to a task.
type Reply struct {
	TaskID    string
	Number    int    // from 1
	AttemptID string // the attempt that asked, or that was the newest
	Question  string // what it had asked, or ""
	Text      string
	By        string // who answered, if that was said
	At        core.Instant
}

// An Event is a record of the event log. Seq, At (see Append) and Hash are given by the store.
type Event struct {
	Seq     int64
	At      core.Instant
	Type    core.EventType
	Subject string // the id of the thing that it is about
	Data    string // a JSON object: what changed
	Hash    Hash
}

// A Root is what an event log stands on: the record before the oldest one that is kept.
type Root struct {
	Seq  int64 // its number; 0 if the log begins with the first record there ever was
	Hash Hash  // its hash, from which that of the oldest record follows
	// At is, while the log is empty, the earliest that its next record can have. Otherwise it is 0.
	At core.Instant
}

// A Fact is one fact of a run.
type Fact struct{ Key, Value string }

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

// An Answer is what a call with an idempotency key was answered.
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
	Degraded      []string // what is not as it should be, a sentence each
	Peers         []Peer   // the others that work on it now, as far as they can be known
	Stats         Stats
}

// Stats say what a store has to do with its disk and with other processes. What they count begins with the opening.
type Stats struct {
	// Commits are the commits of updates that succeeded, by how long each took; with what it takes to have it on the
	// disk, where there is one.
	Commits meter.Spread[time.Duration]
	// Waits are the times that a process had to wait for another one before it could write, or gave that up, by how
	// long. Who need not wait is not counted.
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

// A Damage is a record that is not what was written.
type Damage struct {
	What   string // which record, e.g. "event 17" or "instruction ins_…"
	Detail string
}
