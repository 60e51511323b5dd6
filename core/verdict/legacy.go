package verdict

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/core"
)

// A statement is a sentence that matters.
type statement struct {
	verdict Verdict   // "" for a turn
	role    core.Role // who says such a thing, if that can be told
	at      int
	text    string
	clear   bool   // it states the verdict; otherwise it only mentions it
	doubted bool   // it takes itself back
	list    string // issues that it names, separated by commas
}

// contradicts reports whether a statement speaks against another. A turn and a doubted mention of the
// same verdict do so only against a pass.
func (s statement) contradicts(stated statement) bool {
	if s.verdict == "" || !s.clear && s.doubted && s.verdict == Pass {
		return stated.verdict == Pass
	}
	return s.verdict != stated.verdict
}

// judgeStatements reads free text. Exactly one verdict must be stated, and nothing may speak against it.
func judgeStatements(n *notes) Judgement {
	stated, ok := n.statement(func(s statement) bool { return s.clear })
	if !ok {
		mention, ok := n.statement(func(s statement) bool { return s.verdict != "" })
		if !ok {
			return n.nothing()
		}
		n.fault(Ambiguous, "result", mention.at, "a verdict that is stated", mention.text, "a verdict is mentioned, but not stated")
		return n.judgement(Invalid, Legacy, Result{})
	}
	if other, ok := n.statement(func(s statement) bool { return s.contradicts(stated) }); ok {
		n.fault(Ambiguous, "result", other.at, "nothing against: "+show(stated.text), other.text, "a verdict is stated and spoken against")
		return n.judgement(Invalid, Legacy, Result{})
	}
	return n.stated(stated)
}

// statement finds the first one that is asked for.
func (n *notes) statement(wanted func(statement) bool) (statement, bool) {
	for s := range statements(n.text, n.asked.Role) {
		if wanted(s) {
			return s, true
		}
	}
	return statement{}, false
}

func (n *notes) nothing() Judgement {
	found := lineAt(n.text, 0).text
	if found == "" {
		found = trim(n.text)
	}
	message := "nothing in the text is a result"
	if found == "" {
		message = "the text is empty"
	}
	n.fault(NothingRecognised, "result", 0, "a result block or headers", found, message)
	return n.judgement(Invalid, None, Result{})
}

// stated gives the judgement of a clear statement.
func (n *notes) stated(s statement) Judgement {
	if s.role != 0 && s.role != n.asked.Role {
		n.warn(roleDiffers, s.at, "the role is %s, but %s was asked", s.role, n.asked.Role)
	}
	n.warn(legacyStatement, s.at, "the result has no form; a clear statement was taken for one")
	r := Result{Role: n.asked.Role, Status: string(s.verdict), Body: trim(n.text), GitRange: rangeIn(n.text)}
	if s.verdict != Pass {
		r.Issues = n.listed(s)
	}
	return n.judgement(s.verdict, Legacy, r)
}

// listed gives the entries of lists as issues; without a list, the statement itself is the issue.
func (n *notes) listed(s statement) []Issue {
	g := gathering[string]{field: "issues"}
	(header{at: s.at, value: s.list}).split(",", &g, n)
	for l := range outsideFences(n.text) {
		if item, ok := cutBullet(l.text); ok {
			keep(&g, item, l.at, n)
		}
	}
	if len(g.list) == 0 {
		keep(&g, s.text, s.at, n)
	}
	return asIssues(g.done(n))
}

// A spoken line is one that the agent says itself.
type spoken struct {
	line
	joined bool // it may go on with a sentence of the line before
}

// outsideFences gives the lines that the agent says itself: not those in code fences, unless the
// whole text is in one, and not those that quote.
func outsideFences(text string) iter.Seq[spoken] {
	whole := lineAt(trim(text), 0).fence() && strings.Count(text, "\n```") <= 1
	return func(yield func(spoken) bool) {
		inside, joined := false, false
		for at := 0; at < len(text); {
			l := lineAt(text, at)
			at = l.next
			if l.fence() {
				inside, joined = !inside, false
				continue
			}
			if l.text != "" && (!inside || whole) && !isQuoted(l.text) && !yield(spoken{l, joined}) {
				return
			}
			joined = l.text != "" && !l.rule() && l.text[0] != '#' && !endsSentence(l.text)
		}
	}
}

