package verdict

import (
	"slices"
	"strings"
	"unicode"

	"waybill/core"
)

// A phrase states a verdict if it is a whole sentence. Within a longer sentence ("it cannot be approved", "no issues
// found") it is a mention: it states nothing, and contradicts a statement of the opposite.
type phrase struct {
	words   string // in lower case, without colons
	verdict Verdict
	role    core.Role // the role that says it; 0 if any does
	by      speaker
	open    bool // the sentence may continue after it
}

type speaker uint8

const (
	anybody speaker = iota
	aWorker
	aReviewer
)

// The first phrase in a sentence counts, so a phrase precedes the phrases that it contains.
var phrases = []phrase{
	{words: "not approved", verdict: Gaps, by: aReviewer},
	{words: "i do not approve", verdict: Gaps, by: aReviewer, open: true},
	{words: "i don't approve", verdict: Gaps, by: aReviewer, open: true},
	{words: "i cannot approve", verdict: Gaps, by: aReviewer, open: true},
	{words: "i can't approve", verdict: Gaps, by: aReviewer, open: true},
	{words: "i can not approve", verdict: Gaps, by: aReviewer, open: true},
	{words: "i will not approve", verdict: Gaps, by: aReviewer, open: true},
	{words: "i won't approve", verdict: Gaps, by: aReviewer, open: true},
	{words: "i reject", verdict: Gaps, by: aReviewer, open: true},
	{words: "rejected", verdict: Gaps, by: aReviewer},
	{words: "needs changes", verdict: Gaps, by: aReviewer},
	{words: "changes requested", verdict: Gaps, by: aReviewer},
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

// fits reports whether the phrase can be the verdict of the role.
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

// statementParts are parts of phrases and labels. A line without any of them has no statement.
var statementParts = []string{
	"approve", "passed", "compliant", "complete", "failed", "found", "blocked", "exceeded", "died", "error", "reject", "changes",
	"verdict:", "result:", "status:", "outcome:", "assessment:", "conclusion:", // of labels
	"however", "except", "although", "unfortunately", "but ",
}

// doubts are words that contradict their own sentence.
var doubts = []string{
	"not", "no", "never", "cannot", "can't", "isn't", "wasn't", "won't", "without", "if", "when", "once",
	"unless", "until", "would", "should", "could", "may", "might", "but", "however", "except", "although",
	"though", "pending", "almost", "nearly", "partially", "none", "zero", "0",
}

// reversals are words that begin a sentence which takes back the one before.
var reversals = []string{"but", "however", "except", "although", "unfortunately"}

// labels may stand before a phrase.
var labels = []string{"verdict", "final verdict", "result", "status", "outcome", "assessment", "conclusion", "review result"}

// nothings deny what follows them, as in "no issues found" and "Issues found: none".
var nothings = []string{"no", "none", "nothing", "zero", "0"}

// denies reports whether a sentence only denies a rejection.
func denies(low string) bool {
	first, rest, _ := strings.Cut(low, " ")
	return slices.Contains(nothings, first) && slices.ContainsFunc(phrases, func(p phrase) bool { return p.words == rest && p.verdict != Pass })
}

// nothing reports whether the details after a rejection deny it. "No" may begin an issue, such as "no tests".
func nothing(details string) bool {
	first, rest, _ := strings.Cut(normal(details), " ")
	return slices.Contains(nothings, first) && (first != "no" || rest == "" || slices.ContainsFunc(strings.Fields(rest), func(word string) bool {
		return slices.Contains([]string{"issues", "problems", "findings", "failures", "errors", "blockers"}, word)
	}))
}

// quotingMarks are characters of forms, tables and quotations. A sentence with one states nothing. A sentence with one
// of the crosses states no pass.
const (
	quotingMarks = "[]{}<>|=~\"“”«»☐☒"
	crosses      = "✗✘✖❌👎"
)

// statement returns the statement of a sentence.
func (s sentence) statement(role core.Role) (statement, bool) {
	words := wordsOf(s.text)
	low := strings.ToLower(strings.Join(words, " "))
	if denies(low) {
		return statement{}, false
	}
	found := statement{at: s.at, text: trim(s.text)}
	if found.verdict = s.labelled(low); found.verdict != "" {
		found.clear = true
		return found, true
	}
	padded := " " + low + " "
	for _, p := range phrases {
		if !strings.Contains(padded, " "+p.words+" ") {
			continue
		}
		found.verdict, found.role = p.verdict, p.role
		found.clear = s.whole(p.verdict) && (p.open || !s.goesOn) && p.fits(role) && p.states(s.text, low)
		found.doubted = !s.whole(Pass) || slices.ContainsFunc(strings.Fields(low), isDoubt)
		if found.clear || p.mentioned(words, found.doubted) {
			return found, true
		}
	}
	found = statement{at: s.at, text: found.text}
	if head, _, ok := strings.Cut(s.text[:min(len(s.text), maxKey)], ":"); ok && normal(head) == "error" {
		found.verdict = Error
		return found, true
	}
	return found, slices.Contains(reversals, firstWord(low))
}

// labelled returns the verdict of a sentence such as "status: gaps", unless it is a pass. A pass needs a form or a
// phrase.
func (s sentence) labelled(low string) Verdict {
	_, word, ok := strings.Cut(s.text, ":")
	if !ok || strings.ContainsAny(word, quotingMarks) {
		return ""
	}
	word = strings.Trim(word, "*_`\"'. \t\r\n")
	if !slices.ContainsFunc(labels, func(label string) bool { return strings.HasPrefix(low, label+" ") }) {
		return ""
	}
	return rejection(word)
}

// rejection returns the verdict of a status word or another usual word for a rejection, and "" for a pass or any other
// word.
func rejection(word string) Verdict {
	word = strings.ReplaceAll(word, " ", "_")
	for _, in := range []Vocabulary{V2Status, WorkerBlock, ReviewerBlock} {
		if found, ok := Lookup(in, word); ok && found.Means != Pass {
			return found.Means
		}
	}
	if slices.Contains([]string{"fail", "rejected", "not_approved", "changes_requested", "request_changes"}, strings.ToLower(word)) {
		return Gaps
	}
	return ""
}

// wordsOf returns the words of a sentence without the marks between and around them.
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

// normal returns a sentence as its words in lower case.
func normal(sentence string) string { return strings.ToLower(strings.Join(wordsOf(sentence), " ")) }

func isDoubt(word string) bool { return slices.Contains(doubts, word) }

// mentioned reports whether a sentence means the phrase that it contains. A single word counts only in capitals, or
// if it is a doubted pass.
func (p phrase) mentioned(words []string, doubted bool) bool {
	return strings.Contains(p.words, " ") || slices.Contains(words, strings.ToUpper(p.words)) || doubted && p.verdict == Pass
}

// states reports whether a sentence is the phrase, without a doubt. A label may precede it, and details may follow
// after a colon.
func (p phrase) states(sentence, low string) bool {
	if strings.ContainsAny(sentence, quotingMarks) || p.verdict == Pass && strings.ContainsAny(sentence, crosses) {
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
	if p.verdict == Pass {
		return false
	}
	for _, mark := range []string{":", " - ", " – ", " — "} {
		if head, tail, ok := strings.Cut(sentence, mark); ok && normal(head) == p.words && !nothing(tail) {
			return true
		}
	}
	return false
}

func firstWord(s string) string {
	if words := wordsOf(s[:min(len(s), maxKey)]); len(words) > 0 {
		return strings.ToLower(words[0])
	}
	return ""
}
