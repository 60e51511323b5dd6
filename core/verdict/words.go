package verdict

import "strings"

// A Vocabulary is the set of status words of one form of result. The same word may mean something else in another
// vocabulary.
type Vocabulary string

// The vocabularies.
const (
	V2Status      Vocabulary = "v2 headers"
	WorkerBlock   Vocabulary = "result block of a worker"
	ReviewerBlock Vocabulary = "result block of a reviewer"
)

// A Word maps a status word of a vocabulary to a verdict.
type Word struct {
	In    Vocabulary
	Word  string
	Means Verdict
}

// words lists each status word once. A word of one vocabulary never decides about another, even with the same spelling.
var words = []Word{
	{V2Status, "pass", Pass},
	{V2Status, "gaps", Gaps},
	{V2Status, "error", Error},

	{WorkerBlock, "completed", Pass},
	{WorkerBlock, "blocked", Gaps},
	{WorkerBlock, "failed", Error},

	{ReviewerBlock, "approved", Pass},
	{ReviewerBlock, "needs_changes", Gaps},
	{ReviewerBlock, "blocked", Error},
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
