package verdict

import "strings"

// A Vocabulary is a set of status words about one subject. The same word may mean something else in another
// vocabulary.
type Vocabulary string

// The vocabularies.
const (
	V2Status       Vocabulary = "v2 headers"
	WorkerBlock    Vocabulary = "result block of a worker"
	ReviewerBlock  Vocabulary = "result block of a reviewer"
	AttemptStatus  Vocabulary = "attempt of a host"
	QueueStatus    Vocabulary = "task queue of a host"
	SnapshotStatus Vocabulary = "snapshot of a run"
)

// A Field names one of waybill's fields that holds a status.
type Field string

// The fields.
const (
	VerdictField Field = "verdict"
	AttemptField Field = "attempt.status"
	TaskField    Field = "task.status"
	RunField     Field = "run.state"
)

// A Word maps a status word of a vocabulary to a value of a field.
type Word struct {
	In    Vocabulary
	Word  string
	Field Field  // where it goes
	Means string // value of the field
	Note  string // how the word can be misread
}

// words lists each status word of every vocabulary once. A word of one vocabulary never decides about another, even
// with the same spelling.
var words = []Word{
	{V2Status, "pass", VerdictField, "pass", ""},
	{V2Status, "gaps", VerdictField, "gaps", ""},
	{V2Status, "error", VerdictField, "error", "a valid result, unlike the error of an attempt"},

	{WorkerBlock, "completed", VerdictField, "pass", "the worker says so; nobody has approved it yet"},
	{WorkerBlock, "blocked", VerdictField, "gaps", "the worker cannot go on; something outside is missing"},
	{WorkerBlock, "failed", VerdictField, "error", "the worker tried and could not"},

	{ReviewerBlock, "approved", VerdictField, "pass", ""},
	{ReviewerBlock, "needs_changes", VerdictField, "gaps", ""},
	{ReviewerBlock, "blocked", VerdictField, "error", "the reviewer cannot judge; this is no rejection"},

	{AttemptStatus, "pending", AttemptField, "pending", ""},
	{AttemptStatus, "running", AttemptField, "running", ""},
	{AttemptStatus, "completed", AttemptField, "completed", "the agent stopped by itself; says nothing about the result"},
	{AttemptStatus, "error", AttemptField, "error", "the execution failed; there may be no result at all"},
	{AttemptStatus, "cancelled", AttemptField, "cancelled", ""},
	{AttemptStatus, "interrupt", AttemptField, "interrupted", ""},

	{QueueStatus, "QUEUED", TaskField, "QUEUED", ""},
	{QueueStatus, "RUNNING", TaskField, "RUNNING", ""},
	{QueueStatus, "AWAITING_RESPONSE", TaskField, "AWAITING_RESPONSE", ""},
	{QueueStatus, "WAITING_CHILDREN", TaskField, "RUNNING", "its attempt has not ended, so it must not be claimed again"},
	{QueueStatus, "COMPLETE", TaskField, "COMPLETE", ""},
	{QueueStatus, "ERROR", TaskField, "ERROR", ""},
	{QueueStatus, "CANCELLED", TaskField, "CANCELLED", ""},

	{SnapshotStatus, "running", RunField, "running", ""},
	{SnapshotStatus, "blocked", RunField, "blocked", "the run waits for a fix or a decision"},
	{SnapshotStatus, "done", RunField, "done", ""},
	{SnapshotStatus, "failed", RunField, "failed", ""},
}

// Lookup returns the word of a vocabulary, in any case.
func Lookup(in Vocabulary, word string) (Word, bool) {
	for _, w := range words {
		if w.In == in && strings.EqualFold(w.Word, word) {
			return w, true
		}
	}
	return Word{}, false
}

// expected lists the words of a vocabulary for a message.
func expected(in Vocabulary) string {
	var names []string
	for _, w := range words {
		if w.In == in {
			names = append(names, w.Word)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
