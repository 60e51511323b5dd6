package verdict

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/core"
)

// A statement is a sentence that says something about the verdict.
type statement struct {
	verdict Verdict   // "" for a sentence that takes back the one before
	role    core.Role // the role that says such a thing, if known
	at      int
	text    string
	clear   bool   // it states the verdict; otherwise it only mentions it
	doubted bool   // it contradicts itself
	list    string // issues that it names, separated by commas
}

// contradicts reports whether a statement contradicts another. A turn, and a doubted mention of the same verdict,
// contradict only a pass.
func (s statement) contradicts(stated statement) bool {
	if s.verdict == "" || !s.clear && s.doubted && s.verdict == Pass {
		return stated.verdict == Pass
	}
	return s.verdict != stated.verdict
}

// judgeStatements judges free text. It must state exactly one verdict, and contradict it nowhere.
func judgeStatements(n *notes, a surroundings) Judgement {
	stated, ok := n.statement(a, func(s statement) bool { return s.clear })
	if !ok {
		mention, ok := n.statement(a, func(s statement) bool { return s.verdict != "" })
		if !ok {
			return n.nothing()
		}
		n.fault(Ambiguous, "result", mention.at, "a verdict that is stated", mention.text, "a verdict is mentioned, but not stated")
		return n.judgement(Invalid, Legacy, Result{})
	}
	if other, ok := n.statement(a, func(s statement) bool { return s.contradicts(stated) }); ok {
		n.fault(Ambiguous, "result", other.at, "nothing against: "+show(stated.text), other.text, "a verdict is stated and spoken against")
		return n.judgement(Invalid, Legacy, Result{})
	}
	return n.stated(stated, a)
}

