package ledger

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file knows what people and tools write for a status, wherever they write it.

// wordUse is where a word stands for a status.
type wordUse uint8

const (
	inCell   wordUse = 1 << iota // of a table
	inRecord                     // a field of a file, and what somebody says at a terminal
	inLegend
	inTitle // of a heading, in brackets, where other words are a part of the title

	notInTitle = inCell | inRecord | inLegend
	everywhere = notInTitle | inTitle
)

// statusWords are in lower case and with spaces for hyphens and underscores.
var statusWords = [...]struct {
	word   string
	status Status
	use    wordUse
}{
	{"todo", Pending, everywhere},
	{"to do", Pending, everywhere},
	{"open", Pending, everywhere},
	{"pending", Pending, everywhere},
	{"queued", Pending, everywhere},
	{"not started", Pending, everywhere},
	{"planned", Pending, notInTitle},
	{"backlog", Pending, notInTitle},
	{"draft", Pending, notInTitle},
	{"new", Pending, notInTitle},
	{"ready", Pending, notInTitle},
	{"scheduled", Pending, notInTitle},
	{"not done", Pending, inCell},
	{"no", Pending, inCell},
	{"in progress", InProgress, everywhere},
	{"wip", InProgress, everywhere},
	{"doing", InProgress, everywhere},
	{"started", InProgress, everywhere},
	{"active", InProgress, notInTitle},
	{"ongoing", InProgress, notInTitle},
	// A legend has its own mark for these, which nobody means who begins something.
	{"review", InProgress, inCell | inRecord},
	{"in review", InProgress, inCell | inRecord},
	{"for review", InProgress, inCell | inRecord},
	{"under review", InProgress, inCell | inRecord},
	{"testing", InProgress, inCell | inRecord},
	{"done", Completed, everywhere},
	{"completed", Completed, everywhere},
	{"complete", Completed, everywhere},
	{"finished", Completed, everywhere},
	{"closed", Completed, notInTitle},
	{"merged", Completed, notInTitle},
	{"shipped", Completed, notInTitle},
	{"resolved", Completed, notInTitle},
	{"yes", Completed, inCell},
	{"x", Completed, inCell},
	{"blocked", Blocked, everywhere},
	{"waiting", Blocked, everywhere},
	{"on hold", Blocked, everywhere},
	{"paused", Blocked, everywhere},
	{"skipped", Skipped, everywhere},
	{"deferred", Skipped, everywhere},
	{"superseded", Skipped, everywhere},
	{"withdrawn", Skipped, everywhere},
	{"cancelled", Skipped, everywhere},
	{"canceled", Skipped, everywhere},
	{"dropped", Skipped, everywhere},
	{"obsolete", Skipped, everywhere},
	{"abandoned", Skipped, everywhere},
	{"won't do", Skipped, everywhere},
	{"won't fix", Skipped, everywhere},
	{"wontfix", Skipped, everywhere},
	{"skip", Skipped, inLegend}, // which says what is done with an item
	{"defer", Skipped, inLegend},
	{"cancel", Skipped, inLegend},
}

// wordFor reads a text that is a word for a status and nothing else, 0 for none.
func wordFor(s string, use wordUse) Status {
	for i := range statusWords {
		if w := &statusWords[i]; w.use&use != 0 && len(s) == len(w.word) && sameWords(s, w.word) {
			return w.status
		}
	}
	return 0
}

// wordAt reads the status that a text begins with and the width of its word, unless the text goes on with
// other words: "done" and "Done (in May)" are completed, "done if it rains" is not.
func wordAt(s string, use wordUse) (status Status, width int, known bool) {
	for i := range statusWords {
		w := &statusWords[i]
		if w.use&use == 0 || len(s) < len(w.word) || !sameWords(s[:len(w.word)], w.word) {
			continue
		}
		// Bold type may end with the word.
		if rest := strings.TrimLeft(s[len(w.word):], "*`_"); rest == "" || stops(trim(rest)) || strings.HasPrefix(rest, " - ") || dated(rest) {
			return w.status, len(w.word), true
		}
	}
	return Pending, 0, false
}

// stops reports whether s begins with what ends a word and a thought: a bracket,
// a comma or a sign.
func stops(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if r < utf8.RuneSelf {
		return strings.ContainsRune("(,;:.[!", r)
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// sameWords reports whether s, which is as long, is the words, whatever its case,
// and whether spaces, hyphens or underscores stand between them.
func sameWords(s, words string) bool {
	for i := range len(words) {
		switch c := s[i]; {
		case c == '-' || c == '_' || c == ' ':
			if words[i] != ' ' {
				return false
			}
		case isUpper(c):
			if c|0x20 != words[i] {
				return false
			}
		case c != words[i]:
			return false
		}
	}
	return true
}

// WordStatus returns the status that a word names as people and tools write it: "done", "In Progress",
// "in_progress". It knows the words of String and more; ok is false for any other text.
func WordStatus(word string) (status Status, ok bool) {
	status = wordFor(trim(word), inRecord)
	return status, status != 0
}
