package store

import (
	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
)

// The contracts of a transaction. The comment of Tx states what holds for all of them.

// InstructionRecords reads and writes the instructions.
type InstructionRecords interface {
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
}

// RunRecords reads and writes the runs.
type RunRecords interface {
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
}

// RunContents reads and writes the records of one run: facts, counters and the last prompts.
type RunContents interface {
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
}

// TaskRecords reads and writes the tasks and which of them waits for which.
type TaskRecords interface {
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
}

// AttemptRecords reads and writes the attempts of tasks, and the replies to tasks.
type AttemptRecords interface {
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
}

// BreakerRecords reads and writes the breakers of the models.
type BreakerRecords interface {
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
}

// EventLog appends to the event log and reads it.
type EventLog interface {
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
}

// NoticeRecords reads and writes the notices that were not consumed.
type NoticeRecords interface {
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
}

// AnswerRecords reads and writes the answers to calls with an idempotency key.
type AnswerRecords interface {
	// Answered returns the stored answer for an idempotency key.
	Answered(key string) (a Answer, ok bool, err error)
	// PutAnswer keeps the answer for its key. If the key has an answer already, that one stays.
	PutAnswer(a Answer) error
	// Answers returns at most limit answers behind the key after, by key in ascending order of its bytes.
	Answers(after string, limit int) ([]Answer, error)
}

// Whole concerns the records of all subjects.
type Whole interface {
	// Writes counts the verbs that have put, appended, consumed or pruned something so far in this
	// transaction.
	Writes() int
	// IDs returns the ids that the query selects, in the order of their bytes, each once.
	IDs(q IDQuery) ([]string, error)
	// Prune removes at most limit finished records of each kind that are older than before, oldest first. These are
	// acknowledged, cancelled and plain sent instructions by their last change, answers, prompts, and the oldest part
	// of the event log. It never touches armed, queued, outstanding or failed instructions, runs, facts, tallies, tasks,
	// attempts, replies, breakers or notices. It returns how many records it removed.
	Prune(before core.Instant, limit int) (int, error)
}