// endsSentence reports whether a text ends where a sentence can end.
func endsSentence(s string) bool {
	s = strings.TrimRight(s, "*_`)\"' ")
	return s != "" && strings.IndexByte(".!?:;", s[len(s)-1]) >= 0
}

// statements gives the sentences that matter.
func statements(text string, role core.Role) iter.Seq[statement] {
	last := trim(lastLine(text))
	return func(yield func(statement) bool) {
		first := true
		for l := range outsideFences(text) {
			outer := first || l.text == last
			first = false
			if !hasStem(l.text) {
				continue
			}
			if s, ok := stagedStatement(l.line, role, outer); ok {
				if !yield(s) {
					return
				}
				continue
			}
			for s := range l.sentences(text) {
				if s, ok := s.statement(l.at, role); ok && !yield(s) {
					return
				}
			}
		}
	}
}

func hasStem(s string) bool {
	low := strings.ToLower(s)
	return slices.ContainsFunc(stems, func(stem string) bool { return strings.Contains(low, stem) })
}

// stagedStatement reads the lines by which stages report to each other, and an error that is all that
// a text has to say: "execute-2 complete. Git range: …", "review-2 complete (gaps): …",
// "execute-2 error: …", "error: …".
func stagedStatement(l line, role core.Role, outer bool) (statement, bool) {
	s := statement{at: l.at, text: l.text, clear: true}
	stage, rest, _ := strings.Cut(strings.ToLower(l.text), " ")
	executed, reviewed := strings.HasPrefix(stage, "execute-"), strings.HasPrefix(stage, "review-")
	switch {
	case stage == "error:":
		s.verdict, s.clear = Error, outer
	case (executed || reviewed) && strings.HasPrefix(rest, "error:"):
		s.verdict = Error
	case executed && isSentence(rest, "complete"):
		s.verdict, s.clear = Pass, role == core.Worker
	case reviewed && isSentence(rest, "complete (pass)"):
		s.verdict, s.clear = Pass, role != core.Worker
	case reviewed && strings.HasPrefix(rest, "complete (gaps)"):
		s.verdict, s.clear = Gaps, role != core.Worker
		_, s.list, _ = strings.Cut(l.text, ":")
	default:
		return s, false
	}
	return s, true
}

// isSentence reports whether a text is these words, or begins with them as a sentence.
func isSentence(s, words string) bool {
	rest, ok := strings.CutPrefix(s, words)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '!')
}

// A sentence is a part of a line.
type sentence struct {
	text   string
	states bool // it can state something; a question cannot, and neither can half a sentence
	goesOn bool // the next line goes on with it
}

// maxSentence is how long a sentence can be and state something. A longer one is taken in pieces, as
// mentions.
const maxSentence = 1024

// sentences splits a line. Lines may be broken anywhere, so the first sentence is not taken for a whole
// one if the line before has not ended, nor the last one if the next line begins in lower case.
func (l spoken) sentences(text string) iter.Seq[sentence] {
	return func(yield func(sentence) bool) {
		s, start := l.text, 0
		for i := range len(s) {
			ends := strings.IndexByte(".!?;", s[i]) >= 0 && (i+1 == len(s) || strings.IndexByte(" \t*_`)!?.", s[i+1]) >= 0)
			long := i-start >= maxSentence
			if !ends && (!long || s[i] != ' ') {
				continue
			}
			states := ends && !long && s[i] != '?' && (start > 0 || !l.joined)
			if !yield(sentence{text: s[start : i+1], states: states}) {
				return
			}
			start = i + 1
		}
		next, _ := utf8.DecodeRuneInString(lineAt(text, l.next).text)
		states := len(s)-start < maxSentence && (start > 0 || !l.joined)
		yield(sentence{s[start:], states, unicode.IsLower(next)})
	}
}

// rangeIn finds two hexadecimal ids with ".." between them.
func rangeIn(text string) string {
	for at := 0; ; {
		i := strings.Index(text[at:], "..")
		if i < 0 {
			return ""
		}
		start, end := at+i, at+i+2
		for start > at && isHex(text[start-1]) {
			start--
		}
		for end < len(text) && isHex(text[end]) {
			end++
		}
		ends := end == len(text) || !isWordByte(text[end])
		begins := start == 0 || !isWordByte(text[start-1]) && text[start-1] != '.'
		if base, head := at+i-start, end-(at+i+2); ends && begins && min(base, head) >= 4 && max(base, head) <= 64 {
			return text[start:end]
		}
		at = max(at+i+1, end-1)
	}
}