// statement returns the first statement that is wanted.
func (n *notes) statement(a surroundings, wanted func(statement) bool) (statement, bool) {
	for s := range statements(n.text, n.asked.Role, a) {
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

// stated returns the judgement of a clear statement.
func (n *notes) stated(s statement, a surroundings) Judgement {
	if s.role != 0 {
		n.checkAsked(s.role, s.text, s.at)
	}
	n.warn(legacyStatement, s.at, "the result has no form; a clear statement was taken for one")
	r := Result{Role: n.asked.Role, Status: string(s.verdict), Body: trim(n.text), GitRange: rangeIn(n.text)}
	if s.verdict == Pass && n.asked.Role == core.Worker {
		n.checkNamedRange()
	}
	if s.verdict != Pass {
		r.Issues = n.listed(s, a)
	}
	return n.judgement(s.verdict, Legacy, r)
}

// checkNamedRange notes an error if "Git range: " has something else than a range after it.
func (n *notes) checkNamedRange() {
	const label = "git range:"
	at := strings.Index(strings.ToLower(n.text), label)
	if at < 0 || at+len(label) > len(n.text) {
		return
	}
	said := strings.TrimRight(lineAt(n.text, at+len(label)).text, ".*_`")
	if first, _, _ := strings.Cut(strings.TrimLeft(said, "*_` "), " "); first != "" && !isRange(strings.Trim(first, "*_`.")) {
		n.fault(NotAllowed, "git_range", at, "<base>..<head>", said, "git_range is not a range of commits")
	}
}

// listed returns the entries of lists as issues. Without a list, the statement itself is the issue.
func (n *notes) listed(s statement, a surroundings) []Issue {
	g := boundedList[string]{field: "issues"}
	(header{at: s.at, value: s.list}).split(",", &g, n)
	for l := range a.outsideFences() {
		if item, ok := cutBullet(l.text); ok {
			keep(&g, item, l.at, n)
		}
	}
	if len(g.list) == 0 {
		keep(&g, s.text, s.at, n)
	}
	return asIssues(g.done(n))
}

// An ownLine is a line that the agent says itself.
type ownLine struct {
	line
	joined bool // it may continue a sentence of the line before
	quoted bool // it may be quoted
	behind bool // a code fence is above it, or an enclosure may be around it
}

// states reports whether a statement of the verdict counts. A possible quotation does not count. After a fence only a
// pass is doubted, because doubt must never hide a rejection.
func (l ownLine) states(v Verdict) bool { return !l.quoted && (!l.behind || v != Pass) }

// outsideFences returns the lines that the agent itself wrote, outside of quotations and code fences, unless one fence
// encloses the whole text. Fences may be quoted too, so lines after one are marked.
func (a surroundings) outsideFences() iter.Seq[ownLine] {
	text := a.text
	return func(yield func(ownLine) bool) {
		inside, joined := false, false
		for at := 0; at < len(text); {
			l := lineAt(text, at)
			at = l.next
			if l.fence() {
				inside, joined = !inside, false
				continue
			}
			if l.text != "" && (!inside || a.whole) && !isQuoted(l.text) && !a.inForm(l.at) {
				quoted := a.commented(l.at) || a.deeper(l.at, 3)
				if !yield(ownLine{l, joined, quoted, a.behindFence(l.at) || a.enclosed(l.at)}) {
					return
				}
			}
			joined = l.text != "" && !l.rule() && l.text[0] != '#' && !endsSentence(l.text)
		}
	}
}

// endsSentence reports whether a sentence can end at the end of the text.
func endsSentence(s string) bool {
	s = strings.TrimRight(s, "*_`)\"' ")
	return s != "" && strings.IndexByte(".!?:;", s[len(s)-1]) >= 0
}

// statements returns the sentences about the verdict. A possible quotation states nothing.
func statements(text string, role core.Role, a surroundings) iter.Seq[statement] {
	last := -1
	for l := range a.outsideFences() {
		last = l.at
	}
	return func(yield func(statement) bool) {
		first := true
		for l := range a.outsideFences() {
			outer := first || l.at == last
			first = false
			if !hasStem(l.text) {
				continue
			}
			if s, ok := stagedStatement(l.line, role, outer); ok {
				s.clear = s.clear && l.states(s.verdict)
				if !yield(s) {
					return
				}
				continue
			}
			for s := range l.sentences(text) {
				s, ok := s.statement(role)
				s.clear = s.clear && l.states(s.verdict)
				if ok && !yield(s) {
					return
				}
			}
		}
	}
}

func hasStem(s string) bool {
	low := strings.ToLower(s)
	return slices.ContainsFunc(statementParts, func(stem string) bool { return strings.Contains(low, stem) })
}

// stagedStatement reads the lines with which stages report to each other, and an error that is the whole text:
// "execute-2 complete. Git range: …", "review-2 complete (gaps): …", "execute-2 error: …", "error: …".
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
	at     int  // offset in the text
	states bool // it can state a verdict; questions and pieces of long sentences cannot
	joined bool // it may continue a sentence of the line before
	goesOn bool // it continues on the next line
}

// whole reports whether a sentence can state the verdict by itself. One that may continue the line before states no
// pass, and no rejection if it begins in lower case.
func (s sentence) whole(v Verdict) bool {
	first, _ := utf8.DecodeRuneInString(s.text)
	return s.states && !(s.joined && (v == Pass || unicode.IsLower(first)))
}

// maxSentence is the longest sentence that can state a verdict. A longer one is read in pieces, as mentions.
const maxSentence = 1024

// sentences splits a line. The first sentence may belong to the line before, if that has no end. The last one
// continues if the next line begins in lower case.
func (l ownLine) sentences(text string) iter.Seq[sentence] {
	return func(yield func(sentence) bool) {
		s, start := l.text, 0
		begin := l.at + strings.Index(text[l.at:], s)
		for i := range len(s) {
			ends := strings.IndexByte(".!?;", s[i]) >= 0 && (i+1 == len(s) || strings.IndexByte(" \t*_`)!?.", s[i+1]) >= 0)
			long := i-start >= maxSentence
			if !ends && (!long || s[i] != ' ') {
				continue
			}
			states := ends && !long && s[i] != '?'
			if !yield(sentence{text: s[start : i+1], at: begin + start, states: states, joined: l.joined && start == 0}) {
				return
			}
			start = i + 1
		}
		next, _ := utf8.DecodeRuneInString(lineAt(text, l.next).text)
		yield(sentence{s[start:], begin + start, len(s)-start < maxSentence, l.joined && start == 0, unicode.IsLower(next)})
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
