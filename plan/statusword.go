package plan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file contains the words for a status that people and tools write.

// wordUse is a set of contexts in which a word is a status.
type wordUse uint8

const (
	inCell   wordUse = 1 << iota // of a table
	inRecord                     // a field of a file, or terminal input
	inLegend
	inTitle // in brackets in a heading, where most words are part of the title

	notInTitle = inCell | inRecord | inLegend
	everywhere = notInTitle | inTitle
)

// statusWords are in lower case, with spaces for hyphens and underscores.
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
	// Tools that start work do not write these words, so a legend has a mark of its own for them.
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
	{"skip", Skipped, inLegend}, // a legend says what happens to an item
	{"defer", Skipped, inLegend},
	{"cancel", Skipped, inLegend},
}

// wordFor returns the status for a text that is exactly a status word, or 0.
func wordFor(s string, use wordUse) Status {
	for i := range statusWords {
		if w := &statusWords[i]; w.use&use != 0 && len(s) == len(w.word) && sameWords(s, w.word) {
			return w.status
		}
	}
	return 0
}

// wordAt returns the status at the beginning of a text, and the width of its word. Other words must not follow: "done"
// and "Done (in May)" are completed, "done if it rains" is not.
func wordAt(s string, use wordUse) (status Status, width int, known bool) {
	for i := range statusWords {
		w := &statusWords[i]
		if w.use&use == 0 || len(s) < len(w.word) || !sameWords(s[:len(w.word)], w.word) {
			continue
		}
		// Bold type may end after the word.
		if rest := strings.TrimLeft(s[len(w.word):], "*`_"); rest == "" || stops(trim(rest)) || strings.HasPrefix(rest, " - ") || dated(rest) {
			return w.status, len(w.word), true
		}
	}
	return Pending, 0, false
}

// stops reports whether s begins with a bracket, a comma or a sign, which ends the status.
func stops(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if r < utf8.RuneSelf {
		return strings.ContainsRune("(,;:.[!", r)
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// sameWords reports whether s equals words, ignoring case, with spaces, hyphens or underscores as separators. Both
// have the same length.
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

// WordStatus returns the status for a word in the spelling of people and tools: "done", "In Progress", "in_progress".
// It accepts the words of String and more. ok is false for any other text.
func WordStatus(word string) (status Status, ok bool) {
	status = wordFor(trim(word), inRecord)
	return status, status != 0
}
