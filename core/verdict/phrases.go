package verdict

import (
	"slices"
	"strings"
	"unicode"

	"waybill/core"
)

// A phrase is a statement that is a verdict if it is a whole sentence. The same words within a longer
// sentence ("it cannot be approved", "no issues found") are a mention: they state nothing, and speak
// against a statement of the contrary.
type phrase struct {
	words   string // in lower case, without colons
	verdict Verdict
	role    core.Role // who says it; 0 if any reviewer or anybody does
	by      speaker
	open    bool // the sentence may go on after it
}

type speaker uint8

const (
	anybody speaker = iota
	aWorker
	aReviewer
)

// The first one that a sentence contains counts, so a phrase comes before those that it contains.
var phrases = []phrase{
	{words: "not approved", verdict: Gaps, by: aReviewer},
	{words: "not spec compliant", verdict: Gaps, by: aReviewer, role: core.SpecReviewer},

	{words: "spec review passed", verdict: Pass, by: aReviewer, role: core.SpecReviewer},
	{words: "spec compliant", verdict: Pass, by: aReviewer, role: core.SpecReviewer},
	{words: "code quality review passed", verdict: Pass, by: aReviewer, role: core.CodeQualityReviewer},
	{words: "review passed", verdict: Pass, by: aReviewer},
	{words: "approved", verdict: Pass, by: aReviewer},
	{words: "implementation complete", verdict: Pass, by: aWorker},

	{words: "spec review failed", verdict: Gaps, by: aReviewer, role: core.SpecReviewer},
	{words: "code quality review failed", verdict: Gaps, by: aReviewer, role: core.CodeQualityReviewer},
	{words: "review failed", verdict: Gaps, by: aReviewer},
	{words: "issues found", verdict: Gaps, by: aReviewer},
	{words: "task blocked on", verdict: Gaps, by: aWorker, open: true},
	{words: "failed", verdict: Gaps},

	{words: "review loop exceeded", verdict: Error, open: true},
	{words: "session_died", verdict: Error},
}

// fits reports whether this phrase can be the verdict of the role.
func (p phrase) fits(role core.Role) bool {
	switch p.by {
	case aWorker:
		return role == core.Worker
	case aReviewer:
		return role != core.Worker
	case anybody:
	}
	return true
}

// Where none of these stands in a line, there is nothing in it for us.
var stems = []string{
	"approved", "passed", "compliant", "complete", "failed", "found", "blocked", "exceeded", "died", "error",
	"however", "except", "although", "unfortunately", "but ",
}

// doubts are words that take a sentence back.
var doubts = []string{
	"not", "no", "never", "cannot", "can't", "isn't", "wasn't", "won't", "without", "if", "when", "once",
	"unless", "until", "would", "should", "could", "may", "might", "but", "however", "except", "although",
	"though", "pending", "almost", "nearly", "partially", "none", "zero", "0",
}

// turns are words that begin a sentence which takes the one before it back.
var turns = []string{"but", "however", "except", "although", "unfortunately"}

// labels may stand before a phrase.
var labels = []string{"verdict", "final verdict", "result", "status", "outcome", "assessment", "conclusion", "review result"}

// denials deny what nobody claims, and are no verdict by themselves.
var denials = []string{"no issues found", "0 issues found", "zero issues found"}

// hollow are characters that make an entry of a form, a table or a quotation of a statement, or a joke.
const hollow = "[]{}<>|=~\"“”«»☐☒✗✘✖❌👎"

// statement finds out what a sentence of the line at an offset says.
func (s sentence) statement(at int, role core.Role) (statement, bool) {
	words := wordsOf(s.text)
	low := strings.ToLower(strings.Join(words, " "))
	if slices.Contains(denials, low) {
		return statement{}, false
	}
	found := statement{at: at, text: trim(s.text)}
	padded := " " + low + " "
	for _, p := range phrases {
		if !strings.Contains(padded, " "+p.words+" ") {
			continue
		}
		found.verdict, found.role = p.verdict, p.role
		found.clear = s.states && (p.open || !s.goesOn) && p.fits(role) && p.states(s.text, low)
		found.doubted = !s.states || slices.ContainsFunc(strings.Fields(low), isDoubt)
		if found.clear || p.mentioned(words, found.doubted) {
			return found, true
		}
	}
	found = statement{at: at, text: found.text}
	if head, _, ok := strings.Cut(s.text[:min(len(s.text), maxKey)], ":"); ok && normal(head) == "error" {
		found.verdict = Error
		return found, true
	}
	return found, slices.Contains(turns, firstWord(low))
}

// wordsOf gives the words of a sentence without the marks between and around them.
func wordsOf(sentence string) []string {
	words := strings.FieldsFunc(sentence, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'’_-", r)
	})
	kept := words[:0]
	for _, word := range words {
		if word = strings.Trim(word, "'’_-"); word != "" {
			kept = append(kept, word)
		}
	}
	return kept
}

// normal gives a sentence as its words in lower case.
func normal(sentence string) string { return strings.ToLower(strings.Join(wordsOf(sentence), " ")) }

func isDoubt(word string) bool { return slices.Contains(doubts, word) }

// mentioned reports whether a sentence that has the phrase means it. A single word is an everyday word
// unless it is shouted, or unless it is a pass that is doubted.
func (p phrase) mentioned(words []string, doubted bool) bool {
	return strings.Contains(p.words, " ") || slices.Contains(words, strings.ToUpper(p.words)) || doubted && p.verdict == Pass
}

// states reports whether a sentence is the phrase and nothing takes it back. A label may stand before
// it, and what is wrong may follow it after a colon.
func (p phrase) states(sentence, low string) bool {
	if strings.ContainsAny(sentence, hollow) {
		return false
	}
	for _, label := range labels {
		if rest, ok := strings.CutPrefix(low, label+" "); ok {
			low = rest
			break
		}
	}
	if low == p.words {
		return true
	}
	if rest, ok := strings.CutPrefix(low, p.words+" "); p.open && ok {
		return !isDoubt(firstWord(rest))
	}
	head, tail, ok := strings.Cut(sentence, ":")
	return ok && p.verdict != Pass && normal(head) == p.words && !isDoubt(firstWord(tail))
}

func firstWord(s string) string {
	if words := wordsOf(s[:min(len(s), maxKey)]); len(words) > 0 {
		return strings.ToLower(words[0])
	}
	return ""
}
